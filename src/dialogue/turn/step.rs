//! The steps of a turn: each a span among the traces, and a timing of the turn.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::{Instrument, Span, info_span};

use crate::domain::Timings;

/// The durations of a turn's steps. Shared, so that a step can borrow the turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(Arc<Mutex<Timings>>);

/// A named step.
#[derive(Debug)]
pub struct Step {
    name: &'static str,
    steps: Steps,
}

impl Steps {
    pub fn next(&self, name: &'static str) -> Step {
        Step { name, steps: self.clone() }
    }

    pub fn note(&self, name: &str, took: Duration) {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), ms);
    }

    pub fn timings(&self) -> Timings {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Step {
    /// Runs the future as this step. A future that is dropped has a span but no timing.
    pub async fn take<T>(self, work: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let output = work.instrument(span(self.name)).await;
        self.steps.note(self.name, started.elapsed());
        output
    }
}

/// Returns the span of a step. `otel.name` is its name in traces, since `tracing` span names are static.
pub(super) fn span(name: &'static str) -> Span {
    info_span!("step", otel.name = name)
}
