//! Everything that needs more than one package or a real server: end to end, corpora, laws, layering.
//!
//! One binary, so that one link step does. A new file of tests gets its `mod` line here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    dead_code,
    reason = "tests stop at the first surprise, and not every test uses all of the support"
)]

mod audit;
mod cache;
mod client;
mod column_errors;
mod conformance;
mod control;
mod corpora;
mod embedded;
mod endpoint;
mod exchanges;
mod faults;
mod flows_api;
mod guarded;
mod hostile;
mod idle;
mod inspector;
mod keys_cli;
mod lambda;
mod lanes;
mod layering;
mod login;
mod login_warnings;
mod mcp_tools;
mod naming;
mod neighbours;
mod openid;
mod oracle;
mod pin_rules;
mod pin_test_api;
mod pins_cli;
mod recording;
mod regression;
mod relation_list;
mod serve;
mod settings;
mod setup_sql;
mod support;
mod support_works;
mod template;
mod tls;
mod values;
mod wire;
mod workloads;
