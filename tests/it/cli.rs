//! The commands, run as a user runs them.

mod chat;
mod customer;
mod doctor;
mod documents;
mod eval;
mod index;
mod newer_schema;
mod offers;
mod orders;
mod policies;
mod refund;
mod serve;
pub mod shop;
mod tenant;
mod traces;
mod upsert_warranty;

use std::process::Output;

/// The result of a program.
#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
