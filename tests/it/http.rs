//! The wire, driven as clients do, and as no good client would.

mod access;
mod cancel;
mod connections;
pub mod console;
mod conversations;
mod creation;
mod ends;
mod events;
mod headers;
mod input;
mod leaving;
mod limits;
pub mod live;
mod logs;
mod many;
mod messages;
mod metrics;
mod paths;
pub mod problem;
pub mod raw;
mod resuming;
mod shutdown;
mod streams;
mod tokens;
mod unavailable;
mod unread;
mod web;
