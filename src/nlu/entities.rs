//! Entities in what customers write. The types themselves are in [`crate::domain`].
//!
//! - [`order_number`]: order numbers, told apart from phone numbers, amounts, dates and goods
//! - [`candidate`]: the parts of a text that may be a number of something
//! - [`contact`]: e-mail addresses and phone numbers

pub mod candidate;
pub mod contact;
pub mod order_number;
mod phone;

pub use contact::find_contacts;
pub use order_number::{Confidence, Found, OrderNumberWords, find_order_numbers, join_prefixes};
