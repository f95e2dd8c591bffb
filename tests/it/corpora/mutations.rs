//! Statements of the corpora with words lost, doubled, swapped and put in from elsewhere: whatever of them is admitted leaves
//! the database as it was, even where it may write and is committed.
//!
//! `PINGUARD_MUTATIONS=1000000 cargo test --package tests --test it mutations -- --nocapture` makes a million.

mod state;
mod words;

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use pg::{Connection, Judged, Memory, ReadError};
use tokio_postgres::Client;

use self::state::State;
use self::words::Words;
use super::{
    BENIGN, FOUND, FOUND_BENIGN, HOSTILE, SELECTED, SELECTED_FOUND, SELECTED_TRAPS, cases, laid_out, rules,
};
use crate::client::{judge, open};
use crate::support::{MAJORS, TestServer, connect};

/// The set-ups that every server has the extensions for.
const LAID_OUT: [&str; 5] = ["traps", "found", "found_casts", "found_extensions", "found_benign"];
/// How many are made unless the environment says so.
const USUAL: u64 = 2_000;
/// How many lie between two looks at the state.
const BATCH: u64 = 500;
/// Connections that work side by side.
const WORKERS: u64 = 4;
/// The longest that a statement may run.
const MILLISECONDS: u64 = 300;

/// What became of the statements.
#[derive(Debug, Default, Clone)]
struct Tally {
    refused_at_once: u64,
    not_understood: u64,
    refused: u64,
    admitted: u64,
    ran: u64,
    unfinished: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.refused_at_once += other.refused_at_once;
        self.not_understood += other.not_understood;
        self.refused += other.refused;
        self.admitted += other.admitted;
        self.ran += other.ran;
        self.unfinished += other.unfinished;
    }
}

#[expect(clippy::disallowed_methods, reason = "whoever wants more says so by hand")]
fn wanted() -> u64 {
    std::env::var_os("PINGUARD_MUTATIONS").map_or(USUAL, |count| count.to_str().unwrap().parse().unwrap())
}

#[tokio::test]
async fn what_is_admitted_of_changed_statements_changes_nothing() {
    let server = own_server();
    let since = Instant::now();
    let mut tally = Tally::default();
    let (wanted, setups) = (wanted(), u64::try_from(LAID_OUT.len()).unwrap());
    let share = wanted.div_ceil(setups);
    for setup in LAID_OUT {
        let db = laid_out(server, setup).await;
        let words = Arc::new(Words::read(&db, &statements(setup, server.major)).await);
        let mut workers = Vec::new();
        for _ in 0..WORKERS {
            workers.push(Worker::start(&db.url).await);
        }
        let mut watch = State::watch(&db).await;
        let mut made = 0;
        while made < share {
            let batch = BATCH.min(share - made);
            let admitted;
            (workers, admitted) = run(workers, &words, made..made + batch, &mut tally).await;
            made += batch;
            if let Some(change) = watch.change().await {
                panic!("{change}\n{}", blame(&mut workers[0], &mut watch, &words, &admitted).await);
            }
        }
    }
    let seconds = since.elapsed().as_secs_f64();
    println!(
        "PostgreSQL {}: {} changed statements in {seconds:.0} s: {tally:?}",
        server.major,
        share * setups
    );
    assert!(tally.ran > wanted / 50, "next to nothing ran");
}

/// A server of its own, where nobody else changes anything.
fn own_server() -> &'static TestServer {
    let binaries = local::embedded::Binaries::unpacked(*MAJORS.last().unwrap()).unwrap();
    Box::leak(Box::new(TestServer::start(binaries, &[("autovacuum", "off")])))
}

/// The statements of the corpora that belong to a set-up or to every one, and that the server gets to see.
fn statements(setup: &str, major: u16) -> Vec<String> {
    let cases = [HOSTILE, BENIGN, FOUND, FOUND_BENIGN].into_iter().flat_map(|corpus| cases(corpus, major));
    let fitting = cases.filter(|case| case.setup == setup || case.setup == "base").map(|case| case.sql);
    fitting.filter(|sql| guard::candidate(sql, &rules(None)).is_ok()).collect()
}

/// Runs some, dealt out to the workers, and gives what was admitted.
async fn run(
    workers: Vec<Worker>,
    words: &Arc<Words>,
    numbers: Range<u64>,
    tally: &mut Tally,
) -> (Vec<Worker>, Vec<u64>) {
    let deal = |(mut worker, first): (Worker, u64)| {
        let (words, numbers) = (Arc::clone(words), numbers.clone());
        tokio::spawn(async move {
            let (mut tally, mut admitted) = (Tally::default(), Vec::new());
            for number in numbers.filter(|number| number % WORKERS == first) {
                if worker.try_one(&words.statement(number), number, &mut tally).await {
                    admitted.push(number);
                }
            }
            (worker, tally, admitted)
        })
    };
    let tasks: Vec<_> = workers.into_iter().zip(0..).map(deal).collect();
    let (mut workers, mut all) = (Vec::new(), Vec::new());
    for task in tasks {
        let (worker, part, admitted) = task.await.unwrap();
        workers.push(worker);
        tally.add(&part);
        all.extend(admitted);
    }
    (workers, all)
}

