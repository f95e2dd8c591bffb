//! Versions of what a verdict relies on, and the gate that compares them with the server's.

use std::collections::{BTreeSet, HashMap};

use guard::facts::{Needs, Oid};

use super::gate::{GATE, GATE_ALL, GATE_MOMENT, GATE_PARTITIONS};
use crate::own::Table;
use crate::parameter::quote_element;

/// Objects below this number came with the cluster; only a superuser who means to break it changes them.
const FIRST_OF_USERS: u32 = 16_384;

/// Versions by kind and key, as the queries in `gate` print them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Versions(HashMap<(String, String), String>);

/// A gate that lets pass what a verdict relies on, in the versions that were judged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Gate {
    pub(crate) sql: &'static str,
    parameters: Vec<String>,
}

impl Versions {
    /// Reads rows of kind, key and version; others are left out, and what is not there is in no version.
    pub(crate) fn read(rows: Table) -> Self {
        let entry = |row: Vec<Option<String>>| {
            let [kind, key, version] = <[Option<String>; 3]>::try_from(row).ok()?;
            Some(((kind?, key?), version?))
        };
        Self(rows.into_iter().filter_map(entry).collect())
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The gate for what is relied on; none where that cannot change.
    pub(crate) fn gate(&self, relied_on: &Needs) -> Option<Gate> {
        let relied_on = of_users(relied_on);
        if relied_on.is_empty() {
            return None;
        }
        let mut wanted: Vec<(&str, String)> = Vec::new();
        for (kind, oids) in [
            ("r", &relied_on.relations),
            ("f", &relied_on.functions),
            ("o", &relied_on.operators),
            ("t", &relied_on.types),
        ] {
            wanted.extend(oids.iter().map(|oid| (kind, oid.0.to_string())));
        }
        for (kind, names) in
            [("F", &relied_on.function_names), ("O", &relied_on.operator_names), ("T", &relied_on.type_names)]
        {
            wanted.extend(names.iter().map(|name| (kind, name.clone())));
        }
        if relied_on.casts {
            wanted.push(("c", String::new()));
        }
        let mut sql = GATE;
        let expected = wanted.into_iter().map(|(kind, key)| {
            // What has no version makes a text that no server gives.
            let version = self.0.get(&(kind.to_owned(), key.clone())).map_or("?", String::as_str);
            if kind != "r" {
                sql = GATE_ALL;
            } else if sql == GATE && !version.ends_with(':') {
                sql = GATE_PARTITIONS;
            }
            quote_element(&format!("{kind}{key}={version}"))
        });
        let expected: Vec<String> = expected.collect();
        let mut parameters = parameters(&relied_on);
        parameters.truncate(if sql == GATE_ALL { parameters.len() } else { 1 });
        parameters.push(format!("{{{}}}", expected.join(",")));
        parameters.push(expected.len().to_string());
        Some(Gate { sql, parameters })
    }
}

impl Gate {
    /// One that lets pass as long as it is this moment.
    pub(crate) fn still(moment: &str) -> Self {
        Self { sql: GATE_MOMENT, parameters: vec![moment.to_owned()] }
    }

    /// Whether it looks at the moment alone.
    pub(crate) fn is_still(&self) -> bool {
        self.sql == GATE_MOMENT
    }

    pub(crate) fn parameters(&self) -> Vec<Option<&str>> {
        self.parameters.iter().map(|text| Some(text.as_str())).collect()
    }
}

/// What is asked for, as `$1` to `$8` of the queries in `gate`.
pub(crate) fn parameters(needs: &Needs) -> Vec<String> {
    vec![
        oids(&needs.relations),
        oids(&needs.functions),
        oids(&needs.operators),
        oids(&needs.types),
        names(&needs.function_names),
        names(&needs.operator_names),
        names(&needs.type_names),
        if needs.casts { "t" } else { "f" }.to_owned(),
    ]
}

fn of_users(needs: &Needs) -> Needs {
    let of_users =
        |oids: &BTreeSet<Oid>| oids.iter().copied().filter(|oid| oid.0 >= FIRST_OF_USERS).collect();
    Needs {
        functions: of_users(&needs.functions),
        operators: of_users(&needs.operators),
        types: of_users(&needs.types),
        relations: of_users(&needs.relations),
        ..needs.clone()
    }
}

fn oids(oids: &BTreeSet<Oid>) -> String {
    let numbers: Vec<String> = oids.iter().map(|oid| oid.0.to_string()).collect();
    format!("{{{}}}", numbers.join(","))
}

/// As a text of an array.
pub(crate) fn names(names: &BTreeSet<String>) -> String {
    let quoted: Vec<String> = names.iter().map(|name| quote_element(name)).collect();
    format!("{{{}}}", quoted.join(","))
}
