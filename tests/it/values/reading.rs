//! Reads a statement by the road that a caller's statement takes, from the guard to the page.

use std::time::Duration;

use guard::facts::ObjectName;
use guard::{RowLimit, Rules};
use pg::types::{FACTS_SQL, TypeBook, facts_parameters, parse_facts, unknown};
use pg::values::{Column, Cut, Fit, Page, PageBuilder, PageLimits, RowFormat};
use pg::{Ask, ConnectOptions, Connection, Memory, Question, Read, ReadPlan, SearchPath, Target};
use serde_json::Value;
use tokio::time::Instant;

const ROWS: u32 = 100;
const PATIENCE: Duration = Duration::from_secs(30);

/// Rows as lists, and what stands beside them.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) types: Vec<String>,
    pub(super) rows: Vec<Vec<Value>>,
    pub(super) cut: usize,
}

/// A connection of pinguard's.
pub(super) struct Reader {
    connection: Connection,
    memory: Memory,
}

/// Reads on a connection of its own.
pub(super) async fn read(url: &str, sql: &str) -> Reading {
    Reader::open(url).await.read(sql).await
}

impl Reader {
    pub(super) async fn open(url: &str) -> Self {
        let options = ConnectOptions { connect_timeout: PATIENCE, deadline: Instant::now() + PATIENCE };
        let connection = Connection::open(&Target::parse(url).unwrap(), options).await.unwrap();
        Self { connection, memory: Memory::default() }
    }

    pub(super) async fn read(&mut self, sql: &str) -> Reading {
        let (types, page) = self.page(sql, RowFormat::Arrays).await;
        let list = |value: Value| match value {
            Value::Array(items) => items,
            other => panic!("no list: {other}"),
        };
        let rows = list(page.rows).into_iter().map(list).collect();
        Reading { types, rows, cut: page.values_cut }
    }

    /// The names of the columns' types, and the page.
    pub(super) async fn page(&mut self, sql: &str, format: RowFormat) -> (Vec<String>, Page) {
        let vouched = ObjectName { schema: "public".to_owned(), name: "vouched".to_owned() };
        let rules = Rules { allowed_functions: vec![vouched], ..Rules::open(RowLimit::new(ROWS)) };
        let candidate =
            guard::candidate(sql, &rules).unwrap_or_else(|refusal| panic!("{sql} is refused: {refusal:?}"));
        let plan = ReadPlan {
            search_path: None,
            claims: None,
            deadline: Instant::now() + PATIENCE,
            row_limit: ROWS as usize,
            raw_byte_budget: 1 << 24,
            keep: 4 * Cut::default().0,
            cost: None,
            page: None,
        };
        let question = Question { candidate: &candidate, rules: &rules, parameters: &[], plan: &plan };
        let raw = match pg::read(&mut self.connection, &self.memory, question).await {
            Ok(Read::Ran(ran)) => ran.raw,
            Ok(Read::TooCostly(estimate)) => panic!("{sql}: {estimate:?}"),
            Ok(Read::Refused(refusal)) => panic!("{sql} is refused: {refusal:?}"),
            Err(error) => panic!("{sql} fails: {error}"),
        };
        let columns: Vec<Column> = (raw.columns.iter())
            .map(|column| Column {
                name: column.name.clone(),
                fact: raw.type_facts.resolve(column.type_oid, column.type_modifier),
            })
            .collect();
        let limits = PageLimits { max_bytes: 1 << 20, cut: Cut::default(), format };
        let mut page = PageBuilder::new(&columns, limits);
        for row in &raw.rows {
            assert_eq!(page.push(row), Fit::Taken);
        }
        (columns.iter().map(|column| column.fact.name.to_string()).collect(), page.finish())
    }

    /// What the server says of types, under a search path.
    pub(super) async fn facts(&mut self, types: &[(u32, i32)], path: Option<&SearchPath>) -> TypeBook {
        let parameters = facts_parameters(&unknown(types.iter().copied())).map(Some).to_vec();
        let ask = Ask { sql: FACTS_SQL, parameters };
        let deadline = Instant::now() + PATIENCE;
        parse_facts(self.connection.catalog(&[ask], path, deadline).await.unwrap().remove(0))
    }
}
