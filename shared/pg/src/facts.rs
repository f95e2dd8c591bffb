//! What the catalog says of the objects that a judgement asks for.

mod sql;

use std::collections::HashMap;
use std::sync::Arc;

use guard::facts::{
    AggregateFact, CastFact, CastTarget, Expression, Facts, FunctionFact, Needs, ObjectName, Oid,
    OperatorFact, RelationFact, RelationKind, TypeFact, TypeKind, Volatility,
};
use tokio::time::{Instant, timeout_at};

use crate::connection::Connection;
use crate::memory::{self, Versions};
use crate::own::{Ask, Table};
use crate::read_error::ReadError;
use crate::search_path::SearchPath;

type Row = Vec<Option<String>>;

impl Connection {
    /// Asks for everything that is needed, in one flight. What is not found is left out.
    pub async fn facts(&mut self, needs: &Needs, deadline: Instant) -> Result<Facts, ReadError> {
        let began = Instant::now();
        let guard = self.begin()?;
        let outcome = timeout_at(deadline, self.facts_within(needs, deadline)).await;
        self.end(guard, outcome, began).await.map(|(facts, _)| facts)
    }

    /// The same where the connection is claimed already, with the versions that the facts are of. They are read first: what
    /// changes in between has a version that no gate lets pass.
    pub(crate) async fn facts_within(
        &mut self,
        needs: &Needs,
        deadline: Instant,
    ) -> Result<(Facts, Versions), ReadError> {
        let wanted: Vec<Option<String>> = memory::parameters(needs).into_iter().map(Some).collect();
        let [relations, functions, operators, types, function_names, operator_names, type_names, _] =
            <[_; 8]>::try_from(wanted.clone()).map_err(|_| ReadError::out_of_turn())?;
        let ask = |sql, parameter| Ask { sql, parameters: vec![parameter] };
        let asks = [
            Ask { sql: memory::VERSIONS, parameters: wanted },
            ask(sql::FUNCTIONS, functions),
            ask(sql::OPERATORS, operators),
            ask(sql::TYPES, types),
            ask(sql::RELATIONS, relations),
            ask(sql::FUNCTION_NAMES, function_names),
            ask(sql::OPERATOR_NAMES, operator_names),
            ask(sql::TYPE_NAMES, type_names),
            Ask { sql: sql::CASTS, parameters: Vec::new() },
        ];
        // Temporary objects, which a pooler may have left, are else found before PostgreSQL's own.
        let path = SearchPath::new(["pg_catalog", "pg_temp"]).map_err(|_| ReadError::out_of_turn())?;
        let tables = self.ask(&asks, Some(&path), deadline).await?;
        let [
            versions,
            functions,
            operators,
            types,
            relations,
            function_names,
            operator_names,
            type_names,
            casts,
        ] = <[Table; 9]>::try_from(tables).map_err(|_| ReadError::out_of_turn())?;
        let mut facts = Facts {
            functions: functions.into_iter().filter_map(function).map(shared).collect(),
            operators: operators.into_iter().filter_map(operator).map(shared).collect(),
            types: types.into_iter().filter_map(type_).map(shared).collect(),
            relations: relations.into_iter().filter_map(relation).map(shared).collect(),
            function_names: needs.function_names.iter().map(|name| (name.clone(), Vec::new())).collect(),
            operator_names: needs.operator_names.iter().map(|name| (name.clone(), Vec::new())).collect(),
            type_names: needs.type_names.iter().map(|name| (name.clone(), Vec::new())).collect(),
            casts: needs.casts.then(|| casts.into_iter().filter_map(cast).collect()),
        };
        by_name(function_names, &mut facts.function_names);
        by_name(operator_names, &mut facts.operator_names);
        by_name(type_names, &mut facts.type_names);
        Ok((facts, Versions::read(versions)))
    }
}

fn shared<Fact>((oid, fact): (Oid, Fact)) -> (Oid, Arc<Fact>) {
    (oid, Arc::new(fact))
}

fn by_name(rows: Table, found: &mut HashMap<String, Vec<Oid>>) {
    for row in rows {
        if let Ok([Some(name), Some(number)]) = <[Option<String>; 2]>::try_from(row)
            && let (Some(list), Some(oid)) = (found.get_mut(&name), oid(&number))
        {
            list.push(oid);
        }
    }
}

