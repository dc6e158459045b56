//! The returns desk, driven over HTTP on the sample shop: the dialogue of every path.

pub mod agent;
mod crash;
mod decisions;
mod hearing;
mod mails;
mod model;
mod owner;
mod questions;
mod record;
mod scenarios;
pub mod shop;
mod tickets;
