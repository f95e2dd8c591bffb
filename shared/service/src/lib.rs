#![doc = include_str!("../README.md")]

pub mod answer;
mod callers;
mod front;
mod limits;
mod node;
mod reach;
mod request;
mod settings;

pub use answer::{Answer, Refusal};
pub use callers::{Callers, changeable, lacks, must, not_of_kind, token_holder};
pub use front::Front;
pub use limits::Limits;
pub use node::{scope, secret, stamp_scope};
pub use reach::{Opened, Way};
pub use request::Asked;
pub use settings::{Problems, Reader};
