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
    /// Starts to watch the existing folders and their subfolders, and the folder of the file without its subfolders. Changes are
    /// recorded from now on.
    ///
    /// `poll` is the polling interval. `None` uses file system events, or falls back to polling if the system cannot add a watcher.
    pub fn new(folders: &[&Path], file: &Path, poll: Option<Duration>) -> Result<Self, notify::Error> {
        let watched = watched(folders, file);
        match poll {
            Some(every) => Self::with::<PollWatcher>(&watched, every),
            None => Self::with::<RecommendedWatcher>(&watched, FALLBACK_POLL).or_else(|cause| {
                warn!(error = %cause, "Cannot watch files with system events, polling instead");
                Self::with::<PollWatcher>(&watched, FALLBACK_POLL)
            }),
        }
    }

    fn with<W: Watcher + Send + 'static>(
        watched: &[(&Path, RecursiveMode)],
        poll: Duration,
    ) -> Result<Self, notify::Error> {
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
        for (folder, mode) in watched {
            watcher.watch(folder, *mode)?;
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

/// Returns the existing folders to watch, each once: a second mode for a folder would replace its first one.
fn watched<'a>(folders: &[&'a Path], file: &'a Path) -> Vec<(&'a Path, RecursiveMode)> {
    let existing = folders.iter().filter(|folder| folder.exists());
    let mut watched: Vec<_> = existing.map(|folder| (*folder, RecursiveMode::Recursive)).collect();
    let of_file = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let is_watched = |of_file: &Path| {
        let places = watched.iter().filter_map(|(folder, _)| folder.canonicalize().ok());
        places.into_iter().any(|folder| of_file.starts_with(folder))
    };
    // Its subfolders may hold anything, such as the database, which changes with every turn.
    if of_file.canonicalize().is_ok_and(|of_file| !is_watched(&of_file)) {
        watched.push((of_file, RecursiveMode::NonRecursive));
    }
    watched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_of_the_file_is_watched_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let prompts = folder.path().join("prompts");
        std::fs::create_dir_all(prompts.join("more")).expect("a folder below");
        let (all, alone) = (RecursiveMode::Recursive, RecursiveMode::NonRecursive);
        for (file, other) in [
            (folder.path().join("p.md"), Some(folder.path())),
            (folder.path().join("missing/p.md"), None),
            (prompts.join("p.md"), None),
            (folder.path().join("prompts/more/../p.md"), None),
            (prompts.join("more/p.md"), None),
            ("p.md".into(), Some(Path::new("."))),
            ("./p.md".into(), Some(Path::new("."))),
        ] {
            let expected: Vec<_> =
                [(prompts.as_path(), all)].into_iter().chain(other.map(|other| (other, alone))).collect();
            assert_eq!(watched(&[&prompts, &folder.path().join("missing")], &file), expected, "{file:?}");
        }
    }

    #[tokio::test]
    async fn changes_before_waiting_are_reported() {
        for poll in [None, Some(Duration::from_millis(50))] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::create_dir(folder.path().join("texts")).expect("a folder below");
            let file = folder.path().join("texts/a.toml");
            std::fs::write(&file, "1").expect("a file");
            let other = tempfile::tempdir().expect("another folder");
            let persona = other.path().join("p.md");
            let missing = folder.path().join("missing");
            let folders = [folder.path(), missing.as_path()];
            for changed in [file, persona.clone()] {
                let mut watch = Watch::new(&folders, &persona, poll).expect("a watch");
                std::fs::write(&changed, "2").expect("another text");
                assert_eq!(watch.changed().await, Some(()), "{poll:?} {changed:?}");
            }
        }
    }
}
