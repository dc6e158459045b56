//! The returns desk, driven over HTTP: every path's whole event stream, on the sample shop.

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
