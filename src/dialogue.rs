//! What every desk needs to follow a customer.
//!
//! - [`utterance`]: the parsed message

pub mod utterance;

pub use utterance::{Act, Answer, Utterance};
