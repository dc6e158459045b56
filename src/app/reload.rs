//! Taking changed prompts and documents into use while the server runs.

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

/// What is made anew when a file changes, and who hears of it.
pub(super) struct Reloading {
    /// `None`: files are not watched.
    pub watch: Option<Watch>,
    pub services: Services,
    pub desks: Arc<ArcSwap<Desks>>,
    pub unusable: Arc<ArcSwapOption<Warning>>,
    /// Tells that we ourselves wrote a file, which is not left to the system's notice.
    pub edited: Arc<Notify>,
    /// Is told when documents were read.
    pub read: Arc<Notify>,
}

/// Begins to watch prompts and documents: before they are read, so that no change falls in between.
pub(super) fn watch_files(config: &Config) -> Option<Watch> {
    let persona_folder: Option<PathBuf> = config.prompts.persona.parent().map(PathBuf::from);
    let folders = [Some(&config.prompts.folder), persona_folder.as_ref(), Some(&config.knowledge.folder)];
    let folders: Vec<&Path> = folders.into_iter().flatten().map(PathBuf::as_path).collect();
    Watch::new(&folders, config.prompts.poll)
        .inspect_err(|cause| warn!(error = %cause, "Files cannot be watched; changes to them need a restart"))
        .ok()
}

/// Takes changed prompts and documents into use while the server runs. Broken ones change nothing.
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
                info!("Prompts and documents were read anew");
            }
            Err(cause) => {
                error!("A changed file cannot be used, so the earlier ones stay in use: {cause}");
                unusable.store(Some(Arc::new(complaint(&cause))));
            }
        }
    }
}

/// Waits for a change; for ever where nobody watches.
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
