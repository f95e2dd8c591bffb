//! What the cache answers when its server is away, slow, full, emptied, or lets nobody in. Never a hang, never a wrong
//! value; and once the server is well again, so is the cache.

use std::{
    fs,
    time::{Duration, Instant as Clock},
};

use state::{Cache, CacheError, EntryKey, Place as Seating, Seat};
use tokio::time::Instant;

use super::{
    contract::{CAPS, LIFE, noise},
    places::{Place, at, migrated, secret, soon, tables},
    redis::{Server, authority, cluster},
};
use crate::support::proxy::{Fault, Proxy};

/// An operation of each kind, for one entry and one counter.
const OPERATIONS: [&str; 5] = ["put", "get", "delete", "take", "give back"];

async fn operate(cache: &Cache, operation: &str, deadline: Instant) -> Result<(), CacheError> {
    let (key, seat) = (EntryKey::new("w", "o", "i"), Seat::new("w", &["c"], "1"));
    match operation {
        "put" => cache.put(&key, &[noise(1, 100_000)], LIFE, CAPS, deadline).await,
        "get" => cache.get(&key, &[0], deadline).await.map(drop),
        "delete" => cache.delete(&key, deadline).await,
        "take" => cache.take(&seat, 1, Duration::from_mins(1), deadline).await.map(drop),
        _ => cache.give_back(&seat, deadline).await,
    }
}

/// Every operation fails with this code, by its deadline.
async fn all_fail(cache: &Cache, code: &str) {
    for operation in OPERATIONS {
        let (began, time) = (Clock::now(), Duration::from_secs(3));
        let error = operate(cache, operation, Instant::now() + time).await.unwrap_err();
        assert_eq!(error.code(), code, "{operation}: {error:?}");
        assert!(began.elapsed() < time + Duration::from_secs(1), "{operation}");
        assert!(!error.hint().is_empty());
        assert!(!format!("{error:?}").contains("p@ss"), "no password in {error:?}");
    }
}

async fn all_work(cache: &Cache) {
    for operation in OPERATIONS {
        operate(cache, operation, soon()).await.unwrap();
    }
}

