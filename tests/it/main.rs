//! The integration tests, one binary, laid out by what they drive.

mod cli;
mod desks;
mod providers;
mod support;
