//! Evaluation cases: answers that the shop marked as wrong, stored so that they can be replayed after a change.
//!
//! - `case`: one marked answer with its conversation and rows, stored as a file
//! - `keep`: makes a case of a turn
//! - `replay`: plays a case again with today's personas, documents and settings
//! - `compare`: the differences between the stored and the replayed answer

mod case;
mod compare;
mod keep;
mod replay;

pub use case::{Answer, AnswerMessage, Case, CaseFileError, FOLDER};
pub use compare::{Difference, compare, holds};
pub use keep::{CaseError, Remark};
pub use replay::{ReplayError, Replayer};
