//! The laws that every kind of cache keeps.

use std::{collections::BTreeSet, time::Duration};

use state::{CacheError, Caps, EntryKey, Life, Place as Seating, Seat};
use tokio::{task::JoinSet, time::sleep};

use super::places::{Place, soon};

pub(super) const LIFE: Life = Life { idle: Duration::from_mins(5), total: Duration::from_mins(30) };
pub(super) const CAPS: Caps = Caps { entries_per_owner: 8, bytes_per_workspace: 64 * 1024 * 1024 };

/// What packing adds to a part that does not shrink.
const HEADER: usize = 5;

/// Bytes that do not shrink, another sequence for each seed.
pub(super) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()
    };
    (0..length.div_ceil(8)).flat_map(|_| next()).take(length).collect()
}

impl Place {
    pub(super) fn key(&self, owner: &str, id: &str) -> EntryKey {
        EntryKey::new(&self.workspace, owner, id)
    }

    async fn put(&self, owner: &str, id: &str, part: &[u8], caps: Caps) {
        self.cache().put(&self.key(owner, id), &[part], LIFE, caps, soon()).await.unwrap();
    }

    async fn has(&self, owner: &str, id: &str) -> bool {
        self.instance(1).get(&self.key(owner, id), &[], soon()).await.unwrap().is_some()
    }

    fn seat(&self, call: &str) -> Seat {
        Seat::new(&self.workspace, &["calls", "caller", "node"], call)
    }

    async fn take(&self, call: &str, limit: u32, hold: Duration) -> Seating {
        self.instance(1).take(&self.seat(call), limit, hold, soon()).await.unwrap()
    }
}

pub(super) async fn what_is_put_comes_back_whole(place: &Place) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let rows = r#"["east","64.00"],"#.repeat(1_000).into_bytes();
    let parts = [Vec::new(), every_byte, b"\0\r\n$-1\r\n".to_vec(), rows];
    let key = place.key("o", "i");
    place.cache().put(&key, &parts, LIFE, CAPS, soon()).await.unwrap();
    let other = place.instance(1);
    let got = other.get(&key, &[3, 0, 1, 2, 1], soon()).await.unwrap().unwrap();
    assert_eq!(got, [3, 0, 1, 2, 1].map(|number: usize| parts[number].clone()));
    assert_eq!(other.get(&key, &[], soon()).await.unwrap(), Some(Vec::new()));
    let error = other.get(&key, &[0, 4], soon()).await.unwrap_err();
    assert!(matches!(error, CacheError::Malformed), "{error:?}");

    other.put(&key, &[b"again"], LIFE, CAPS, soon()).await.unwrap();
    assert_eq!(place.cache().get(&key, &[0], soon()).await.unwrap().unwrap(), [b"again"]);
    let error = place.cache().get(&key, &[1], soon()).await.unwrap_err();
    assert!(matches!(error, CacheError::Malformed), "nothing stays of the first: {error:?}");

    place.cache().delete(&key, soon()).await.unwrap();
    assert_eq!(other.get(&key, &[0], soon()).await.unwrap(), None);
    place.cache().delete(&key, soon()).await.unwrap();
    place.cache().put(&key, &[b""; 0], LIFE, CAPS, soon()).await.unwrap();
    assert_eq!(
        other.get(&key, &[], soon()).await.unwrap(),
        Some(Vec::new()),
        "an entry without parts is one"
    );
}

pub(super) async fn a_great_part_of_noise_comes_back_whole(place: &Place) {
    let (great, small) = (noise(1, 5 * 1024 * 1024), noise(2, 100));
    let key = place.key("o", "i");
    place.cache().put(&key, &[&great, &small], LIFE, CAPS, soon()).await.unwrap();
    let got = place.instance(1).get(&key, &[0, 1], soon()).await.unwrap().unwrap();
    assert!(got == [great, small]);
}

pub(super) async fn only_its_owner_finds_an_entry(place: &Place) {
    place.put("ann", "i", b"hers", CAPS).await;
    let get = async |key: EntryKey| place.instance(1).get(&key, &[0], soon()).await.unwrap();
    assert_eq!(get(place.key("ann", "i")).await.unwrap(), [b"hers"]);
    assert_eq!(get(place.key("bob", "i")).await, None);
    assert_eq!(get(place.key("ann", "j")).await, None);
    assert_eq!(get(EntryKey::new(&format!("{}x", place.workspace), "ann", "i")).await, None);
    place.cache().delete(&place.key("bob", "i"), soon()).await.unwrap();
    assert!(place.has("ann", "i").await, "bob's deleting is not hers");
}

