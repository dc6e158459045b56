//! Reloads changed prompts and documents while the server runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::knowledge::complaint;
use super::start::{StartError, load_prompts, read_knowledge};
use crate::config::Config;
use crate::desks::{DeskRegistry, Desks, Services};
use crate::persona::watch::Watch;
use crate::retrieval::Warning;

/// What a changed file replaces, and who is notified.
pub(super) struct Reloading {
    /// `None`: files are not watched.
    pub watch: Option<Watch>,
    pub services: Services,
    pub desks: Arc<ArcSwap<Desks>>,
    pub unusable: Arc<ArcSwapOption<Warning>>,
    /// Notified when the server itself has written a file.
    pub edited: Arc<Notify>,
    /// Notified after documents were read.
    pub read: Arc<Notify>,
}

/// Starts to watch prompts and documents. Called before they are read, so that no change is missed.
pub(super) fn watch_files(config: &Config) -> Option<Watch> {
    let persona_folder: Option<PathBuf> = config.prompts.persona.parent().map(PathBuf::from);
    let folders = [Some(&config.prompts.folder), persona_folder.as_ref(), Some(&config.knowledge.folder)];
    let folders: Vec<&Path> = folders.into_iter().flatten().map(PathBuf::as_path).collect();
    Watch::new(&folders, config.prompts.poll)
        .inspect_err(|cause| warn!(error = %cause, "Cannot watch files: changes to them need a restart"))
        .ok()
}

/// Reloads changed prompts and documents until the shutdown. Invalid ones change nothing.
pub(super) async fn keep_fresh(reloading: Reloading, stop: CancellationToken) {
    let Reloading { mut watch, services, desks, unusable, edited, read } = reloading;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = edited.notified() => {}
            () = changed(&mut watch) => {}
        }
        let registry = desks.load().registry().clone();
        match reload(&registry, &services) {
            Ok(fresh) => {
                desks.store(Arc::new(fresh));
                unusable.store(None);
                read.notify_one();
                info!("Reloaded prompts and documents");
            }
            Err(cause) => {
                error!("Keeping the earlier prompts and documents, because a changed file cannot be used: {cause}");
                unusable.store(Some(Arc::new(complaint(&cause))));
            }
        }
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

fn reload(registry: &DeskRegistry, services: &Services) -> Result<Desks, StartError> {
    let prompts = load_prompts(&services.config)?;
    Desks::check(registry, &prompts)?;
    read_knowledge(&services.knowledge, &services.config, &prompts)?;
    Ok(Desks::new(registry, services, prompts)?)
}
