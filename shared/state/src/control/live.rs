//! The flows that this instance has parsed, by revision.

use std::sync::{Arc, Mutex, PoisonError};

use crate::flow::Flow;

/// Flows kept; a parsed flow is some kilobytes.
const CAPACITY: usize = 64;

/// A revision of a flow and what it reads as.
pub(super) type Parsed = (String, Arc<Flow>);

/// The flows, the latest used last. A revision is a UUID that the database makes anew with every change of Live, so a
/// revision found here is never out of date.
#[derive(Debug, Default)]
pub(super) struct LiveFlows(Mutex<Vec<Parsed>>);

impl LiveFlows {
    /// The revisions of flows of this id, in whatever workspaces.
    pub(super) fn of(&self, id: &str) -> Vec<Parsed> {
        let flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flows.iter().filter(|(_, flow)| flow.id.as_str() == id).cloned().collect()
    }

    /// Keeps a flow, or marks it as used.
    pub(super) fn keep(&self, revision: &str, flow: &Arc<Flow>) {
        let mut flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flows.retain(|(kept, _)| kept != revision);
        if flows.len() >= CAPACITY {
            flows.remove(0);
        }
        flows.push((revision.to_owned(), Arc::clone(flow)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(id: &str) -> Arc<Flow> {
        let document = format!(r#"{{"id":"{id}","name":"n","kind":"chatflow","nodes":[]}}"#);
        Arc::new(Flow::from_json(&document).unwrap())
    }

    #[test]
    fn the_flow_longest_unused_makes_room() {
        let flows = LiveFlows::default();
        let (a, b) = (flow("a"), flow("b"));
        flows.keep("first", &a);
        for revision in 1..CAPACITY {
            flows.keep(&revision.to_string(), &b);
        }
        flows.keep("first", &a);
        flows.keep("one more", &b);
        assert_eq!(flows.of("a").len(), 1, "it was used last but one");
        assert_eq!(flows.of("b").len(), CAPACITY - 1, "the oldest of the others has gone");
        assert!(!flows.of("b").iter().any(|(revision, _)| revision == "1"));
        assert!(flows.of("c").is_empty());
    }
}
