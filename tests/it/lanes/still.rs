//! Where nothing is written between two calls, less is looked up; whatever is written then is noticed all the same.

use std::sync::OnceLock;

use local::embedded::Binaries;
use pg::{Connection, Memory};
use tokio::sync::{Mutex, MutexGuard};

use super::changes::{CHANGES, before};
use super::{TABLES, outcome, ran};
use crate::client::open;
use crate::support::standby::Standby;
use crate::support::{TestServer, connect};

/// Statements until a server counts as still: it has its own work to do at times.
const PATIENCE: usize = 30;

/// A server on which nobody else writes, for one test at a time.
async fn alone() -> (&'static TestServer, MutexGuard<'static, ()>) {
    static SERVER: OnceLock<TestServer> = OnceLock::new();
    static TURN: Mutex<()> = Mutex::const_new(());
    let turn = TURN.lock().await;
    (
        SERVER.get_or_init(|| TestServer::start(Binaries::unpacked(18).unwrap(), &[("autovacuum", "off")])),
        turn,
    )
}

fn is_still(memory: &Memory) -> bool {
    format!("{memory:?}").contains("still: true")
}

/// Asks until calls count on the server's stillness, and once more.
async fn until_still(connection: &mut Connection, memory: &Memory, sql: &str) {
    for _ in 0..PATIENCE {
        ran(connection, memory, sql).await;
        if is_still(memory) {
            ran(connection, memory, sql).await;
            return;
        }
    }
    panic!("{memory:?}");
}

#[tokio::test]
async fn a_change_after_stillness_is_noticed_by_the_next_call() {
    let (server, _turn) = alone().await;
    for (sql, change) in CHANGES {
        let (db, login) = before(server).await;
        let memory = Memory::default();
        let mut connection = open(&login.url).await;
        until_still(&mut connection, &memory, sql).await;
        db.run(change).await;
        let refused = outcome(&mut connection, &memory, sql).await;
        assert!(refused.as_ref().is_err_and(|error| error.starts_with("refused: ")), "{sql}\n{refused:?}");
    }
}

#[tokio::test]
async fn a_change_that_was_under_way_in_stillness_is_noticed_when_it_ends() {
    let (server, _turn) = alone().await;
    for is_listed in [true, false] {
        let (db, login) = before(server).await;
        let mut client = db.client().await;
        let memory = Memory::default();
        let mut connection = open(&login.url).await;
        let sql = "SELECT shop.twice(n) FROM shop.orders";
        let change = client.transaction().await.unwrap();
        change.batch_execute("ALTER FUNCTION shop.twice(int) VOLATILE").await.unwrap();
        // A snapshot lists what is under way only if something newer has ended.
        if is_listed {
            db.run("SELECT pg_current_xact_id()").await;
        }
        for _ in 0..4 {
            ran(&mut connection, &memory, sql).await;
        }
        assert_eq!(is_still(&memory), !is_listed);
        change.commit().await.unwrap();
        let refused = outcome(&mut connection, &memory, sql).await.unwrap_err();
        assert!(refused.starts_with("refused: "), "{refused}");
    }
}

#[tokio::test]
async fn what_is_asked_for_the_first_time_in_stillness_is_looked_up_whole() {
    let (server, _turn) = alone().await;
    let (_db, login) = before(server).await;
    let memory = Memory::default();
    let mut connection = open(&login.url).await;
    until_still(&mut connection, &memory, "SELECT 1").await;
    for (sql, _) in CHANGES {
        for _ in 0..3 {
            ran(&mut connection, &memory, sql).await;
            assert!(is_still(&memory), "{sql}");
        }
    }
    let refused = outcome(&mut connection, &memory, "SELECT shop.evil(1)").await.unwrap_err();
    assert!(refused.starts_with("refused: "), "{refused}");
}

#[tokio::test]
async fn a_standby_is_still_until_it_is_promoted_and_written_to() {
    let setup = format!(
        "{TABLES}; CREATE ROLE reader LOGIN PASSWORD 'r'; GRANT SET ON PARAMETER log_min_messages TO reader; \
         CREATE FUNCTION shop.evil() RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('x', 'y'); RETURN 'z'; END $$; \
         GRANT USAGE ON SCHEMA shop TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader"
    );
    let standby = Standby::of(18, &setup).await;
    let memory = Memory::default();
    let mut connection = open(&standby.url("reader", "r")).await;
    let sql = "SELECT note FROM shop.notes";
    until_still(&mut connection, &memory, sql).await;
    standby.promote().await;
    ran(&mut connection, &memory, sql).await;
    let admin = connect(&standby.superuser_url()).await;
    admin.batch_execute("CREATE OR REPLACE VIEW shop.notes AS SELECT shop.evil() AS note").await.unwrap();
    let refused = outcome(&mut connection, &memory, sql).await.unwrap_err();
    assert!(refused.starts_with("refused: "), "{refused}");
}
