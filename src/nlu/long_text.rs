//! Long work, such as reading a long text, without holding up an async worker.

use std::sync::OnceLock;

use tokio::runtime::{Handle, RuntimeFlavor};

/// Texts of more bytes than this take long enough to read that other turns would wait.
const LONG: usize = 1_000;

/// Reads a text of so many bytes.
pub fn read_text<T>(length: usize, read: impl FnOnce() -> T) -> T {
    if length > LONG { work_long(read) } else { read() }
}

/// Returns a value that is made once, such as an index. The first call makes it; calls meanwhile wait for that.
pub fn made_once<T>(once: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    once.get().unwrap_or_else(|| work_long(|| once.get_or_init(make)))
}

/// Does work that may block: the worker's other tasks move to another thread first. Nothing needs to be tracked, since the work
/// has ended when this returns.
pub fn work_long<T>(work: impl FnOnce() -> T) -> T {
    let may_move = || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if may_move() { tokio::task::block_in_place(work) } else { work() }
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
