//! Numbers as people write them, read by value: what a reply says, held against what it may stand on.
//!
//! A text is made comparable ([`mod@normal`]), cut into tokens and read ([`read()`]) under the words of
//! `prompts/rules/facts.toml` ([`Lexicon`]). What comes out are [`Fact`]s, each with its [`Value`]: `15.990.000đ`,
//! `15,99 triệu` and `15tr99` are one price. [`Known`] holds the values of the texts that a reply may stand on, and says
//! whether a fact of the reply is among them.
//!
//! Deliberately absent: rounding ("khoảng 16 triệu" for 15.990.000đ is another number) and arithmetic (a sum of two known
//! prices is not known).

mod amount;
mod known;
mod lexicon;
mod normal;
mod read;
mod value;
mod word;

#[cfg(test)]
mod tests;

pub use amount::Amount;
pub use known::Known;
pub use lexicon::Lexicon;
pub use normal::is_unseen;
pub use read::read;
pub use value::{Fact, Shared, Span, Value};
pub use word::{Place, only_joins, place_of};
