#![doc = include_str!("../README.md")]

mod ask;
pub mod catalog;
pub mod connect;
pub mod describe;
mod failure;
mod hint;
mod line;
pub mod query;
mod relation;
mod scope;

pub use failure::{Failure, Kind};
pub use scope::{Ceilings, Scope};
