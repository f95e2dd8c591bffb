//! Caches that instances share, and caches that fail: a first page is always answered, and no page is ever wrong.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use state::{Cache, Control, SecretStore};

use super::{cursor, numbered, numbers, pages_of, rows};
use crate::cache::redis::Server;
use crate::endpoint::{CONTROL, Endpoint, Setup};
use crate::support::{
    self, TestDb,
    command::{Folder, Serving},
    http,
    proxy::{Fault, Proxy},
};

/// A cache of its own instance at this URL.
fn at(url: &str) -> Arc<Cache> {
    Arc::new(Cache::valkey(Arc::new(SecretStore::given("cache", url)), "cache".to_owned()))
}

/// The table of a control database, as another instance sees it.
fn table(db: &TestDb) -> Arc<Cache> {
    let store = Arc::new(SecretStore::given(CONTROL, &db.url));
    Arc::new(Cache::table(&Control::new(store, CONTROL.to_owned())))
}

async fn instance(db: &TestDb, cache: Arc<Cache>) -> Endpoint {
    Setup { cache, ..pages_of(10) }.start(db, &db.url).await
}

/// A first page that is answered in good time and says that there are no others.
async fn first_page_alone(endpoint: &Endpoint, why: &str) {
    let began = Instant::now();
    let answer = endpoint.query(&rows(30)).await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!((numbers(&answer), &answer["truncated"]), (numbered(1, 10), &json!(true)));
    assert!(answer["cursor"].is_null() && answer["summary"].is_null(), "{answer}");
    let note = answer["notes"][0].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(
        note.starts_with("there is no cursor: what follows could not be kept") && note.contains(why),
        "{note}"
    );
}

async fn expired(endpoint: &Endpoint, handle: &str) -> Value {
    let began = Instant::now();
    let failure = endpoint.bad("next_page", json!({"cursor": handle})).await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!((&failure["code"], &failure["outcome"]), (&json!("cursor_expired"), &json!("expected")));
    failure
}

#[tokio::test]
async fn instances_that_share_nothing_but_the_cache_share_pages() {
    let db = support::database(18).await;
    let redis = Server::start(&[]);
    for caches in [[at(&redis.url()), at(&redis.tls_url())], [table(&db), table(&db)]] {
        let [one, other] = caches;
        let (one, other) = (instance(&db, one).await, instance(&db, other).await);
        let first = one.query(&rows(35)).await;
        let second = other.next_page(&cursor(&first)).await;
        assert_eq!(numbers(&second), numbered(11, 20));
        drop(one);
        assert_eq!(other.all(second).await, numbered(11, 35));
    }
}

#[tokio::test]
async fn a_page_outlives_the_process_that_read_it() {
    let redis = Server::start(&[]);
    let folder = Folder::new();
    let start = || {
        let mut serving = Serving::start(&folder.0, &["--json", "--cache", &redis.url()]);
        let ready = serving.ready();
        (serving, ready)
    };
    let call = async |ready: &support::command::Ready, tool: &str, arguments: Value| {
        http::call(ready.url(), ready.key(), tool, arguments).await["structuredContent"].clone()
    };
    let (mut one, ready) = start();
    let sql = "SELECT i FROM generate_series(1, 900) AS i ORDER BY i";
    let first = call(&ready, "query", json!({"sql": sql, "max_rows": 300})).await;
    one.signal("KILL");
    drop(one);
    let (_other, ready) = start();
    let second = call(&ready, "next_page", json!({"cursor": cursor(&first)})).await;
    assert_eq!(numbers(&second), numbered(301, 600));
}

#[tokio::test]
async fn without_its_cache_a_first_page_says_that_there_are_no_others() {
    let db = support::database(18).await;
    let mut redis = Server::start(&[]);
    let endpoint = instance(&db, at(&redis.url())).await;
    let handle = cursor(&endpoint.query(&rows(30)).await);
    assert_eq!(numbers(&endpoint.next_page(&handle).await), numbered(11, 20));
    redis.stop();
    first_page_alone(&endpoint, "cache_").await;
    expired(&endpoint, &handle).await;
    redis.restart();
    expired(&endpoint, &handle).await;
    assert_eq!(endpoint.all(endpoint.query(&rows(30)).await).await, numbered(1, 30), "it is there again");
}

