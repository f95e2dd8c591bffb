//! `pq_…`: a pinned query, of which only the parameters are the caller's.

use analyst::{Failure, Scope, pinned};
use pins::{Compiled, Pin};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use state::Node;

use super::schema::{list, object_of, output, text, truth, whole};
use super::{Work, label, query, tool};
use crate::paging::{PinCall, Shape, Statement};

/// A pin as it is listed; none for one that lacks a type, which none that stands does.
pub(crate) fn definition(pin: &Pin, node: &Node, scope: &Scope) -> Option<Tool> {
    let Value::Object(input) = pin.input_schema()? else { return None };
    let purpose = pin.purpose().trim_end_matches('.');
    let rows = pin.row_cap().map_or(scope.ceilings.rows, |cap| scope.ceilings.rows.min(cap.get()));
    let description = format!(
        "{purpose}. A pinned query: a fixed statement that a person wrote and tested, of which only the parameters are \
         yours. An answer holds at most {rows} rows. Database: {}.",
        label(node)
    );
    let mut properties = query::answer();
    properties.extend(answer());
    Some(tool(pin.name().as_str(), purpose, description, input, output(properties)))
}

/// The properties of a pin's answer besides those of every answer with rows.
pub(super) fn answer() -> Vec<(&'static str, Value)> {
    let columns = |what: &str| {
        list(what, object_of(vec![("name", text("Its name.")), ("type", text("Its PostgreSQL type."))]))
    };
    vec![
        (
            "pinned",
            object_of(vec![
                ("id", text("The pin's id.")),
                ("version", whole("The pin's version.", 0, None)),
                ("statementHash", text("SHA-256 of its statement and parameters.")),
                ("tool", text("This tool.")),
            ]),
        ),
        (
            "possiblyTruncated",
            truth("The result has as many rows as the statement's own LIMIT; there may be more."),
        ),
        (
            "columnsChanged",
            object_of(vec![
                ("tested", columns("The columns of the test.")),
                ("returned", columns("The columns of this answer.")),
            ]),
        ),
        ("warning", text("That the pin needs a re-test, and why.")),
    ]
}

/// Verifies the stamp and runs the saved statement, under the guard as any other.
pub(super) async fn call(pin: &Pin, given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
    let compiled = compiled(pin)?;
    work.report(|report| report.sql = Some(compiled.sql().to_owned()));
    work.verify(pin).await?;
    let call = pinned::Call {
        pin,
        compiled: &compiled,
        arguments: given,
        token: work.token,
        format: work.row_format(),
    };
    let ask = call.ask(&work.scope)?;
    let deadline = work.deadline(work.scope.ceilings.seconds);
    let mut answer = pinned::run(&ask, &work.scope, deadline, || work.reach(deadline)).await?;
    work.report(|report| report.answered(&answer));
    let called = PinCall { id: pin.id().to_owned(), arguments: given.clone() };
    let shape = Shape { rows: ask.rows, bytes: ask.bytes, format: ask.format };
    let statement = Statement { sql: ask.sql.to_owned(), parameters: ask.parameters, pin: Some(called) };
    work.keep(&mut answer, statement, shape).await;
    Work::json(&call.pinned(answer, 0))
}

/// The pin's statement, ready to run.
pub(crate) fn compiled(pin: &Pin) -> Result<Compiled, Failure> {
    pin.compile().map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Failure::new(
            analyst::Kind::Refusal,
            "pin_not_tested",
            format!("the pinned query `{}` is not finished: {}", pin.name().as_str(), problems.join("; ")),
        )
        .hinting("its owner finishes and tests it in the editor and publishes the flow")
    })
}
