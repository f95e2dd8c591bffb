//! Two hundred callers at one time, each with an instance of its own as on Lambda, beside pgbench with as many clients.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    endpoint::{Endpoint, timed},
    world::{PATH, SQL, World},
};

const CALLERS: usize = 200;
const TIME: Duration = Duration::from_secs(10);

/// Calls in a time, as a part of what pgbench does.
const AT_LEAST_NEW: f64 = 0.5;
const AT_LEAST_KEPT: f64 = 0.6;

/// What came of it.
struct Load {
    a_second: f64,
    half: Duration,
    most: Duration,
}

/// Measures and prints.
pub(crate) async fn measure(world: &Arc<World>) {
    println!(
        "{CALLERS} callers at one time for {} s, TLS and SCRAM, two rounds in turns; pgbench runs BEGIN READ ONLY, the statement and \
         ROLLBACK, and knows neither keys nor flows nor a guard",
        TIME.as_secs()
    );
    for (what, kept, at_least) in
        [("a connection each call", false, AT_LEAST_NEW), ("connections kept", true, AT_LEAST_KEPT)]
    {
        let mut ratios = vec![];
        for _ in 0..2 {
            let theirs = pgbench(world, kept);
            let ours = ours(world, kept).await;
            let left_out = if kept { "" } else { ", besides connecting" };
            println!("  {what}: pinguard {}; pgbench {}{left_out}", ours.said(), theirs.said());
            ratios.push(ours.a_second / theirs.a_second);
        }
        let ratio = ratios.iter().sum::<f64>() / 2.0;
        println!(
            "  {what}: {ratio:.2} of pgbench; at least {at_least} is the aim{}",
            if ratio < at_least { ": NOT MET" } else { "" }
        );
    }
}

async fn ours(world: &Arc<World>, kept: bool) -> Load {
    let endpoints: Vec<Endpoint> =
        (0..CALLERS).map(|_| if kept { Endpoint::keeping(world) } else { Endpoint::of(world) }).collect();
    // An instance's first call is its start, which is measured elsewhere.
    for endpoint in &endpoints {
        call(endpoint).await;
        call(endpoint).await;
    }
    let until = Instant::now() + TIME;
    let calling: Vec<_> = endpoints
        .into_iter()
        .map(|endpoint| {
            tokio::spawn(async move {
                let mut times = vec![];
                while Instant::now() < until {
                    times.push(timed(call(&endpoint)).await);
                }
                times
            })
        })
        .collect();
    let mut times = vec![];
    for caller in calling {
        times.extend(caller.await.unwrap());
    }
    Load::of(times)
}

async fn call(endpoint: &Endpoint) {
    let answer = endpoint.call(PATH, "query", &json!({"sql": SQL})).await;
    assert_eq!(answer["rowCount"], 7, "{answer}");
}

fn pgbench(world: &World, kept: bool) -> Load {
    let folder = world.folder.join("pgbench");
    fs::create_dir_all(&folder).unwrap();
    let script = folder.join("read.sql");
    fs::write(&script, format!("BEGIN READ ONLY;\n{SQL};\nROLLBACK;\n")).unwrap();
    let (clients, seconds) = (CALLERS.to_string(), TIME.as_secs().to_string());
    let mut command = Command::new("pgbench");
    command.args([
        "-n",
        "-M",
        "extended",
        "-j",
        "2",
        "-c",
        &clients,
        "-T",
        &seconds,
        "-l",
        "--log-prefix",
        "read",
        "-f",
    ]);
    command.arg(&script).current_dir(&folder);
    if !kept {
        command.arg("-C");
    }
    let output = command
        .arg(&world.reader_url)
        .output()
        .expect("pgbench, of the package postgresql-contrib or postgresql-15, runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let times = logged(&folder);
    fs::remove_dir_all(&folder).unwrap();
    Load::of(times)
}

/// The third word of each line of the logs is the time of a transaction; its connection comes on top of it with `-C`, and is
/// left out there, so that of these only the number counts.
fn logged(folder: &Path) -> Vec<Duration> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let logs = files.filter(|path| path.extension().is_none_or(|extension| extension != "sql"));
    logs.flat_map(|log| {
        let text = fs::read_to_string(log).unwrap();
        let micros = |line: &str| line.split(' ').nth(2).unwrap().parse().unwrap();
        text.lines().map(|line| Duration::from_micros(micros(line))).collect::<Vec<_>>()
    })
    .collect()
}

impl Load {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self {
            a_second: times.len() as f64 / TIME.as_secs_f64(),
            half: times[times.len() / 2],
            most: times[times.len() * 99 / 100],
        }
    }

    fn said(&self) -> String {
        format!("{:.0} a second, p50 {:.0?}, p99 {:.0?}", self.a_second, self.half, self.most)
    }
}
