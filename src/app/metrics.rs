//! The process's figures, for Prometheus.

use std::sync::OnceLock;

use metrics::Unit;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the histograms' buckets, in seconds: from a database look-up to a model that thinks long.
const SECONDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0, 120.0];

/// The way to the process's figures; they are collected from the first call on.
pub(super) fn handle() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let builder = PrometheusBuilder::new();
            let recorder = match builder.set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS) {
                Ok(builder) => builder.build_recorder(),
                // Only an empty list of buckets is refused.
                Err(_) => PrometheusBuilder::new().build_recorder(),
            };
            let handle = recorder.handle();
            // Fails if there is one already, which then gets the figures.
            let _ = metrics::set_global_recorder(recorder);
            metrics::describe_counter!("frontdesk_turns_total", "Turns that have ended, by desk and status");
            metrics::describe_histogram!("frontdesk_turn_seconds", Unit::Seconds, "From acceptance to turn.done");
            metrics::describe_histogram!("frontdesk_journal_batch_events", "Events in one commit of the journal");
            metrics::describe_histogram!(
                "frontdesk_journal_commit_seconds",
                Unit::Seconds,
                "One commit of the journal"
            );
            handle
        })
        .clone()
}
