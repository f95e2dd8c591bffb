//! Statements that people and models really asked, against databases that nobody made for this project: each goes
//! through the endpoint, and every value that comes back is what PostgreSQL itself prints.
//!
//! The databases and statements are no part of the project. They lie beside the checkout, and where they do not, the
//! test says so and passes.

mod compare;
mod databases;
mod endpoint;
mod records;
mod selections;
mod server_text;

use std::{
    collections::{BTreeMap, HashMap},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use tokio::sync::Mutex;

use self::{
    compare::Order,
    databases::Databases,
    endpoint::{Answer, Endpoint, Nodes},
    records::Record,
    server_text::ServerText,
};

/// Statements that the guard refuses on purpose, a line each: the refusal's code and the statement's id. All are of
/// [`ENGINE_TESTS`].
const REFUSED: &str = include_str!("workloads/refused.txt");

/// The group of statements that nobody asks but PostgreSQL's own tests and those of extensions.
const ENGINE_TESTS: &str = "engine_tests";

/// Statements under way at one time.
const AT_ONCE: usize = 4;

/// How one statement went.
#[derive(Debug)]
enum Outcome {
    /// All values are those of the server, and those of the record.
    Equal(Order),
    /// The guard said no.
    Refused(String),
    /// Anything else: a defect.
    Wrong(String),
}

#[test]
fn every_recorded_statement_gives_the_values_of_the_server() {
    let Some(folder) = records::folder() else {
        println!("SKIPPED: no ../shared/workloads beside the checkout, so no recorded statements to run");
        return;
    };
    let since = Instant::now();
    let records = records::read(&folder);
    let databases = Databases::load(&folder);
    let loaded = since.elapsed();
    let nodes = Nodes::publish(&databases, &records);
    let outcomes = run(&records, &databases, &nodes);
    println!("databases loaded in {} s, all in {} s", loaded.as_secs(), since.elapsed().as_secs());
    let judged = judge(&records, &outcomes, REFUSED);
    println!("{}", judged.figures);
    let (figures, problems) = selections::check(&records, &databases);
    println!("{figures}\nall in {} s", since.elapsed().as_secs());
    let problems = [judged.problems, problems].concat();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Runs all statements; an outcome for each, in order.
fn run(records: &[Record], databases: &Databases, nodes: &Nodes) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    // Statements that take advisory locks would wait for each other.
    let locking = Mutex::new(());
    let worker = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (endpoint, mut server) = (Endpoint::open(nodes), ServerText::of(databases));
            let mut done = Vec::new();
            while let Some(record) = records.get(next.fetch_add(1, Ordering::Relaxed)) {
                let _alone = if record.sql.contains("advisory") { Some(locking.lock().await) } else { None };
                done.push((record.id.as_str(), outcome(record, &endpoint, &mut server).await));
            }
            done
        })
    };
    let mut outcomes: HashMap<&str, Outcome> = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    records.iter().map(|record| outcomes.remove(record.id.as_str()).unwrap()).collect()
}

async fn outcome(record: &Record, endpoint: &Endpoint<'_>, server: &mut ServerText<'_>) -> Outcome {
    let mut rows = match endpoint.query(record).await {
        Answer::Rows(rows) => rows,
        Answer::Refused(code) => return Outcome::Refused(code),
        Answer::Failed(why) => return Outcome::Wrong(why),
    };
    if !records::same_columns(&rows.columns, record) {
        rows.columns = server.without_domains(record, &rows.columns).await;
    }
    if !records::same_columns(&rows.columns, record) {
        return Outcome::Wrong(format!("columns {:?} instead of {:?}", rows.columns, record.columns));
    }
    let texts = server.rows(record).await;
    if records::digest(&texts) != record.sha256 {
        return Outcome::Wrong("the server itself gives other rows than the record".to_owned());
    }
    match compare::rows(&rows, &texts) {
        Ok(order) => Outcome::Equal(order),
        Err(why) => Outcome::Wrong(why),
    }
}

/// What came of all of them.
struct Judged {
    /// The figures, in one line.
    figures: String,
    /// What went wrong, and where the list of refusals is not true.
    problems: Vec<String>,
}

/// Codes by id.
fn listed(refused: &str) -> BTreeMap<&str, &str> {
    let lines = refused.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).map(|(code, id)| (id, code)).collect()
}

fn judge(records: &[Record], outcomes: &[Outcome], refused: &str) -> Judged {
    let mut listed = listed(refused);
    let (mut in_order, mut in_other_order) = (0, 0);
    let mut by_code: BTreeMap<&str, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for (record, outcome) in records.iter().zip(outcomes) {
        let expected = listed.remove(record.id.as_str());
        let problem = match outcome {
            Outcome::Refused(code) => {
                *by_code.entry(code).or_default() += 1;
                let on_purpose = expected == Some(code) && record.group == ENGINE_TESTS;
                (!on_purpose).then(|| format!("refused as {code}, listed as {expected:?}"))
            }
            Outcome::Equal(order) => {
                match order {
                    Order::Same => in_order += 1,
                    Order::Other => in_other_order += 1,
                }
                expected.map(|code| format!("listed as refused ({code}), and it ran"))
            }
            Outcome::Wrong(why) => Some(why.clone()),
        };
        let Record { id, database, sql, .. } = record;
        problems.extend(problem.map(|problem| format!("{id} ({database}): {problem}\n    {sql}")));
    }
    problems.extend(listed.iter().map(|(id, code)| format!("{code} {id}: there is no such statement")));
    let figures = format!(
        "{} statements: {} equal, {in_other_order} of them in another order; refused: {by_code:?}",
        records.len(),
        in_order + in_other_order
    );
    Judged { figures, problems }
}

#[test]
fn a_list_of_refusals_that_is_not_true_is_noticed() {
    let record = |id: &str| Record { id: id.to_owned(), group: ENGINE_TESTS.to_owned(), ..Record::default() };
    let records = ["ran", "refused"].map(record);
    let outcomes = [Outcome::Equal(Order::Same), Outcome::Refused("volatile".to_owned())];
    let problems = |listed| judge(&records, &outcomes, listed).problems.len();
    assert_eq!(problems("# code id\nvolatile refused"), 0);
    assert_eq!(problems(""), 1);
    assert_eq!(problems("other refused"), 1);
    assert_eq!(problems("volatile refused\nvolatile ran"), 1);
    assert_eq!(problems("volatile refused\nvolatile gone"), 1);
    let asked = [Record { group: "analyst".to_owned(), ..record("refused") }];
    assert_eq!(
        judge(&asked, &outcomes[1..], "volatile refused").problems.len(),
        1,
        "nobody but engine tests"
    );
}
