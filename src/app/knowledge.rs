//! Keeps the vectors of a running server's documents up to date.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::desks::Shops;
use crate::retrieval::sync::SyncError;

/// Syncs the vectors of every shop at the start, after each reload of documents, and `rest` after the index `lost` vectors. Retries
/// after `rest` if a service does not answer; until then, documents are found by words only.
pub(super) async fn keep_vectors_synced(
    shops: Arc<Shops>,
    changed: Arc<Notify>,
    lost: Arc<Notify>,
    rest: Duration,
    stop: CancellationToken,
) {
    let mut complaint = String::new();
    loop {
        let synced = tokio::select! {
            () = stop.cancelled() => return,
            synced = sync(&shops) => synced,
        };
        let wait = match synced {
            Ok(()) => {
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
            () = after(&lost, rest) => {}
            () = tokio::time::sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {}
        }
    }
}

async fn after(lost: &Notify, rest: Duration) {
    lost.notified().await;
    tokio::time::sleep(rest).await;
}

/// Syncs the shops one after another. The error of one shop does not stop the others.
async fn sync(shops: &Shops) -> Result<(), SyncError> {
    let mut synced = Ok(());
    for shop in shops.list() {
        synced = shop.knowledge().sync().await.map(drop).and(synced);
    }
    synced
}
