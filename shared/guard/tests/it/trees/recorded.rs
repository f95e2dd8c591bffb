//! A recording as text: one JSON object a line, the facts first, then each statement with its tree. This reads it, for the tests
//! here and the fuzz targets; `written` is the other way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use guard::facts::{
    AggregateFact, CastFact, CastTarget, Expression, Facts, FunctionFact, Needs, ObjectName, Oid,
    OperatorFact, RelationFact, RelationKind, TypeFact, TypeKind, Volatility,
};
use serde_json::Value;

/// What one major printed, and what its catalog said of it.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) facts: Facts,
    /// By statement.
    pub(crate) trees: BTreeMap<String, String>,
}

pub(super) const VOLATILITIES: &[(Volatility, &str)] = &[
    (Volatility::Immutable, "immutable"),
    (Volatility::Stable, "stable"),
    (Volatility::Volatile, "volatile"),
];
pub(super) const TYPE_KINDS: &[(TypeKind, &str)] = &[
    (TypeKind::Base, "base"),
    (TypeKind::Composite, "composite"),
    (TypeKind::Domain, "domain"),
    (TypeKind::Enum, "enum"),
    (TypeKind::Pseudo, "pseudo"),
    (TypeKind::Range, "range"),
];
pub(super) const RELATION_KINDS: &[(RelationKind, &str)] = &[
    (RelationKind::Table, "table"),
    (RelationKind::View, "view"),
    (RelationKind::MaterializedView, "materialized view"),
    (RelationKind::PostgresForeignTable, "table of postgres_fdw"),
    (RelationKind::OtherForeignTable, "foreign table"),
    (RelationKind::Sequence, "sequence"),
    (RelationKind::Toast, "toast"),
    (RelationKind::Other, "other"),
];
pub(super) const CAST_TARGETS: &[(CastTarget, &str)] =
    &[(CastTarget::Json, "json"), (CastTarget::Text, "text"), (CastTarget::Other, "other")];

impl Recording {
    /// Reads what `written` wrote.
    pub(crate) fn parse(text: &str) -> Self {
        let mut recording = Self::default();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let (kind, key) = line.as_object().and_then(|fields| fields.iter().next()).unwrap();
            let facts = &mut recording.facts;
            match kind.as_str() {
                "function" => drop(facts.functions.insert(oid(key), Arc::new(function(&line)))),
                "operator" => drop(facts.operators.insert(oid(key), Arc::new(operator(&line)))),
                "type" => drop(facts.types.insert(oid(key), Arc::new(type_(&line)))),
                "relation" => drop(facts.relations.insert(oid(key), Arc::new(relation(&line)))),
                "function name" => drop(facts.function_names.insert(text_of(key), oids(&line["oids"]))),
                "operator name" => drop(facts.operator_names.insert(text_of(key), oids(&line["oids"]))),
                "type name" => drop(facts.type_names.insert(text_of(key), oids(&line["oids"]))),
                "casts" => facts.casts = Some(items(key).map(cast).collect()),
                "statement" => drop(recording.trees.insert(text_of(key), text_of(&line["tree"]))),
                other => panic!("no line of a recording begins with {other}"),
            }
        }
        recording
    }
}

/// Those of the facts that are needed, as the catalog would answer.
pub(crate) fn answer(facts: &Facts, needs: &Needs) -> Facts {
    fn those<K: Clone + Eq + std::hash::Hash + Ord, V: Clone>(
        all: &std::collections::HashMap<K, V>,
        needed: &BTreeSet<K>,
    ) -> std::collections::HashMap<K, V> {
        needed.iter().filter_map(|key| Some((key.clone(), all.get(key)?.clone()))).collect()
    }
    Facts {
        functions: those(&facts.functions, &needs.functions),
        operators: those(&facts.operators, &needs.operators),
        types: those(&facts.types, &needs.types),
        relations: those(&facts.relations, &needs.relations),
        function_names: those(&facts.function_names, &needs.function_names),
        operator_names: those(&facts.operator_names, &needs.operator_names),
        type_names: those(&facts.type_names, &needs.type_names),
        casts: facts.casts.clone().filter(|_| needs.casts),
    }
}

fn function(line: &Value) -> FunctionFact {
    let aggregate = Some(&line["aggregate"]).filter(|parts| !parts.is_null());
    FunctionFact {
        name: name(&line["name"]),
        extension: maybe(&line["extension"]),
        volatility: value(VOLATILITIES, &line["volatility"]),
        security_definer: line["security_definer"].as_bool().unwrap(),
        has_settings: line["has_settings"].as_bool().unwrap(),
        superuser_owned: line["superuser_owned"].as_bool().unwrap(),
        language: text_of(&line["language"]),
        source: text_of(&line["source"]),
        sql_body: maybe(&line["sql_body"]),
        defaults: maybe(&line["defaults"]),
        argument_names: items(&line["argument_names"]).map(text_of).collect(),
        types: oids(&line["types"]),
        aggregate: aggregate.map(|parts| AggregateFact {
            functions: oids(&parts["functions"]),
            operators: oids(&parts["operators"]),
            types: oids(&parts["types"]),
        }),
    }
}

fn operator(line: &Value) -> OperatorFact {
    OperatorFact {
        name: name(&line["name"]),
        functions: oids(&line["functions"]),
        stand_ins: oids(&line["stand_ins"]),
    }
}

fn type_(line: &Value) -> TypeFact {
    TypeFact {
        name: name(&line["name"]),
        kind: value(TYPE_KINDS, &line["kind"]),
        extension: maybe(&line["extension"]),
        relation: Some(&line["relation"]).filter(|relation| !relation.is_null()).map(oid),
        parts: oids(&line["parts"]),
        functions: oids(&line["functions"]),
        json_casts: oids(&line["json_casts"]),
        checks: trees(&line["checks"]),
    }
}

fn relation(line: &Value) -> RelationFact {
    RelationFact {
        name: name(&line["name"]),
        kind: value(RELATION_KINDS, &line["kind"]),
        extension: maybe(&line["extension"]),
        runs: trees(&line["runs"]),
        folds: trees(&line["folds"]),
        children: oids(&line["children"]),
    }
}

fn cast(item: &Value) -> CastFact {
    CastFact { function: oid(&item[0]), target: value(CAST_TARGETS, &item[1]) }
}

fn name(value: &Value) -> ObjectName {
    ObjectName { schema: text_of(&value[0]), name: text_of(&value[1]) }
}

fn trees(list: &Value) -> Vec<Expression> {
    items(list).map(|item| Expression { owner: text_of(&item[0]), tree: text_of(&item[1]) }).collect()
}

fn oids(list: &Value) -> Vec<Oid> {
    items(list).map(oid).collect()
}

fn oid(number: &Value) -> Oid {
    Oid(number.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap())
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().unwrap().iter()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn maybe(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn value<T: Copy>(words: &[(T, &str)], word: &Value) -> T {
    words.iter().find(|(_, known)| word == known).unwrap_or_else(|| panic!("{word} stands for nothing")).0
}
