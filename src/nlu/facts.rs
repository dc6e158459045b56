//! Parses numbers by value, and compares those of a reply with those of its sources.
//!
//! [`read()`] parses a text into [`Fact`]s, each with its [`Value`]: `15.990.000đ`, `15,99 triệu` and `15tr99` are one price. The words
//! around numbers are data ([`Lexicon`]). [`Known`] holds the values of the sources and checks the facts of a reply.
//!
//! Numbers consist of digits, punctuation and spaces, which the words of [`crate::domain::text`] do not have, so [`mod@normal`] is a
//! second tokenizer.
//!
//! Deliberately absent: rounding ("khoảng 16 triệu" for 15.990.000đ is another number) and arithmetic (a sum of two known
//! prices is not known).

mod known;
mod lexicon;
mod normal;
mod read;
mod value;
mod word;

#[cfg(test)]
mod tests;

pub use known::{Known, Values};
pub use lexicon::Lexicon;
pub use normal::is_unseen;
pub use read::read;
pub use value::{Amount, Fact, Shared, Span, Value};
pub use word::{Place, only_joins, place_of};
