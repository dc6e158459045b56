//! What the shop does not run inside this process: a trait for each kind of service, one file a backend.

pub mod llm;
