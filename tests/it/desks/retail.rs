//! The retail desk, driven over HTTP: the dialogue of every path, and what the language model was asked.

mod any_text;
mod attributes;
mod builds;
pub mod chat;
mod clarify;
mod classify;
mod failures;
mod follow_ups;
mod goods;
mod greeting;
mod grounding;
mod language;
mod meaning;
mod misses;
mod offers;
mod polish;
mod prompt;
mod reading;
mod shopping;
mod waiting;
mod warranty;
