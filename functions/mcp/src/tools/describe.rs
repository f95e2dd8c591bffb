//! `describe`: one relation, as lines of text.

use analyst::{Failure, Scope};
use rmcp::model::JsonObject;
use serde_json::Value;

use super::schema::{input, list, names_to_values, output, text};
use super::{Listed, Work};
use crate::arguments::Arguments;

const NAMES: &[&str] = &["name", "relation", "table", "view"];

pub(super) fn listed(scope: &Scope) -> Listed {
    let which =
        if scope.relations.is_empty() { "a table or view" } else { "one of the selected tables and views" };
    Listed {
        title: "Describe a table or view",
        description: format!(
            "Shows the columns of {which} with types, defaults and comments, its primary key, its foreign keys, the values of \
             columns that hold only a few and, for a view, its definition. Call it before querying a relation for the first time."
        ),
        input: input(
            vec![(
                "name",
                text("`schema.name`, or a bare name that fits one relation; aliases: relation, table, view."),
            )],
            &["name"],
        ),
        output: output(vec![
            ("name", text("Schema-qualified name.")),
            ("kind", text("table, partitioned table, foreign table, view or materialized view.")),
            ("comment", text("The relation's comment.")),
            (
                "columns",
                list("One line a column: name, type, not null, default, comment.", text("A column.")),
            ),
            ("primaryKey", list("Columns of the primary key.", text("A column."))),
            ("relationships", list("Foreign keys, and what views read.", text("A relationship."))),
            ("definition", text("A view's statement.")),
            ("values", names_to_values("Columns that hold a few short values, and all of these, sorted.")),
        ]),
    }
}

pub(super) async fn call(given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
    let arguments = Arguments::new("describe", given, NAMES)?;
    let name = arguments.text(NAMES)?.ok_or_else(|| {
        Failure::argument("the argument `name` is missing").hinting("send `name`, such as `public.orders`")
    })?;
    let deadline = work.deadline(work.scope.ceilings.seconds);
    let described =
        analyst::describe::describe(name, &work.scope, deadline, async || work.reach(deadline).await).await?;
    Work::json(&described)
}
