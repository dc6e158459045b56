//! What a turn costs, counted instead of timed.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing::span::{Attributes, Id};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::support::alone::run_alone;
use crate::support::app::TestApp;

/// The database calls of this thread, by the names of sea-orm's functions.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<&'static str>>>);

impl<S: tracing::Subscriber> Layer<S> for Calls {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        let span = attributes.metadata();
        if span.target().starts_with("sea_orm::database::") {
            self.0.lock().unwrap().push(span.name());
        }
    }
}

impl Calls {
    fn count() -> (Self, DefaultGuard) {
        let calls = Self::default();
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(calls.clone()));
        (calls, guard)
    }

    /// Returns the statements and the commits since the last call.
    fn take(&self) -> (usize, usize) {
        let calls = std::mem::take(&mut *self.0.lock().unwrap());
        let statements = ["execute_raw", "execute_unprepared", "query_one_raw", "query_all_raw"];
        let count = |names: &[&str]| calls.iter().filter(|call| names.contains(call)).count();
        (count(&statements), count(&["commit"]))
    }
}

/// Returns the least statements and commits of a warranty turn. Background jobs may run their own during some turns.
async fn cost(app: &TestApp, calls: &Calls, conversations: &[String]) -> (usize, usize) {
    let mut costs = Vec::new();
    for conversation in conversations {
        calls.take();
        let events = app.ask(conversation, "kiểm tra bảo hành ABC123").await;
        assert!(format!("{events:?}").contains("Laptop Dell"));
        // What follows the last event.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        costs.push(calls.take());
    }
    costs.into_iter().min().unwrap()
}

#[test]
fn warranty_turn_needs_few_statements() {
    run_alone("turn::cost::warranty_turn_needs_few_statements", count_statements());
}

async fn count_statements() {
    let (calls, _guard) = Calls::count();
    let app = TestApp::builder().env("TURNS_PER_MINUTE", 1000).env("TURN_START_HOLD_MS", 60_000).start().await;
    let mut opened = Vec::new();
    for _ in 0..5 {
        opened.push(app.open(&json!({})).await);
    }
    let first = cost(&app, &calls, &opened).await;
    let later = cost(&app, &calls, &opened).await;
    // PostgreSQL is also told how long a message may wait for a locked row, and each write of the journal locks the server's claim.
    let more = |writes: usize| if app.database_url.starts_with("postgres") { 1 + writes } else { 0 };
    // The greeting of a first turn is text, so it does not wait for the look-up and may need a separate commit.
    assert!(first.0 <= 12 + more(first.1 - 1) && first.1 <= 3, "statements and commits: {first:?}");
    assert_eq!(later, (8 + more(1), 2), "one commit stores the message, and one the whole turn");
}
