//! What an instance remembers of one database as one login sees it, so that a call need not ask again: the lane, what the
//! catalog said, and in which versions. Everything in it is checked on the server before it is relied on.

mod gate;
mod stillness;
mod versions;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guard::facts::{Facts, Needs, ObjectName};

pub(crate) use gate::{
    GATE, GATE_MOMENT, LOOK, PARSING, PRINT_LOUDLY, PRINT_LOUDLY_STILL, PRINT_QUIETLY, PRINT_QUIETLY_STILL,
    RESTORE, VERSIONS,
};
use stillness::Stillness;
pub(crate) use versions::{Gate, Versions, names, parameters};

/// Objects that are remembered at most; past them everything is forgotten and asked anew.
const MOST_OBJECTS: usize = 20_000;

/// How long a worse lane is kept to before the best is tried again: a grant may have come.
const WORSE_LANE_FOR: Duration = Duration::from_mins(5);

/// By what way PostgreSQL tells what it resolves a statement to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// It prints the tree to the client alone. Nothing is written; works on a standby, without TEMP, through poolers.
    Quiet,
    /// It keeps the statement as the body of a function that is rolled back.
    Function,
    /// It prints the tree to the client and to its own log.
    Loud,
}

impl Lane {
    /// The word that callers and operators see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Function => "function",
            Self::Loud => "loud",
        }
    }
}

/// What the operator agreed to for one credential. Nothing of it is agreed to unless it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Consent {
    /// Trees may be written to the server's log.
    pub loud: Agreed,
    /// Event triggers on DDL may fire, with the caller's statement as the body of a function.
    pub event_triggers: Agreed,
}

/// An operator's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Agreed {
    /// Nothing was said.
    #[default]
    No,
    /// Agreed.
    Yes,
}

/// What is remembered of one database as one login sees it.
#[derive(Default)]
pub struct Memory {
    consent: Consent,
    known: Mutex<Known>,
    stillness: Mutex<Stillness>,
}

/// The memory's content at one moment.
#[derive(Default, Clone)]
pub(crate) struct Known {
    /// The server it was learned from; anything else is forgotten when it changes.
    pub(crate) server: Option<String>,
    pub(crate) lane: Option<Lane>,
    lane_since: Option<Instant>,
    pub(crate) facts: Arc<Facts>,
    pub(crate) versions: Arc<Versions>,
    pub(crate) parsing: Option<Arc<Parsing>>,
}

/// The types whose values PostgreSQL may make, and check, while it parses a literal: domains with checks, and ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parsing {
    /// Which there are, in which versions.
    pub(crate) version: String,
    /// What the judgement of them looked at.
    pub(crate) relied_on: Needs,
    /// The same in its versions.
    pub(crate) gate: Option<Gate>,
    /// Those that run what is not known to compute alone.
    pub(crate) unsafe_types: Vec<ObjectName>,
}

impl Memory {
    /// An empty memory, under what the operator agreed to.
    pub fn new(consent: Consent) -> Self {
        Self { consent, ..Self::default() }
    }

    pub(crate) fn consent(&self) -> Consent {
        self.consent
    }

    /// The lane that the last call took.
    pub fn lane(&self) -> Option<Lane> {
        self.lock().lane
    }

    pub(crate) fn known(&self) -> Known {
        self.lock().clone()
    }

    /// The lane to try: the last one that held, or the best.
    pub(crate) fn lane_to_take(&self) -> Lane {
        let mut known = self.lock();
        let stale = known.lane_since.is_some_and(|since| since.elapsed() > WORSE_LANE_FOR);
        if known.lane != Some(Lane::Quiet) && stale {
            known.lane = None;
        }
        known.lane.unwrap_or(Lane::Quiet)
    }

    pub(crate) fn take_lane(&self, lane: Option<Lane>) {
        let mut known = self.lock();
        if known.lane != lane {
            known.lane = lane;
            known.lane_since = Some(Instant::now());
        }
    }

    /// Turns from a lane that this login does not have to the next; none if that was the last.
    pub(crate) fn leave_lane(&self, lane: Lane) -> Option<Lane> {
        let next = match (lane, self.consent.loud) {
            (Lane::Quiet, _) => Some(Lane::Function),
            (Lane::Function, Agreed::Yes) => Some(Lane::Loud),
            (Lane::Function, Agreed::No) | (Lane::Loud, _) => None,
        };
        self.take_lane(next);
        next
    }

    pub(crate) fn learn(&self, facts: Facts, versions: Versions) {
        let mut known = self.lock();
        if known.versions.len() > MOST_OBJECTS {
            known.facts = Arc::default();
            known.versions = Arc::default();
        }
        Arc::make_mut(&mut known.facts).extend(facts);
        Arc::make_mut(&mut known.versions).extend(versions);
    }

    /// Forgets what a gate found to have changed.
    pub(crate) fn forget(&self, stale: &Needs) {
        Arc::make_mut(&mut self.lock().facts).forget(stale);
    }

    /// Forgets everything if it was learned from another server.
    pub(crate) fn meet(&self, server: &str) {
        let mut known = self.lock();
        if known.server.as_deref() != Some(server) {
            *known = Known { server: Some(server.to_owned()), ..Known::default() };
        }
    }

    pub(crate) fn know_parsing(&self, parsing: Parsing) -> Arc<Parsing> {
        let parsing = Arc::new(parsing);
        self.lock().parsing = Some(Arc::clone(&parsing));
        parsing
    }

    pub(crate) fn forget_parsing(&self) {
        let mut known = self.lock();
        if let Some(parsing) = known.parsing.take() {
            Arc::make_mut(&mut known.facts).forget(&parsing.relied_on);
        }
    }

    /// The moment that a call may count on, so that it looks up nothing else; none where the server is not known to be still.
    pub(crate) fn lasting(&self, parsing: &Arc<Parsing>) -> Option<Arc<str>> {
        self.stillness().lasting(parsing)
    }

    pub(crate) fn began(&self, moment: &str, parsing: &Arc<Parsing>) {
        self.stillness().began(moment, parsing);
    }

    pub(crate) fn passed(&self, moment: &str, gate: &Gate) {
        self.stillness().passed(moment, gate);
    }

    /// The gate that is left of one while it is still this moment.
    pub(crate) fn lighter(&self, gate: Gate, moment: &str) -> Gate {
        if self.stillness().has_passed(moment, &gate) { Gate::still(moment) } else { gate }
    }

    /// The server was not still.
    pub(crate) fn moved(&self) {
        *self.stillness() = Stillness::default();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stillness(&self) -> MutexGuard<'_, Stillness> {
        self.stillness.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.lock();
        f.debug_struct("Memory")
            .field("lane", &known.lane)
            .field("objects", &known.versions.len())
            .field("still", &self.stillness().lasts())
            .finish()
    }
}
