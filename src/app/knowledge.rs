//! The documents of a running server and their vectors, kept in line.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::StartError;
use crate::persona::{PromptError, Prompts};
use crate::retrieval::Warning;
use crate::retrieval::search::Knowledge;

/// The folder lists that personas see.
pub(super) fn folders_of(prompts: &Prompts) -> BTreeSet<Vec<String>> {
    prompts.personas().map(|persona| persona.knowledge.clone()).collect()
}

/// What is wrong with a file that could not be taken into use.
pub(super) fn complaint(cause: &StartError) -> Warning {
    let unused = |problem: &str| format!("{problem}; until it is fixed, the earlier files stay in use");
    match cause {
        StartError::Prompts(PromptError { file, line, hint }) => {
            Warning { file: file.clone(), line: *line, problem: unused(hint) }
        }
        cause => Warning { file: String::new(), line: None, problem: unused(&cause.to_string()) },
    }
}

/// Brings the vectors into line with the documents at start and whenever documents were read anew. What does not answer
/// is asked again after `rest`; meanwhile documents are found by their words.
pub(super) async fn keep_in_line(
    knowledge: Arc<Knowledge>,
    changed: Arc<Notify>,
    rest: Duration,
    stop: CancellationToken,
) {
    if !knowledge.has_meaning() {
        return;
    }
    let mut complaint = String::new();
    loop {
        let synced = tokio::select! {
            () = stop.cancelled() => return,
            synced = knowledge.sync() => synced,
        };
        let wait = match synced {
            Ok(_) => {
                if !complaint.is_empty() {
                    info!("Documents are searched by meaning again");
                    complaint.clear();
                }
                None
            }
            Err(cause) => {
                let cause = cause.to_string();
                // Said once, not each time that it is tried.
                if cause == complaint {
                    debug!(error = %cause, "Documents are still searched by words alone");
                } else {
                    warn!(error = %cause, "Documents are searched by words alone");
                    complaint = cause;
                }
                Some(rest)
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = changed.notified() => {}
            () = tokio::time::sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {}
        }
    }
}
