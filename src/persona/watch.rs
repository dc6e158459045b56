//! Noticing that files under a folder have changed.

use std::path::Path;
use std::time::Duration;

use notify::{Config, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tracing::warn;

/// An editor writes a file in several steps; so long after the last one it counts as done.
const SETTLED: Duration = Duration::from_millis(300);

/// How often files are looked at where the system would tell of changes and cannot.
const FALLBACK_POLL: Duration = Duration::from_secs(5);

/// Folders under watch; it ends when dropped.
pub struct Watch {
    _watcher: Box<dyn Watcher + Send>,
    changes: mpsc::Receiver<()>,
}

impl Watch {
    /// Begins to watch the folders that exist, with all below them: what changes from now on is told, whenever it is asked for.
    ///
    /// `poll`: the files are looked at so often. `None`: the system tells, or is replaced by looking if it has no room for one
    /// more watcher.
    pub fn new(folders: &[&Path], poll: Option<Duration>) -> Result<Self, notify::Error> {
        match poll {
            Some(every) => Self::with::<PollWatcher>(folders, every),
            None => Self::with::<RecommendedWatcher>(folders, FALLBACK_POLL).or_else(|cause| {
                warn!(error = %cause, "The system does not tell of changed files; they are looked at instead");
                Self::with::<PollWatcher>(folders, FALLBACK_POLL)
            }),
        }
    }

    fn with<W: Watcher + Send + 'static>(folders: &[&Path], poll: Duration) -> Result<Self, notify::Error> {
        let (sender, changes) = mpsc::channel(1);
        let tell = move |event: notify::Result<notify::Event>| {
            // A full channel already says that something changed.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                let _ = sender.try_send(());
            }
        };
        // A clock may stand still between two writes; the texts are few and small.
        let config = Config::default().with_poll_interval(poll).with_compare_contents(true);
        let mut watcher = W::new(tell, config)?;
        for folder in folders {
            if folder.exists() {
                watcher.watch(folder, RecursiveMode::Recursive)?;
            }
        }
        Ok(Self { _watcher: Box::new(watcher), changes })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_is_told_though_nobody_was_listening_yet() {
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
