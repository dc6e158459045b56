//! The retail desk: shopping and warranty (seed 004).

pub mod intent;
pub mod rules;
