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
    clippy::print_stdout,
    clippy::large_futures,
    dead_code,
    reason = "a measurement stops at the first surprise, moves whole calls about, and does not use all of what it shares with the tests"
)]

mod bare;
mod call;
#[path = "../../tests/it/lambda/emulator.rs"]
mod emulator;
#[path = "../../tests/it/lambda/events.rs"]
mod events;
mod function;
mod guard;
mod lanes;
mod peers;
mod pins;
#[path = "../../tests/it/recording/printer.rs"]
mod printer;
#[path = "../../tests/it/lambda/secrets_manager.rs"]
mod secrets_manager;
mod wide;
mod world;

use std::{path::PathBuf, time::Duration};

use self::{wide::Wide, world::World};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let program: PathBuf = arguments.next().expect("the path of the function's program").into();
    let world = World::make().await;
    if arguments.next().is_some_and(|word| word == "--peers") {
        return peers::measure(&world, &program, arguments).await;
    }
    call::measure(&world).await;
    pins::measure(&world).await;
    function::measure(&world, &program);
    let wide = Wide::make().await;
    lanes::measure(&wide).await;
    guard::measure(&wide).await;
}

/// The middle one of some times.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
