//! Watches folders for changed files.

use std::path::Path;
use std::time::Duration;

use notify::{Config, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tracing::warn;

/// How long files must be unchanged, since editors write in several steps.
const SETTLED: Duration = Duration::from_millis(300);

/// How often to poll if the system cannot report changes.
const FALLBACK_POLL: Duration = Duration::from_secs(5);

/// Watches folders until dropped.
pub struct Watch {
    _watcher: Box<dyn Watcher + Send>,
    changes: mpsc::Receiver<()>,
}

impl Watch {
    /// Starts to watch the existing folders and their subfolders. Changes are recorded from now on.
    ///
    /// `poll` is the polling interval. `None` uses file system events, or falls back to polling if the system cannot add a watcher.
    pub fn new(folders: &[&Path], poll: Option<Duration>) -> Result<Self, notify::Error> {
        match poll {
            Some(every) => Self::with::<PollWatcher>(folders, every),
            None => Self::with::<RecommendedWatcher>(folders, FALLBACK_POLL).or_else(|cause| {
                warn!(error = %cause, "Cannot watch files with system events, polling instead");
                Self::with::<PollWatcher>(folders, FALLBACK_POLL)
            }),
        }
    }

    fn with<W: Watcher + Send + 'static>(folders: &[&Path], poll: Duration) -> Result<Self, notify::Error> {
        let (sender, changes) = mpsc::channel(1);
        let notify = move |event: notify::Result<notify::Event>| {
            // A full channel already signals a change.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                let _ = sender.try_send(());
            }
        };
        // Compare contents, since two writes can have the same time stamp; the files are few and small.
        let config = Config::default().with_poll_interval(poll).with_compare_contents(true);
        let mut watcher = W::new(notify, config)?;
        for folder in folders {
            if folder.exists() {
                watcher.watch(folder, RecursiveMode::Recursive)?;
            }
        }
        Ok(Self { _watcher: Box::new(watcher), changes })
    }

    /// Waits for a change after which the files have settled. Returns `None` when the watcher has ended.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn changes_before_waiting_are_reported() {
        for poll in [None, Some(Duration::from_millis(50))] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::create_dir(folder.path().join("texts")).expect("a folder below");
            let file = folder.path().join("texts/a.toml");
            std::fs::write(&file, "1").expect("a file");
            let mut watch = Watch::new(&[folder.path(), &folder.path().join("missing")], poll).expect("a watch");
            std::fs::write(&file, "2").expect("another text");
            assert_eq!(watch.changed().await, Some(()), "{poll:?}");
        }
    }
}
