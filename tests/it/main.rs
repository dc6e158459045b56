//! The integration tests, one binary, laid out by what they drive.

mod architecture;
mod cli;
mod desks;
mod http;
mod providers;
mod store;
mod support;
mod turn;