pub(super) async fn an_entry_lives_on_with_use_and_ends_all_the_same(place: &Place) {
    let life = Life { idle: Duration::from_millis(1_500), total: Duration::from_millis(3_500) };
    let put = async |id| place.cache().put(&place.key("o", id), &[b"x"], life, CAPS, soon()).await.unwrap();
    put("used").await;
    put("unused").await;
    for _ in 0..4 {
        sleep(Duration::from_millis(700)).await;
        assert!(place.has("o", "used").await, "each use lets it live on");
    }
    assert!(!place.has("o", "unused").await);
    sleep(Duration::from_millis(900)).await;
    assert!(!place.has("o", "used").await, "its end has come, used or not");
}

pub(super) async fn the_oldest_of_an_owner_goes(place: &Place) {
    place.put("bob", "his", b"x", CAPS).await;
    for n in 0..8 {
        place.put("ann", &n.to_string(), b"x", CAPS).await;
    }
    assert!(place.has("ann", "0").await, "using it does not make it younger");
    place.put("ann", "3", b"anew", CAPS).await;
    assert!(place.has("ann", "0").await, "what takes its own place drives nobody out");
    for n in 8..10 {
        place.put("ann", &n.to_string(), b"x", CAPS).await;
    }
    let mut left = Vec::new();
    for n in 0..10 {
        if place.has("ann", &n.to_string()).await {
            left.push(n);
        }
    }
    assert_eq!(left, [2, 3, 4, 5, 6, 7, 8, 9]);
    assert!(place.has("bob", "his").await);
}

pub(super) async fn the_oldest_of_a_workspace_goes_for_room(place: &Place) {
    let caps = Caps { entries_per_owner: 8, bytes_per_workspace: 3 * (10_000 + HEADER) };
    let part = |seed| noise(seed, 10_000);
    for (n, owner) in ["ann", "bob", "cyd"].into_iter().enumerate() {
        place.put(owner, "i", &part(n.try_into().unwrap()), caps).await;
    }
    let elsewhere = EntryKey::new(&format!("{}x", place.workspace), "ann", "i");
    place.cache().put(&elsewhere, &[part(9)], LIFE, caps, soon()).await.unwrap();
    let left = async || {
        let mut left = Vec::new();
        for owner in ["ann", "bob", "cyd", "dan"] {
            if place.has(owner, "i").await {
                left.push(owner);
            }
        }
        left
    };
    assert_eq!(left().await, ["ann", "bob", "cyd"], "they just fit");
    place.put("dan", "i", &part(4), caps).await;
    assert_eq!(left().await, ["bob", "cyd", "dan"]);
    place.put("dan", "i", &noise(5, 10_001), caps).await;
    assert_eq!(left().await, ["cyd", "dan"], "one byte too many for three");
    assert!(place.cache().get(&elsewhere, &[], soon()).await.unwrap().is_some(), "another workspace's");

    let great = noise(6, 3 * (10_000 + HEADER) - HEADER + 1);
    let error = place.cache().put(&place.key("ann", "i"), &[great], LIFE, caps, soon()).await.unwrap_err();
    assert_eq!(error.to_string(), "30016 bytes are too many for one entry of the cache, which takes 30015");
    assert_eq!(left().await, ["cyd", "dan"], "what never fits drives nobody out");
}

pub(super) async fn what_has_expired_takes_no_room(place: &Place) {
    let caps = Caps { entries_per_owner: 2, bytes_per_workspace: 2 * (10_000 + HEADER) };
    let short = Life { idle: Duration::from_millis(300), total: Duration::from_secs(5) };
    place.put("o", "stays", &noise(1, 10_000), caps).await;
    place.cache().put(&place.key("o", "ends"), &[noise(2, 10_000)], short, caps, soon()).await.unwrap();
    sleep(Duration::from_millis(400)).await;
    place.put("o", "new", &noise(3, 10_000), caps).await;
    assert!(place.has("o", "stays").await);
    assert!(place.has("o", "new").await);
}

