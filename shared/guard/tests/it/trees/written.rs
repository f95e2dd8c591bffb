//! What `recorded` reads, as it is written.

use std::collections::BTreeSet;
use std::fmt::Debug;

use guard::facts::{Expression, Facts, FunctionFact, ObjectName, Oid, OperatorFact, RelationFact, TypeFact};
use serde_json::{Value, json};

use super::recorded::{CAST_TARGETS, RELATION_KINDS, Recording, TYPE_KINDS, VOLATILITIES};

/// One object a line.
pub(crate) fn written(recording: &Recording) -> String {
    let Facts { functions, operators, types, relations, function_names, operator_names, type_names, casts } =
        &recording.facts;
    let named = |kind: &str, name: &String, oids: &[Oid]| json!({kind: name, "oids": numbers(oids)});
    let mut facts: BTreeSet<String> = BTreeSet::new();
    facts.extend(functions.iter().map(|(oid, fact)| function(*oid, fact).to_string()));
    facts.extend(operators.iter().map(|(oid, fact)| operator(*oid, fact).to_string()));
    facts.extend(types.iter().map(|(oid, fact)| type_(*oid, fact).to_string()));
    facts.extend(relations.iter().map(|(oid, fact)| relation(*oid, fact).to_string()));
    facts.extend(function_names.iter().map(|(name, oids)| named("function name", name, oids).to_string()));
    facts.extend(operator_names.iter().map(|(name, oids)| named("operator name", name, oids).to_string()));
    facts.extend(type_names.iter().map(|(name, oids)| named("type name", name, oids).to_string()));
    facts.extend(casts.iter().map(|casts| {
        let casts: Vec<Value> =
            casts.iter().map(|cast| json!([cast.function.0, word(CAST_TARGETS, cast.target)])).collect();
        json!({"casts": casts}).to_string()
    }));
    let trees = recording.trees.iter().map(|(sql, tree)| json!({"statement": sql, "tree": tree}).to_string());
    facts.into_iter().chain(trees).map(|line| line + "\n").collect()
}

fn function(oid: Oid, fact: &FunctionFact) -> Value {
    let FunctionFact {
        name,
        extension,
        volatility,
        security_definer,
        has_settings,
        superuser_owned,
        language,
        source,
        sql_body,
        defaults,
        argument_names,
        types,
        aggregate,
    } = fact;
    json!({
        "function": oid.0, "name": pair(name), "extension": extension, "volatility": word(VOLATILITIES, *volatility),
        "security_definer": security_definer, "has_settings": has_settings, "superuser_owned": superuser_owned,
        "language": language, "source": source, "sql_body": sql_body, "defaults": defaults,
        "argument_names": argument_names, "types": numbers(types),
        "aggregate": aggregate.as_ref().map(|parts| json!({
            "functions": numbers(&parts.functions), "operators": numbers(&parts.operators),
            "types": numbers(&parts.types)})),
    })
}

fn operator(oid: Oid, fact: &OperatorFact) -> Value {
    let OperatorFact { name, functions, stand_ins } = fact;
    json!({"operator": oid.0, "name": pair(name), "functions": numbers(functions), "stand_ins": numbers(stand_ins)})
}

fn type_(oid: Oid, fact: &TypeFact) -> Value {
    let TypeFact { name, kind, extension, relation, parts, functions, json_casts, checks } = fact;
    json!({
        "type": oid.0, "name": pair(name), "kind": word(TYPE_KINDS, *kind), "extension": extension,
        "relation": relation.map(|oid| oid.0), "parts": numbers(parts), "functions": numbers(functions),
        "json_casts": numbers(json_casts), "checks": trees_of(checks),
    })
}

fn relation(oid: Oid, fact: &RelationFact) -> Value {
    let RelationFact { name, kind, extension, runs, folds, children } = fact;
    json!({
        "relation": oid.0, "name": pair(name), "kind": word(RELATION_KINDS, *kind), "extension": extension,
        "runs": trees_of(runs), "folds": trees_of(folds), "children": numbers(children),
    })
}

fn pair(name: &ObjectName) -> Value {
    json!([name.schema, name.name])
}

fn trees_of(expressions: &[Expression]) -> Value {
    expressions.iter().map(|expression| json!([expression.owner, expression.tree])).collect()
}

/// In the order of the numbers: those of another database come in another.
fn numbers(oids: &[Oid]) -> Vec<u32> {
    let mut numbers: Vec<u32> = oids.iter().map(|oid| oid.0).collect();
    numbers.sort_unstable();
    numbers
}

fn word<T: Copy + PartialEq + Debug>(words: &[(T, &'static str)], value: T) -> &'static str {
    words.iter().find(|(known, _)| *known == value).unwrap_or_else(|| panic!("{value:?} has no word")).1
}
