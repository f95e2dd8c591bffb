//! How PostgreSQL is asked what a statement resolves to: lanes, what they leave behind, and what is remembered between calls.

mod between;
mod changes;
mod parsing;
mod standby;
mod still;

use guard::{Candidate, RowLimit, Rules};
use pg::{Agreed, Connection, Consent, Lane, Memory, Question, Ran, Read};

use crate::client::{open, plan, texts};
use crate::support::{TestDb, each_major, server};

const TABLES: &str = "CREATE SCHEMA shop; CREATE TABLE shop.orders (id int PRIMARY KEY, note text); \
     INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b'); CREATE VIEW shop.notes AS SELECT note FROM shop.orders";

fn rules() -> Rules {
    Rules::open(RowLimit::new(100))
}

fn candidate(sql: &str) -> Candidate {
    guard::candidate(sql, &rules()).unwrap_or_else(|refusal| panic!("{sql}: {refusal}"))
}

/// What came of a statement: its rows, `refused: …`, or an error's word.
async fn outcome(connection: &mut Connection, memory: &Memory, sql: &str) -> Result<Ran, String> {
    let (candidate, rules) = (candidate(sql), rules());
    let question = Question { candidate: &candidate, rules: &rules, parameters: &[], plan: &plan() };
    match pg::read(connection, memory, question).await {
        Ok(Read::Ran(ran)) => Ok(*ran),
        Ok(Read::Refused(refusal)) => Err(format!("refused: {refusal}")),
        Ok(Read::TooCostly(estimate)) => Err(format!("{estimate:?}")),
        Err(error) => Err(error.code().to_owned()),
    }
}

async fn ran(connection: &mut Connection, memory: &Memory, sql: &str) -> Ran {
    outcome(connection, memory, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

async fn without_temp(db: &TestDb) {
    db.run(&format!("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", db.name)).await;
}

#[tokio::test]
async fn what_is_remembered_takes_two_flights() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(TABLES).await;
        let mut connection = open(&db.reader(&["shop"]).await.url).await;
        let memory = Memory::default();
        for sql in [
            "SELECT 1",
            "SELECT * FROM shop.orders",
            "SELECT count(*) FROM shop.notes",
            "EXPLAIN SELECT * FROM shop.notes",
        ] {
            ran(&mut connection, &memory, sql).await;
            // What other tests write on this server can cost more.
            let mut fewest = u64::MAX;
            for _ in 0..20 {
                let before = connection.flights();
                assert_eq!(ran(&mut connection, &memory, sql).await.lane, Some(Lane::Quiet), "{sql}");
                fewest = fewest.min(connection.flights() - before);
            }
            assert_eq!(fewest, 2, "{sql}");
        }
        let ran =
            ran(&mut connection, &memory, "SELECT * FROM shop.orders o JOIN shop.notes n USING (note)").await;
        let names: Vec<String> = ran.relations.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["shop.notes", "shop.orders"]);
        assert_eq!(texts(&ran.raw), [["a", "1"], ["b", "2"]]);
    })
    .await;
}

#[tokio::test]
async fn a_login_without_the_grant_takes_the_function_lane_and_leaves_nothing() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(TABLES).await;
        let login = db.plain_login("plain", "").await;
        db.let_read(&login, &["shop"]).await;
        let mut connection = open(&login.url).await;
        let memory = Memory::default();
        let parameter = [pg::Parameter::from(serde_json::json!("b"))];
        let (candidate, rules) =
            (candidate("SELECT id, note, note FROM shop.orders WHERE note = $1"), rules());
        let question =
            Question { candidate: &candidate, rules: &rules, parameters: &parameter, plan: &plan() };
        for _ in 0..2 {
            let ran = match pg::read(&mut connection, &memory, question).await.unwrap() {
                Read::Ran(ran) => ran,
                Read::Refused(refusal) => panic!("{refusal}"),
                Read::TooCostly(estimate) => panic!("{estimate:?}"),
            };
            assert_eq!(ran.lane, Some(Lane::Function));
            assert_eq!(texts(&ran.raw), [["2", "b", "b"]]);
        }
        let refused = outcome(&mut connection, &memory, "SELECT pg_sleep(0)").await.unwrap_err();
        assert!(refused.starts_with("refused: "), "{refused}");
        ran(&mut connection, &memory, "EXPLAIN SELECT * FROM shop.notes").await;
        let admin = db.client().await;
        let left = admin
            .query_one("SELECT count(*) FROM pg_proc WHERE proname LIKE 'pinguard%'", &[])
            .await
            .unwrap();
        assert_eq!(left.get::<_, i64>(0), 0);
    })
    .await;
}

