//! placeholder

pub mod types;
