//! Shared parts of the tests.

pub mod alone;
pub mod app;
pub mod database;
pub mod dialogue;
pub mod echo_desk;
pub mod ollama;
pub mod payments;
pub mod sse;
pub mod twilio;
pub mod vectors;

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Waits until it holds. The limit is only there so that a broken test ends; no machine is that slow.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "this never came to hold: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}
