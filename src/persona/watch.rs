//! Noticing that files under a folder have changed.

use std::path::Path;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

/// An editor writes a file in several steps; so long after the last one it counts as done.
const SETTLED: Duration = Duration::from_millis(300);

/// Folders under watch; it ends when dropped.
pub struct Watch {
    _watcher: RecommendedWatcher,
    changes: mpsc::Receiver<()>,
}

impl Watch {
    /// Begins to watch the folders that exist, with all below them.
    pub fn new<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<Self, notify::Error> {
        let (sender, changes) = mpsc::channel(1);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // A full channel already says that something changed.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                let _ = sender.try_send(());
            }
        })?;
        for folder in folders {
            if folder.exists() {
                watcher.watch(folder, RecursiveMode::Recursive)?;
            }
        }
        Ok(Self { _watcher: watcher, changes })
    }

    /// Waits until something has changed and then stayed as it is for a moment. `None`: the watcher has ended.
    pub async fn changed(&mut self) -> Option<()> {
        self.changes.recv().await?;
        loop {
            match tokio::time::timeout(SETTLED, self.changes.recv()).await {
                Ok(Some(())) => {}
                Ok(None) => return None,
                Err(_) => return Some(()),
            }
        }
    }
}
