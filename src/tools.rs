//! Tools that desks share.
//!
//! - [`client_name`]: pseudonyms for browsers' addresses
//! - [`label`]: return labels as PDF files; [`label_link`]: signed links to them
//! - [`payment_callback`]: the addresses at which payment providers call back
//! - [`signed`]: payloads that only this server can have signed

pub mod client_name;
pub mod label;
pub mod label_link;
pub mod payment_callback;
pub mod signed;
