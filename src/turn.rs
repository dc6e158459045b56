//! From a customer's message to the events of its turn.
//!
//! [`engine`] takes messages in and runs each conversation's turns in order; [`journal`] stores every event before
//! anybody sees it; [`feed`] shows events to readers, live or from the store; [`recover`] ends turns that a dead
//! process left behind.

pub mod engine;
pub mod feed;
pub mod journal;
mod lane;
mod recover;
mod run;

pub use engine::{AcceptError, Accepted, Engine, Message};
pub use feed::{Frame, Reader};
