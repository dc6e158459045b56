//! The tables as sea-orm sees them. Nothing outside `store` names one.

pub mod conversations;
pub mod daily_turns;
pub mod events;
pub mod idempotency_keys;
pub mod jobs;
pub mod messages;
pub mod persona_versions;
pub mod settings;
pub mod turns;
pub mod vector_collections;
pub mod vectors;
pub mod warranty_records;
