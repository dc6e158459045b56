//! frontdesk: a customer-service chat server that a shop runs itself.
pub mod desks;
pub mod domain;
