//! What PostgreSQL brings along, judged one by one: functions by OID, relations by name.
//!
//! OIDs under 10,000 are given by PostgreSQL's source and mean the same in every installation; up to 16,384 they are given when
//! a cluster is made, and mean what their schema and name say.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::facts::{Major, Oid};

const FUNCTIONS: &str = include_str!("builtin/functions.txt");
const RELATIONS: &str = include_str!("builtin/relations.txt");

/// What is done about a call of a built-in function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It runs.
    Allow,
    /// It runs inside a type or an aggregate, and is never called by name.
    Internal,
    /// It runs with a literal name of a setting that is listed.
    Setting,
    /// It does not run.
    Refuse,
}

/// A built-in function's rulings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Function {
    /// Its name where it may be refused, else empty.
    pub(crate) name: &'static str,
    /// What kind of harm it could do, in a word.
    pub(crate) category: &'static str,
    pub(crate) without_selection: Ruling,
    pub(crate) with_selection: Ruling,
}

/// The rulings on a built-in function; none for one that is not known.
pub(crate) fn function(oid: Oid, major: Major) -> Option<Function> {
    static TABLE: LazyLock<Functions> = LazyLock::new(read_functions);
    let number = major.number();
    TABLE
        .get(&oid.0)?
        .iter()
        .find(|(_, from, to)| (*from..=*to).contains(&number))
        .map(|(function, _, _)| *function)
}

/// Whether a relation of `pg_catalog` or `information_schema` may be read without a selection.
pub(crate) fn relation(schema: &str, name: &str) -> bool {
    static TABLE: LazyLock<HashSet<(&str, &str)>> = LazyLock::new(read_relations);
    TABLE.contains(&(schema, name))
}

/// Functions of `information_schema`; all compute on their arguments or look up an index's column.
pub(crate) const INFORMATION_SCHEMA_FUNCTIONS: &[&str] = &[
    "_pg_char_max_length",
    "_pg_char_octet_length",
    "_pg_datetime_precision",
    "_pg_expandarray",
    "_pg_index_position",
    "_pg_interval_type",
    "_pg_numeric_precision",
    "_pg_numeric_precision_radix",
    "_pg_numeric_scale",
    "_pg_truetypid",
    "_pg_truetypmod",
];

/// The types whose values are names or OIDs of catalog objects, and their arrays.
pub(crate) fn names_objects(oid: Oid) -> bool {
    matches!(
        oid.0,
        24 | 1008 | 2202..=2211 | 3734 | 3735 | 3769 | 3770 | 4089 | 4090 | 4096 | 4097 | 4191 | 4192
    )
}

/// The function that tells a value's type.
pub(crate) const PG_TYPEOF: u32 = 1619;

/// `regconfig` and `regdictionary`.
pub(crate) fn names_text_search(oid: Oid) -> bool {
    matches!(oid.0, 3734 | 3769)
}

/// `to_tsvector`, `to_tsquery`, `plainto_tsquery`, `phraseto_tsquery`, `websearch_to_tsquery`, `ts_headline`, `ts_lexize` and
/// the JSON forms of the first, with a configuration or dictionary in front.
pub(crate) fn takes_text_search_name(oid: Oid) -> bool {
    matches!(
        oid.0,
        3723 | 3743
            | 3744
            | 3745
            | 3746
            | 3747
            | 4201
            | 4202
            | 4205
            | 4206
            | 4211
            | 4212
            | 4214
            | 4216
            | 5006
            | 5007
    )
}

/// `quote_literal`, `quote_nullable`, and `||` of a text and anything else: they turn any value into text, by a cast that is
/// looked up when they run.
pub(crate) fn writes_text(oid: Oid) -> bool {
    matches!(oid.0, 1285 | 1290 | 2003 | 2004)
}

/// The two operators `||` of those.
pub(crate) fn operator_writes_text(oid: Oid) -> bool {
    matches!(oid.0, 2779 | 2780)
}

/// Functions and aggregates that turn any value into JSON, by a cast that is looked up when they run.
pub(crate) fn writes_json(oid: Oid) -> bool {
    matches!(
        oid.0,
        3153..=3156 | 3175 | 3176 | 3197..=3201 | 3267 | 3270..=3274 | 3787 | 6276 | 6280..=6282 | 6284 | 6288..=6290
    )
}

/// By OID, with the first and the last major in which it means this.
type Functions = HashMap<u32, Vec<(Function, u32, u32)>>;

fn read_functions() -> Functions {
    let mut table = Functions::new();
    let mut ruled = None;
    for line in FUNCTIONS.lines().filter(|line| !line.starts_with('#')) {
        if !line.starts_with(' ') {
            ruled = heading(line);
            continue;
        }
        let Some(function) = ruled else { continue };
        for word in line.split_whitespace() {
            let (name, oids) = word.split_once(':').unwrap_or(("", word));
            let (oids, majors) = oids.split_once('@').unwrap_or((oids, "14-18"));
            let Some((from, to)) = span(majors) else { continue };
            for (first, last) in oids.split(',').filter_map(span) {
                for oid in first..=last {
                    table.entry(oid).or_default().push((Function { name, ..function }, from, to));
                }
            }
        }
    }
    table
}

fn heading(line: &'static str) -> Option<Function> {
    let mut words = line.split(' ');
    let (without_selection, with_selection) = (ruling(words.next()?)?, ruling(words.next()?)?);
    Some(Function { name: "", category: words.next().unwrap_or_default(), without_selection, with_selection })
}

fn ruling(word: &str) -> Option<Ruling> {
    match word {
        "allow" => Some(Ruling::Allow),
        "internal" => Some(Ruling::Internal),
        "setting" => Some(Ruling::Setting),
        "refuse" => Some(Ruling::Refuse),
        _ => None,
    }
}

fn span(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}

fn read_relations() -> HashSet<(&'static str, &'static str)> {
    let mut table = HashSet::new();
    let mut schema = "";
    for line in RELATIONS.lines().filter(|line| !line.starts_with('#')) {
        match line {
            "pg_catalog" | "information_schema" => schema = line,
            names => table.extend(names.split(' ').map(|name| (schema, name))),
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(oid: u32, major: u32) -> Option<(Ruling, Ruling)> {
        let function = function(Oid(oid), Major::new(major).unwrap())?;
        Some((function.without_selection, function.with_selection))
    }

    #[test]
    fn the_tables_read_as_they_are_meant() {
        assert_eq!(at(870, 14), Some((Ruling::Allow, Ruling::Allow)), "lower(text)");
        assert_eq!(at(2626, 18), Some((Ruling::Refuse, Ruling::Refuse)), "pg_sleep");
        assert_eq!(at(2325, 18), Some((Ruling::Allow, Ruling::Refuse)), "pg_relation_size");
        assert_eq!(at(2077, 18), Some((Ruling::Setting, Ruling::Setting)), "current_setting");
        assert_eq!(at(42, 18), Some((Ruling::Internal, Ruling::Internal)), "int4in");
        assert_eq!(at(6179, 18), Some((Ruling::Internal, Ruling::Internal)), "array_subscript_handler");
        assert_eq!(at(3813, 14), None, "pg_is_in_backup");
        assert_eq!(at(3813, 18), Some((Ruling::Allow, Ruling::Allow)), "xmltext");
        assert_eq!(at(9999, 18), None);
        assert!(relation("pg_catalog", "pg_class") && relation("information_schema", "columns"));
        assert!(
            !relation("pg_catalog", "pg_authid") && !relation("information_schema", "user_mapping_options")
        );
    }
}
