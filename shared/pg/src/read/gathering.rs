//! A result's rows as they arrive: those of the page, and what is read on past it.

use std::ops::ControlFlow;
use std::time::Duration;

use tokio::time::Instant;

use super::ReadPlan;
use crate::raw::{RawValue, Stopped};
use crate::values::{Column, Fit, Page, PageBuilder, PageLimits};

/// Bytes that a value costs besides its text.
const VALUE_COST: usize = 8;
/// What is left of the time for the statement when reading on ends, so that the page is still answered.
const MARGIN: Duration = Duration::from_millis(150);

/// One row.
type Row = Vec<Option<RawValue>>;

/// A page, and how far to read on once it is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePlan {
    /// What the page holds besides [`ReadPlan::row_limit`] rows.
    pub limits: PageLimits,
    /// Rows past the page that are kept, at most; one more, and the result counts as stopped.
    pub rows: usize,
    /// Bytes of them, but for the row that goes past them.
    pub bytes: usize,
    /// How long reading on takes.
    pub time: Duration,
}

/// Takes rows until enough was read.
pub(super) struct Gathering<'a> {
    plan: &'a ReadPlan,
    rows: Vec<Row>,
    bytes: usize,
    builder: Option<PageBuilder<'a>>,
    past: Option<Past>,
}

/// Reading on past the page.
#[derive(Debug, Clone, Copy)]
struct Past {
    /// Rows of the page.
    shown: usize,
    /// Bytes until then.
    bytes: usize,
    until: Instant,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(plan: &'a ReadPlan) -> Self {
        Self { plan, rows: Vec::new(), bytes: 0, builder: None, past: None }
    }

    /// When reading on ends; none while the page is not full.
    pub(super) fn until(&self) -> Option<Instant> {
        self.past.map(|past| past.until)
    }

    /// Takes a row, or says why no more are taken.
    pub(super) fn take(&mut self, row: Row, columns: &'a [Column]) -> ControlFlow<Stopped> {
        if self.past.is_none() {
            // Only a row that finds no room tells that there are more.
            if let Err(full) = self.show(&row, columns) {
                let Some(page) = &self.plan.page else { return ControlFlow::Break(full) };
                let last = self.plan.deadline.checked_sub(MARGIN).unwrap_or(self.plan.deadline);
                let until = last.min(Instant::now() + page.time);
                self.past = Some(Past { shown: self.rows.len(), bytes: self.bytes, until });
            }
        }
        if let (Some(past), Some(page)) = (&self.past, &self.plan.page) {
            if self.rows.len() - past.shown >= page.rows {
                return ControlFlow::Break(Stopped::Rows);
            }
            if self.bytes - past.bytes > page.bytes {
                return ControlFlow::Break(Stopped::Bytes);
            }
            if Instant::now() >= past.until {
                return ControlFlow::Break(Stopped::Time);
            }
        }
        self.bytes += row.iter().map(|value| cost(value.as_ref())).sum::<usize>();
        self.rows.push(row);
        ControlFlow::Continue(())
    }

    /// Puts a row on the page, or says what stands against it.
    fn show(&mut self, row: &Row, columns: &'a [Column]) -> Result<(), Stopped> {
        if self.rows.len() >= self.plan.row_limit {
            return Err(Stopped::Rows);
        }
        if self.bytes > self.plan.raw_byte_budget {
            return Err(Stopped::Bytes);
        }
        let Some(page) = &self.plan.page else { return Ok(()) };
        let builder = self.builder.get_or_insert_with(|| PageBuilder::new(columns, page.limits));
        match builder.push(row) {
            Fit::Taken => Ok(()),
            Fit::Full => Err(Stopped::Bytes),
        }
    }

    /// All rows, and the page where one was planned.
    pub(super) fn finish(self, columns: &[Column]) -> (Vec<Row>, Option<Page>) {
        let empty = || self.plan.page.as_ref().map(|page| PageBuilder::new(columns, page.limits).finish());
        let page = match self.builder {
            Some(builder) => Some(builder.finish()),
            None => empty(),
        };
        (self.rows, page)
    }
}

fn cost(value: Option<&RawValue>) -> usize {
    VALUE_COST + value.map_or(0, |value| value.bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::TypeBook;
    use crate::values::{Cut, RowFormat};

    const TEXT: u32 = 25;

    fn columns() -> Vec<Column> {
        vec![Column { name: "a".to_owned(), fact: TypeBook::default().resolve(TEXT, -1) }]
    }

    fn plan(row_limit: usize, max_bytes: usize, rows: usize, bytes: usize) -> ReadPlan {
        let limits = PageLimits { max_bytes, cut: Cut::default(), format: RowFormat::Arrays };
        ReadPlan {
            search_path: None,
            claims: None,
            deadline: Instant::now() + Duration::from_mins(1),
            row_limit,
            raw_byte_budget: max_bytes * 5,
            keep: 100,
            cost: None,
            page: Some(PagePlan { limits, rows, bytes, time: Duration::from_secs(10) }),
        }
    }

    /// Feeds equal rows of three letters: how many were kept, how many the page shows, and what ended it.
    fn feed(plan: &ReadPlan, rows: usize) -> (usize, usize, Option<Stopped>) {
        let columns = columns();
        let mut gathering = Gathering::new(plan);
        let value = RawValue { bytes: b"abc".to_vec(), full_chars: 3, full_bytes: 3 };
        let mut stopped = None;
        for _ in 0..rows {
            if let ControlFlow::Break(why) = gathering.take(vec![Some(value.clone())], &columns) {
                stopped = Some(why);
                break;
            }
        }
        let (rows, page) = gathering.finish(&columns);
        (rows.len(), page.unwrap().row_count, stopped)
    }

    #[test]
    fn a_result_that_fits_stops_at_nothing() {
        for rows in 0..=5 {
            assert_eq!(feed(&plan(5, 1_000, 3, 1_000), rows), (rows, rows, None));
        }
    }

    #[test]
    fn rows_past_the_page_are_kept_up_to_their_number() {
        let plan = plan(5, 1_000, 3, 1_000);
        assert_eq!(feed(&plan, 8), (8, 5, None), "all of it is there");
        assert_eq!(feed(&plan, 9), (8, 5, Some(Stopped::Rows)));
    }

    #[test]
    fn a_page_that_is_full_of_bytes_is_read_past_as_well() {
        // `["abc"]` is seven bytes, and there is a comma between two.
        let page = |rows| plan(100, 2 + 7 * 2 + 1, rows, 1_000);
        assert_eq!(feed(&page(3), 5), (5, 2, None));
        assert_eq!(feed(&page(3), 6), (5, 2, Some(Stopped::Rows)));
        assert_eq!(feed(&page(0), 3), (2, 2, Some(Stopped::Rows)));
    }

    #[test]
    fn bytes_past_the_page_end_with_the_row_that_goes_past_them() {
        let row = VALUE_COST + 3;
        assert_eq!(feed(&plan(2, 1_000, 100, 3 * row), 100), (6, 2, Some(Stopped::Bytes)));
        assert_eq!(feed(&plan(2, 1_000, 100, 3 * row - 1), 100), (5, 2, Some(Stopped::Bytes)));
    }

    #[test]
    fn time_past_the_page_ends_before_the_statements_own() {
        let mut late = plan(2, 1_000, 100, 1_000);
        late.deadline = Instant::now() + MARGIN;
        assert_eq!(feed(&late, 100), (2, 2, Some(Stopped::Time)));
    }
}
