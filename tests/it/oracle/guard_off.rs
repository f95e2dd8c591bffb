//! The oracle itself is shown to see: the same statements with the guard switched off.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use tokio_postgres::Client;

use super::state::State;
use crate::hostile::{ASKERS, Asker, Ground, Statement, statements};
use crate::mcp_tools::tell;

/// One statement a line that leaves something behind: its id, how that is noticed, and what it is.
const KNOWN: &str = include_str!("guard_off.txt");

/// The major that it is shown on.
const MAJOR: u16 = 17;

/// Statements that are run before the state is looked at.
const TOGETHER: usize = 15;

/// In which circumstances the oracle notices what a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notice {
    /// Even in a transaction that is READ ONLY and rolled back.
    ReadOnly,
    /// For a superuser in no transaction.
    Unhindered,
    /// Never, though it does something.
    Not,
}

/// How statements are run without the guard.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// As the product would: by each asker in a transaction that is READ ONLY and rolled back, in the extended protocol.
    ReadOnly,
    /// By a superuser in no transaction, as a text that may hold several.
    Unhindered,
}

fn known() -> BTreeMap<&'static str, Notice> {
    let lines = KNOWN.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let (id, rest) = line.split_once(' ').unwrap();
        let (notice, reason) = rest.split_once(' ').unwrap();
        assert!(!reason.is_empty(), "{id}: what does it do?");
        let notice = match notice {
            "read-only" => Notice::ReadOnly,
            "unhindered" => Notice::Unhindered,
            "unseen" => Notice::Not,
            other => panic!("{id}: `{other}` is no way to notice"),
        };
        (id, notice)
    };
    lines.map(read).collect()
}

#[tokio::test]
async fn the_oracle_notices_every_write_that_is_known_when_the_guard_is_off() {
    let since = Instant::now();
    let ground = Ground::lay_out(MAJOR).await;
    let (statements, known) = (statements(&ground), known());
    let mut bench = Bench::over(ground).await;
    let mut wrong = Vec::new();
    let mut counts = [0; 4];
    let mut groups = groups(&statements, &known);
    while let Some(group) = groups.pop() {
        let read_only = bench.look(&group, Way::ReadOnly).await;
        let unhindered = bench.look(&group, Way::Unhindered).await;
        if group.len() > 1 && !(read_only.noticed.is_empty() && unhindered.noticed.is_empty()) {
            groups.extend(group.chunks(1).map(<[_]>::to_vec));
            continue;
        }
        for Statement { id, sql, .. } in group {
            let expected = known.get(id.as_str()).copied();
            let got = match (read_only.noticed.is_empty(), unhindered.noticed.is_empty()) {
                (false, _) => Some(Notice::ReadOnly),
                (true, false) => Some(Notice::Unhindered),
                // That it does something cannot be seen, but that it runs can.
                (true, true) if read_only.ran.contains(id) || unhindered.ran.contains(id) => {
                    expected.filter(|&expected| expected == Notice::Not)
                }
                (true, true) => None,
            };
            counts[got.map_or(3, |notice| notice as usize)] += 1;
            if got != expected {
                let noticed = [&read_only.noticed, &unhindered.noticed];
                wrong.push(format!("{id}: expected {expected:?}, got {got:?} {noticed:?}: {sql}"));
            }
        }
    }
    let unknown = known.keys().filter(|id| !statements.iter().any(|statement| statement.id == **id));
    wrong.extend(unknown.map(|id| format!("{id}: there is no such statement")));
    let [read_only, unhindered, unseen, harmless] = counts;
    tell(&format!(
        "guard off, {} statements in {} s: noticed though READ ONLY {read_only}, when nothing hinders {unhindered}; \
         cannot be noticed {unseen}; leave nothing {harmless}",
        counts.iter().sum::<usize>(),
        since.elapsed().as_secs()
    ));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What the oracle is known to notice is run by itself; the others together, since nothing should be noticed of them.
fn groups<'a>(statements: &'a [Statement], known: &BTreeMap<&str, Notice>) -> Vec<Vec<&'a Statement>> {
    // What only uses resources takes its time here and leaves nothing.
    let lasting = statements.iter().filter(|statement| statement.technique != "resource");
    let (noticed, others): (Vec<_>, Vec<_>) = lasting
        .partition(|statement| known.get(statement.id.as_str()).is_some_and(|&notice| notice != Notice::Not));
    let together =
        others.chunk_by(|one, next| one.database == next.database).flat_map(|same| same.chunks(TOGETHER));
    noticed.chunks(1).chain(together).map(<[_]>::to_vec).collect()
}

