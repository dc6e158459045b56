//! What runs elsewhere, each behind a trait, with one file for each backend.
//!
//! - [`llm`]: the language model that words replies
//! - [`embedding`]: the model that turns texts into vectors
//! - [`email`]: what carries mails to customers
//! - [`vector`]: where vectors are kept and searched
//! - `address`: where a service is; `breaker`: leaving a dead one alone for a while

mod address;
mod breaker;
pub mod email;
pub mod embedding;
pub mod llm;
pub mod vector;

pub use address::{InvalidAddress, base_url, same_model};
