//! Looks through every node of a parsed statement for parts that write or lock.
//!
//! It goes over the serialised tree, so no kind of node can be left out: what the parser knows, this sees.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::admitted::Opening;
use crate::opening;
use crate::rules::Selection;
use crate::scope;
use crate::text::Text;
use crate::verdict::{Code, Finding};

/// Parameters that the protocol can carry.
const MAX_PARAMETERS: i64 = 65_535;

/// What a statement's tree holds besides reading.
pub(crate) struct Sifted {
    /// Every reason against it.
    pub(crate) findings: Vec<Finding>,
    /// The highest number of a parameter.
    pub(crate) parameters: usize,
    /// The functions and types that it names, without their schemas.
    pub(crate) called: BTreeSet<String>,
    /// With a selection, the relations that it names without their schemas.
    pub(crate) bare: BTreeSet<String>,
    /// The first literal of which PostgreSQL may make an array, a row or a range while it parses.
    pub(crate) opening: Option<Opening>,
}

pub(crate) fn sift(tree: &impl serde::Serialize, text: &Text<'_>, selection: &Selection) -> Sifted {
    let mut sifted = Sifted {
        findings: Vec::new(),
        parameters: 0,
        called: BTreeSet::new(),
        bare: BTreeSet::new(),
        opening: None,
    };
    if let Ok(tree) = serde_json::to_value(tree) {
        look(&tree, text, &mut sifted);
        if let Selection::Only(selected) = selection {
            let scope::Named { findings, bare } = scope::named(&tree, selected, text);
            sifted.findings.extend(findings);
            sifted.bare = bare;
        }
    } else {
        let message = "the statement could not be looked through";
        sifted.findings.push(Finding::new(Code::TooDeep, message, "send a simpler one"));
    }
    sifted
}

fn look(value: &Value, text: &Text<'_>, sifted: &mut Sifted) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| look(item, text, sifted)),
        Value::Object(fields) => {
            for (name, field) in fields {
                sifted.findings.extend(judge(name, field, text));
                if name == "ParamRef"
                    && let Some(number) = field["number"].as_u64()
                {
                    sifted.parameters = sifted.parameters.max(usize::try_from(number).unwrap_or(usize::MAX));
                }
                match name.as_str() {
                    "AConst" if sifted.opening.is_none() && string(field).is_some_and(opening::opens) => {
                        sifted.opening = Some(Opening { position: location(field, text) });
                    }
                    "FuncCall" => sifted.called.extend(last_name(&field["funcname"])),
                    "TypeName" | "type_name" => sifted.called.extend(last_name(&field["names"])),
                    _ => {}
                }
                look(field, text, sifted);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn string(literal: &Value) -> Option<&str> {
    literal.pointer("/val/Sval/sval")?.as_str()
}

fn last_name(names: &Value) -> Option<String> {
    Some(names.as_array()?.last()?.pointer("/node/String/sval")?.as_str()?.to_owned())
}

fn judge(name: &str, field: &Value, text: &Text<'_>) -> Option<Finding> {
    match name {
        "into_clause" if !field.is_null() => {
            let help = "leave INTO out: the rows come back as the answer";
            let finding = Finding::new(Code::SelectInto, "`SELECT INTO` makes a table", help);
            Some(finding.at(location(&field["rel"], text)))
        }
        "locking_clause" if field.as_array().is_some_and(|clauses| !clauses.is_empty()) => {
            let message = "`FOR UPDATE`, `FOR SHARE` and their kin lock rows";
            Some(Finding::new(
                Code::LockingClause,
                message,
                "leave the locking clause out: nothing is written here",
            ))
        }
        "ParamRef" => {
            let number = field["number"].as_i64()?;
            let bad = !(1..=MAX_PARAMETERS).contains(&number);
            let message = format!("there is no parameter `${number}`");
            let help = "number parameters from $1 and send their values in `params`";
            bad.then(|| Finding::new(Code::ParameterNumber, message, help).at(location(field, text)))
        }
        "SelectStmt" => None,
        // A statement inside the statement: only WITH can hold one, and only one that writes.
        _ if name.ends_with("Stmt") && name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            let verb = name.trim_end_matches("Stmt").to_uppercase();
            let message = format!("a part of the statement is `{verb}`, which writes");
            let finding = Finding::new(Code::WritesData, message, "only reads run here: leave that part out");
            Some(finding.at(location(&field["relation"], text)))
        }
        _ => None,
    }
}

fn location(node: &Value, text: &Text<'_>) -> Option<usize> {
    text.position(i32::try_from(node.get("location")?.as_i64()?).ok()?)
}