/// Which of the statements changes the state when it is run again, alone.
async fn blame(worker: &mut Worker, watch: &mut State, words: &Words, admitted: &[u64]) -> String {
    for number in admitted {
        let sql = words.statement(*number);
        worker.try_one(&sql, *number, &mut Tally::default()).await;
        if let Some(change) = watch.change().await {
            return format!("{change} again by\n{sql}");
        }
    }
    let all: Vec<String> = admitted.iter().map(|number| words.statement(*number)).collect();
    format!("not again by any one of\n{}", all.join("\n"))
}

/// Two connections of a superuser, whom nothing but the guard keeps from anything: one judges, the other runs what may run.
struct Worker {
    url: String,
    connection: Connection,
    memory: Memory,
    runner: Client,
}

impl Worker {
    async fn start(url: &str) -> Self {
        let (connection, runner) = (open(url).await, connect(url).await);
        Self { url: url.to_owned(), connection, memory: Memory::default(), runner }
    }

    /// Judges a statement, and runs it if it may run. Gives whether it might.
    async fn try_one(&mut self, sql: &str, number: u64, tally: &mut Tally) -> bool {
        let selected: Vec<&str> = [SELECTED, SELECTED_TRAPS, SELECTED_FOUND].concat();
        let rules = rules(if number.is_multiple_of(3) { Some(&selected) } else { None });
        let candidate = match guard::candidate(sql, &rules) {
            Ok(candidate) if candidate.parameters() == 0 => candidate,
            _ => {
                tally.refused_at_once += 1;
                return false;
            }
        };
        let statement = match candidate.as_it_is() {
            Some(statement) => statement,
            None => match judge(&mut self.connection, &self.memory, &candidate, &rules).await {
                Ok(Judged::Clear { clear, .. }) => clear.statement,
                Ok(Judged::Refused(_)) => {
                    tally.refused += 1;
                    return false;
                }
                Err(ReadError::Server(_)) => {
                    tally.not_understood += 1;
                    return false;
                }
                Err(error) => {
                    println!("{error}: {sql}");
                    tally.unfinished += 1;
                    *self = Self::start(&self.url).await;
                    return false;
                }
            },
        };
        tally.admitted += 1;
        tally.ran += u64::from(self.run(statement.text()).await);
        true
    }

    /// Runs a statement in a transaction that may write, and keeps what it wrote.
    async fn run(&mut self, text: &str) -> bool {
        let whole = format!("BEGIN; SET LOCAL statement_timeout = {MILLISECONDS}; {text}\n; COMMIT");
        let ran = self.runner.batch_execute(&whole).await.is_ok();
        if !ran && self.runner.batch_execute("ROLLBACK").await.is_err() {
            println!("it ended its connection: {text}");
            *self = Self::start(&self.url).await;
        }
        ran
    }
}

#[tokio::test]
async fn the_state_of_a_database_shows_what_writes_do_to_it() {
    let db = laid_out(own_server(), "traps").await;
    let mut watch = State::watch(&db).await;
    let client = db.client().await;
    for (write, changed) in [
        ("SELECT f_write('x')", "public.audit_log"),
        ("DELETE FROM secrets WHERE id = 1", "public.secrets"),
        ("SELECT id FROM secrets FOR UPDATE", "public.secrets"),
        ("SELECT nextval('ord_seq')", "sequences"),
        ("SELECT lo_create(4711)", "pg_catalog.pg_largeobject_metadata"),
        ("CREATE TABLE made (a int)", "pg_catalog.pg_class"),
        ("ALTER FUNCTION f_ok_atomic VOLATILE", "pg_catalog.pg_proc"),
        ("ALTER DATABASE postgres SET app.x = 'y'", "pg_catalog.pg_db_role_setting"),
        ("GRANT SELECT ON secrets TO PUBLIC", "pg_catalog.pg_class"),
        ("ALTER ROLE postgres CONNECTION LIMIT 9", "pg_catalog.pg_authid"),
        ("ALTER SYSTEM SET work_mem = '5MB'", "settings"),
        ("SELECT pg_advisory_lock(1)", "locks"),
        ("COPY (SELECT 1) TO PROGRAM 'cat > made_by_copy'", "files"),
    ] {
        client.batch_execute(write).await.unwrap();
        let change = watch.change().await.unwrap_or_else(|| panic!("nobody saw {write}"));
        assert!(change.contains(changed), "{write}: {change}");
    }
    assert_eq!(watch.change().await, None);
}
