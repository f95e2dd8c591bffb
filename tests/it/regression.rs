//! PostgreSQL's own regression tests: each SELECT of theirs is judged at its place, while psql runs the scripts.

mod psql;
mod split;

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command, time::Instant};

use guard::{Code, RowLimit, Rules};
use local::embedded::{Binaries, random_word};
use pg::{Connection, Memory};
use tokio_postgres::Client;

use self::psql::{Progress, Psql};
use crate::client::open;
use crate::guarded::{self, Outcome};
use crate::mcp_tools::tell;
use crate::support::{self, TestServer};

/// The major whose scripts `scripts/test` fetches.
const MAJOR: u16 = 15;

const DATABASE: &str = "regression";

/// What is refused on purpose, and set aside: PostgreSQL's functions and tables that are not listed, functions that do more
/// than compute (the scripts make all of theirs as a superuser), and literals where a type of theirs would run such a one.
const ON_PURPOSE: [Code; 6] = [
    Code::BuiltinRefused,
    Code::SystemRelation,
    Code::UserFunction,
    Code::FunctionReads,
    Code::ExtensionFunction,
    Code::UnsafeType,
];

/// Of those that are not set aside, so many of 10,000 are admitted at least.
const ADMITTED: usize = 9970;

/// Scripts that try psql itself.
const LEFT_OUT: [&str; 2] = ["psql", "psql_crosstab"];

/// What came of all statements.
#[derive(Debug, Default)]
struct Figures {
    reads: usize,
    /// Those that run in a READ ONLY transaction of another session.
    ran: usize,
    admitted: usize,
    on_purpose: BTreeMap<String, usize>,
    others: Vec<String>,
    unknown: Vec<String>,
}

#[tokio::test]
async fn the_selects_of_the_regression_tests_are_admitted() {
    let Some(sources) = Sources::find() else {
        tell(
            "SKIPPED: no PostgreSQL sources under target/regress, or no psql: run scripts/test, which fetches them",
        );
        return;
    };
    let since = Instant::now();
    let server = TestServer::start(Binaries::unpacked(MAJOR).unwrap(), &[("max_prepared_transactions", "2")]);
    server
        .admin()
        .await
        .batch_execute(&format!("CREATE DATABASE {DATABASE} TEMPLATE template0"))
        .await
        .unwrap();
    let url = server.server.superuser_url(DATABASE);
    let mut bench =
        Bench { bare: bare(&url).await, connection: open(&url).await, memory: Memory::default(), url };
    let mut figures = Figures::default();
    for script in sources.schedule() {
        bench.run(&sources, &script, &mut figures).await;
    }
    let Figures { reads, ran, admitted, on_purpose, others, unknown } = figures;
    let counted = admitted + others.len();
    let share = admitted * 10_000 / counted;
    tell(&format!(
        "PostgreSQL {MAJOR}: {reads} reads in the regression tests, {ran} of them run; refused on purpose {on_purpose:?}; \
         of the other {counted}, {admitted} are admitted ({}.{:02} %); with unknown nodes or fields: {}; {} s",
        share / 100,
        share % 100,
        unknown.len(),
        since.elapsed().as_secs()
    ));
    assert!(unknown.is_empty(), "\n{}", unknown.join("\n"));
    assert!(share >= ADMITTED, "\n{}", others.join("\n"));
    assert!(counted > 5000, "the scripts were not run as they should be");
}

/// Where the scripts and their data lie; a copy, since the server has to read the data.
struct Sources(PathBuf);

impl Sources {
    fn find() -> Option<Self> {
        let program = std::env::current_exe().unwrap();
        let target = program.ancestors().find(|folder| folder.join(".rustc_info.json").is_file())?;
        let from = target.join("regress").join(MAJOR.to_string());
        let psql = Command::new("psql").arg("--version").output().is_ok();
        if !psql || !from.is_dir() {
            return None;
        }
        let copy = std::env::temp_dir().join(format!("pinguard-{}", random_word().unwrap()));
        assert!(Command::new("cp").arg("-r").args([&from, &copy]).status().unwrap().success());
        Some(Self(copy))
    }

