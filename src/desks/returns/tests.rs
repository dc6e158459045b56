//! What tests of the desk share.

pub mod sample;
