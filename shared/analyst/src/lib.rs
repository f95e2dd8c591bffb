#![doc = include_str!("../README.md")]

mod ask;
pub mod catalog;
pub mod claims;
pub mod connect;
pub mod describe;
mod failure;
mod hint;
mod line;
pub mod login;
mod memories;
pub mod pages;
pub mod pinned;
pub mod query;
mod relation;
pub mod relation_list;
mod scope;
pub mod selected;

pub use failure::{Failure, Kind};
pub use guard::facts::ObjectName;
pub use memories::{Database, Memories, Reached};
pub use pg::CostLimits;
pub use scope::{Ceilings, Scope};
