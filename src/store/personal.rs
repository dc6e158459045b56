//! Personal data: where it is stored, how it is exported and how it is erased.
//!
//! [`TABLES`] is the one description of it. Export, erasure and retention read it, and a test compares it with the schema:
//! a new table or text column without an entry fails.
//!
//! - `tables`: the description
//! - [`person`]: the rows that belong to one customer
//! - [`erase`]: erasing a conversation, a customer, or everything before a date
//! - [`export`]: everything about one customer as JSON
//! - `wal`: removing erased text from SQLite's files

pub mod erase;
pub mod export;
pub mod person;
mod tables;
mod wal;

pub use tables::TABLES;
