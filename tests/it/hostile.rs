//! The hostile statements of the corpora, and a cluster of their own whose databases are laid out as the statements expect.

use guard::facts::ObjectName;
use guard::{RowLimit, Rules, Selection};
use local::embedded::Binaries;
use serde_json::Value;
use tokio_postgres::Client;

use crate::corpora;
use crate::support::{self, TestServer};

const CORPORA: [&str; 2] = [corpora::HOSTILE, corpora::FOUND];

/// The set-ups that the statements were written for, and the database of each; one statement names its own.
const DATABASES: [(&str, &str); 5] = [
    ("traps", "guardh"),
    ("found", "found"),
    ("found_casts", "found_casts"),
    ("found_extensions", "found_extensions"),
    ("found_folds", "found_folds"),
];

/// Whoever asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// May only read.
    Reader,
    /// Owns what is there.
    Owner,
    Superuser,
}

pub(crate) const ASKERS: [Asker; 3] = [Asker::Reader, Asker::Owner, Asker::Superuser];

/// What a statement may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Allow,
    Refuse,
    /// It may run, within the limits.
    Bounded,
}

/// One statement of the corpora.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) id: String,
    pub(crate) technique: String,
    pub(crate) sql: String,
    pub(crate) database: &'static str,
    /// Without a selection and with one.
    pub(crate) expected: [Expected; 2],
}

/// Whether only the relations that are taken for selected may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selecting {
    Nothing,
    Some,
}

pub(crate) const SELECTINGS: [Selecting; 2] = [Selecting::Nothing, Selecting::Some];

impl Statement {
    pub(crate) fn expected(&self, selecting: Selecting) -> Expected {
        self.expected[usize::from(selecting == Selecting::Some)]
    }
}

impl Selecting {
    pub(crate) fn rules(self) -> Rules {
        let open = Rules::open(RowLimit::new(10));
        let name = |name: &&str| ObjectName { schema: "public".to_owned(), name: (*name).to_owned() };
        let names =
            [corpora::SELECTED, corpora::SELECTED_TRAPS, corpora::SELECTED_FOUND, corpora::SELECTED_FOLDS];
        let names = names.into_iter().flatten();
        match self {
            Self::Nothing => open,
            Self::Some => Rules { selection: Selection::Only(names.map(name).collect()), ..open },
        }
    }
}

/// What the statements would write outside the data folder, as the corpora name it.
const WRITTEN: [&str; 2] = ["/tmp/guard_out", "/tmp/x"];

/// All that a ground's major knows.
pub(crate) fn statements(ground: &Ground) -> Vec<Statement> {
    let major = ground.server.major;
    let lines = CORPORA.iter().flat_map(|corpus| corpus.lines());
    let cases = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    cases
        .filter(|case| case["min_version"].as_u64().unwrap_or(0) <= u64::from(major))
        .filter(|case| case["max_version"].as_u64().unwrap_or(u64::MAX) >= u64::from(major))
        .map(|case| statement(&case, ground))
        .collect()
}

fn statement(case: &Value, ground: &Ground) -> Statement {
    let text = |key: &str| case[key].as_str().unwrap();
    let expected = |key: &str| match text(key) {
        "allow" => Expected::Allow,
        "refuse" => Expected::Refuse,
        "bounded" => Expected::Bounded,
        other => panic!("nobody knows what `{other}` expects"),
    };
    let (_, database) = DATABASES.iter().find(|(setup, _)| *setup == text("setup")).unwrap();
    Statement {
        id: text("id").to_owned(),
        technique: text("technique").to_owned(),
        sql: WRITTEN.iter().zip(ground.written()).fold(text("sql").to_owned(), |sql, (path, own)| {
            sql.replace(&format!("{path}'"), &format!("{own}'"))
        }),
        database,
        expected: [expected("expect_no_selection"), expected("expect_selection")],
    }
}

/// A cluster that nobody else uses, with the databases laid out.
pub(crate) struct Ground {
    pub(crate) server: TestServer,
}

impl Drop for Ground {
    fn drop(&mut self) {
        for path in self.written() {
            // Mostly it is not there.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Ground {
    /// What the statements would write outside the data folder. No other ground's do.
    pub(crate) fn written(&self) -> [String; 2] {
        WRITTEN.map(|path| format!("{path}_{}", self.server.port()))
    }

    pub(crate) async fn lay_out(major: u16) -> Self {
        // What happens in the background must not look like a statement's doing.
        let settings = [
            ("autovacuum", "off"),
            ("max_prepared_transactions", "5"),
            ("wal_level", "logical"),
            ("shared_preload_libraries", "pg_stat_statements"),
            ("temp_file_limit", "100MB"),
        ];
        let server = TestServer::start(Binaries::unpacked(major).unwrap(), &settings);
        server.set_hba(&["host all all 127.0.0.1/32 trust", "host all all ::1/128 trust"]).await;
        let ground = Self { server };
        for (setup, database) in DATABASES {
            let (_, more) = corpora::SETUPS.iter().find(|(name, _)| *name == setup).unwrap();
            ground.admin().await.batch_execute(&format!("CREATE DATABASE {database}")).await.unwrap();
            let port = format!("'{}'", ground.server.port());
            let text = format!("{}\n{more}", corpora::BASE).replace(":'port'", &port);
            ground.client(Asker::Superuser, database).await.batch_execute(&text).await.unwrap();
        }
        let quiet = match major {
            14 => {
                "ALTER ROLE guard_agent SET log_min_messages = fatal; \
                   ALTER ROLE guard_app SET log_min_messages = fatal"
            }
            _ => "GRANT SET ON PARAMETER log_min_messages TO guard_agent, guard_app",
        };
        ground.admin().await.batch_execute(quiet).await.unwrap();
        ground
    }

    pub(crate) fn databases() -> impl Iterator<Item = &'static str> {
        DATABASES.iter().map(|(_, database)| *database)
    }

    pub(crate) fn url(&self, asker: Asker, database: &str) -> String {
        let role = match asker {
            Asker::Reader => "guard_agent",
            Asker::Owner => "guard_app",
            Asker::Superuser => return self.server.server.superuser_url(database),
        };
        self.server.server.url(role, "trusted", database)
    }

    pub(crate) async fn client(&self, asker: Asker, database: &str) -> Client {
        support::connect(&self.url(asker, database)).await
    }

    pub(crate) async fn admin(&self) -> Client {
        self.server.admin().await
    }
}
