//! What every desk needs to follow a customer through a turn.
//!
//! - [`turn`]: a [`Turn`] while a desk runs it, and how its events are emitted; [`show`](Turn::show) writes grounded text
//! - [`utterance`]: the parsed message
//! - [`social`]: small talk
//! - [`history`]: the part of the conversation that a language model sees
//! - [`language`]: settles which language the conversation uses
//! - [`verification`]: verifies whose order or account it is, with counted attempts
//! - [`opening`]: checks the language of a model's reply before any of it is shown
//! - [`model`]: asks the language model and reports the position in its queue
//! - [`shown`]: the products that were shown last, and messages about them
//! - [`retrieve`]: finds passages, with an earlier question where this one names hardly anything
//! - [`attribute`]: what a message asks of a product, in its row of the catalogue
//! - [`answer`]: answers a question from documents: cite, stream, guard, or quote
//! - [`source_list`]: the list of sources below an answer
//! - [`agent_turn`]: runs a model with tools inside a turn

use crate::replies::MissingValue;
use crate::store::StoreError;

pub mod agent_turn;
pub mod answer;
pub mod attribute;
pub mod history;
pub mod language;
pub mod model;
pub mod opening;
pub mod retrieve;
mod show;
pub mod shown;
pub mod social;
pub mod source_list;
pub mod turn;
pub mod utterance;
pub mod verification;

pub use social::Social;
pub use turn::{Caller, Sink, SinkClosed, Step, Stored, Turn};
pub use utterance::{Act, Answer, Utterance};

/// Why a desk cannot finish a turn.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The turn's events can no longer be stored.
    #[error(transparent)]
    Sink(#[from] SinkClosed),
    #[error(transparent)]
    Text(#[from] MissingValue),
    /// A state machine took too many steps without waiting for the customer.
    #[error("the desk's state machine does not stop")]
    Restless,
}
