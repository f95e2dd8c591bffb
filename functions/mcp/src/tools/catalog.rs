//! `list_schemas`, `list_tables` and `describe_table`.

use analyst::catalog::{self, Listing};
use analyst::{Failure, Scope};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::schema::{input, list, object_of, output, text, truth, whole};
use super::{Listed, Work};
use crate::arguments::Arguments;

/// Tables of one list unless the caller asks otherwise, and at most.
const TABLES: u64 = 200;
const MOST_TABLES: u64 = 2_000;

pub(super) fn schemas_listed() -> Listed {
    Listed {
        title: "List schemas",
        description:
            "Lists the schemas that hold tables or views which can be read, and how many. Start here in an \
                      unknown database, then call `list_tables`."
                .to_owned(),
        input: input(vec![], &[]),
        output: output(vec![(
            "schemas",
            list(
                "In the order of their names.",
                object_of(vec![
                    ("name", text("The schema.")),
                    ("relations", whole("Readable tables and views in it.", 0, None)),
                    ("comment", text("Its comment.")),
                ]),
            ),
        )]),
    }
}

pub(super) fn tables_listed(scope: &Scope) -> Listed {
    let which = if scope.relations.is_empty() { "that can be read" } else { "that are selected" };
    Listed {
        title: "List tables and views",
        description: format!(
            "Lists the tables and views {which}, of all schemas or of one, with kind, columns, estimated rows and comment; \
             partitions are folded into their parent. Call `describe_table` next."
        ),
        input: input(
            vec![
                ("schema", text("Only this schema, as it is stored; all when left out.")),
                ("limit", whole("Tables at most; 200 when left out.", 1, Some(MOST_TABLES))),
                ("offset", whole("Tables to skip: `nextOffset` of the answer before.", 0, None)),
            ],
            &[],
        ),
        output: output(vec![
            (
                "tables",
                list(
                    "In the order of schema and name.",
                    object_of(vec![
                        ("name", text("Schema-qualified name.")),
                        ("kind", text("table, partitioned table, foreign table, view or materialized view.")),
                        ("columns", whole("Columns that can be read.", 0, None)),
                        ("estimatedRows", whole("The planner's estimate.", 0, None)),
                        ("children", whole("Partitions folded into it.", 0, None)),
                        ("comment", text("Its comment, cut at 120 characters.")),
                    ]),
                ),
            ),
            ("total", whole("Tables and views in all.", 0, None)),
            ("truncated", truth("Whether more follow.")),
            ("nextOffset", whole("The `offset` that goes on.", 0, None)),
        ]),
    }
}

pub(super) fn table_listed() -> Listed {
    let column = object_of(vec![
        ("name", text("The column.")),
        ("type", text("Its type.")),
        ("nullable", truth("Whether NULL can stand in it.")),
        ("default", text("Its default, or its expression if it is generated.")),
        ("generated", text("identity always, identity by default, or expression.")),
        ("comment", text("Its comment.")),
    ]);
    let key = object_of(vec![
        ("from", text("The table that refers.")),
        ("fromColumns", list("Its columns, in key order.", text("A column."))),
        ("to", text("The table referred to.")),
        ("toColumns", list("Its columns, in key order.", text("A column."))),
    ]);
    Listed {
        title: "Describe a table as data",
        description: "Shows one table or view as data: columns with type, nullability, default and comment, primary key, \
                      and foreign keys from and to it."
            .to_owned(),
        input: input(
            vec![
                ("table", text("The table or view: `schema.name`, or a bare name that fits one.")),
                ("schema", text("Its schema, if `table` is a bare name.")),
            ],
            &["table"],
        ),
        output: output(vec![
            ("name", text("Schema-qualified name.")),
            ("kind", text("table, partitioned table, foreign table, view or materialized view.")),
            ("comment", text("The relation's comment.")),
            ("columns", list("In column order.", column)),
            ("primaryKey", list("Columns of the primary key.", text("A column."))),
            ("foreignKeys", list("Keys from and to the table.", key)),
        ]),
    }
}

pub(super) async fn list_schemas(given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
    Arguments::new("list_schemas", given, &[])?;
    let deadline = work.deadline(work.scope.ceilings.seconds);
    Work::json(&catalog::list_schemas(&work.scope, deadline, async || work.open(deadline).await).await?)
}

pub(super) async fn list_tables(given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
    let arguments = Arguments::new("list_tables", given, &["schema", "limit", "offset"])?;
    let limit = arguments.whole("limit", 1..=MOST_TABLES)?.unwrap_or(TABLES);
    let listing = Listing {
        schema: arguments.text(&["schema"])?.map(str::to_owned),
        limit: u32::try_from(limit).unwrap_or(u32::MAX),
        offset: arguments.whole("offset", 0..=i64::MAX.unsigned_abs())?.unwrap_or(0),
    };
    let deadline = work.deadline(work.scope.ceilings.seconds);
    Work::json(
        &catalog::list_tables(&listing, &work.scope, deadline, async || work.open(deadline).await).await?,
    )
}

pub(super) async fn describe_table(given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
    let arguments = Arguments::new("describe_table", given, &["table", "schema"])?;
    let table = arguments.text(&["table"])?.ok_or_else(|| {
        Failure::argument("the argument `table` is missing")
            .hinting(json!({"table": "public.orders"}).to_string())
    })?;
    let schema = arguments.text(&["schema"])?;
    let deadline = work.deadline(work.scope.ceilings.seconds);
    let open = async || work.open(deadline).await;
    Work::json(&catalog::describe_table(table, schema, &work.scope, deadline, open).await?)
}
