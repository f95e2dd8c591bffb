//! A flow document in a file: what is saved of it, and the values that its pins are tested with.

use std::{ffi::OsStr, fs, path::Path};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};
use state::Flow;

use super::yaml;

/// The key beside a pin's own that holds its sample values.
const SAMPLES: &str = "samples";

/// What of a node its pins' tests depend on.
const CANVAS: [&str; 7] = [
    "credential",
    "relations",
    "allowedFunctions",
    "allowedForeignTables",
    "searchPath",
    "rowCap",
    "timeoutSeconds",
];

/// A document that can be saved, with a test for each of its pins.
#[derive(Debug)]
pub(super) struct FlowFile {
    /// The document without samples and stamps.
    pub(super) document: Value,
    /// In the order of the document.
    pub(super) tests: Vec<PinTest>,
    id: String,
}

/// The test of one pin.
#[derive(Debug)]
pub(super) struct PinTest {
    /// The node's id.
    pub(super) node: String,
    /// The tool's name.
    pub(super) pin: String,
    /// The statement.
    pub(super) sql: String,
    /// Values for the parameters, by name.
    pub(super) samples: Map<String, Value>,
    /// Where the pin is in the document, as a JSON pointer.
    pub(super) place: String,
    node_place: String,
}

impl PinTest {
    pub(super) fn new(node: &str, pin: &str, sql: &str) -> Self {
        Self {
            node: node.to_owned(),
            pin: pin.to_owned(),
            sql: sql.to_owned(),
            samples: Map::new(),
            place: String::new(),
            node_place: String::new(),
        }
    }
}

impl FlowFile {
    /// # Errors
    /// The file is not there, or holds no flow; all problems of the document are told.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let is_json =
            path.extension().and_then(OsStr::to_str).is_some_and(|end| end.eq_ignore_ascii_case("json"));
        Self::parse(&text, if is_json { Form::Json } else { Form::Yaml })
            .with_context(|| path.display().to_string())
    }

    fn parse(text: &str, form: Form) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let mut document: Value = match form {
            Form::Json => serde_json::from_str(text)?,
            Form::Yaml => yaml::read(text)?,
        };
        let samples = take_samples(&mut document)?;
        // It is read here as the server reads it, so that a check needs no server.
        let flow = Flow::from_json(&document.to_string())?;
        let mut samples = samples.into_iter();
        let mut tests = Vec::new();
        for (at, node) in flow.nodes.iter().enumerate() {
            for (pin_at, pin) in node.pins.iter().enumerate() {
                tests.push(PinTest {
                    samples: samples.next().unwrap_or_default(),
                    place: format!("/nodes/{at}/pins/{pin_at}"),
                    node_place: format!("/nodes/{at}"),
                    ..PinTest::new(node.id.as_str(), pin.name().as_str(), pin.sql())
                });
            }
        }
        Ok(Self { id: flow.id.to_string(), document, tests })
    }

    /// The flow's id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The pin of a test, as the document has it.
    pub(super) fn pin(&self, test: &PinTest) -> Value {
        self.document.pointer(&test.place).cloned().unwrap_or_default()
    }

    /// The node of a test as the document has it. Null stands for what it leaves out, lest the draft's count. Of the pins
    /// only the tested one is there: that names are unique was found with the document.
    pub(super) fn canvas(&self, test: &PinTest) -> Value {
        let node = self.document.pointer(&test.node_place).unwrap_or(&Value::Null);
        let fields = CANVAS.iter().map(|field| ((*field).to_owned(), node[*field].clone()));
        fields.chain([("pins".to_owned(), Value::Array(Vec::new()))]).collect::<Map<_, _>>().into()
    }
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Yaml,
}

/// Takes the samples out of each pin, in the order of the document, and the stamps, which a test makes anew.
fn take_samples(document: &mut Value) -> Result<Vec<Map<String, Value>>> {
    let mut found = Vec::new();
    // What is no list or no object is a problem that the reader of the flow tells.
    let nodes = document.get_mut("nodes").and_then(Value::as_array_mut);
    for (at, node) in nodes.into_iter().flatten().enumerate() {
        let pins = node.get_mut("pins").and_then(Value::as_array_mut);
        for (pin_at, pin) in pins.into_iter().flatten().enumerate() {
            let Some(pin) = pin.as_object_mut() else { continue };
            pin.shift_remove("stamp");
            found.push(match pin.shift_remove(SAMPLES) {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(samples)) => samples,
                Some(_) => {
                    bail!("nodes[{at}].pins[{pin_at}].{SAMPLES}: expected values by the names of parameters")
                }
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const YAML: &str = "
id: sales
kind: chatflow
nodes:
  - id: db
    credential: shop
    relations: [public.demo_sales]
    rowCap: 50
    pins:
      - id: p1
        name: pq_revenue
        purpose: Revenue of a month
        sql: |
          SELECT sum(amount) AS revenue
          FROM demo_sales WHERE month = :month
          LIMIT 1
        params:
          - {name: month, type: date}
        samples: {month: 2026-01-01}
        stamp: null
      - id: p2
        name: pq_all
        purpose: All
        sql: SELECT id FROM demo_sales LIMIT 10
";

    #[test]
    fn samples_are_kept_beside_what_is_saved() {
        let file = FlowFile::parse(YAML, Form::Yaml).unwrap();
        let names: Vec<_> = file.tests.iter().map(|test| (test.pin.as_str(), &test.samples)).collect();
        let month = json!({"month": "2026-01-01"});
        assert_eq!(names, [("pq_revenue", month.as_object().unwrap()), ("pq_all", &Map::new())]);
        assert!(
            !file.document.to_string().contains("samples") && !file.document.to_string().contains("stamp")
        );
        assert_eq!(file.pin(&file.tests[1])["name"], "pq_all");
        let canvas = file.canvas(&file.tests[0]);
        assert_eq!(
            canvas,
            json!({"credential": "shop", "relations": ["public.demo_sales"], "allowedFunctions": null,
                "allowedForeignTables": null, "searchPath": null, "rowCap": 50, "timeoutSeconds": null, "pins": []})
        );
        let json = FlowFile::parse(&file.document.to_string(), Form::Json).unwrap();
        assert_eq!(json.document, file.document);
    }

    #[track_caller]
    fn check(text: &str, said: &str) {
        let error = format!("{:#}", FlowFile::parse(text, Form::Yaml).unwrap_err());
        assert!(error.contains(said), "{error}");
    }

    #[test]
    fn a_document_with_problems_is_refused_with_their_places() {
        check("id: sales\nkind: chatflow\nnodes: []\ncolour: blue", "colour");
        check(
            &YAML.replace("{month: 2026-01-01}", "[2026-01-01]"),
            "nodes[0].pins[0].samples: expected values",
        );
        check(&YAML.replace("pq_all", "pq_revenue"), "nodes[0].pins[1].name");
        check(&YAML.replace("id: db", "id: [db"), "line ");
        check("", "expected");
    }
}
