//! The commands, run as a user runs them.

mod chat;
mod doctor;
mod serve;
mod shop;
mod upsert_warranty;