    /// The names of the scripts in their order.
    fn schedule(&self) -> Vec<String> {
        let schedule = fs::read_to_string(self.0.join("parallel_schedule")).unwrap();
        let tests = schedule.lines().filter_map(|line| line.strip_prefix("test: "));
        tests.flat_map(str::split_whitespace).map(str::to_owned).collect()
    }

    fn script(&self, name: &str) -> String {
        // Some bytes of some are of other encodings.
        let bytes = fs::read(self.0.join("sql").join(format!("{name}.sql"))).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Two more sessions in the database that psql works on.
struct Bench {
    url: String,
    bare: Client,
    connection: Connection,
    memory: Memory,
}

impl Bench {
    async fn run(&mut self, sources: &Sources, name: &str, figures: &mut Figures) {
        let script = sources.script(name);
        let mut psql = Psql::start(&self.url, &sources.0);
        for piece in split::pieces(&script) {
            if let Some(statement) = piece.statement.filter(|statement| reads(statement))
                && !LEFT_OUT.contains(&name)
            {
                if psql.wait() == Progress::Ended {
                    break;
                }
                self.judge(name, statement, figures).await;
            }
            if psql.feed(piece.raw) == Progress::Ended {
                break;
            }
        }
        psql.wait();
    }

    async fn judge(&mut self, script: &str, statement: &str, figures: &mut Figures) {
        figures.reads += 1;
        if !self.runs(statement).await {
            return;
        }
        figures.ran += 1;
        let rules = Rules::open(RowLimit::new(10));
        match guarded::judge(&mut self.connection, &self.memory, statement, &rules).await {
            Outcome::Admitted => figures.admitted += 1,
            Outcome::Refused(refusal) => {
                let code = refusal.first().code;
                if refusal.findings().any(|finding| finding.code == Code::UnknownNode) {
                    figures.unknown.push(format!("{script}: {refusal}\n    {statement}"));
                }
                if ON_PURPOSE.contains(&code) {
                    *figures.on_purpose.entry(code.to_string()).or_default() += 1;
                } else {
                    figures.others.push(format!("{script}: {code}: {refusal}\n    {statement}"));
                }
            }
            Outcome::Failed(why) => {
                figures.others.push(format!("{script}: {why}\n    {statement}"));
                self.connection = open(&self.url).await;
            }
        }
    }

    /// Whether a statement runs in a transaction that is READ ONLY, for a session that sees only what is committed.
    async fn runs(&mut self, statement: &str) -> bool {
        if self.bare.is_closed() {
            self.bare = bare(&self.url).await;
        }
        if self.bare.batch_execute("BEGIN READ ONLY").await.is_err() {
            return false;
        }
        let ran = self.bare.simple_query(statement).await.is_ok();
        let tidied = self.bare.batch_execute("ROLLBACK; SELECT pg_advisory_unlock_all()").await.is_ok();
        ran && tidied
    }
}

/// A session with the settings of the product's.
async fn bare(url: &str) -> Client {
    let client = support::connect(url).await;
    let settings = "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, MDY'; SET statement_timeout = '5s'; SET lock_timeout = '300ms'";
    client.batch_execute(settings).await.unwrap();
    client
}

/// Whether a statement is a read, and one that says all by itself: psql puts its variables in only on the way.
fn reads(statement: &str) -> bool {
    let first = pg_query::scan(statement).ok().and_then(|scan| {
        let mut words = scan.tokens.iter().map(|token| {
            statement[usize::try_from(token.start).unwrap()..usize::try_from(token.end).unwrap()]
                .to_ascii_lowercase()
        });
        words.find(|word| !word.starts_with("--") && !word.starts_with("/*") && word != "(")
    });
    let is_read = first.is_some_and(|word| matches!(word.as_str(), "select" | "with" | "values" | "table"));
    is_read && !statement.contains("\\;") && !has_variable(statement)
}

/// Whether a variable of psql's may stand in a text: a colon and a name, and no cast.
fn has_variable(statement: &str) -> bool {
    let pairs = statement.char_indices().filter(|&(_, c)| c == ':');
    pairs.into_iter().any(|(at, _)| {
        let follows = statement[at + 1..]
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '\'' | '"' | '{'));
        follows && !statement[..at].ends_with(':')
    })
}