fn function(row: Row) -> Option<(Oid, FunctionFact)> {
    let [
        number,
        schema,
        name,
        extension,
        volatility,
        definer,
        settings,
        superuser,
        language,
        source,
        body,
        defaults,
        arguments,
        signature,
        kind,
        functions,
        operators,
        types,
    ] = <[Option<String>; 18]>::try_from(row).ok()?;
    let aggregate = (kind.as_deref() == Some("a")).then(|| {
        Some(AggregateFact { functions: list(functions)?, operators: list(operators)?, types: list(types)? })
    });
    let fact = FunctionFact {
        name: ObjectName { schema: schema?, name: name? },
        extension,
        volatility: match volatility.as_deref() {
            Some("i") => Volatility::Immutable,
            Some("s") => Volatility::Stable,
            _ => Volatility::Volatile,
        },
        security_definer: is_not_false(definer.as_deref()),
        has_settings: is_not_false(settings.as_deref()),
        superuser_owned: is_not_false(superuser.as_deref()),
        // A procedure or a window function is none of the languages that are read.
        language: if matches!(kind.as_deref(), Some("f" | "a")) { language? } else { String::new() },
        source: source?,
        sql_body: body,
        defaults,
        argument_names: arguments.map_or(Some(Vec::new()), |names| serde_json::from_str(&names).ok())?,
        types: list(signature)?,
        aggregate: match aggregate {
            Some(parts) => Some(parts?),
            None => None,
        },
    };
    Some((oid(&number?)?, fact))
}

fn operator(row: Row) -> Option<(Oid, OperatorFact)> {
    let [number, schema, name, functions, stand_ins] = <[Option<String>; 5]>::try_from(row).ok()?;
    let name = ObjectName { schema: schema?, name: name? };
    Some((oid(&number?)?, OperatorFact { name, functions: list(functions)?, stand_ins: list(stand_ins)? }))
}

fn cast(row: Row) -> Option<CastFact> {
    let [function, target] = <[Option<String>; 2]>::try_from(row).ok()?;
    let target = match target?.as_str() {
        "json" => CastTarget::Json,
        "text" => CastTarget::Text,
        _ => CastTarget::Other,
    };
    Some(CastFact { function: oid(&function?)?, target })
}

fn type_(row: Row) -> Option<(Oid, TypeFact)> {
    let [number, schema, name, kind, extension, relation, parts, functions, json_casts, checks] =
        <[Option<String>; 10]>::try_from(row).ok()?;
    let fact = TypeFact {
        name: ObjectName { schema: schema?, name: name? },
        kind: match kind?.as_str() {
            "b" => TypeKind::Base,
            "c" => TypeKind::Composite,
            "d" => TypeKind::Domain,
            "e" => TypeKind::Enum,
            "p" => TypeKind::Pseudo,
            "r" | "m" => TypeKind::Range,
            _ => return None,
        },
        extension,
        relation: match relation {
            Some(number) => Some(oid(&number)?),
            None => None,
        },
        parts: list(parts)?,
        functions: list(functions)?,
        json_casts: list(json_casts)?,
        checks: expressions(checks)?,
    };
    Some((oid(&number?)?, fact))
}

fn relation(row: Row) -> Option<(Oid, RelationFact)> {
    let [number, schema, name, kind, wrapper, extension, runs, folds, children] =
        <[Option<String>; 9]>::try_from(row).ok()?;
    let fact = RelationFact {
        name: ObjectName { schema: schema?, name: name? },
        kind: match kind?.as_str() {
            "r" | "p" => RelationKind::Table,
            "v" => RelationKind::View,
            "m" => RelationKind::MaterializedView,
            "f" if wrapper.as_deref() == Some("postgres_fdw") => RelationKind::PostgresForeignTable,
            "f" => RelationKind::OtherForeignTable,
            "S" => RelationKind::Sequence,
            "t" => RelationKind::Toast,
            _ => RelationKind::Other,
        },
        extension,
        runs: expressions(runs)?,
        folds: expressions(folds)?,
        children: list(children)?,
    };
    Some((oid(&number?)?, fact))
}

/// A truth value that counts as true unless the catalog says false.
fn is_not_false(value: Option<&str>) -> bool {
    value != Some("f")
}

fn oid(number: &str) -> Option<Oid> {
    number.parse().ok().map(Oid)
}

fn list(json: Option<String>) -> Option<Vec<Oid>> {
    let numbers: Vec<u32> = serde_json::from_str(&json?).ok()?;
    Some(numbers.into_iter().map(Oid).collect())
}

fn expressions(json: Option<String>) -> Option<Vec<Expression>> {
    let pairs: Vec<(String, String)> = serde_json::from_str(&json?).ok()?;
    Some(pairs.into_iter().map(|(owner, tree)| Expression { owner, tree }).collect())
}
