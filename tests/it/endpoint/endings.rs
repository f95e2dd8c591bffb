//! Every way in which a call can end: once it has, the database has nothing of it.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::{Endpoint, Setup, assert_failure};
use crate::support::{self, SLOW, TestDb};

/// How long a backend may take to notice that its client has gone.
const SOON: Duration = Duration::from_secs(2);

/// Statements, and what ends them: nothing, or a failure of this code.
const ENDINGS: &[(&str, Option<&str>)] = &[
    ("SELECT n FROM t WHERE n < 3", None),
    ("SELECT n FROM t WHERE n < 0", None),
    ("SELECT n FROM t", None),
    ("SELECT repeat('x', 4000) FROM t", None),
    ("SELECT i, 1 / (i - 300) FROM generate_series(1, 9000) AS i", None),
    ("SELECT a FROM generate_series(1, 100000) a, generate_series(1, 100000) b LIMIT 2000000000", None),
    ("EXPLAIN SELECT n FROM t", None),
    ("SHOW timezone", None),
    ("", Some("empty_statement")),
    ("SELECT (", Some("syntax_error")),
    ("DELETE FROM t", Some("not_a_read")),
    ("SELECT pg_sleep(60)", Some("builtin_refused")),
    ("SELECT nosuch FROM t", Some("42703")),
    ("SELECT 1 / (n - 1) FROM t", Some("22012")),
    ("SELECT 'x'::int", Some("22P02")),
    ("SELECT n FROM locked", Some("57014")),
    ("SELECT n FROM t, generate_series(1, 10000000000) AS g", Some("plan_too_costly")),
    (SLOW, Some("57014")),
];

async fn shop() -> TestDb {
    let db = support::database(18).await;
    db.run("CREATE TABLE t AS SELECT generate_series(1, 1000) AS n; CREATE TABLE locked (n int); ANALYZE t")
        .await;
    db
}

/// Waits until the database has nothing but at most so many connections, none of which does anything.
async fn only_waits(db: &TestDb, most: usize, after: &str) {
    let until = Instant::now() + SOON;
    loop {
        let seen = db.activity().await;
        if seen.len() <= most && seen.iter().all(|one| one.state == "idle") {
            return;
        }
        assert!(Instant::now() < until, "after `{after}`: {seen:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn whatever_ends_a_call_nothing_of_it_is_left() {
    let db = shop().await;
    let owner = db.client().await;
    owner.batch_execute("BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE").await.unwrap();
    for (keeping, most) in [(None, 0), (Some(Duration::from_mins(1)), 1)] {
        let memories = keeping.map_or_else(mcp::Memories::default, mcp::Memories::keeping);
        let node = json!({"rowCap": 10, "limits": {"maxEstimatedRows": 100_000_000_000_u64}});
        let endpoint = Setup { memories, ..Setup::node(node) }.start(&db, &db.url).await;
        for (sql, code) in ENDINGS {
            let (answer, _) = endpoint.call("query", json!({"sql": sql, "timeout_seconds": 2})).await;
            assert_eq!(answer["code"].as_str(), *code, "{sql}: {answer}");
            only_waits(&db, most, sql).await;
        }
        pages_end(&db, &endpoint, most).await;
        hang_up(&db, &endpoint, most).await;
    }
}

async fn pages_end(db: &TestDb, endpoint: &Endpoint, most: usize) {
    let first = endpoint.query("SELECT n FROM t ORDER BY n LIMIT 25").await;
    let second = endpoint.good("next_page", json!({"cursor": first["cursor"]})).await;
    only_waits(db, most, "a page").await;
    let last = endpoint.good("next_page", json!({"cursor": second["cursor"]})).await;
    assert!(last["cursor"].is_null(), "{last}");
    let failure = endpoint.bad("next_page", json!({"cursor": "x"})).await;
    assert_failure(&failure, "cursor_expired", "expected", "ask again");
    only_waits(db, most, "an expired cursor").await;
}

/// Callers that leave while the statement is being judged, runs, or waits for a lock.
async fn hang_up(db: &TestDb, endpoint: &Endpoint, most: usize) {
    for (sql, time) in [(SLOW, 2), (SLOW, 20), (SLOW, 1_000), ("SELECT n FROM locked", 1_000)] {
        let call = endpoint.call("query", json!({"sql": sql}));
        let looking = async {
            sleep(Duration::from_millis(500)).await;
            db.activity().await.iter().filter(|one| one.state == "active").count()
        };
        let (ended, running) = tokio::join!(timeout(Duration::from_millis(time), call), looking);
        assert!(ended.is_err(), "{ended:?}");
        assert_eq!(running, usize::from(time > 500), "{sql} after {time} ms");
        only_waits(db, most, &format!("{sql}, left after {time} ms")).await;
    }
    assert_eq!(endpoint.query("SELECT 1").await["rows"], json!([[1]]));
}
