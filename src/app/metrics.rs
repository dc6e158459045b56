//! The process's figures, for Prometheus. Every metric stands in [`describe`] with what its label values are bounded by.

use std::sync::OnceLock;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the histograms' buckets, in seconds: from a database look-up to a model that thinks long.
const SECONDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0, 120.0];
/// Of commits: from one event in SQLite to a database that is about to be given up.
const COMMIT_SECONDS: [f64; 12] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 5.0, 30.0];
/// Of batches: up to the most events that one commit takes.
const BATCH_EVENTS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

const COMMIT: &str = "frontdesk_journal_commit_seconds";
const BATCH: &str = "frontdesk_journal_batch_events";

/// The way to the process's figures; they are collected from the first call on. Whoever holds it calls `run_upkeep` now
/// and then, or what histograms have noted grows until somebody asks for it.
pub(super) fn handle() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            // Only an empty list of buckets is refused.
            let recorder = buckets().unwrap_or_default().build_recorder();
            let handle = recorder.handle();
            // Fails if there is one already, which then gets the figures.
            let _ = metrics::set_global_recorder(recorder);
            describe();
            handle
        })
        .clone()
}

fn buckets() -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Full(COMMIT.to_owned()), &COMMIT_SECONDS)?
        .set_buckets_for_metric(Matcher::Full(BATCH.to_owned()), &BATCH_EVENTS)
}

/// `desk`: the desks there are. `kind`: of messages, or `none`. `status`: how a turn can end. `provider`: `llm`, `embedding`.
/// `credential`: `api_key`, `token`, `sign_in`. `limit`: `CONNECTIONS_MAX`, `CONNECTIONS_PER_ADDRESS`.
fn describe() {
    describe_counter!("frontdesk_turns_total", "Turns that have ended, by desk, kind of the main message, and status");
    let seconds = Unit::Seconds;
    describe_histogram!("frontdesk_turn_seconds", seconds, "From acceptance to turn.done, by desk and status");
    let first = "From acceptance to the first text of the turn's main message, by desk";
    describe_histogram!("frontdesk_turn_first_text_seconds", seconds, first);
    let first = "From asking the language model to its first text";
    describe_histogram!("frontdesk_llm_first_token_seconds", seconds, first);
    describe_gauge!("frontdesk_llm_queue_calls", "Calls that wait for the language model");
    describe_histogram!("frontdesk_llm_queue_seconds", seconds, "How long a call waited for the language model");
    describe_gauge!("frontdesk_breaker_state", "Circuit breaker: 0 closed, 1 a trial call runs, 2 open, by provider");
    describe_gauge!("frontdesk_embedding_backlog_jobs", "Messages that wait to be embedded, or forgotten");
    describe_gauge!("frontdesk_embedding_dead_jobs", "Jobs that were given up");
    describe_gauge!("frontdesk_background_jobs", "Background jobs, by name and by whether they wait or are dead letters");
    describe_counter!("frontdesk_job_attempts_total", "Attempts to run a background job, by name and result");
    describe_counter!("frontdesk_guards_total", "What was held back from replies, by reason");
    describe_gauge!("frontdesk_open_streams", "Open event streams");
    describe_counter!("frontdesk_refused_connections_total", "Connections closed at once, by the limit they met");
    describe_counter!("frontdesk_failed_authentications_total", "Requests with a wrong key or token, by credential");
    describe_histogram!(BATCH, "Events in one commit of the journal");
    describe_histogram!(COMMIT, seconds, "One commit of the journal");
}
