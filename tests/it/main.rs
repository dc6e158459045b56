//! The integration tests, one binary, laid out by what they drive.

mod cli;
mod providers;
mod support;
