//! Reading long texts without holding up an async worker.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Texts of more bytes than this take long enough to read that other turns would wait.
const LONG: usize = 1_000;

/// Reads a text of so many bytes. A long one is read where it may block: the worker's other tasks move to another thread
/// first. Nothing needs to be tracked, since the reading has ended when this returns.
pub fn read_text<T>(length: usize, read: impl FnOnce() -> T) -> T {
    let may_move = || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if length > LONG && may_move() { tokio::task::block_in_place(read) } else { read() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_long_text_holds_up_no_other_task() {
        let (ask, asked) = std::sync::mpsc::channel();
        let (answer, answered) = std::sync::mpsc::channel();
        let tracker = tokio_util::task::TaskTracker::new();
        let reader = tracker.spawn(async move {
            read_text(LONG + 1, || {
                ask.send(()).expect("somebody waits");
                answered.recv_timeout(Duration::from_secs(60)).is_ok()
            })
        });
        // With its only worker held up this would never run.
        tracker.spawn(async move {
            while asked.try_recv().is_err() {
                tokio::task::yield_now().await;
            }
            answer.send(()).expect("the reader waits");
        });
        assert!(reader.await.expect("no panic"), "the other task ran while the text was read");
    }
}
