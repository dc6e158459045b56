//! What a desk, or a language model that plays one, can do besides talking.
//!
//! - [`client_name`]: whose misses are counted
//! - [`label`]: a return label as a PDF; [`label_link`]: who may open one
//! - [`signed`]: words that only this server can have signed

pub mod client_name;
pub mod label;
pub mod label_link;
pub mod signed;
