//! The integration tests, one binary, laid out by what they drive.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a failing test panics"
)]

mod architecture;
mod boundaries;
mod channels;
mod cli;
mod desks;
mod docs;
mod http;
mod jobs;
mod providers;
mod retrieval;
mod store;
mod support;
mod turn;
