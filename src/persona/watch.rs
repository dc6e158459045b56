//! Watches folders for changed files.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use notify::{Config, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::warn;

/// How long files must be unchanged, since editors write in several steps.
const SETTLED: Duration = Duration::from_millis(300);

/// How often to poll if the system cannot report changes.
const FALLBACK_POLL: Duration = Duration::from_secs(5);

/// How often to look for a folder that was put in the place of a watched one. The system reports changes of the old one only.
const REPLACED_CHECK: Duration = Duration::from_secs(2);

/// Distinguishes a folder from another one at the same path: device, inode and, since inodes are used again, the time of creation.
type Identity = (u64, u64, Option<SystemTime>);

/// Watches folders until dropped.
pub struct Watch {
    folders: Vec<PathBuf>,
    file: PathBuf,
    poll: Option<Duration>,
    /// The folders that are watched; `None`: the folder is missing.
    identities: Vec<Option<Identity>>,
    _watcher: Box<dyn Watcher + Send>,
    changes: mpsc::Receiver<()>,
}

impl Watch {
    /// Starts to watch the folders and their subfolders, and the folder of the file without its subfolders. Changes are recorded from
    /// now on.
    ///
    /// `poll` is the polling interval. `None` uses file system events, or falls back to polling if the system cannot add a watcher. It
    /// also watches a folder that is created later, or put in the place of another one.
    pub fn new(folders: Vec<PathBuf>, file: PathBuf, poll: Option<Duration>) -> Result<Self, notify::Error> {
        // Read first, so that a folder that is replaced meanwhile is noticed.
        let identities = identities(&folders, &file);
        let watched = watched(&folders, &file);
        let (watcher, changes) = match poll {
            Some(every) => start::<PollWatcher>(&watched, every)?,
            None => start::<RecommendedWatcher>(&watched, FALLBACK_POLL).or_else(|cause| {
                warn!(error = %cause, "Cannot watch files with system events, polling instead");
                start::<PollWatcher>(&watched, FALLBACK_POLL)
            })?,
        };
        Ok(Self { folders, file, poll, identities, _watcher: watcher, changes })
    }

    /// Waits for a change after which the files have settled. Returns `None` when the watcher has ended.
    pub async fn changed(&mut self) -> Option<()> {
        loop {
            match timeout(REPLACED_CHECK, self.changes.recv()).await {
                Ok(change) => {
                    change?;
                    break;
                }
                Err(_) if self.is_replaced() => break,
                Err(_) => {}
            }
        }
        while let Ok(change) = timeout(SETTLED, self.changes.recv()).await {
            change?;
        }
        if self.is_replaced() {
            self.restart();
        }
        Some(())
    }

    /// Returns whether another folder is in the place of a watched one, or a missing one was created. Polling reads whatever is at a
    /// path, but only at those that existed.
    fn is_replaced(&self) -> bool {
        let now = identities(&self.folders, &self.file);
        let is_created = || self.identities.iter().zip(&now).any(|(was, is)| was.is_none() && is.is_some());
        if self.poll.is_some() { is_created() } else { self.identities != now }
    }

    /// Watches the folders that are in place now.
    fn restart(&mut self) {
        match Self::new(self.folders.clone(), self.file.clone(), self.poll) {
            Ok(watch) => *self = watch,
            Err(cause) => {
                warn!(error = %cause, "Cannot watch a replaced folder: changes to its files need a restart");
                self.identities = identities(&self.folders, &self.file);
            }
        }
    }
}

fn start<W: Watcher + Send + 'static>(
    watched: &[(&Path, RecursiveMode)],
    poll: Duration,
) -> Result<(Box<dyn Watcher + Send>, mpsc::Receiver<()>), notify::Error> {
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
    Ok((Box::new(watcher), changes))
}

fn identities(folders: &[PathBuf], file: &Path) -> Vec<Option<Identity>> {
    folders.iter().map(PathBuf::as_path).chain([folder_of(file)]).map(identity).collect()
}

fn identity(folder: &Path) -> Option<Identity> {
    let found = folder.metadata().ok()?;
    Some((found.dev(), found.ino(), found.created().ok()))
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the existing folders to watch, each once: a second mode for a folder would replace its first one.
fn watched<'a>(folders: &'a [PathBuf], file: &'a Path) -> Vec<(&'a Path, RecursiveMode)> {
    let existing = folders.iter().filter(|folder| folder.exists());
    let mut watched: Vec<_> = existing.map(|folder| (folder.as_path(), RecursiveMode::Recursive)).collect();
    let of_file = folder_of(file);
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
    use std::os::unix::fs::symlink;

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
            assert_eq!(watched(&[prompts.clone(), folder.path().join("missing")], &file), expected, "{file:?}");
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
            let folders = vec![folder.path().to_owned(), folder.path().join("missing")];
            for changed in [file, persona.clone()] {
                let mut watch = Watch::new(folders.clone(), persona.clone(), poll).expect("a watch");
                std::fs::write(&changed, "2").expect("another text");
                assert_eq!(watch.changed().await, Some(()), "{poll:?} {changed:?}");
            }
        }
    }

    /// Creates a folder with one document.
    fn release(folder: PathBuf) -> PathBuf {
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("a.md"), folder.display().to_string()).expect("a document");
        folder
    }

    /// Replaces the folder `docs` by `replace`, and asserts that this and a later change are reported.
    async fn assert_replaced_is_watched(docs: &Path, poll: Option<Duration>, replace: impl FnOnce()) {
        let mut watch = Watch::new(vec![docs.to_owned()], docs.join("p.md"), poll).expect("a watch");
        replace();
        assert_eq!(watch.changed().await, Some(()), "{poll:?}: replaced");
        std::fs::write(docs.join("a.md"), "2").expect("another text");
        assert_eq!(watch.changed().await, Some(()), "{poll:?}: changed");
    }

    #[tokio::test]
    async fn folder_in_place_of_another_is_watched() {
        for poll in [None, Some(Duration::from_millis(50))] {
            let root = tempfile::tempdir().expect("a folder");
            let (docs, next) = (release(root.path().join("docs")), release(root.path().join("next")));
            let replace = || {
                std::fs::rename(&docs, root.path().join("old")).expect("an old folder");
                std::fs::rename(&next, &docs).expect("a new folder");
            };
            assert_replaced_is_watched(&docs, poll, replace).await;
        }
    }

    #[tokio::test]
    async fn target_of_replaced_link_is_watched() {
        let root = tempfile::tempdir().expect("a folder");
        let (one, two) = (release(root.path().join("1")), release(root.path().join("2")));
        let (docs, next) = (root.path().join("docs"), root.path().join("next"));
        symlink(one, &docs).expect("a link");
        let replace = || {
            symlink(two, &next).expect("a new link");
            std::fs::rename(&next, &docs).expect("the link is replaced");
        };
        assert_replaced_is_watched(&docs, None, replace).await;
    }

    #[tokio::test]
    async fn folder_created_later_is_watched() {
        for poll in [None, Some(Duration::from_millis(50))] {
            let root = tempfile::tempdir().expect("a folder");
            let docs = root.path().join("docs");
            assert_replaced_is_watched(&docs, poll, || drop(release(docs.clone()))).await;
        }
    }
}
