//! What tests of the desk share, and what it knows of the shop's documents.

mod questions;
pub mod sample;