#[tokio::test]
async fn what_runs_on_the_function_lane_cannot_write() {
    each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE SEQUENCE s; CREATE FUNCTION f() RETURNS bigint STABLE LANGUAGE sql AS $$ SELECT nextval('s') $$").await;
        let login = db.plain_login("plain", "").await;
        db.run(&format!("GRANT ALL ON SEQUENCE s TO {}", login.role)).await;
        let mut connection = open(&login.url).await;
        let memory = Memory::default();
        // Vouched for by name, so that it runs and meets the wall behind the guard.
        let allowed = guard::facts::ObjectName { schema: "public".to_owned(), name: "f".to_owned() };
        let rules = Rules { allowed_functions: vec![allowed], ..rules() };
        let candidate = guard::candidate("SELECT f()", &rules).unwrap();
        let question = Question { candidate: &candidate, rules: &rules, parameters: &[], plan: &plan() };
        let error = pg::read(&mut connection, &memory, question).await.unwrap_err();
        assert_eq!(error.code(), "25006", "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_login_with_neither_is_refused_unless_its_operator_agreed_to_be_loud() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(TABLES).await;
        without_temp(&db).await;
        let login = db.plain_login("plain", "").await;
        db.let_read(&login, &["shop"]).await;
        let mut connection = open(&login.url).await;
        let sql = "SELECT note AS loud_and_clear FROM shop.orders";
        assert_eq!(outcome(&mut connection, &Memory::default(), sql).await.unwrap_err(), "no_lane");
        assert!(!server.log().contains(":resname loud_and_clear"));
        let loud = Memory::new(Consent { loud: Agreed::Yes, ..Consent::default() });
        assert_eq!(ran(&mut connection, &loud, sql).await.lane, Some(Lane::Loud));
        assert!(server.log().contains(":resname loud_and_clear"));
    })
    .await;
}

#[tokio::test]
async fn an_event_trigger_closes_the_function_lane_unless_its_operator_agreed() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(
            "CREATE FUNCTION t() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$; \
             CREATE EVENT TRIGGER t ON ddl_command_end EXECUTE FUNCTION t()",
        )
        .await;
        let login = db.plain_login("plain", "").await;
        let mut connection = open(&login.url).await;
        assert_eq!(outcome(&mut connection, &Memory::default(), "SELECT 1").await.unwrap_err(), "no_lane");
        let agreed = Memory::new(Consent { event_triggers: Agreed::Yes, ..Consent::default() });
        assert_eq!(ran(&mut connection, &agreed, "SELECT 1").await.lane, Some(Lane::Function));
        db.run("ALTER EVENT TRIGGER t DISABLE").await;
        assert_eq!(ran(&mut connection, &Memory::default(), "SELECT 1").await.lane, Some(Lane::Function));
    })
    .await;
}

#[tokio::test]
async fn the_owners_own_logging_goes_on_and_no_tree_is_in_it() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(TABLES).await;
        let login = db.reader(&["shop"]).await;
        for setting in ["log_statement = 'all'", "log_min_duration_statement = 0"] {
            db.run(&format!("ALTER ROLE {} SET {setting}", login.role)).await;
        }
        let mut connection = open(&login.url).await;
        let memory = Memory::default();
        for _ in 0..2 {
            ran(&mut connection, &memory, "SELECT note AS seen_in_the_log FROM shop.orders").await;
        }
        let log = server.log();
        assert!(!log.contains(":resname seen_in_the_log"), "a tree is in the log");
        // On 14 the level comes with the role and cannot be put back by it.
        if server.major > 14 {
            let lines =
                log.lines().filter(|line| line.contains("execute") && line.contains("seen_in_the_log"));
            assert!(lines.count() >= 2, "{log}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_grant_that_is_taken_away_ends_the_lane() {
    let server = server(17);
    let db = server.database().await;
    db.run(TABLES).await;
    let login = db.reader(&["shop"]).await;
    let memory = Memory::default();
    let mut connection = open(&login.url).await;
    assert_eq!(ran(&mut connection, &memory, "TABLE shop.orders").await.lane, Some(Lane::Quiet));
    db.run(&format!("REVOKE quiet_logs FROM {}", login.role)).await;
    assert_eq!(ran(&mut connection, &memory, "TABLE shop.orders").await.lane, Some(Lane::Function));
    assert_eq!(memory.lane(), Some(Lane::Function));
    without_temp(&db).await;
    let error = outcome(&mut connection, &memory, "TABLE shop.orders").await.unwrap_err();
    assert_eq!(error, "no_lane");
    // The connection is as good as new.
    assert!(connection.is_reusable());
}
