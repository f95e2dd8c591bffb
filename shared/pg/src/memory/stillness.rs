//! When nothing was written in the whole cluster since something was looked up, it need not be looked up again.
//!
//! A moment is the server's start and the snapshot of a query. Where the snapshot says that no transaction was under way, the
//! same text means that none has ended since: whatever is changed in a catalog is changed by a transaction, and its end moves
//! the snapshot on. On a standby too, where snapshots do not list what is under way.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Gate, Parsing};

/// Gates that are remembered at most.
const MOST_GATES: usize = 1000;

/// What held at one moment. Nothing is known of the moment in which a server is not still.
#[derive(Default)]
pub(crate) struct Stillness {
    moment: Option<Arc<str>>,
    /// Whether two calls have seen the moment: only then it is worth counting on.
    lasts: bool,
    parsing: Option<Arc<Parsing>>,
    gates: HashSet<Gate>,
}

impl Stillness {
    /// A call began at this moment, at which what may run while a statement is parsed was as it is known.
    pub(super) fn began(&mut self, moment: &str, parsing: &Arc<Parsing>) {
        if self.moment.as_deref() == Some(moment) {
            self.lasts = true;
        } else {
            let moment = is_still(moment).then(|| moment.into());
            *self = Self { moment, ..Self::default() };
        }
        self.parsing = Some(Arc::clone(parsing));
    }

    /// What a gate looks at was at this moment as it is known.
    pub(super) fn passed(&mut self, moment: &str, gate: &Gate) {
        if self.moment.as_deref() == Some(moment) {
            if self.gates.len() >= MOST_GATES {
                self.gates.clear();
            }
            self.gates.insert(gate.clone());
        }
    }

    /// The moment that the next call may count on.
    pub(super) fn lasting(&self, parsing: &Arc<Parsing>) -> Option<Arc<str>> {
        let known = self.parsing.as_ref().is_some_and(|known| Arc::ptr_eq(known, parsing));
        self.moment.as_ref().filter(|_| self.lasts && known).map(Arc::clone)
    }

    /// Whether calls count on the moment.
    pub(super) fn lasts(&self) -> bool {
        self.moment.is_some() && self.lasts
    }

    /// Whether a gate need not be asked as long as it is this moment.
    pub(super) fn has_passed(&self, moment: &str, gate: &Gate) -> bool {
        self.moment.as_deref() == Some(moment) && self.gates.contains(gate)
    }
}

/// Whether a snapshot's oldest transaction that is under way is the one that is to come next.
fn is_still(moment: &str) -> bool {
    let snapshot = moment.rsplit('/').next().and_then(|snapshot| snapshot.strip_suffix(':'));
    let ends = snapshot.and_then(|snapshot| snapshot.split_once(':'));
    ends.is_some_and(|(oldest, next)| oldest == next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "2026-12-01 06:58:24.214718+00";

    fn moment(snapshot: &str) -> String {
        format!("{START}/{snapshot}")
    }

    fn parsing() -> Arc<Parsing> {
        let version = START.to_owned();
        Arc::new(Parsing {
            version,
            relied_on: guard::facts::Needs::default(),
            gate: None,
            unsafe_types: vec![],
        })
    }

    #[test]
    fn a_moment_is_counted_on_once_two_calls_have_seen_it() {
        let (mut stillness, parsing, now) = (Stillness::default(), parsing(), moment("812:812:"));
        stillness.began(&now, &parsing);
        assert_eq!(stillness.lasting(&parsing), None);
        stillness.began(&now, &parsing);
        assert_eq!(stillness.lasting(&parsing).as_deref(), Some(now.as_str()));
        stillness.began(&moment("813:813:"), &parsing);
        assert_eq!(stillness.lasting(&parsing), None);
    }

    #[test]
    fn a_moment_in_which_transactions_are_under_way_is_never_counted_on() {
        for snapshot in ["811:812:811", "811:812:", "811:814:811,813", "", "812", "812:812"] {
            let (mut stillness, parsing, now) = (Stillness::default(), parsing(), moment(snapshot));
            for _ in 0..3 {
                stillness.began(&now, &parsing);
                assert_eq!(stillness.lasting(&parsing), None, "{snapshot}");
            }
        }
    }

    #[test]
    fn what_was_judged_anew_of_parsing_is_looked_up_again() {
        let (mut stillness, before, now) = (Stillness::default(), parsing(), moment("812:812:"));
        stillness.began(&now, &before);
        stillness.began(&now, &before);
        assert_eq!(stillness.lasting(&parsing()), None);
    }

    #[test]
    fn a_gate_holds_for_the_moment_at_which_it_was_passed() {
        let (mut stillness, parsing, now) = (Stillness::default(), parsing(), moment("812:812:"));
        let (gate, other) = (Gate::still("a"), Gate::still("b"));
        stillness.began(&now, &parsing);
        stillness.passed(&moment("813:813:"), &other);
        stillness.passed(&now, &gate);
        assert!(stillness.has_passed(&now, &gate));
        assert!(!stillness.has_passed(&now, &other));
        assert!(!stillness.has_passed(&moment("813:813:"), &gate));
        stillness.began(&moment("813:813:"), &parsing);
        assert!(!stillness.has_passed(&now, &gate) && !stillness.has_passed(&moment("813:813:"), &gate));
    }
}
