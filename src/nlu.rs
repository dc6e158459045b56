//! Natural-language understanding: from a customer's text to what it means.
//!
//! - [`wording`]: tokens and the patterns of the rule files
//! - [`language`]: detects the language of a message, and requests to switch it
//! - [`facts`]: numbers, prices, dates and phone numbers, compared by value
//! - [`long_text`]: parses long messages without blocking an async worker

pub mod facts;
pub mod language;
pub mod long_text;
pub mod wording;
