#![doc = include_str!("../README.md")]

mod limits;
mod node;
mod reach;

pub use limits::Limits;
pub use node::{scope, secret, stamp_scope};
pub use reach::{Opened, Way};
