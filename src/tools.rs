//! Tools that desks share.
//!
//! - [`client_name`]: pseudonyms for browsers' addresses
//! - [`label`]: return labels as PDF files; [`label_link`]: signed links to them
//! - [`signed`]: payloads that only this server can have signed

pub mod client_name;
pub mod label;
pub mod label_link;
pub mod signed;
