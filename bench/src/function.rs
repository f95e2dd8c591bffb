//! The function as Lambda runs it: size, start, memory.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    emulator::Function,
    events::{FrontDoor, HOST, event, query},
    median, milliseconds,
    secrets_manager::SecretsManager,
    world::{CONTROL_SECRET, DATABASE_SECRET, PATH, SQL, World},
};

const STARTS: usize = 15;
const WARM_CALLS: usize = 20;
const TIME: Duration = Duration::from_secs(29);

/// The most memory that a result of 10^8 rows may take, as a multiple of one of 1,000 rows.
const FLAT: f64 = 1.2;

/// The most that the program may have, in bytes.
const AT_MOST: u64 = 12_000_000;

/// Measures and prints.
pub(crate) fn measure(world: &World, program: &Path) {
    let secrets = SecretsManager::start(&world.folder);
    secrets.create(CONTROL_SECRET, &world.control_url);
    secrets.create(DATABASE_SECRET, &world.reader_url);
    let environment = [
        ("AWS_ENDPOINT_URL", secrets.url()),
        ("PINGUARD_CONTROL_SECRET", CONTROL_SECRET.to_owned()),
        ("PINGUARD_PUBLIC_URL", format!("https://{HOST}")),
    ];
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let event = event(FrontDoor::FunctionUrl, "POST", PATH, Some(world.key.text()), &query(SQL));

    let (mut ready, mut first, mut warm, mut peak) = (vec![], vec![], vec![], 0);
    for _ in 0..STARTS {
        let since = Instant::now();
        let mut function = Function::start(program, &environment, &world.folder.join("function.log"));
        function.settle();
        ready.push(since.elapsed());
        check(&function.invoke(&event, TIME));
        first.push(since.elapsed());
        for _ in 0..WARM_CALLS {
            function.settle();
            let since = Instant::now();
            check(&function.invoke(&event, TIME));
            warm.push(since.elapsed());
        }
        peak = peak.max(function.peak_kilobytes());
    }
    let peaks = [1_000, 100_000_000].map(|rows| {
        let sql =
            format!("SELECT i, repeat('x', i % 100) FROM (SELECT generate_series(1, {rows}) AS i) AS t");
        let event = self::event(FrontDoor::FunctionUrl, "POST", PATH, Some(world.key.text()), &query(&sql));
        let mut function = Function::start(program, &environment, &world.folder.join("function.log"));
        for _ in 0..3 {
            function.settle();
            let answer = function.invoke(&event, TIME);
            assert!(
                answer["body"]
                    .as_str()
                    .is_some_and(|body| body.contains("\"rowCount\":500,\"truncated\":true")),
                "{answer}"
            );
        }
        function.peak_kilobytes()
    });
    let size = fs::metadata(program).unwrap().len();
    println!(
        "the function under the Runtime API, medians of {STARTS} starts; secrets from moto, which is Python"
    );
    println!("  start to ready           {:>9}", milliseconds(median(&mut ready)));
    println!(
        "  start to first answer    {:>9}   two secrets, two connections",
        milliseconds(median(&mut first))
    );
    println!(
        "  a warm call              {:>9}   one secret, one connection",
        milliseconds(median(&mut warm))
    );
    println!("  peak memory              {:>6.1} MB   after {} calls", peak_megabytes(peak), WARM_CALLS + 1);
    let [few, many] = peaks.map(peak_megabytes);
    println!(
        "  peak memory, 10^8 rows   {many:>6.1} MB   {:.2} times that of 1,000 rows; at most {FLAT} is the aim{}",
        many / few,
        if many / few > FLAT { ": NOT MET" } else { "" }
    );
    println!(
        "  program                  {:>6.2} MB   at most {} MB is the aim",
        megabytes(size),
        AT_MOST / 1_000_000
    );
    if size > AT_MOST {
        println!("NOT MET: the program has {size} bytes");
    }
}

fn check(answer: &Value) {
    let good = answer["statusCode"] == 200
        && answer["body"].as_str().is_some_and(|body| body.contains("\"rowCount\":7"));
    assert!(good, "{answer}");
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn peak_megabytes(kilobytes: u64) -> f64 {
    megabytes(kilobytes * 1024)
}
