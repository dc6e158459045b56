//! Checks of a server's surroundings, as `frontdesk doctor` prints them.

use serde::Serialize;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    /// A server starts, with reduced function.
    Warn,
    /// A server does not start.
    Fail,
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub outcome: Outcome,
    /// The finding and its fix, on one line.
    pub line: String,
}

impl Check {
    pub fn new(name: &'static str, outcome: Outcome, line: impl Into<String>) -> Self {
        let line: String = line.into();
        let line = line.lines().map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        Self { name, outcome, line }
    }

    pub fn ok(name: &'static str, line: impl Into<String>) -> Self {
        Self::new(name, Outcome::Ok, line)
    }

    pub fn warn(name: &'static str, line: impl Into<String>) -> Self {
        Self::new(name, Outcome::Warn, line)
    }

    pub fn fail(name: &'static str, line: impl Into<String>) -> Self {
        Self::new(name, Outcome::Fail, line)
    }
}
