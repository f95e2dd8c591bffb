//! The guard as its callers use it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used, reason = "tests")]

mod cases;
mod depth;
mod fuzzed;
mod laws;
mod trees;
