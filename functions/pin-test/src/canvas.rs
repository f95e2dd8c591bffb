//! The node as the editor has it: what is saved, and over it what was sent of the canvas.

use pins::Pin;
use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::{Map, Value, json};
use service::Refusal;
use state::{Flow, Node, NodeId};

use crate::answers::{Wrong, problems_of};

/// What of a node may be sent as it is on the canvas. Anything else, such as a URL, is refused by its name.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Canvas {
    #[serde(default)]
    credential: Sent,
    #[serde(default)]
    relations: Sent,
    #[serde(default)]
    allowed_functions: Sent,
    #[serde(default)]
    allowed_foreign_tables: Sent,
    #[serde(default)]
    search_path: Sent,
    #[serde(default)]
    row_cap: Sent,
    #[serde(default)]
    timeout_seconds: Sent,
    #[serde(default)]
    pins: Sent,
}

/// A field of the canvas. Null is sent, and means that the node has none.
#[derive(Debug, Default)]
enum Sent {
    #[default]
    Not,
    As(Value),
}

impl<'de> Deserialize<'de> for Sent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::As)
    }
}

impl Canvas {
    /// Reads the canvas of a request.
    pub(crate) fn read(fields: Map<String, Value>) -> Result<Self, Refusal> {
        serde_json::from_value(Value::Object(fields))
            .map_err(|error| Refusal::bad_request(format!("`canvas` is not what this route takes: {error}")))
    }

    fn lay_over(self, node: &mut Map<String, Value>) {
        let fields = [
            ("credential", self.credential),
            ("relations", self.relations),
            ("allowedFunctions", self.allowed_functions),
            ("allowedForeignTables", self.allowed_foreign_tables),
            ("searchPath", self.search_path),
            ("rowCap", self.row_cap),
            ("timeoutSeconds", self.timeout_seconds),
            ("pins", self.pins),
        ];
        for (name, field) in fields {
            if let Sent::As(value) = field {
                node.insert(name.to_owned(), value);
            }
        }
    }
}

/// The node of a saved document with the canvas over it, and the pin that is tested. It is read as a save would read it, in
/// the midst of the whole flow: a name that another pin has is a problem.
pub(crate) fn node(
    mut document: Value,
    id: &NodeId,
    canvas: Canvas,
    pin: &Value,
) -> Result<Option<(Node, Pin)>, Wrong> {
    let nodes = document.get_mut("nodes").and_then(Value::as_array_mut);
    let is_it = |node: &&mut Value| node.get("id").and_then(Value::as_str) == Some(id.as_str());
    let Some(Value::Object(node)) = nodes.and_then(|nodes| nodes.iter_mut().find(is_it)) else {
        return Ok(None);
    };
    canvas.lay_over(node);
    let pin = Pin::from_json(pin).map_err(|problems| Wrong::Pin(problems_of("pin", &problems)))?;
    put(node, &pin);
    let flow = Flow::from_json(&document.to_string())
        .map_err(|problems| Wrong::Canvas(problems_of("", problems.problems())))?;
    Ok(flow.node(id.as_str()).cloned().map(|node| (node, pin)))
}

/// Puts the pin in the place of the one with its id, or behind the others.
fn put(node: &mut Map<String, Value>, pin: &Pin) {
    let pins = node.entry("pins").or_insert_with(|| json!([]));
    // What is no list is a problem that the reader of the document says.
    let Some(pins) = pins.as_array_mut() else { return };
    match pins.iter_mut().find(|other| other.get("id").and_then(Value::as_str) == Some(pin.id())) {
        Some(place) => *place = pin.to_json(),
        None => pins.push(pin.to_json()),
    }
}
