#![doc = include_str!("../README.md")]

mod algorithm;
mod challenge;
mod claims;
mod fetch;
mod keys;
mod server;
mod settings;
mod signature;
mod token;
mod url;

pub use algorithm::Algorithm;
pub use claims::{NoPlace, Verified};
pub use server::{NoToken, Rejected, ResourceServer};
pub use settings::Settings;
pub use token::Invalid;
pub use url::PublicUrl;
