//! What a desk understands and decides, one folder a desk.

pub mod language;
pub mod retail;
pub mod wording;
