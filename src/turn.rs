//! The turn engine: from a customer's message to the events of its turn.
//!
//! - [`engine`]: accepts messages and runs each conversation's turns in order
//! - [`journal`]: stores every event before a client sees it
//! - [`feed`]: the events of the running turn; [`reader`]: reads them, or stored ones
//! - [`recover`]: ends the turns that a killed process left unfinished
//! - `person`: turns without a desk, which a person or a fixed sentence answers; `recent`: the messages before the next turn
//! - `changes`: notifies the console
//! - [`retention`]: deletes old data

mod changes;
pub mod engine;
pub mod feed;
pub mod journal;
mod lane;
mod person;
pub mod reader;
mod recent;
pub mod recover;
pub mod retention;
mod run;

pub use changes::Listener;
pub use engine::{AcceptError, Accepted, CancelError, Engine, Message};
pub use feed::Frame;
pub use reader::{Item, Reader, Start};
