//! The integration tests, one binary, laid out by what they drive.

mod providers;
mod support;
