//! How long ago something was, in a process that may have been frozen in between.

use std::time::{Duration, Instant, SystemTime};

/// A point in time on both clocks: one of them stands still while a function is frozen, the other can be set.
#[derive(Debug, Clone, Copy)]
pub struct Moment(Instant, SystemTime);

impl Moment {
    /// This moment.
    pub fn now() -> Self {
        Self(Instant::now(), SystemTime::now())
    }

    /// The longer time; the longest of all where a clock was set back.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed().max(self.1.elapsed().unwrap_or(Duration::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_on_either_clock() {
        let (past, minutes) = (SystemTime::now() - Duration::from_mins(3), Duration::from_mins(3));
        assert!(
            Moment(Instant::now(), past).elapsed() >= minutes,
            "the other stood still in a frozen function"
        );
        if let Some(before) = Instant::now().checked_sub(minutes) {
            assert!(Moment(before, SystemTime::now()).elapsed() >= minutes, "a clock was set");
        }
        let later = Moment(Instant::now(), SystemTime::now() + minutes);
        assert_eq!(later.elapsed(), Duration::MAX, "a clock was set back");
    }
}
