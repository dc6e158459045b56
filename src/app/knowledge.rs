//! Keeps the vectors of a running server's documents up to date.

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

/// Returns the lists of folders that personas search.
pub(super) fn folders_of(prompts: &Prompts) -> BTreeSet<Vec<String>> {
    prompts.personas().map(|persona| persona.knowledge.clone()).collect()
}

/// Describes a file that could not be loaded.
pub(super) fn complaint(cause: &StartError) -> Warning {
    let unused = |problem: &str| format!("{problem}. The earlier files stay in use until it is fixed");
    match cause {
        StartError::Prompts(PromptError { file, line, hint }) => {
            Warning { file: file.clone(), line: *line, problem: unused(hint) }
        }
        cause => Warning { file: String::new(), line: None, problem: unused(&cause.to_string()) },
    }
}

/// Syncs the vectors at the start and after each reload of documents. Retries after `rest` if a service does not answer; until then,
/// documents are found by words only.
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
                    info!("Vectors are up to date again, searching documents by meaning");
                    complaint.clear();
                }
                None
            }
            Err(cause) => {
                let cause = cause.to_string();
                // Warn only once about the same error.
                if cause == complaint {
                    debug!(error = %cause, "Cannot update vectors, still searching documents by words only");
                } else {
                    warn!(error = %cause, "Cannot update vectors, searching documents by words only");
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
