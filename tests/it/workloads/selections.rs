//! The recorded statements under a selection: admitted with exactly the relations that they name, refused without any one.

use std::{
    collections::{BTreeMap, HashMap},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use guard::{RowLimit, Rules, Selection, facts::ObjectName};
use pg::{Connection, Judged, Memory, Question, ReadPlan, SearchPath};

use super::{
    AT_ONCE,
    databases::{self, Databases},
    records::Record,
};
use crate::client::{open, plan};

/// Statements that are refused on purpose as soon as tables are selected, a line each: the refusal's code and the id.
const REFUSED: &str = include_str!("refused_selected.txt");

/// How one statement went under selections.
enum Outcome {
    /// It is refused without a selection, or is EXPLAIN, or names nothing, or a relation of PostgreSQL's own.
    PassedOver,
    /// Admitted with what it names, and refused as often as one of these was left out.
    Held(usize),
    /// Refused with all that it names.
    Refused(String),
    /// Admitted though a relation that it names was left out, or not judged at all.
    Wrong(String),
}

/// What came of all of them: the figures, and what went wrong.
pub(super) fn check(records: &[Record], databases: &Databases) -> (String, Vec<String>) {
    let mut listed: BTreeMap<&str, &str> = super::listed(REFUSED);
    let (mut held, mut left_out, mut passed_over) = (0, 0, 0);
    let mut by_code: BTreeMap<String, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for (record, outcome) in records.iter().zip(outcomes(records, databases)) {
        let expected = listed.remove(record.id.as_str());
        let problem = match outcome {
            Outcome::Held(times) => {
                held += 1;
                left_out += times;
                expected
                    .map(|code| format!("listed as refused with a selection ({code}), and it is admitted"))
            }
            Outcome::PassedOver => {
                passed_over += 1;
                expected
                    .map(|code| format!("listed as refused with a selection ({code}), and it is passed over"))
            }
            Outcome::Refused(why) => {
                let code = why.split(' ').next().unwrap().to_owned();
                let unexpected = (expected != Some(code.as_str()))
                    .then(|| format!("refused with all that it names, listed as {expected:?}: {why}"));
                *by_code.entry(code).or_default() += 1;
                unexpected
            }
            Outcome::Wrong(why) => Some(why),
        };
        let Record { id, database, sql, .. } = record;
        problems.extend(problem.map(|problem| format!("{id} ({database}): {problem}\n    {sql}")));
    }
    problems.extend(listed.iter().map(|(id, code)| format!("{code} {id}: there is no such statement")));
    let figures = format!(
        "with selections: {held} admitted with what they name, {left_out} times refused with one relation less; refused \
         with all: {by_code:?}; {passed_over} read none, or PostgreSQL's own, or are EXPLAIN"
    );
    (figures, problems)
}

fn outcomes(records: &[Record], databases: &Databases) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut judge = Judge { databases, open: HashMap::new() };
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(record) = records.get(at) else { return done };
                done.push((at, judge.outcome(record).await));
            }
        })
    };
    let mut outcomes: Vec<(usize, Outcome)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// A connection to each database that was asked.
struct Judge<'a> {
    databases: &'a Databases,
    open: HashMap<&'a str, (Connection, Memory)>,
}

impl<'a> Judge<'a> {
    async fn outcome(&mut self, record: &'a Record) -> Outcome {
        let named = match self.verdict(record, Selection::Everything).await {
            Ok(Ok(named)) => named,
            Ok(Err(_)) => return Outcome::PassedOver,
            Err(error) => return Outcome::Wrong(error),
        };
        let system = |name: &ObjectName| matches!(name.schema.as_str(), "pg_catalog" | "information_schema");
        if named.is_empty() || named.iter().any(system) {
            return Outcome::PassedOver;
        }
        match self.verdict(record, Selection::Only(named.clone())).await {
            Ok(Ok(_)) => {}
            // A plan tells of more than what is selected, so there is no EXPLAIN with any selection.
            Ok(Err(why)) if why.starts_with("not_with_selection") => return Outcome::PassedOver,
            Ok(Err(why)) => return Outcome::Refused(why),
            Err(error) => return Outcome::Wrong(error),
        }
        for left_out in &named {
            let rest = named.iter().filter(|name| *name != left_out).cloned().collect();
            match self.verdict(record, Selection::Only(rest)).await {
                Ok(Err(why)) if why.starts_with("relation_not_selected") => {}
                Ok(Err(why)) => {
                    return Outcome::Wrong(format!(
                        "without {left_out} it is refused for another reason: {why}"
                    ));
                }
                Ok(Ok(_)) => return Outcome::Wrong(format!("admitted without {left_out}")),
                Err(error) => return Outcome::Wrong(error),
            }
        }
        Outcome::Held(named.len())
    }

    /// What it names, or why it is refused; an error where it could not be judged.
    async fn verdict(
        &mut self,
        record: &'a Record,
        selection: Selection,
    ) -> Result<Result<Vec<ObjectName>, String>, String> {
        let allowed_functions = databases::allowed_functions(&record.database);
        let rules = Rules { selection, allowed_functions, ..Rules::open(RowLimit::new(1)) };
        let told = |refusal: guard::Refusal| format!("{} {refusal}", refusal.first().code);
        let candidate = match guard::candidate(&record.sql, &rules) {
            Ok(candidate) => candidate,
            Err(refusal) => return Ok(Err(told(refusal))),
        };
        if candidate.as_it_is().is_some() {
            return Ok(Ok(Vec::new()));
        }
        let path = record.search_path.as_ref().map(|path| SearchPath::new(path.split(',')).unwrap());
        let plan = ReadPlan { search_path: path, ..plan() };
        let (mut connection, memory) = match self.open.remove(record.database.as_str()) {
            Some(known) => known,
            None => (open(&self.databases.reader_url(&record.database)).await, Memory::default()),
        };
        let question = Question { candidate: &candidate, rules: &rules, parameters: &[], plan: &plan };
        let judged = pg::judge(&mut connection, &memory, question).await;
        if connection.is_reusable() {
            self.open.insert(&record.database, (connection, memory));
        }
        match judged {
            Ok(Judged::Clear { clear, .. }) => Ok(Ok(clear.relations)),
            Ok(Judged::Refused(refusal)) => Ok(Err(told(refusal))),
            Err(error) => Err(error.to_string()),
        }
    }
}
