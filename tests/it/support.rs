//! Shared parts of the tests.

pub mod alone;
pub mod app;
pub mod audit;
pub mod database;
pub mod dialogue;
pub mod echo_desk;
pub mod ollama;
pub mod payments;
pub mod sse;
pub mod twilio;
pub mod vectors;

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

/// Only there so that a broken test ends; no machine is that slow.
pub const LIMIT: Duration = Duration::from_secs(300);

/// Waits until it holds.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < deadline, "this never came to hold: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until it holds, where that is known only after asking.
pub async fn eventually_async(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !holds().await {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, asking).await.unwrap_or_else(|_| panic!("this never came to hold: {what}"));
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