pub(super) async fn writers_at_one_time_keep_to_the_caps(place: &Place) {
    // Room for ten of all; eight an owner.
    let caps = Caps { entries_per_owner: 8, bytes_per_workspace: 10 * (10_000 + HEADER) + 9_999 };
    let mut writers = JoinSet::new();
    for writer in 0..32_u64 {
        let cache = place.instance(writer.try_into().unwrap());
        let owner = if writer % 2 == 0 { "ann" } else { "bob" };
        let keys: Vec<EntryKey> = (0..4).map(|n| place.key(owner, &format!("{writer} {n}"))).collect();
        writers.spawn(async move {
            for key in keys {
                cache.put(&key, &[noise(writer, 10_000)], LIFE, caps, soon()).await.unwrap();
                // One that was just put may have gone already; one that is there is whole.
                if let Some(parts) = cache.get(&key, &[0], soon()).await.unwrap() {
                    assert!(parts == [noise(writer, 10_000)]);
                }
            }
        });
    }
    writers.join_all().await;
    let mut left = Vec::new();
    for writer in 0..32 {
        let owner = if writer % 2 == 0 { "ann" } else { "bob" };
        for n in 0..4 {
            if place.has(owner, &format!("{writer} {n}")).await {
                left.push(owner);
            }
        }
    }
    assert_eq!(left.len(), 10, "what fits is kept, and no more");
    for owner in ["ann", "bob"] {
        assert!(left.iter().filter(|&&of| of == owner).count() <= 8, "{left:?}");
    }
}

pub(super) async fn callers_at_one_time_get_exactly_the_places_there_are(place: &Place) {
    let mut callers = JoinSet::new();
    for caller in 0..64 {
        let (cache, seat) = (place.instance(caller), place.seat(&caller.to_string()));
        callers.spawn(async move {
            let place = cache.take(&seat, 10, Duration::from_mins(1), soon()).await.unwrap();
            (place == Seating::Taken).then_some(caller)
        });
    }
    let seated: BTreeSet<usize> = callers.join_all().await.into_iter().flatten().collect();
    assert_eq!(seated.len(), 10);
    for caller in 0..64 {
        let again = place.take(&caller.to_string(), 10, Duration::from_mins(1)).await;
        assert_eq!(again == Seating::Taken, seated.contains(&caller), "asking again changes nothing");
    }
    let other = Seat::new(&place.workspace, &["calls", "caller", "another node"], "1");
    let seated = place.cache().take(&other, 1, Duration::from_mins(1), soon()).await.unwrap();
    assert_eq!(seated, Seating::Taken, "each counter for itself");
}

pub(super) async fn a_place_is_free_again_when_given_back_or_when_its_time_is_over(place: &Place) {
    let (short, long) = (Duration::from_millis(800), Duration::from_mins(1));
    assert_eq!(place.take("killed", 2, short).await, Seating::Taken);
    assert_eq!(place.take("long", 2, long).await, Seating::Taken);
    assert_ne!(place.take("third", 2, long).await, Seating::Taken);
    place.cache().give_back(&place.seat("long"), soon()).await.unwrap();
    assert_eq!(place.take("third", 2, long).await, Seating::Taken);
    place.cache().give_back(&place.seat("nobody's"), soon()).await.unwrap();
    sleep(Duration::from_millis(900)).await;
    assert_eq!(place.take("fourth", 2, long).await, Seating::Taken, "the killed one's time is over");
    assert_ne!(place.take("fifth", 2, long).await, Seating::Taken);
    assert_ne!(place.take("sixth", 0, long).await, Seating::Taken, "where there are none, nobody sits");
}

pub(super) async fn the_wait_is_that_for_the_next_place(place: &Place) {
    let minute = Duration::from_mins(1);
    assert_eq!(place.take("a", 3, minute).await, Seating::Taken);
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(place.take("b", 3, minute).await, Seating::Taken);
    assert_eq!(place.take("c", 3, minute).await, Seating::Taken);
    let wait = async |limit| match place.take("d", limit, minute).await {
        Seating::Over { wait } => wait,
        Seating::Taken => panic!("there is no place"),
    };
    let (first, second) = (wait(3).await, wait(2).await);
    assert!(first <= Duration::from_millis(58_500) && first > Duration::from_secs(40), "{first:?}");
    assert!(
        second > Duration::from_millis(58_600) && second <= minute,
        "with a lower limit two must go: {second:?}"
    );
}
