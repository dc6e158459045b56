//! The integration tests, laid out by what they drive.

mod cli;
