//! The line that says of a page which rows it has, and what can be had besides.

use analyst::pages::End;

use super::record::{Place, Record};

/// How long a cursor lives.
const LIFE: &str = "it lives 5 minutes after its last use, and 30 after the first page";

pub(super) fn of(record: &Record, place: Place) -> String {
    let Place { from, to, page } = place;
    let last = record.last();
    let mut parts = Vec::new();
    let of = if record.index.is_whole() { format!(" of {last}") } else { String::new() };
    parts.push(if from == to { "no rows".to_owned() } else { format!("rows {} to {to}{of}", from + 1) });
    let rows = record.shape.rows;
    parts.push(if !record.numbered {
        "page numbers are not stable, since pages end by bytes".to_owned()
    } else if from.is_multiple_of(rows) {
        format!("page {page}, and page numbers are stable: each begins {rows} rows after the one before")
    } else {
        format!("these rows begin within page {}, and page numbers are stable", from / rows + 1)
    });
    let kept = match (record.index.end, to < last) {
        (End::Result, true) => None,
        (End::Result, false) => Some("nothing follows".to_owned()),
        (End::Limit, true) => Some(format!("no rows beyond row {last} are given of one result")),
        (End::Limit, false) => Some("there are more, and no more are given of one result".to_owned()),
        (_, true) => Some(format!(
            "only rows up to row {last} are kept: going on behind them runs the statement again"
        )),
        (_, false) => Some(format!(
            "the kept rows end here and there are more: going on runs the statement again and passes over its first {to} rows, \
             whose order may have shifted by then"
        )),
    };
    parts.extend(kept);
    if to < last || record.index.goes_on() {
        parts.push(format!("`next_page` with `cursor` reads on; {LIFE}"));
    }
    parts.join("; ")
}
