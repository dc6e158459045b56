//! Prometheus metrics of the process. [`describe`] lists every metric and the possible values of its labels.

use std::sync::OnceLock;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the buckets in seconds, from a database query to a slow model.
const SECONDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0, 120.0];
/// Upper bounds for commits, from one event in SQLite to a timeout.
const COMMIT_SECONDS: [f64; 12] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 5.0, 30.0];
/// Upper bounds for batches, up to the maximum number of events in a commit.
const BATCH_EVENTS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

const COMMIT: &str = "frontdesk_journal_commit_seconds";
const BATCH: &str = "frontdesk_journal_batch_events";

/// Returns the handle of the metrics, which are recorded from the first call on. The caller must call `run_upkeep` regularly, since
/// histograms grow until the metrics are read.
pub(super) fn handle() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            // Fails only for an empty list of buckets.
            let recorder = buckets().unwrap_or_default().build_recorder();
            let handle = recorder.handle();
            // Fails if a recorder is already installed, which then receives the metrics.
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

/// Label values: `desk`: the desks; `kind`: message kinds or `none`; `status`: final turn statuses; `provider`: `llm`, `embedding`;
/// `credential`: `api_key`, `token`, `sign_in`; `limit`: `CONNECTIONS_MAX`, `CONNECTIONS_PER_ADDRESS`.
fn describe() {
    describe_counter!("frontdesk_turns_total", "Turns that have ended, by desk, kind of the main message, and status");
    let seconds = Unit::Seconds;
    describe_histogram!("frontdesk_turn_seconds", seconds, "From acceptance to turn.done, by desk and status");
    let first = "From acceptance to the first text of the turn's main message, by desk";
    describe_histogram!("frontdesk_turn_first_text_seconds", seconds, first);
    let first = "From calling the language model to its first text";
    describe_histogram!("frontdesk_llm_first_token_seconds", seconds, first);
    describe_gauge!("frontdesk_llm_queue_calls", "Calls that wait for the language model");
    describe_histogram!("frontdesk_llm_queue_seconds", seconds, "How long a call waited for the language model");
    describe_gauge!("frontdesk_breaker_state", "Circuit breaker: 0 closed, 1 a trial call runs, 2 open, by provider");
    describe_gauge!("frontdesk_embedding_backlog_jobs", "Messages waiting to be embedded or removed from the memory");
    describe_gauge!("frontdesk_embedding_dead_jobs", "Jobs that failed permanently");
    describe_gauge!(
        "frontdesk_background_jobs",
        "Background jobs, by name and by whether they wait or are dead letters"
    );
    describe_counter!("frontdesk_job_attempts_total", "Attempts to run a background job, by name and result");
    describe_counter!("frontdesk_guards_total", "Reply texts removed by a guard, by reason");
    describe_gauge!("frontdesk_open_streams", "Open event streams");
    describe_counter!("frontdesk_refused_connections_total", "Connections refused by a limit");
    describe_counter!("frontdesk_failed_authentications_total", "Requests with a wrong key or token, by credential");
    describe_histogram!(BATCH, "Events in one commit of the journal");
    describe_histogram!(COMMIT, seconds, "One commit of the journal");
}
