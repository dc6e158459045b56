//! Reloads changed prompts and documents while the server runs.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use crate::config::Config;
use crate::desks::Shops;
use crate::persona::watch::Watch;

/// What a changed file replaces, and who is notified.
pub(super) struct Reloading {
    /// `None`: files are not watched.
    pub watch: Option<Watch>,
    pub shops: Arc<Shops>,
    /// Notified when the server itself has written a file.
    pub edited: Arc<Notify>,
    /// Notified after documents were read.
    pub read: Arc<Notify>,
}

/// Starts to watch prompts and documents. Called before they are read, so that no change is missed.
pub(super) fn watch_files(config: &Config) -> Option<Watch> {
    let folders = vec![config.prompts.folder.clone(), config.knowledge.folder.clone(), config.shops.folder.clone()];
    Watch::new(folders, config.prompts.persona.clone(), config.prompts.poll)
        .inspect_err(|cause| warn!(error = %cause, "Cannot watch files: changes to them need a restart"))
        .ok()
}

/// Reloads changed prompts and documents until the shutdown. Invalid ones change nothing.
pub(super) async fn keep_fresh(reloading: Reloading, stop: CancellationToken) {
    let Reloading { mut watch, shops, edited, read } = reloading;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = edited.notified() => {}
            () = changed(&mut watch) => {}
        }
        let all = shops.clone();
        // Reads and indexes every file, which would block other tasks.
        if let Err(died) = tokio::task::spawn_blocking(move || all.reload()).await {
            error!(error = %died, "Could not reload prompts and documents");
        }
        read.notify_one();
    }
}

/// Waits for a change; never returns if files are not watched.
async fn changed(watch: &mut Option<Watch>) {
    if let Some(watching) = watch
        && watching.changed().await.is_some()
    {
        return;
    }
    *watch = None;
    std::future::pending().await
}