/// What came of statements without the guard.
struct Seen {
    /// Those that the server ran for anybody.
    ran: BTreeSet<String>,
    noticed: Vec<String>,
}

/// The cluster, and how to put it right again.
struct Bench {
    ground: Ground,
    /// The state of each database and the cluster as they are.
    before: BTreeMap<&'static str, State>,
}

impl Bench {
    async fn over(ground: Ground) -> Self {
        for database in Ground::databases() {
            let keep = format!("CREATE DATABASE {database}_kept TEMPLATE {database}");
            ground.admin().await.batch_execute(&keep).await.unwrap();
        }
        Self { ground, before: BTreeMap::new() }
    }

    /// Runs statements of one database, and looks whether anything is not as before.
    async fn look(&mut self, statements: &[&Statement], way: Way) -> Seen {
        let database = statements[0].database;
        let before = match self.before.remove(database) {
            Some(before) => before,
            None => State::of(&self.ground, [database]).await,
        };
        let askers = match way {
            Way::ReadOnly => &ASKERS[..],
            Way::Unhindered => &[Asker::Superuser],
        };
        let mut ran = BTreeSet::new();
        // Their sessions stay until the state was looked at, with all that these hold.
        let mut sessions = Vec::new();
        for statement in statements {
            for &asker in askers {
                let client = self.ground.client(asker, database).await;
                if run(&client, &statement.sql, way).await {
                    ran.insert(statement.id.clone());
                }
                sessions.push(client);
            }
        }
        let after = State::of(&self.ground, [database]).await;
        let noticed: Vec<String> = before.changes(&after).into_iter().map(str::to_owned).collect();
        drop(sessions);
        if noticed.is_empty() {
            self.before.insert(database, before);
        } else {
            self.put_right(database).await;
        }
        Seen { ran, noticed }
    }

    /// Makes a database anew, and takes away what stands outside of it.
    async fn put_right(&mut self, database: &str) {
        self.before.clear();
        let admin = self.ground.admin().await;
        for row in admin.query("SELECT gid, database FROM pg_prepared_xacts", &[]).await.unwrap() {
            let (gid, place): (&str, &str) = (row.get(0), row.get(1));
            let client = self.ground.client(Asker::Superuser, place).await;
            client.batch_execute(&format!("ROLLBACK PREPARED '{gid}'")).await.unwrap();
        }
        let slots = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots";
        admin.query(slots, &[]).await.unwrap();
        let settings = "SELECT unnest(setconfig) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase \
                        WHERE d.datname = $1 AND s.setrole = 0";
        let settings = admin.query(settings, &[&database]).await.unwrap();
        admin.batch_execute(&format!("DROP DATABASE {database} WITH (FORCE)")).await.unwrap();
        admin.batch_execute(&format!("CREATE DATABASE {database} TEMPLATE {database}_kept")).await.unwrap();
        for row in settings {
            let (name, value) = row.get::<_, &str>(0).split_once('=').unwrap();
            let value = if name == "search_path" { value.to_owned() } else { format!("'{value}'") };
            admin.batch_execute(&format!("ALTER DATABASE {database} SET {name} = {value}")).await.unwrap();
        }
    }
}

/// Whether the server ran it.
async fn run(client: &Client, sql: &str, way: Way) -> bool {
    client.batch_execute("SET statement_timeout = '1s'; SET lock_timeout = '200ms'").await.unwrap();
    let ran = match way {
        Way::ReadOnly => {
            client.batch_execute("BEGIN READ ONLY").await.unwrap();
            client.query(sql, &[]).await.is_ok()
        }
        Way::Unhindered => client.simple_query(sql).await.is_ok(),
    };
    client.batch_execute("ROLLBACK").await.unwrap();
    ran
}