async fn message(place: &Place) -> String {
    operate(place.cache(), "get", soon()).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_server_that_stops_in_the_middle_is_unreachable_until_it_is_back_empty() {
    let mut server = Server::start(&[]);
    let place = at(&server.url());
    operate(place.cache(), "put", soon()).await.unwrap();
    server.stop();
    all_fail(place.cache(), "cache_unreachable").await;
    assert_eq!(message(&place).await, "the cache could not be reached");
    server.restart();
    let key = EntryKey::new("w", "o", "i");
    assert_eq!(place.cache().get(&key, &[0], soon()).await.unwrap(), None);
    all_work(place.cache()).await;
}

#[tokio::test]
async fn a_restart_between_two_operations_goes_unnoticed() {
    let mut server = Server::start(&[]);
    let place = at(&server.url());
    for operation in OPERATIONS {
        operate(place.cache(), operation, soon()).await.unwrap();
        server.restart();
    }
}

#[tokio::test]
async fn a_silent_server_costs_the_deadline_and_no_more() {
    let server = Server::start(&[]);
    let proxy = Proxy::start(server.port).await;
    let place = at(&server.url().replace(&server.port.to_string(), &proxy.port.to_string()));
    all_work(place.cache()).await;
    proxy.set(Fault::Silence);
    for operation in OPERATIONS {
        let (began, time) = (Clock::now(), Duration::from_millis(500));
        let error = operate(place.cache(), operation, Instant::now() + time).await.unwrap_err();
        assert!(matches!(error, CacheError::Deadline), "{operation}: {error:?}");
        assert!(began.elapsed() < 2 * time, "{operation} took {:?}", began.elapsed());
    }
    proxy.set(Fault::None);
    all_work(place.cache()).await;
}

#[tokio::test]
async fn a_slow_server_is_waited_for() {
    let server = Server::start(&[]);
    let proxy = Proxy::start(server.port).await;
    let place = at(&server.url().replace(&server.port.to_string(), &proxy.port.to_string()));
    proxy.set(Fault::Delay(Duration::from_millis(100)));
    all_work(place.cache()).await;
}

#[tokio::test]
async fn a_line_that_is_cut_anywhere_gives_the_value_or_an_error() {
    let server = Server::start(&[]);
    let proxy = Proxy::start(server.port).await;
    let url = server.url().replace(&server.port.to_string(), &proxy.port.to_string());
    let (key, part) = (EntryKey::new("w", "o", "i"), noise(7, 100_000));
    at(&server.url()).cache().put(&key, &[&part], LIFE, CAPS, soon()).await.unwrap();
    let (mut whole, mut lost) = (0, 0);
    for bytes in [0, 1, 5, 9, 40, 100, 300, 1_000, 50_000, 100_000, 100_500, 200_000] {
        let place = at(&url);
        proxy.set(Fault::CutAfterBytes(bytes));
        match place.cache().get(&key, &[0], soon()).await {
            Ok(got) => {
                assert!(got.unwrap() == [part.clone()]);
                whole += 1;
            }
            Err(error) => {
                assert!(matches!(error, CacheError::Unavailable { .. }), "cut after {bytes}: {error:?}");
                lost += 1;
            }
        }
        proxy.set(Fault::None);
        let got = place.cache().get(&key, &[0], soon()).await.unwrap().unwrap();
        assert!(got == [part.clone()], "and then it is well again");
    }
    assert!(whole >= 1 && lost >= 8, "{whole} whole, {lost} lost");
}

#[tokio::test]
async fn a_kept_line_that_breaks_is_replaced_at_once() {
    let server = Server::start(&[]);
    let place = at(&server.url());
    for operation in OPERATIONS {
        operate(place.cache(), operation, soon()).await.unwrap();
        server.tell("CLIENT KILL TYPE normal SKIPME yes");
    }
}

#[tokio::test]
async fn a_cache_that_was_emptied_has_nothing_and_takes_again() {
    let server = Server::start(&[]);
    let place = at(&server.url());
    let (key, seat) = (EntryKey::new("w", "o", "i"), Seat::new("w", &["c"], "1"));
    let put = async || place.cache().put(&key, &[b"x"], LIFE, CAPS, soon()).await.unwrap();
    let take = async |call| {
        let seat = Seat::new("w", &["c"], call);
        place.cache().take(&seat, 1, Duration::from_mins(1), soon()).await.unwrap()
    };
    put().await;
    assert_eq!(take("1").await, Seating::Taken);
    assert_ne!(take("2").await, Seating::Taken);
    assert_eq!(server.tell("FLUSHALL"), "+OK");
    assert_eq!(place.cache().get(&key, &[0], soon()).await.unwrap(), None);
    assert_eq!(take("2").await, Seating::Taken);
    place.cache().give_back(&seat, soon()).await.unwrap();
    put().await;
    // The same, key by key, as a server does that makes room for itself.
    let keys = server.tell("EVAL \"return table.concat(redis.call('KEYS','*'),' ')\" 0");
    assert_eq!(keys.split(' ').count(), 3, "{keys}");
    for gone in keys.split(' ') {
        assert_eq!(server.tell(&format!("DEL {gone}")), ":1");
        put().await;
        assert!(place.cache().get(&key, &[0], soon()).await.unwrap().is_some(), "without {gone}");
    }
}

#[tokio::test]
async fn a_full_server_refuses_to_keep_and_still_gives() {
    let server = Server::start(&["maxmemory-policy noeviction"]);
    let place = at(&server.url());
    let key = EntryKey::new("w", "o", "old");
    place.cache().put(&key, &[b"x"], LIFE, CAPS, soon()).await.unwrap();
    assert_eq!(server.tell("CONFIG SET maxmemory 1"), "+OK");
    for operation in ["put", "take"] {
        let error = operate(place.cache(), operation, soon()).await.unwrap_err();
        assert!(matches!(error, CacheError::Full), "{operation}: {error:?}");
        assert_eq!(error.to_string(), "the cache is full");
    }
    assert_eq!(place.cache().get(&key, &[0], soon()).await.unwrap().unwrap(), [b"x"]);
    place.cache().delete(&key, soon()).await.unwrap();
    assert_eq!(server.tell("CONFIG SET maxmemory 0"), "+OK");
    all_work(place.cache()).await;
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_a_rotated_one_found() {
    let server = Server::start(&[]);
    let (folder, store) = secret("redis://:wrong@127.0.0.1:1");
    let cache = Cache::valkey(store, "cache".to_owned());
    let point = |password: &str| {
        let url = format!("redis://:{password}@127.0.0.1:{}", server.port);
        fs::write(folder.0.join("cache"), url).unwrap();
    };
    for (password, user) in [("wrong", ""), ("", ""), ("wrong", "nobody")] {
        point(password);
        if !user.is_empty() {
            let url = format!("redis://{user}:{password}@127.0.0.1:{}", server.port);
            fs::write(folder.0.join("cache"), url).unwrap();
        }
        all_fail(&cache, "cache_login_failed").await;
    }
    point("p%40ss%2Fword");
    all_work(&cache).await;
    assert_eq!(server.tell("CONFIG SET requirepass second"), "+OK");
    point("second");
    all_work(&cache).await;
}

#[tokio::test]
async fn a_login_without_rights_is_told_from_a_wrong_one() {
    let server = Server::start(&["user poor on >poor ~other:* +@all"]);
    let place = at(&format!("redis://poor:poor@127.0.0.1:{}", server.port));
    all_fail(place.cache(), "cache_rights_missing").await;
    let server =
        Server::start(&["user app on >app ~pinguard:* +@read +@write +@scripting +@connection +time"]);
    all_work(at(&format!("redis://app:app@127.0.0.1:{}", server.port)).cache()).await;
}

#[tokio::test]
async fn a_replica_is_not_ready_and_its_primary_is() {
    let primary = Server::start(&[]);
    let replica = Server::start(&[&format!("replicaof 127.0.0.1 {}", primary.port)]);
    let place = at(&replica.url());
    let error = operate(place.cache(), "put", soon()).await.unwrap_err();
    assert_eq!(error.code(), "cache_not_ready", "{error:?}");
    assert_eq!(replica.tell("REPLICAOF NO ONE"), "+OK");
    all_work(place.cache()).await;
}

#[tokio::test]
async fn only_the_right_certificate_is_believed() {
    let server = Server::start(&["bind 127.0.0.1 127.0.0.2"]);
    all_work(at(&server.tls_url()).cache()).await;
    let pem = fs::read_to_string(server.folder().join("ca.pem")).unwrap();
    let encoded = |pem: &str| pem.replace('\n', "%0A").replace('+', "%2B").replace(' ', "%20");
    let url = |host: &str, port: u16, option: &str| format!("rediss://:p%40ss%2Fword@{host}:{port}{option}");
    let trusting = format!("?sslrootcert={}", encoded(&pem));
    let strange = format!("?sslrootcert={}", encoded(&authority().0));
    all_work(at(&url("127.0.0.1", server.tls_port, &trusting)).cache()).await;
    for (what, url) in [
        ("a CA of our own is not among the public ones", url("localhost", server.tls_port, "")),
        ("another CA", url("localhost", server.tls_port, &strange)),
        ("another address", url("127.0.0.2", server.tls_port, &trusting)),
        ("no PEM", url("localhost", server.tls_port, "?sslrootcert=-----BEGIN")),
    ] {
        let error = operate(at(&url).cache(), "get", soon()).await.unwrap_err();
        assert_eq!(error.code(), "cache_tls_failed", "{what}: {error:?}");
    }
    // A server without TLS waits for the end of what it takes for a command.
    let place = at(&url("localhost", server.port, &trusting));
    let error = operate(place.cache(), "get", Instant::now() + Duration::from_secs(1)).await.unwrap_err();
    assert!(error.hint().contains("whether its port speaks TLS"), "{error:?}");
    let place = at(&url("localhost", server.tls_port, "?sslrootcert=/nowhere.pem"));
    all_fail(place.cache(), "cache_root_file").await;
}

#[tokio::test]
async fn a_cluster_that_lost_a_node_fails_for_its_workspaces_alone() {
    let mut nodes = cluster(&["cluster-node-timeout 1000"]);
    let place = at(&nodes[0].url());
    let key = |workspace: usize| EntryKey::new(&workspace.to_string(), "o", "i");
    for workspace in 0..30 {
        place.cache().put(&key(workspace), &[b"x"], LIFE, CAPS, soon()).await.unwrap();
    }
    nodes[2].stop();
    let (mut there, mut gone) = (0, 0);
    for workspace in 0..30 {
        let (began, time) = (Clock::now(), Duration::from_secs(3));
        match place.cache().get(&key(workspace), &[0], Instant::now() + time).await {
            Ok(got) => {
                assert_eq!(got.unwrap(), [b"x"]);
                there += 1;
            }
            Err(_) => gone += 1,
        }
        assert!(began.elapsed() < time + Duration::from_secs(1));
    }
    assert!(there >= 8 && gone >= 3, "{there} there, {gone} gone");
}

#[tokio::test]
async fn a_secret_that_is_missing_or_no_url_is_said() {
    let (folder, store) = secret("");
    let cache = Cache::valkey(store, "cache".to_owned());
    all_fail(&cache, "secret_empty").await;
    fs::write(folder.0.join("cache"), "redis://:p@ss@cache.example.org").unwrap();
    all_fail(&cache, "cache_secret_malformed").await;
    fs::remove_file(folder.0.join("cache")).unwrap();
    all_fail(&cache, "secret_missing").await;
}

#[tokio::test]
async fn tables_that_fail_do_so_by_the_deadline_and_recover() {
    let db = migrated(18).await;
    let proxy = Proxy::start(db.server.port()).await;
    let place = tables(&proxy.through(&db.url, db.server.port()), (None, None));
    all_work(place.cache()).await;
    proxy.set(Fault::Silence);
    for operation in OPERATIONS {
        let (began, time) = (Clock::now(), Duration::from_millis(500));
        let error = operate(place.cache(), operation, Instant::now() + time).await.unwrap_err();
        assert!(matches!(error, CacheError::Deadline), "{operation}: {error:?}");
        assert!(began.elapsed() < 2 * time, "{operation}");
    }
    proxy.set(Fault::CutAfterBytes(0));
    all_fail(place.cache(), "connection_lost").await;
    proxy.set(Fault::None);
    all_work(place.cache()).await;
    operate(place.cache(), "put", soon()).await.unwrap();
    db.run("TRUNCATE pinguard.cache_entry CASCADE; TRUNCATE pinguard.cache_seat").await;
    assert_eq!(place.cache().get(&EntryKey::new("w", "o", "i"), &[0], soon()).await.unwrap(), None);
    all_work(place.cache()).await;
    db.run("DROP SCHEMA pinguard CASCADE").await;
    for operation in ["get", "give back"] {
        let error = operate(place.cache(), operation, soon()).await.unwrap_err();
        assert_eq!(error.code(), "control_not_migrated", "{error:?}");
    }
}

#[tokio::test]
async fn tables_behind_a_lock_are_not_waited_for_beyond_the_deadline() {
    let db = migrated(18).await;
    let place = tables(&db.url, (None, None));
    let client = db.client().await;
    client.batch_execute("BEGIN; LOCK pinguard.cache_entry, pinguard.cache_seat").await.unwrap();
    for operation in OPERATIONS {
        let (began, time) = (Clock::now(), Duration::from_millis(500));
        let error = operate(place.cache(), operation, Instant::now() + time).await.unwrap_err();
        assert!(matches!(error, CacheError::Deadline), "{operation}: {error:?}");
        assert!(began.elapsed() < 2 * time, "{operation}");
    }
    client.batch_execute("ROLLBACK").await.unwrap();
    all_work(place.cache()).await;
}

#[tokio::test]
async fn nothing_of_a_callers_text_is_in_the_cache() {
    let server = Server::start(&[]);
    let place = at(&server.url());
    let key = EntryKey::new("workspace-text", "owner-text", "id-text");
    place.cache().put(&key, &[b"x"], LIFE, CAPS, soon()).await.unwrap();
    let seat = Seat::new("workspace-text", &["counter-text"], "call-text");
    place.cache().take(&seat, 1, Duration::from_mins(1), soon()).await.unwrap();
    let keys = server.tell("EVAL \"return table.concat(redis.call('KEYS','*'),' ')\" 0");
    assert!(!keys.contains("text"), "{keys}");
    assert!(keys.split(' ').all(|key| key.starts_with("pinguard:1:{")), "{keys}");
    for key in keys.split(' ') {
        let left: i64 = server.tell(&format!("PTTL {key}"))[1..].parse().unwrap();
        assert!((1..=1_800_000).contains(&left), "{key} stays for {left}");
    }
}

#[tokio::test]
async fn tables_keep_nothing_that_has_expired() {
    let db = migrated(18).await;
    let place = tables(&db.url, (None, None));
    let short = state::Life { idle: Duration::from_millis(1), total: Duration::from_millis(1) };
    for n in 0..20 {
        let key = EntryKey::new(&n.to_string(), "o", "i");
        place.cache().put(&key, &[b"x"], short, CAPS, soon()).await.unwrap();
        let seat = Seat::new("w", &[&n.to_string()], "1");
        place.cache().take(&seat, 1, Duration::from_millis(1), soon()).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(10)).await;
    all_work(place.cache()).await;
    let count = "SELECT (SELECT count(*) FROM pinguard.cache_entry), (SELECT count(*) FROM pinguard.cache_part), \
                 (SELECT count(*) FROM pinguard.cache_seat)";
    let row = db.client().await.query_one(count, &[]).await.unwrap();
    let left: [i64; 3] = [row.get(0), row.get(1), row.get(2)];
    assert!(left.iter().all(|&left| left <= 4), "leftovers of others go with each use: {left:?}");
}
