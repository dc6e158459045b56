//! How a customer proves who they are.
//!
//! - [`contact`]: e-mail addresses and phone numbers
//! - [`attempts`]: failed attempts, counted and limited

pub mod attempts;
pub mod contact;
pub mod e164;

pub use contact::{Contact, ERASED_DOMAIN, Email, Phone};
