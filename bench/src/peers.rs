//! The world for `bench/peers`, which measures pinguard beside other servers: it is Python, since it speaks to programs
//! of many kinds, and gets told here where everything is.

use std::{ffi::OsString, fs, path::Path, process::Command};

use serde_json::json;

use crate::world::{CONTROL_SECRET, DATABASE_SECRET, PATH, World};

/// What the other servers are asked for: tables, and types of the values that shall come back exact.
const TABLES: &str = include_str!("../peers/world.sql");

/// Runs Python's part with the arguments left, and the world's addresses in the environment. Fails where it failed.
pub(crate) async fn measure(world: &World, program: &Path, arguments: impl Iterator<Item = OsString>) {
    world.admin().await.batch_execute(TABLES).await.unwrap();
    let addresses = json!({
        "program": fs::canonicalize(program).unwrap(),
        "folder": world.folder,
        "ca": world.folder.join("ca.pem"),
        "reader": plain(&world.reader_url),
        "path": PATH,
        "key": world.key.text(),
        "secrets": {CONTROL_SECRET: plain(&world.control_url), DATABASE_SECRET: plain(&world.reader_url)},
    });
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let status = Command::new("python3")
        .arg("-B")
        .arg(peers)
        .args(arguments)
        .env("PINGUARD_BENCH_WORLD", addresses.to_string())
        .status()
        .expect("python3 runs");
    assert!(status.success(), "bench/peers: {status}");
}

/// Without TLS: not all of the others can be told of a CA, and on loopback nobody needs it.
fn plain(url: &str) -> String {
    let (url, _) = url.split_once('?').unwrap();
    format!("{url}?sslmode=disable")
}
