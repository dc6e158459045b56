//! The returns desk in agent mode: a scripted model calls the tools.

mod calls;
mod misbehaving;
mod owner;
mod repeats;
mod replies;
mod scenarios;
pub mod script;
mod without;
