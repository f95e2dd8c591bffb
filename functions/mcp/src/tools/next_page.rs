//! `next_page`: what follows an answer that was cut, from where it is kept.

use analyst::Failure;
use rmcp::model::JsonObject;
use serde_json::Value;
use state::Node;

use super::schema::{input, output, text, whole};
use super::wishes::{self, Wishes};
use super::{Listed, Work, pinned, query};
use crate::arguments::Arguments;
use crate::paging::{By, Turn};

const ACCEPTED: &[&str] = &["cursor", "page", "max_rows", "max_bytes", "format"];

/// The highest number of a page.
pub(super) const MOST_PAGES: u64 = u32::MAX as u64;

pub(super) fn listed(node: &Node) -> Listed {
    let mut properties = query::answer();
    if !node.pins.is_empty() {
        properties.extend(pinned::answer());
    }
    let mut arguments = cursor_listed();
    arguments.extend(wishes::listed());
    arguments.push(wishes::format_listed());
    Listed {
        title: "Read on in a result",
        description: "Gives the rows that follow an answer which was cut, from its `cursor`, without running the statement again: \
                      pages do not change when the data does. Where only a part was kept, the answer's `summary` says so, and \
                      going on behind it runs the statement again. The last page has no cursor."
            .to_owned(),
        input: input(arguments, &["cursor"]),
        output: output(properties),
    }
}

/// The arguments that name a page, as they are listed.
pub(super) fn cursor_listed() -> Vec<(&'static str, Value)> {
    vec![
        ("cursor", text("The `cursor` of an answer that was cut.")),
        (
            "page",
            whole(
                "The number of a page, where the `summary` calls numbers stable; left out, the next one.",
                1,
                Some(MOST_PAGES),
            ),
        ),
    ]
}

/// The number of a page.
pub(super) fn page(arguments: &Arguments<'_>) -> Result<Option<u32>, Failure> {
    let page = arguments.whole("page", 1..=MOST_PAGES)?;
    Ok(page.map(|page| u32::try_from(page).unwrap_or(u32::MAX)))
}

pub(super) async fn call(given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
    let arguments = Arguments::new("next_page", given, ACCEPTED)?;
    let cursor = arguments.text(&["cursor"])?.ok_or_else(|| {
        Failure::argument("the argument `cursor` is missing")
            .hinting("send the `cursor` of an answer that was cut")
    })?;
    let turn = Turn { cursor, page: page(&arguments)?, wishes: Wishes::read(&arguments)?, by: By::NextPage };
    work.turn(turn).await
}
