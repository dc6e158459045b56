//! The tables as sea-orm sees them. Nothing outside `store` names one.

pub mod audit;
pub mod console_audit;
pub mod conversations;
pub mod customers;
pub mod daily_turns;
pub mod events;
pub mod idempotency_keys;
pub mod jobs;
pub mod labels;
pub mod mails;
pub mod messages;
pub mod order_items;
pub mod order_misses;
pub mod orders;
pub mod persona_versions;
pub mod return_policies;
pub mod revoked_sessions;
pub mod rma_items;
pub mod rmas;
pub mod settings;
pub mod tickets;
pub mod turns;
pub mod vector_collections;
pub mod vectors;
pub mod warranty_records;
