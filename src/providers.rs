//! External services. Each is a trait with one file per backend.
//!
//! - [`llm`]: the language model
//! - [`embedding`]: the embedding model
//! - [`email`]: outgoing mail
//! - [`vector`]: the vector index
//! - [`messaging`]: messages to phones; [`payment`]: payments
//! - `address`: addresses and HTTP clients; `breaker`: the circuit breaker

mod address;
mod breaker;
pub mod email;
pub mod embedding;
pub mod llm;
pub mod messaging;
pub mod payment;
pub mod vector;

pub use address::{InvalidAddress, base_url, same_model};
