//! Answers that somebody of the shop called wrong, kept to be given again after the shop has changed something.
//!
//! - `case`: one answer, with all that led to it, as a file
//! - `keep`: making a case of a turn
//! - `replay`: giving the answer again, with today's personas, documents and settings
//! - `compare`: what is different then, but for what is made `anew` each time

mod anew;
mod case;
mod compare;
mod keep;
mod replay;

pub use case::{Answer, AnswerMessage, Case, CaseFileError, FOLDER};
pub use compare::{Difference, compare, holds};
pub use keep::{CaseError, Remark};
pub use replay::{ReplayError, Replayer};
