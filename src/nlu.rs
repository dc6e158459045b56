//! Natural-language understanding: from a customer's text to what it means.
//!
//! The tokenizer and the pattern language of the rule files are in [`crate::domain::text`], since the domain and the search use
//! them as well.
//!
//! - [`examples`]: a classifier that is trained from example sentences
//! - [`counts`]: whole numbers in chat messages, in digits and words
//! - [`instalments`]: what a product costs each month
//! - [`keywords`]: the words that show what a message wants
//! - [`pick`]: what a customer means who points at a list
//! - [`spelling`]: corrects misspelled words
//! - [`language`]: detects the language of a message, and requests to switch it
//! - [`entities`]: order numbers and contacts
//! - [`facts`]: numbers, prices, dates and phone numbers, compared by value
//! - [`long_text`]: parses long messages without blocking an async worker

pub mod counts;
pub mod entities;
pub mod examples;
pub mod facts;
pub mod instalments;
pub mod keywords;
pub mod language;
pub mod long_text;
pub mod pick;
pub mod spelling;
