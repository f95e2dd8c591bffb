//! What the guard costs on each lane: a statement under it beside the same transaction without it, connecting left out.

use std::time::{Duration, Instant};

use ::guard::{Candidate, RowLimit, Rules};
use pg::{Agreed, Connection, Consent, Lane, Memory, Question, Target};

use crate::{
    bare::Bare,
    call::{open, plan, ran},
    median, milliseconds,
    wide::{SMALL, Wide, join},
};

const WARM_UP: usize = 10;

/// The most that a statement on the quiet lane may take, as a multiple of the same without a guard.
const AT_MOST: f64 = 2.5;

/// Logins that have one lane each, and one for the transaction without a guard.
const LOGINS: &str = "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC; \
     CREATE ROLE quiet LOGIN; GRANT SET ON PARAMETER log_min_messages TO quiet; CREATE ROLE loud LOGIN; \
     CREATE ROLE function LOGIN; GRANT TEMPORARY ON DATABASE postgres TO function; CREATE ROLE bare LOGIN; \
     GRANT SELECT ON ALL TABLES IN SCHEMA public TO quiet, loud, function, bare";

/// Whether somebody writes between two statements. The function lane does so itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Server {
    Still,
    WrittenTo,
}

/// Whether each statement gets a connection of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sessions {
    New,
    Kept,
}

struct Side {
    lane: Lane,
    target: Target,
    memory: Memory,
    kept: Option<Connection>,
}

/// Measures and prints.
pub(crate) async fn measure(wide: &Wide) {
    let admin = wide.admin().await;
    admin.batch_execute(LOGINS).await.unwrap();
    // No passwords: connecting is not measured, and the one without a guard need not know SCRAM.
    let hba = wide.server.data_dir().join("pg_hba.conf");
    let old = std::fs::read_to_string(&hba).unwrap();
    std::fs::write(&hba, format!("host postgres quiet,loud,function,bare 127.0.0.1/32 trust\n{old}"))
        .unwrap();
    admin.execute("SELECT pg_reload_conf()", &[]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    println!(
        "what the guard costs: a statement beside the same transaction with the same settings, sent in one flight by a client \
         that has no guard; connecting left out, medians, taken in turns, on the quiet lane at most {AT_MOST} is the aim"
    );
    for (what, sql, rounds) in
        [("a small statement", SMALL.to_owned(), 300), ("a join of 40 tables", join(), 60)]
    {
        for server in [Server::Still, Server::WrittenTo] {
            for sessions in [Sessions::New, Sessions::Kept] {
                print!("  {what}, {}, {}: ", server.word(), sessions.word());
                compare(wide, &admin, &sql, server, sessions, rounds).await;
            }
        }
    }
}

async fn compare(
    wide: &Wide,
    admin: &tokio_postgres::Client,
    sql: &str,
    server: Server,
    sessions: Sessions,
    rounds: usize,
) {
    let rules = Rules::open(RowLimit::new(500));
    let candidate = ::guard::candidate(sql, &rules).unwrap();
    let mut sides: Vec<Side> = match server {
        Server::Still => vec![Lane::Quiet, Lane::Loud],
        Server::WrittenTo => vec![Lane::Quiet, Lane::Loud, Lane::Function],
    }
    .into_iter()
    .map(|lane| Side::of(wide, lane))
    .collect();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); sides.len() + 1];
    let port = wide.server.port();
    let mut kept = Bare::open(port, "bare").await;
    for round in 0..WARM_UP + rounds {
        if server == Server::WrittenTo {
            admin.execute("SELECT pg_current_xact_id()", &[]).await.unwrap();
        }
        let mut round_times = Vec::new();
        if sessions == Sessions::New {
            kept = Bare::open(port, "bare").await;
        }
        let since = Instant::now();
        kept.read(sql).await;
        round_times.push(since.elapsed());
        for side in &mut sides {
            round_times.push(side.read(&candidate, &rules, sessions).await);
        }
        if round >= WARM_UP {
            times.iter_mut().zip(round_times).for_each(|(list, time)| list.push(time));
        }
    }
    for side in sides {
        if let Some(connection) = side.kept {
            connection.close().await;
        }
    }
    let medians: Vec<Duration> = times.iter_mut().map(|times| median(times)).collect();
    let ratio = |time: Duration| time.as_secs_f64() / medians[0].as_secs_f64();
    print!("no guard {}", milliseconds(medians[0]));
    let lanes = [Lane::Quiet, Lane::Loud, Lane::Function];
    for (lane, time) in lanes.iter().zip(&medians[1..]) {
        print!(", {} {} ({:.2})", lane.as_str(), milliseconds(*time), ratio(*time));
    }
    println!("{}", if ratio(medians[1]) > AT_MOST { ": NOT MET" } else { "" });
}

impl Side {
    fn of(wide: &Wide, lane: Lane) -> Self {
        let loud = if lane == Lane::Loud { Agreed::Yes } else { Agreed::No };
        let url = wide.server.url(lane.as_str(), "", "postgres");
        Self {
            lane,
            target: Target::parse(&url).unwrap(),
            memory: Memory::new(Consent { loud, ..Consent::default() }),
            kept: None,
        }
    }

    async fn read(&mut self, candidate: &Candidate, rules: &Rules, sessions: Sessions) -> Duration {
        let mut connection = match self.kept.take() {
            Some(connection) => connection,
            None => open(&self.target).await,
        };
        let question = Question { candidate, rules, parameters: &[], plan: &plan() };
        let since = Instant::now();
        let read = pg::read(&mut connection, &self.memory, question).await;
        let time = since.elapsed();
        assert_eq!(ran(read).lane, Some(self.lane));
        match sessions {
            Sessions::New => connection.close().await,
            Sessions::Kept => self.kept = Some(connection),
        }
        time
    }
}

impl Server {
    fn word(self) -> &'static str {
        match self {
            Self::Still => "nobody writes",
            Self::WrittenTo => "others write",
        }
    }
}

impl Sessions {
    fn word(self) -> &'static str {
        match self {
            Self::New => "new connections",
            Self::Kept => "a kept connection",
        }
    }
}
