//! Statements that people and models really asked, against databases that nobody made for this project: each goes
//! through the endpoint, and every value that comes back is what PostgreSQL itself prints.
//!
//! The databases and statements are no part of the project. They lie beside the checkout, and where they do not, the
//! test says so and passes.

mod compare;
mod databases;
mod endpoint;
mod records;
mod server_text;

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
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

/// Statements that the guard refuses on purpose, a line each: the refusal's code and the statement's id.
const REFUSED: &str = include_str!("workloads/refused.txt");

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
    judge(&records, &outcomes);
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
    let rows = match endpoint.query(record).await {
        Answer::Rows(rows) => rows,
        Answer::Refused(code) => return Outcome::Refused(code),
        Answer::Failed(why) => return Outcome::Wrong(why),
    };
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

/// Prints the figures, and fails where a statement went wrong or the list of refusals is not true.
fn judge(records: &[Record], outcomes: &[Outcome]) {
    let mut listed: BTreeMap<&str, &str> = REFUSED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(code, id)| (id, code))
        .collect();
    let (mut in_order, mut in_other_order) = (0, 0);
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut problems = String::new();
    for (record, outcome) in records.iter().zip(outcomes) {
        let id = &record.id;
        let expected = listed.remove(id.as_str());
        let problem = match outcome {
            Outcome::Refused(code) => {
                *refused.entry(code).or_default() += 1;
                match expected {
                    Some(listed) if listed == code => continue,
                    Some(listed) => format!("refused as {code}, listed as {listed}"),
                    None => format!("refused as {code}, and not listed"),
                }
            }
            Outcome::Equal(order) => {
                match order {
                    Order::Same => in_order += 1,
                    Order::Other => in_other_order += 1,
                }
                match expected {
                    Some(listed) => format!("listed as refused ({listed}), and it ran"),
                    None => continue,
                }
            }
            Outcome::Wrong(why) => why.clone(),
        };
        writeln!(problems, "{id} ({}): {problem}\n    {}", record.database, record.sql.replace('\n', " "))
            .unwrap();
    }
    for (id, code) in listed {
        writeln!(problems, "{code} {id}: listed, and there is no such statement").unwrap();
    }
    let statements = records.len();
    let equal = in_order + in_other_order;
    println!(
        "{statements} statements: {equal} equal ({in_other_order} in another order), refused: {refused:?}"
    );
    assert!(problems.is_empty(), "\n{problems}");
}
