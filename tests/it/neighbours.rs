//! The neighbours of each hostile statement: what must be refused must be so in whatever dress, as long as the server takes it.

mod make;

use std::time::Instant;

use pg::{Connection, Memory};
use tokio_postgres::Client;

use self::make::{Neighbour, neighbours};
use crate::client::open;
use crate::guarded::{self, Outcome};
use crate::hostile::{Asker, Expected, Ground, SELECTINGS, Statement, statements};
use crate::mcp_tools::tell;
use crate::oracle::in_threads;
use crate::support::MAJORS;

/// Each neighbour is judged on one major, in turn: all of them on each take many minutes.
const SHARE: usize = MAJORS.len();

/// Neighbours that are no such harm as their originals, and why.
const HARMLESS: [(&str, &str, &str); 1] =
    [("H185", VIEW, "whoever made the view decided that it shows a setting, as views for tenants do")];

const VIEW: &str = "behind a view";

/// What came of all neighbours.
#[derive(Debug, Default)]
struct Figures {
    made: usize,
    /// Those that the server takes.
    parsed: usize,
    refused: usize,
    /// Not admitted either, by an error of the server's.
    failed: usize,
    admitted: Vec<String>,
    /// Those of [`HARMLESS`] that were admitted.
    harmless: usize,
}

#[test]
fn the_neighbours_of_what_must_be_refused_are_refused_on_every_major() {
    in_threads(&MAJORS, async |major| {
        let ground = Ground::lay_out(major).await;
        let since = Instant::now();
        let mut figures = Figures::default();
        for database in Ground::databases() {
            judge_all(&ground, database, &statements(&ground), &mut figures).await;
        }
        let Figures { made, parsed, refused, failed, admitted, harmless } = figures;
        tell(&format!(
            "PostgreSQL {major}: {made} neighbours of hostile statements, {parsed} taken by the server; \
             verdicts: {refused} refused, {failed} failed, {} admitted; {} s",
            admitted.len(),
            since.elapsed().as_secs()
        ));
        assert!(admitted.is_empty(), "\n{}", admitted.join("\n"));
        assert!(harmless > 0, "an exemption is no longer needed: {HARMLESS:?}");
        assert!(parsed > 1000, "hardly any neighbour was taken by the server, so nothing was shown");
    });
}

async fn judge_all(ground: &Ground, database: &'static str, statements: &[Statement], figures: &mut Figures) {
    let server = Server::new(ground, database).await;
    let mut connection = open(&ground.url(Asker::Superuser, database)).await;
    let memory = Memory::default();
    for (number, statement) in
        statements.iter().enumerate().filter(|(_, statement)| statement.database == database)
    {
        if statement.expected.iter().all(|&expected| expected != Expected::Refuse) {
            continue;
        }
        let turn = usize::from(ground.server.major) + number;
        let all = neighbours(&statement.sql).into_iter().enumerate();
        let share = all.filter(|(place, _)| (place + turn) % SHARE == 0).map(|(_, neighbour)| neighbour);
        for neighbour in server.views(number, &statement.sql).await.into_iter().chain(share) {
            figures.made += 1;
            if server.takes(&neighbour.sql).await {
                figures.parsed += 1;
                judge(&mut connection, &memory, statement, &neighbour, figures).await;
            }
        }
    }
    connection.close().await;
}

async fn judge(
    connection: &mut Connection,
    memory: &Memory,
    statement: &Statement,
    neighbour: &Neighbour,
    figures: &mut Figures,
) {
    for selecting in SELECTINGS {
        if statement.expected(selecting) != Expected::Refuse {
            continue;
        }
        match guarded::judge(connection, memory, &neighbour.sql, &selecting.rules()).await {
            Outcome::Refused(_) => figures.refused += 1,
            Outcome::Failed(_) => figures.failed += 1,
            Outcome::Admitted
                if HARMLESS.iter().any(|(id, kind, _)| (*id, *kind) == (&statement.id, neighbour.kind)) =>
            {
                figures.harmless += 1;
            }
            Outcome::Admitted => figures.admitted.push(format!(
                "{} {}, selecting {selecting:?}: {}",
                statement.id, neighbour.kind, neighbour.sql
            )),
        }
    }
}

/// The server itself, which says what it takes.
struct Server {
    superuser: Client,
    makers: [(&'static str, Client); 2],
}

impl Server {
    async fn new(ground: &Ground, database: &str) -> Self {
        let superuser = ground.client(Asker::Superuser, database).await;
        superuser.batch_execute("SET default_transaction_read_only = on").await.unwrap();
        let makers = [("superuser", Asker::Superuser), ("owner", Asker::Owner)];
        let [one, other] =
            makers.map(|(name, asker)| async move { (name, ground.client(asker, database).await) });
        Self { superuser, makers: [one.await, other.await] }
    }

    /// Whether it parses a statement and knows all that it names.
    async fn takes(&self, sql: &str) -> bool {
        self.superuser.prepare(sql).await.is_ok()
    }

    /// Reads of views over a statement, one of each maker, as far as there can be one.
    async fn views(&self, number: usize, sql: &str) -> Vec<Neighbour> {
        let mut reads = Vec::new();
        for (maker, client) in &self.makers {
            let name = format!("v_{number}_by_{maker}");
            let plain = format!("CREATE VIEW {name} AS {sql}");
            let as_text = format!("CREATE VIEW {name} AS SELECT q::text FROM ({sql}\n) q");
            if client.execute(&plain, &[]).await.is_ok() || client.execute(&as_text, &[]).await.is_ok() {
                reads.push(Neighbour { kind: VIEW, sql: format!("SELECT * FROM {name}") });
            }
        }
        reads
    }
}
