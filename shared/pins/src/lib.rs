#![doc = include_str!("../README.md")]

mod arguments;
mod canonical;
mod compile;
mod drift;
mod fields;
mod hash;
mod name;
mod param;
mod pin;
mod problem;
mod scan;
mod schema;
mod stamp;
mod statement;
mod value;

pub use arguments::{BadArguments, BadCall};
pub use compile::{Compiled, Probe};
pub use drift::Drift;
pub use hash::sql_hash;
pub use name::{ParamName, ToolName};
pub use param::{Param, Presence};
pub use pin::Pin;
pub use problem::Problem;
pub use stamp::{Column, Scope, ScopeCredential, Stamp, StampKey, StampState, Test};
pub use statement::tidy;
pub use value::{ParamType, Value};
