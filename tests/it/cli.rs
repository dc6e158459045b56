//! The commands, run as a user runs them.

mod upsert_warranty;
