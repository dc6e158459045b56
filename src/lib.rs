//! frontdesk: a customer-service chat server that a shop runs itself.
pub mod app;
pub mod cli;
pub mod config;
pub mod desks;
pub mod domain;
pub mod http;
pub mod persona;
pub mod providers;
pub mod retrieval;
pub mod store;
pub mod turn;
