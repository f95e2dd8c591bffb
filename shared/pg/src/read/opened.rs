//! How a first flight ends, whatever the lane.

use std::ops::ControlFlow;

use tokio::time::Instant;

use super::{Attempt, End, Failure, Reading};
use crate::memory::{Known, Lane};
use crate::read_error::ReadError;

/// How a first flight ended.
pub(super) enum Opened<Parsed> {
    /// The statement is parsed and waits.
    Parsed(Box<Parsed>),
    /// What parsing may run is not what was judged.
    ParsingChanged,
    /// The login does not have this lane.
    NotThisLane,
    /// A setting was refused that can be done without.
    Learned,
    Failed(Box<(Failure, At)>),
}

/// Which text an error about the caller's statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Judged,
    Runs,
}

impl<Parsed> Opened<Parsed> {
    pub(super) fn failed(failure: Failure, at: At) -> Self {
        Self::Failed(Box::new((failure, at)))
    }
}

impl Reading<'_> {
    /// Goes on with a statement that is parsed; else tidies up, and says how the attempt ended.
    pub(super) async fn parsed<Parsed>(
        &mut self,
        opened: Opened<Parsed>,
        lane: Lane,
        known: &Known,
        began: Instant,
    ) -> Result<ControlFlow<Attempt, Parsed>, ReadError> {
        let (failure, at) = match opened {
            Opened::Parsed(parsed) => return Ok(ControlFlow::Continue(*parsed)),
            Opened::Failed(failed) => *failed,
            Opened::ParsingChanged => {
                self.connection.settle().await?;
                self.memory.forget_parsing();
                return Ok(ControlFlow::Break(Attempt::Again));
            }
            Opened::NotThisLane => {
                self.connection.settle().await?;
                return self.leave_lane(lane).map(ControlFlow::Break);
            }
            Opened::Learned => {
                self.connection.settle().await?;
                return Ok(ControlFlow::Break(Attempt::Again));
            }
        };
        // The server may have ended the connection along with the statement; its error says more than that.
        let settled = self.connection.settle().await;
        if matches!(failure, Failure::Theirs(_))
            && settled.is_ok()
            && let Some(refusal) = self.judge_names(known).await?
        {
            return Ok(ControlFlow::Break(Attempt::done(End::Refused(refusal))));
        }
        let candidate = self.question.candidate;
        let position = |position| match at {
            At::Judged => candidate.judged_position(position),
            At::Runs => candidate.caller_position(position),
        };
        Err(self.error(failure, position, began))
    }

    /// Goes on with the next lane, if there is one.
    pub(super) fn leave_lane(&self, lane: Lane) -> Result<Attempt, ReadError> {
        match self.memory.leave_lane(lane) {
            Some(_) => Ok(Attempt::Again),
            None => Err(ReadError::NoLane { major: self.connection.server_major() }),
        }
    }

    /// Ends a transaction in which the statement waits, and says no.
    pub(super) async fn refuse(&mut self, refusal: guard::Refusal) -> Result<Attempt, ReadError> {
        self.connection.settle().await?;
        Ok(Attempt::done(End::Refused(refusal)))
    }
}
