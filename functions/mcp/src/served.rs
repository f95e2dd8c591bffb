//! What one URL serves: a node, or all nodes of a flow, and the tools on offer there.

use std::borrow::Cow;

use analyst::{Failure, Kind};
use pins::Pin;
use state::{LiveFlow, Node};

use crate::tools::{BuiltIn, Pins};

/// A flow, and which of its nodes are served.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    pub(crate) live: LiveFlow,
    which: Which,
}

#[derive(Debug, Clone, Copy)]
enum Which {
    /// The node at this place in the document.
    One(usize),
    All,
}

/// A tool of a node, under the name that it has at this URL.
#[derive(Debug, Clone)]
pub(crate) struct Offer<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) node: &'a Node,
    pub(crate) does: Does<'a>,
}

/// What a tool does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Does<'a> {
    BuiltIn(BuiltIn),
    Pin(&'a Pin),
}

impl Served {
    /// All nodes of a flow, or one of them; none where it has no such node.
    pub(crate) fn new(live: LiveFlow, node: Option<&str>) -> Option<Self> {
        let which = match node {
            None => Which::All,
            Some(id) => Which::One(live.flow.nodes.iter().position(|node| node.id.as_str() == id)?),
        };
        Some(Self { live, which })
    }

    /// The nodes, in the order of the document.
    pub(crate) fn nodes(&self) -> &[Node] {
        match self.which {
            Which::One(place) => self.live.flow.nodes.get(place..=place).unwrap_or_default(),
            Which::All => &self.live.flow.nodes,
        }
    }

    /// The one node that this URL is of.
    pub(crate) fn single(&self) -> Option<&Node> {
        match self.which {
            Which::One(place) => self.live.flow.nodes.get(place),
            Which::All => None,
        }
    }

    /// The built-in tools of a node. Beside other nodes they carry its id.
    pub(crate) fn built_in<'a>(
        &self,
        node: &'a Node,
        pins: Pins,
    ) -> impl Iterator<Item = Offer<'a>> + use<'a> {
        let suffix = match self.which {
            Which::One(_) => None,
            Which::All => Some(node.id.as_str().replace('-', "_")),
        };
        BuiltIn::offered(&node.actions, pins).map(move |tool| {
            let name = match &suffix {
                None => Cow::Borrowed(tool.name()),
                Some(suffix) => Cow::Owned(format!("{}_{suffix}", tool.name())),
            };
            Offer { name, node, does: Does::BuiltIn(tool) }
        })
    }

    /// The tool that a call means, whether or not a pin of that name may run.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Offer<'_>>, Failure> {
        let built_in = self.nodes().iter().flat_map(|node| self.built_in(node, Pins::any(&node.pins)));
        let mut found = built_in.chain(self.nodes().iter().flat_map(pins)).filter(|offer| offer.name == name);
        match (found.next(), found.next()) {
            (Some(first), Some(second)) => Err(name_twice(&first, &second)),
            (found, _) => Ok(found),
        }
    }
}

/// The pins of a node, which keep their names everywhere.
fn pins(node: &Node) -> impl Iterator<Item = Offer<'_>> {
    node.pins.iter().map(move |pin| Offer::pin(node, pin))
}

impl<'a> Offer<'a> {
    /// A pin of a node.
    pub(crate) fn pin(node: &'a Node, pin: &'a Pin) -> Self {
        Self { name: Cow::Borrowed(pin.name().as_str()), node, does: Does::Pin(pin) }
    }

    /// Refuses a page of tools on which a name stands twice.
    pub(crate) fn each_name_once(offers: &[Self]) -> Result<(), Failure> {
        let mut seen = std::collections::HashMap::with_capacity(offers.len());
        offers.iter().try_for_each(|offer| match seen.insert(&offer.name, offer) {
            Some(first) => Err(name_twice(first, offer)),
            None => Ok(()),
        })
    }
}

fn name_twice(first: &Offer<'_>, second: &Offer<'_>) -> Failure {
    let (name, one, other) = (&first.name, first.node.id.as_str(), second.node.id.as_str());
    let message = format!("the nodes `{one}` and `{other}` both offer a tool `{name}`");
    let failure = Failure::new(Kind::Plumbing, "tool_name_twice", message);
    failure.hinting("the flow's owner renames one of them, or asks each node at its own URL")
}
