#![doc = include_str!("../README.md")]

mod cancel;
mod claims;
mod connect_error;
mod connection;
mod dial;
mod facts;
mod flight;
mod idle;
mod login;
mod memory;
mod moment;
mod own;
mod parameter;
mod raw;
mod read;
mod read_error;
mod search_path;
mod server_error;
mod settings;
mod socket;
mod target;
mod tls;
mod wire;

pub mod name;
pub mod types;
pub mod values;

pub use claims::{ClaimName, Claims, NulInClaim};
pub use connect_error::{ConnectError, Stage};
pub use connection::{ConnectOptions, Connection};
pub use idle::{Idle, Place};
pub use memory::{Agreed, Consent, Lane, Memory};
pub use moment::Moment;
pub use own::{Ask, Table};
pub use parameter::Parameter;
pub use raw::{Raw, RawColumn, RawValue, Stopped};
pub use read::{CostLimits, Estimate, Judged, PagePlan, Question, Ran, Read, ReadPlan, judge, read};
pub use read_error::{Lost, ReadError};
pub use search_path::{SearchPath, SearchPathError};
pub use server_error::{Notice, ServerError};
pub use socket::Socket;
pub use target::{Host, Password, Target, TargetError, TokenRequest};
