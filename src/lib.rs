//! frontdesk: a customer-service chat server that a shop runs itself.
pub mod cli;
pub mod domain;
pub mod persona;
pub mod store;
