//! The turn engine: what is stored, what is shown, and what a restart finds.

mod handoff;
mod journal;
mod outbox;
mod reader;
mod recovery;
mod takeover;
