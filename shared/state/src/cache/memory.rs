//! The cache of one process: for `pinguard serve`, and for counting while the real cache is away.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::key::{Digest, EntryKey, Seat};
use super::{Caps, Life, Place};

#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    entries: HashMap<Digest, Entry>,
    /// By counter: who sits there and until when.
    seats: HashMap<Digest, HashMap<Digest, Instant>>,
    /// How many entries were ever made.
    made: u64,
}

#[derive(Debug)]
struct Entry {
    workspace: Digest,
    owner: Digest,
    /// Its number among all that were made.
    made: u64,
    parts: Vec<Vec<u8>>,
    bytes: usize,
    idle: Duration,
    due: Instant,
    end: Instant,
}

impl Memory {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, key: &EntryKey, parts: Vec<Vec<u8>>, life: Life, caps: Caps, now: Instant) {
        let held = &mut *self.held();
        held.entries.remove(&key.id);
        held.entries.retain(|_, entry| entry.due > now);
        let bytes = parts.iter().map(Vec::len).sum();
        held.make_room(key, bytes, caps);
        held.made += 1;
        let (due, end) = (now + life.idle.min(life.total), now + life.total);
        let (workspace, owner, made, idle) = (key.workspace, key.owner, held.made, life.idle);
        held.entries.insert(key.id, Entry { workspace, owner, made, parts, bytes, idle, due, end });
    }

    pub(super) fn get(&self, key: &EntryKey, parts: &[u32], now: Instant) -> Option<Vec<Vec<u8>>> {
        let held = &mut *self.held();
        let entry = held.entries.get_mut(&key.id).filter(|entry| entry.due > now)?;
        entry.due = entry.end.min(now + entry.idle);
        let part = |number: &u32| entry.parts.get(usize::try_from(*number).ok()?).cloned();
        Some(parts.iter().filter_map(part).collect())
    }

    pub(super) fn delete(&self, key: &EntryKey) {
        self.held().entries.remove(&key.id);
    }

    pub(super) fn take(&self, seat: &Seat, limit: u32, hold: Duration, now: Instant) -> Place {
        let all = &mut *self.held();
        all.seats.retain(|_, seats| {
            seats.retain(|_, due| *due > now);
            !seats.is_empty()
        });
        let seats = all.seats.entry(seat.counter).or_default();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        if seats.contains_key(&seat.id) {
            return Place::Taken;
        }
        if seats.len() < limit {
            seats.insert(seat.id, now + hold);
            return Place::Taken;
        }
        let mut ends: Vec<Instant> = seats.values().copied().collect();
        ends.sort_unstable();
        // Where the limit was lowered, more than one has to go first.
        let free = ends.get(ends.len() - limit).map_or(hold, |&end| end - now);
        Place::Over { wait: free }
    }

    pub(super) fn give_back(&self, seat: &Seat) {
        if let Some(seats) = self.held().seats.get_mut(&seat.counter) {
            seats.remove(&seat.id);
        }
    }
}

impl Held {
    /// Lets the oldest go, first of the owner, then of the workspace.
    fn make_room(&mut self, key: &EntryKey, bytes: usize, caps: Caps) {
        let mut oldest: Vec<(u64, Digest, Digest, usize)> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.workspace == key.workspace)
            .map(|(id, entry)| (entry.made, *id, entry.owner, entry.bytes))
            .collect();
        oldest.sort_unstable_by_key(|&(made, ..)| made);
        let mut own = oldest.iter().filter(|&&(_, _, owner, _)| owner == key.owner).count();
        let mut all: usize = oldest.iter().map(|&(.., bytes)| bytes).sum();
        oldest.retain(|&(_, id, owner, bytes)| {
            let goes = owner == key.owner && own >= caps.entries_per_owner;
            if goes {
                (own, all) = (own - 1, all - bytes);
                self.entries.remove(&id);
            }
            !goes
        });
        for (_, id, _, size) in oldest {
            if all + bytes <= caps.bytes_per_workspace {
                break;
            }
            all -= size;
            self.entries.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps { entries_per_owner: 8, bytes_per_workspace: 100 };
    const LIFE: Life = Life { idle: Duration::from_mins(5), total: Duration::from_mins(30) };

    #[test]
    fn an_entry_lives_five_minutes_after_each_use_and_thirty_in_all() {
        let (memory, start) = (Memory::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let key = EntryKey::new("w", "o", "i");
        memory.put(&key, vec![vec![1]], LIFE, CAPS, start);
        for seconds in (299..1_800).step_by(299) {
            assert!(memory.get(&key, &[0], at(seconds)).is_some(), "after {seconds} s");
        }
        assert!(memory.get(&key, &[0], at(1_799)).is_some());
        assert!(memory.get(&key, &[0], at(1_800)).is_none(), "its end has come, used or not");
        memory.put(&key, vec![vec![1]], LIFE, CAPS, start);
        assert!(memory.get(&key, &[0], at(300)).is_none(), "nobody used it");
    }

    #[test]
    fn the_minute_slides() {
        let (memory, start) = (Memory::default(), Instant::now());
        let minute = Duration::from_mins(1);
        let call = |name: &str, seconds, limit| {
            let seat = Seat::new("w", &["c"], name);
            memory.take(&seat, limit, minute, start + Duration::from_secs(seconds))
        };
        assert_eq!(call("a", 0, 2), Place::Taken);
        assert_eq!(call("b", 50, 2), Place::Taken);
        assert_eq!(call("c", 59, 2), Place::Over { wait: Duration::from_secs(1) });
        assert_eq!(call("c", 60, 2), Place::Taken);
        assert_eq!(call("d", 61, 2), Place::Over { wait: Duration::from_secs(49) });
        assert_eq!(call("d", 61, 1), Place::Over { wait: Duration::from_secs(59) }, "the limit was lowered");
    }

    #[test]
    fn nothing_stays_of_what_has_ended() {
        let (memory, start) = (Memory::default(), Instant::now());
        for n in 0..100 {
            let name = n.to_string();
            memory.put(&EntryKey::new(&name, "o", "i"), vec![vec![0]], LIFE, CAPS, start);
            memory.take(&Seat::new("w", &[&name], "1"), 1, Duration::from_mins(1), start);
        }
        let later = start + LIFE.total;
        memory.put(&EntryKey::new("w", "o", "i"), vec![vec![0]], LIFE, CAPS, later);
        memory.take(&Seat::new("w", &["c"], "1"), 1, Duration::from_mins(1), later);
        let held = memory.held();
        assert_eq!((held.entries.len(), held.seats.len()), (1, 1));
    }
}
