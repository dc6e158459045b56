//! A language model that calls tools.
//!
//! - [`tool`]: the [`Tool`] trait, and the set of tools that a desk offers
//! - [`run`]: the loop as a state machine without I/O: call the model, call tools, or stop
//! - [`reply_text`]: removes thoughts, calls and code from the model's last message
//!
//! This module performs no effects. `dialogue::agent_turn` runs the loop inside a turn.

pub mod reply_text;
pub mod run;
pub mod tool;

pub use run::{GiveUp, Limits, Next, Outcome, PlannedCall, Run};
pub use tool::{CallError, InvalidCall, Tool, ToolCallable, ToolContext, ToolSet};
