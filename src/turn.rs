//! From a customer's message to the events of its turn.
//!
//! [`engine`] takes messages in and runs each conversation's turns in order; [`journal`] stores every event before
//! anybody sees it; [`feed`] is a conversation's live end, and [`reader`] reads it, or the store; [`recover`] ends turns that a dead
//! process left behind; `person` runs turns that no desk plays, and
//! `changes` tells the shop's own people what happens.

mod changes;
pub mod engine;
pub mod feed;
pub mod journal;
mod lane;
mod person;
pub mod reader;
mod recover;
pub mod retention;
mod run;

pub use changes::Listener;
pub use engine::{AcceptError, Accepted, CancelError, Engine, Message};
pub use feed::Frame;
pub use reader::{Item, Reader, Start};
