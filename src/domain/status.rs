//! Status changes. A [`StatusChange`] can be made only for an allowed change, and the store writes a status only by one.

use std::fmt::Display;

/// The states of something, with the changes that are allowed between them.
pub trait Status: Copy + Eq + Display + 'static {
    /// The thing that has this state, for error messages: `an order`.
    const WHAT: &'static str;

    /// Returns the states that may follow this one.
    fn next(self) -> &'static [Self];
}

/// An allowed change from one status to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChange<S> {
    from: S,
    to: S,
}

/// The error for a change that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot go from {from} to {to}; {}", allowed(.next))]
pub struct IllegalChange {
    pub what: &'static str,
    pub from: String,
    pub to: String,
    /// The states that are allowed instead.
    pub next: Vec<String>,
}

fn allowed(next: &[String]) -> String {
    match next {
        [] => "nothing comes after that".to_owned(),
        next => format!("it may go to {}", next.join(" or ")),
    }
}

impl<S: Status> StatusChange<S> {
    pub fn new(from: S, to: S) -> Result<Self, IllegalChange> {
        if from.next().contains(&to) { Ok(Self { from, to }) } else { Err(IllegalChange::new(from, to)) }
    }

    /// Makes a change that [`Status::next`] does not list. The caller must have checked that it is allowed.
    pub(in crate::domain) fn unlisted(from: S, to: S) -> Self {
        Self { from, to }
    }

    pub fn from(&self) -> S {
        self.from
    }

    pub fn to(&self) -> S {
        self.to
    }
}

impl IllegalChange {
    pub(in crate::domain) fn new<S: Status>(from: S, to: S) -> Self {
        let next = from.next().iter().map(ToString::to_string).collect();
        Self { what: S::WHAT, from: from.to_string(), to: to.to_string(), next }
    }
}
