//! The commands: each reads its arguments, calls what does the work, and prints.

pub mod upsert_warranty;
