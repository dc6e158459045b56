//! The commands, run as a user runs them.

mod chat;
mod customer;
mod doctor;
mod documents;
mod eval;
mod index;
mod newer_schema;
mod orders;
mod policies;
mod refund;
mod serve;
pub mod shop;
mod tenant;
mod traces;
mod upsert_warranty;
