//! What a caller wishes of an answer's size; a node's limits lower it, and say so.

use analyst::{Failure, Scope};
use pg::values::RowFormat;
use serde_json::Value;
use service::Limits;

use super::schema::{whole, word};
use crate::arguments::Arguments;
use crate::paging::Shape;

/// The fewest bytes that hold a row worth reading.
const FEWEST_BYTES: u64 = 256;

const FORMATS: &[(&str, RowFormat)] =
    &[("arrays", RowFormat::Arrays), ("objects", RowFormat::Objects), ("table", RowFormat::Table)];

/// A caller's wishes; none of them widens anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wishes {
    rows: Option<u32>,
    bytes: Option<u32>,
    seconds: Option<u32>,
    format: Option<RowFormat>,
}

impl Wishes {
    pub(super) fn read(arguments: &Arguments<'_>) -> Result<Self, Failure> {
        let whole = |name, low, most: u64| -> Result<Option<u32>, Failure> {
            Ok(arguments.whole(name, low..=most)?.map(|number| u32::try_from(number).unwrap_or(u32::MAX)))
        };
        Ok(Self {
            rows: whole("max_rows", 1, Limits::MOST_ROWS)?,
            bytes: whole("max_bytes", FEWEST_BYTES, Limits::MOST_BYTES)?,
            seconds: whole("timeout_seconds", 1, Limits::MOST_SECONDS)?,
            format: arguments.choice("format", FORMATS)?,
        })
    }

    /// The size of a page, `usual` where nothing is wished, with at most `most_rows` rows.
    pub(crate) fn shape(
        &self,
        scope: &Scope,
        usual: Shape,
        most_rows: u32,
        lowered: &mut Vec<String>,
    ) -> Shape {
        let limits = scope.ceilings;
        let bytes = u32::try_from(limits.bytes).unwrap_or(u32::MAX);
        Shape {
            rows: at_most("max_rows", self.rows, limits.rows.min(most_rows), lowered).unwrap_or(usual.rows),
            bytes: at_most("max_bytes", self.bytes, bytes, lowered)
                .map_or(usual.bytes, |bytes| bytes as usize),
            format: self.format.unwrap_or(usual.format),
        }
    }

    pub(crate) fn seconds(&self, scope: &Scope, lowered: &mut Vec<String>) -> u32 {
        let limit = scope.ceilings.seconds;
        at_most("timeout_seconds", self.seconds, limit, lowered).unwrap_or(limit)
    }
}

fn at_most(name: &str, wished: Option<u32>, limit: u32, lowered: &mut Vec<String>) -> Option<u32> {
    let wished = wished?;
    if wished > limit {
        lowered.push(format!("`{name}` was lowered to this node's limit of {limit}"));
    }
    Some(wished.min(limit))
}

/// The arguments of a page's size as they are listed.
pub(super) fn listed() -> Vec<(&'static str, Value)> {
    vec![
        ("max_rows", whole("Rows at most, if fewer than the limit.", 1, Some(Limits::MOST_ROWS))),
        (
            "max_bytes",
            whole("Bytes of rows at most, if fewer than the limit.", FEWEST_BYTES, Some(Limits::MOST_BYTES)),
        ),
    ]
}

/// The argument of a page's format as it is listed.
pub(super) fn format_listed() -> (&'static str, Value) {
    let formats: Vec<&str> = FORMATS.iter().map(|(word, _)| *word).collect();
    ("format", word("How rows are written; leave out for this node's own.", &formats))
}
