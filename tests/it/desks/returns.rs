//! The returns desk, driven over HTTP on the sample shop: the dialogue of every path.

pub mod agent;
mod amounts;
mod crash;
mod damage;
pub mod decisions;
mod facts;
mod hearing;
mod later;
mod mails;
mod meanwhile;
mod model;
mod owner;
mod pieces;
mod questions;
mod record;
mod requests;
mod scenarios;
pub mod shop;
mod thread;
mod tickets;
