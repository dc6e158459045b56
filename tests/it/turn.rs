//! The turn engine: what is stored, what is shown, and what a restart finds.

mod cost;
mod embedding;
mod handoff;
mod journal;
mod outage;
mod reader;
mod recent;
mod recovery;
mod takeover;
