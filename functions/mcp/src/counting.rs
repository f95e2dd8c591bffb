//! Counting a caller's calls of a node, before they do anything.

use std::time::Duration;

use analyst::{Failure, Kind};
use state::{CallLimits, Counted, CountedCall, Entry, Limit};
use uuid::Uuid;

use crate::tools::Work;

/// How long after its time a call may still be there.
const MARGIN: Duration = Duration::from_secs(2);

impl Work<'_> {
    /// Lets the call in, or says when to come again.
    pub(crate) async fn enter(&self) -> Result<Entry, Failure> {
        let own = &self.node.limits;
        let limits = CallLimits { per_minute: own.calls_per_minute, at_once: own.concurrent_calls };
        let call = CountedCall {
            workspace: self.workspace,
            caller: self.caller,
            flow: self.flow,
            node: self.node.id.as_str(),
            id: &Uuid::now_v7().to_string(),
            end: self.deadline(self.scope.ceilings.seconds) + MARGIN,
        };
        let outcome = self.app.limiter.enter(&call, limits).await;
        self.counted(match &outcome {
            Ok(entry) => entry.counted,
            Err(over) => over.counted,
        });
        outcome.map_err(|over| {
            let code = match over.limit {
                Limit::PerMinute(_) => "too_many_calls",
                Limit::AtOnce(_) => "too_many_at_once",
            };
            let seconds = over.wait.as_secs();
            Failure::new(Kind::Refusal, code, over.to_string())
                .hinting(format!("wait {seconds} seconds, then call again"))
        })
    }

    fn counted(&self, by: Counted) {
        if let Counted::Here(code) = by {
            tracing::warn!(code, "calls are counted by this instance alone");
            self.report(|report| report.counted_here = Some(code));
        }
    }
}
