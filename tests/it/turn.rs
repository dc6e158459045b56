//! The turn engine: what is stored, what is shown, and what a restart finds.

mod journal;
mod reader;
mod recovery;
mod takeover;
