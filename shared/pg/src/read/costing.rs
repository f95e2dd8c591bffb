//! What the planner expects of a judged statement, asked in its transaction before it runs. Where it does not say, the statement
//! does not run.

use postgres_protocol::message::backend::Message;
use tokio::time::Instant;

use super::running::Second;
use super::{Failure, Reading};
use crate::flight::{Flight, OTHER_GATE_NAME, PLAN_NAME};
use crate::raw::RawValue;
use crate::read_error::ReadError;
use crate::server_error::ServerError;
use crate::wire::{Event, Rows};

/// Bytes that are kept of a plan. What its root says stands at the beginning.
const MAX_PLAN: usize = 16 << 10;

/// The most that the planner may expect of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostLimits {
    /// Rows of the whole result.
    pub rows: Option<u64>,
    /// Total cost, in the planner's units.
    pub cost: Option<f64>,
}

/// What the planner expects of a statement that ran to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Rows of the result; none where the plan does not say.
    pub rows: Option<f64>,
    /// Total cost; none where the plan does not say.
    pub cost: Option<f64>,
    /// The beginning of the plan, as JSON. It names what views read.
    pub plan: String,
}

/// What came of asking.
pub(super) enum Outcome {
    Within,
    TooCostly(Estimate),
    /// The gate found that something changed since it was judged.
    Stale,
}

impl CostLimits {
    fn allow(&self, estimate: &Estimate) -> bool {
        // No number is no answer, and neither is one that is not finite.
        let within = |expected: Option<f64>, most: f64| expected.is_some_and(|expected| expected <= most);
        #[expect(clippy::cast_precision_loss, reason = "estimates are no exact numbers")]
        let rows = self.rows.is_none_or(|most| within(estimate.rows, most as f64));
        rows && self.cost.is_none_or(|most| within(estimate.cost, most))
    }
}

impl Estimate {
    /// Reads the beginning of what `EXPLAIN (FORMAT JSON)` gives: the root's properties come before the plans below it, each on
    /// a line of its own, and no text in it has a line break.
    fn read(plan: String) -> Self {
        let root = || plan.lines().map(str::trim).take_while(|line| *line != "\"Plans\": [");
        let number = |label: &str| {
            let value = root().find_map(|line| line.strip_prefix(label)?.strip_prefix(": "))?;
            value.trim_end_matches(',').parse::<f64>().ok().filter(|number| number.is_finite())
        };
        Self { rows: number("\"Plan Rows\""), cost: number("\"Total Cost\""), plan }
    }
}

impl Reading<'_> {
    /// Asks for the plan where the plan of reading wants it.
    pub(super) async fn costing(&mut self, second: &Second) -> Result<Outcome, ReadError> {
        let (Some(limits), Some(explain)) = (&self.question.plan.cost, second.statement.plan()) else {
            return Ok(Outcome::Within);
        };
        let began = Instant::now();
        let mut flight = Flight::default();
        let mut fill = || {
            second.gate(&mut flight)?;
            flight.parse_as(PLAN_NAME, explain.text())?.run_named(PLAN_NAME, &second.texts())?;
            // The gate comes again ahead of the statement.
            flight.forget(OTHER_GATE_NAME)?.sync();
            Ok(())
        };
        fill().map_err(ReadError::unsendable)?;
        let connection = &mut *self.connection;
        connection.set_rows(Rows::Keep(MAX_PLAN));
        connection.launch(flight).await?;
        let mut gated = second.gate.is_some();
        let mut plan = String::new();
        let failure = loop {
            match connection.next().await? {
                Event::Row(row) if !gated && plan.is_empty() => {
                    plan = row.first().and_then(Option::as_ref).map(RawValue::text).unwrap_or_default();
                }
                Event::Message(Message::CommandComplete(_)) => gated = false,
                Event::Message(Message::ReadyForQuery(_)) => break None,
                Event::Message(Message::ErrorResponse(body)) => {
                    break Some(ServerError::parse(body.fields()));
                }
                Event::Row(_)
                | Event::Message(
                    Message::ParseComplete | Message::BindComplete | Message::CloseComplete | Message::NoData,
                ) => {}
                Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        };
        // What is printed of this statement is not what is waited for.
        connection.take_notices();
        let Some(error) = failure else {
            let estimate = Estimate::read(plan);
            if limits.allow(&estimate) {
                return Ok(Outcome::Within);
            }
            connection.settle().await?;
            return Ok(Outcome::TooCostly(estimate));
        };
        // The server may have ended the connection along with the statement; its error says more.
        let _ = connection.settle().await;
        if gated && error.sqlstate == "22012" {
            return Ok(Outcome::Stale);
        }
        let failure = if gated { Failure::Ours(error) } else { Failure::Theirs(error) };
        Err(self.error(failure, |position| explain.caller_position(position), began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"[
  {
    "Plan": {
      "Node Type": "Seq Scan",
      "Alias": "a \"Total Cost\": 1",
      "Startup Cost": 0.00,
      "Total Cost": 155.25,
      "Plan Rows": 10000,
      "Plan Width": 4,
      "Plans": [
        {
          "Total Cost": 1.00,
          "Plan Rows": 1
        }
      ]
    }
  }
]"#;

    fn estimate(plan: &str) -> (Option<f64>, Option<f64>) {
        let estimate = Estimate::read(plan.to_owned());
        (estimate.rows, estimate.cost)
    }

    #[test]
    fn the_roots_figures_are_read_whole_or_cut() {
        assert_eq!(estimate(PLAN), (Some(10_000.0), Some(155.25)));
        assert_eq!(estimate(PLAN.split_once("      ]").unwrap().0), (Some(10_000.0), Some(155.25)));
        assert_eq!(estimate(PLAN.split_once("\"Plan Rows\"").unwrap().0), (None, Some(155.25)));
        assert_eq!(estimate(&PLAN.replace("155.25", "NaN").replace("10000", "Infinity")), (None, None));
        assert_eq!(
            estimate("[\n  {\n    \"Plan\": {\n      \"Plans\": [\n  \"Plan Rows\": 1,\n"),
            (None, None)
        );
        assert_eq!(estimate(""), (None, None));
    }

    #[test]
    fn what_is_not_said_is_not_allowed() {
        let limits = |rows, cost| CostLimits { rows, cost };
        let figures = |rows, cost| Estimate { rows, cost, plan: String::new() };
        assert!(limits(Some(10), Some(1.5)).allow(&figures(Some(10.0), Some(1.5))));
        assert!(!limits(Some(10), None).allow(&figures(Some(10.1), Some(0.0))));
        assert!(!limits(None, Some(1.5)).allow(&figures(Some(0.0), Some(1.51))));
        assert!(!limits(Some(10), None).allow(&figures(None, Some(0.0))));
        assert!(!limits(None, Some(1.5)).allow(&figures(Some(0.0), None)));
        assert!(limits(Some(10), None).allow(&figures(Some(1.0), None)), "nobody asks for the cost");
    }
}
