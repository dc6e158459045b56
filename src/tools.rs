//! What a desk, or a language model that plays one, can do besides talking.
//!
//! - [`label`]: a return label as a PDF

pub mod label;
