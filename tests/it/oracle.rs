//! Nothing that the guard lets through changes anything: the hostile statements are asked on the product's road, and an oracle
//! looks at the cluster's state before and after. That the oracle sees what it is for is shown with the guard switched off.

mod guard_off;
mod state;

use std::time::{Duration, Instant};

use self::state::State;
use pg::{Memory, ReadPlan};

use crate::client::{open, plan};
use crate::guarded::{self, Outcome};
use crate::hostile::{ASKERS, Asker, Expected, Ground, SELECTINGS, Selecting, Statement, statements};
use crate::mcp_tools::tell;
use crate::support::MAJORS;

/// Statements that work until they are stopped get this long.
const BOUND: Duration = Duration::from_millis(500);

/// What came of all statements.
#[derive(Debug, Default)]
struct Figures {
    asked: usize,
    ran: usize,
    refused: usize,
    failed: usize,
    wrong: Vec<String>,
}

#[test]
fn what_the_guard_lets_through_changes_nothing_on_any_major() {
    in_threads(&MAJORS, async |major| {
        let ground = Ground::lay_out(major).await;
        let statements = statements(&ground);
        let since = Instant::now();
        let before = State::of(&ground, Ground::databases()).await;
        let looked = since.elapsed();
        let mut figures = Figures::default();
        for asker in ASKERS {
            for database in Ground::databases() {
                ask_all(&ground, &statements, database, asker, &mut figures).await;
            }
            let after = State::of(&ground, Ground::databases()).await;
            assert_eq!(before.changes(&after), [""; 0], "after what {asker:?} asked");
        }
        let Figures { asked, ran, refused, failed, wrong } = figures;
        tell(&format!(
            "PostgreSQL {major}: {asked} hostile statements asked in {} s: {refused} refused, {failed} failed, {ran} ran; \
             the state, looked at in {} ms, is unchanged",
            since.elapsed().as_secs(),
            looked.as_millis()
        ));
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
        assert!(ran > 100, "hardly anything ran, so nothing was shown");
    });
}

async fn ask_all(
    ground: &Ground,
    statements: &[Statement],
    database: &str,
    asker: Asker,
    figures: &mut Figures,
) {
    let mut connection = open(&ground.url(asker, database)).await;
    let memory = Memory::default();
    for statement in statements.iter().filter(|statement| statement.database == database) {
        for selecting in SELECTINGS {
            let expected = statement.expected(selecting);
            // What runs until it is stopped does so for everybody.
            if expected == Expected::Bounded && (asker != Asker::Reader || selecting != Selecting::Nothing) {
                continue;
            }
            let rules = selecting.rules();
            figures.asked += 1;
            let plan = ReadPlan { deadline: tokio::time::Instant::now() + BOUND, ..plan() };
            match guarded::run(&mut connection, &memory, &statement.sql, &rules, &plan).await {
                Outcome::Admitted => {
                    figures.ran += 1;
                    if expected == Expected::Refuse {
                        let Statement { id, sql, .. } = statement;
                        figures.wrong.push(format!("{id} ran for {asker:?}, selecting {selecting:?}: {sql}"));
                    }
                }
                Outcome::Refused(_) => figures.refused += 1,
                Outcome::Failed(_) => {
                    figures.failed += 1;
                    // What was stopped may not have ended in time to be asked more.
                    connection.close().await;
                    connection = open(&ground.url(asker, database)).await;
                }
            }
        }
    }
    connection.close().await;
}

/// Runs a test for several majors side by side.
pub(crate) fn in_threads(majors: &[u16], test: impl AsyncFn(u16) + Sync) {
    std::thread::scope(|scope| {
        for &major in majors {
            let test = &test;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(test(major));
            });
        }
    });
}
