//! pinguard's own client, as tests use it: opening with short words, reading under the guard.

use std::time::Duration;

use guard::facts::ObjectName;
use guard::{Candidate, RowLimit, Rules};
use pg::{
    ConnectError, ConnectOptions, Connection, Judged, Memory, Parameter, Question, Raw, Read, ReadError,
    ReadPlan, Target,
};
use serde_json::Value;
use tokio::time::Instant;

pub(crate) fn soon(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

pub(crate) async fn try_open(secret: &str) -> Result<Connection, ConnectError> {
    let options = ConnectOptions { connect_timeout: Duration::from_secs(5), deadline: soon(20) };
    Connection::open(&Target::parse(secret).unwrap(), options).await
}

pub(crate) async fn open(secret: &str) -> Connection {
    match try_open(secret).await {
        Ok(connection) => connection,
        Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
    }
}

/// A text with every byte as a percent code, as a URL may hold it.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |encoded, byte| encoded + &format!("%{byte:02x}"))
}

/// The stable word for why there is no connection.
pub(crate) async fn code(secret: &str) -> &'static str {
    match try_open(secret).await {
        Ok(_) => "connected",
        Err(error) => error.code(),
    }
}

/// No selection, and more rows than any test reads.
pub(crate) fn everything() -> Rules {
    Rules::open(RowLimit::new(100_000_000))
}

/// Judges a statement and does not run it.
pub(crate) async fn judge(
    connection: &mut Connection,
    memory: &Memory,
    candidate: &Candidate,
    rules: &Rules,
) -> Result<Judged, ReadError> {
    pg::judge(connection, memory, Question { candidate, rules, parameters: &[], plan: &plan() }).await
}

pub(crate) fn plan() -> ReadPlan {
    ReadPlan {
        search_path: None,
        claims: None,
        deadline: soon(20),
        row_limit: 1000,
        raw_byte_budget: 1 << 20,
        keep: 16 << 10,
        cost: None,
        page: None,
    }
}

pub(crate) async fn read_with(
    connection: &mut Connection,
    sql: &str,
    parameters: &[Value],
    plan: &ReadPlan,
) -> Result<Raw, ReadError> {
    read_remembering(connection, &Memory::default(), sql, parameters, plan).await
}

pub(crate) async fn read_remembering(
    connection: &mut Connection,
    memory: &Memory,
    sql: &str,
    parameters: &[Value],
    plan: &ReadPlan,
) -> Result<Raw, ReadError> {
    read_under(connection, memory, &everything(), sql, parameters, plan).await
}

/// Runs a statement that may call a function of the schema `public`, vouched for by name.
pub(crate) async fn value_by(connection: &mut Connection, function: &str, sql: &str) -> String {
    let name = ObjectName { schema: "public".to_owned(), name: function.to_owned() };
    let rules = Rules { allowed_functions: vec![name], ..everything() };
    let raw = read_under(connection, &Memory::default(), &rules, sql, &[], &plan()).await.unwrap();
    texts(&raw)[0][0].clone()
}

async fn read_under(
    connection: &mut Connection,
    memory: &Memory,
    rules: &Rules,
    sql: &str,
    parameters: &[Value],
    plan: &ReadPlan,
) -> Result<Raw, ReadError> {
    let parameters: Vec<Parameter> = parameters.iter().cloned().map(Parameter::from).collect();
    let candidate = guard::candidate(sql, rules).unwrap_or_else(|refusal| panic!("{sql}: {refusal}"));
    let question = Question { candidate: &candidate, rules, parameters: &parameters, plan };
    match pg::read(connection, memory, question).await? {
        Read::Ran(ran) => Ok(ran.raw),
        Read::Refused(refusal) => panic!("{sql}: {refusal}"),
        Read::TooCostly(estimate) => panic!("{sql}: {estimate:?}"),
    }
}

pub(crate) async fn read(connection: &mut Connection, sql: &str) -> Result<Raw, ReadError> {
    read_with(connection, sql, &[], &plan()).await
}

/// The rows as text, NULL as `<null>`.
pub(crate) fn texts(raw: &Raw) -> Vec<Vec<String>> {
    let text = |value: &Option<pg::RawValue>| match value {
        Some(value) => String::from_utf8(value.bytes.clone()).unwrap(),
        None => "<null>".to_owned(),
    };
    raw.rows.iter().map(|row| row.iter().map(text).collect()).collect()
}

/// The single value of a statement.
pub(crate) async fn value(connection: &mut Connection, sql: &str) -> String {
    let rows = texts(&read(connection, sql).await.unwrap());
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "{sql}");
    rows[0][0].clone()
}
