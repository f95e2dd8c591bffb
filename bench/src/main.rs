//! Measures what a call costs: `bench <the program of the function mcp>`, and with `--peers` after it what other servers
//! cost beside it. `scripts/bench` builds both and runs this.
//!
//! Whatever is compared is measured in one run, in turns, so that a busy machine slows both sides.
// The future of a whole call nests deeper than the compiler looks by itself.
#![recursion_limit = "256"]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::large_futures,
    dead_code,
    reason = "a measurement stops at the first surprise, moves whole calls about, and does not use all of what it shares with the tests"
)]

mod bare;
mod call;
mod callers;
#[path = "../../tests/it/lambda/emulator.rs"]
mod emulator;
mod endpoint;
#[path = "../../tests/it/lambda/events.rs"]
mod events;
mod function;
mod guard;
mod lanes;
mod pages;
mod peers;
mod pins;
#[path = "../../tests/it/recording/printer.rs"]
mod printer;
#[path = "../../tests/it/lambda/secrets_manager.rs"]
mod secrets_manager;
mod wide;
mod world;

use std::{path::PathBuf, sync::Arc, time::Duration};

use self::{wide::Wide, world::World};

/// What is measured, by the word that asks for it alone.
const ALL: [&str; 7] = ["call", "pins", "pages", "callers", "function", "lanes", "guard"];

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let program: PathBuf = arguments.next().expect("the path of the function's program").into();
    if arguments.next_if(|word| word == "--peers").is_some() {
        return peers::measure(&World::make().await, &program, arguments).await;
    }
    let asked: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(word) = asked.iter().find(|word| !ALL.contains(&word.as_str())) {
        eprintln!(
            "`{word}` cannot be measured; what can is {}, all of it where nothing is named",
            ALL.join(", ")
        );
        std::process::exit(2);
    }
    let wanted = |what: &str| asked.is_empty() || asked.iter().any(|word| word == what);
    let world = Arc::new(World::make().await);
    if wanted("call") {
        call::measure(&world).await;
    }
    if wanted("pins") {
        pins::measure(&world).await;
    }
    if wanted("pages") {
        pages::measure(&world).await;
    }
    if wanted("callers") {
        callers::measure(&world).await;
    }
    if wanted("function") {
        tokio::task::block_in_place(|| function::measure(&world, &program));
    }
    if wanted("lanes") || wanted("guard") {
        let wide = Wide::make().await;
        if wanted("lanes") {
            lanes::measure(&wide).await;
        }
        if wanted("guard") {
            guard::measure(&wide).await;
        }
    }
}

/// The middle one of some times.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