#[tokio::test]
async fn a_cache_that_was_wiped_gives_nothing() {
    let db = support::database(18).await;
    let redis = Server::start(&[]);
    let endpoint = instance(&db, at(&redis.url())).await;
    let handle = cursor(&endpoint.query(&rows(30)).await);
    assert_eq!(redis.tell("FLUSHALL"), "+OK");
    expired(&endpoint, &handle).await;

    let endpoint = instance(&db, table(&db)).await;
    let handle = cursor(&endpoint.query(&rows(30)).await);
    db.run("DO $$ DECLARE t text; BEGIN FOR t IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
        WHERE schemaname = 'pinguard' AND tablename LIKE 'cache%' LOOP EXECUTE 'TRUNCATE ' || t || ' CASCADE'; END LOOP; END $$")
        .await;
    expired(&endpoint, &handle).await;
}

#[tokio::test]
async fn of_a_result_that_lost_a_part_the_pages_of_that_part_are_gone() {
    let db = support::database(18).await;
    let redis = Server::start(&[]);
    let last = async |endpoint: &Endpoint, first: &Value| {
        let arguments = json!({"cursor": cursor(first), "page": 400});
        endpoint.call("next_page", arguments).await.0
    };
    // The record is part 0; of 4,000 rows two parts are made, and the last page is in the second.
    for cache in [at(&redis.url()), table(&db)] {
        let endpoint = instance(&db, cache).await;
        let first = endpoint.query(&rows(4_000)).await;
        assert_eq!(numbers(&last(&endpoint, &first).await), numbered(3_991, 4_000));
        let key = redis.tell("EVAL \"return table.concat(redis.call('KEYS','*:entry:*'),' ')\" 0");
        if key.is_empty() {
            db.run("DELETE FROM pinguard.cache_part WHERE number = 2").await;
        } else {
            assert_eq!(redis.tell(&format!("HDEL {key} 2")), ":1");
        }
        assert_eq!(last(&endpoint, &first).await["code"], "cursor_expired");
        assert_eq!(numbers(&endpoint.next_page(&cursor(&first)).await), numbered(11, 20));
        redis.tell("FLUSHALL");
    }
}

#[tokio::test]
async fn a_slow_and_a_silent_cache_hold_up_nobody() {
    let db = support::database(18).await;
    let redis = Server::start(&[]);
    let proxy = Proxy::start(redis.port).await;
    let url = redis.url().replacen(&format!(":{}", redis.port), &format!(":{}", proxy.port), 1);
    let endpoint = instance(&db, at(&url)).await;
    let handle = cursor(&endpoint.query(&rows(30)).await);
    for fault in [Fault::Silence, Fault::Delay(Duration::from_secs(3))] {
        proxy.set(fault);
        first_page_alone(&endpoint, "cache_timeout").await;
        expired(&endpoint, &handle).await;
    }
    proxy.set(Fault::None);
    assert_eq!(numbers(&endpoint.next_page(&handle).await), numbered(11, 20), "nothing was lost");
    proxy.set(Fault::CutAfterBytes(20));
    first_page_alone(&endpoint, "cache_").await;
    expired(&endpoint, &handle).await;
}

#[tokio::test]
async fn a_full_cache_keeps_nothing_and_says_so() {
    let db = support::database(18).await;
    let redis = Server::start(&["maxmemory 1500000", "maxmemory-policy noeviction"]);
    let endpoint = instance(&db, at(&redis.url())).await;
    let noise =
        "SELECT i AS n, md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text) || md5((i + 3)::text)
        FROM generate_series(1, 9000) AS i";
    let mut kept = 0;
    for _ in 0..6 {
        let answer = endpoint.query(noise).await;
        assert_eq!(numbers(&answer), numbered(1, 10));
        kept += u32::from(answer["cursor"].is_string());
        if let Some(note) = answer["notes"][0].as_str() {
            assert!(note.contains("cache_full"), "{note}");
        }
    }
    assert!(kept < 6, "it is not full");
}

#[tokio::test]
async fn a_cache_whose_line_is_cut_anywhere_gives_the_page_or_none() {
    let db = support::database(18).await;
    let redis = Server::start(&[]);
    let proxy = Proxy::start(redis.port).await;
    let url = redis.url().replacen(&format!(":{}", redis.port), &format!(":{}", proxy.port), 1);
    let endpoint = instance(&db, at(&redis.url())).await;
    let handle = cursor(&endpoint.query(&rows(3_000)).await);
    let (mut pages, mut lost) = (0, 0);
    for bytes in [0, 1, 5, 9, 40, 100, 300, 600, 1_000, 3_000, 10_000, 30_000, 100_000, 500_000] {
        // Each with no line yet, so that its first one is cut.
        let other = Setup { cache: at(&url), ..pages_of(10) }.start(&db, &db.url).await;
        proxy.set(Fault::CutAfterBytes(bytes));
        let (answer, failed) = other.call("next_page", json!({"cursor": handle})).await;
        if failed {
            assert_eq!(answer["code"], "cursor_expired", "{answer}");
            lost += 1;
        } else {
            assert_eq!(numbers(&answer), numbered(11, 20), "cut after {bytes}");
            pages += 1;
        }
        proxy.set(Fault::None);
        assert_eq!(numbers(&other.next_page(&handle).await), numbered(11, 20), "and then it is well again");
    }
    assert!(pages > 0 && lost >= 8, "{pages} pages, {lost} lost");
}

#[tokio::test]
async fn what_runs_again_is_answered_though_nothing_more_can_be_kept() {
    let db = support::database(18).await;
    let redis = Server::start(&["maxmemory-policy noeviction"]);
    let endpoint = Setup { cache: at(&redis.url()), ..pages_of(500) }.start(&db, &db.url).await;
    let first = endpoint.query(&rows(12_000)).await;
    let last = endpoint.good("next_page", json!({"cursor": cursor(&first), "page": 21})).await;
    assert_eq!(redis.tell("CONFIG SET maxmemory 1"), "+OK");
    let behind = endpoint.next_page(&cursor(&last)).await;
    assert_eq!((numbers(&behind), &behind["truncated"]), (numbered(10_501, 11_000), &json!(true)));
    assert!(behind["cursor"].is_null(), "{behind}");
    let notes = behind["notes"].to_string();
    assert!(notes.contains("ran again") && notes.contains("could not be kept (cache_full)"), "{notes}");
}
