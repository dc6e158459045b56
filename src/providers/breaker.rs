//! A circuit breaker, which stops calls to a service after consecutive failures.
//!
//! [`Breaker`] only makes decisions and exports its state as a metric; it gets the time from [`SharedBreaker`], which the calls share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics::Gauge;
use tokio::time::Instant;
use tracing::{field, info, warn};

use crate::domain::TenantId;

/// The breaker of a service, or of one shop's calls to it. Cheap to clone.
#[derive(Clone)]
pub(super) struct SharedBreaker(Arc<Service>);

struct Service {
    /// The service's name in the log.
    name: &'static str,
    tenant: Option<TenantId>,
    breaker: Mutex<Breaker>,
}

impl SharedBreaker {
    /// Creates a closed breaker. `provider` is its label in the metrics.
    pub(super) fn new(name: &'static str, provider: &'static str, threshold: u32, cool_down: Duration) -> Self {
        let gauge = metrics::gauge!("frontdesk_breaker_state", "provider" => provider);
        Self(Arc::new(Service { name, tenant: None, breaker: Mutex::new(Breaker::new(gauge, threshold, cool_down)) }))
    }

    /// Creates a closed breaker of one shop's calls. It exports no metric, whose labels would name the shop.
    pub(super) fn of_tenant(name: &'static str, tenant: &TenantId, threshold: u32, cool_down: Duration) -> Self {
        let breaker = Mutex::new(Breaker::new(Gauge::noop(), threshold, cool_down));
        Self(Arc::new(Service { name, tenant: Some(tenant.clone()), breaker }))
    }

    /// Returns whether `admit` would let a call through.
    pub(super) fn lets_through(&self) -> bool {
        self.lock().lets_through(Instant::now())
    }

    /// Permits one call, or returns `None` while the breaker is open.
    pub(super) fn admit(&self) -> Option<Attempt> {
        let pass = self.lock().admit(Instant::now())?;
        Some(Attempt { breaker: self.clone(), pass, outcome: Outcome::Unknown })
    }

    /// Resets all failures, since the service is known to be up.
    pub(super) fn close(&self) {
        self.lock().close();
    }

    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.0.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, change: Change) {
        let (service, tenant) = (self.0.name, self.0.tenant.as_ref().map(field::display));
        match change {
            Change::None => {}
            Change::Opened => warn!(service, tenant, "A service keeps failing: circuit breaker open"),
            Change::Closed => info!(service, tenant, "A service answers again: circuit breaker closed"),
        }
    }
}

/// A call that the breaker has admitted. It reports its outcome when it is dropped, which stays unknown if the caller leaves.
pub(super) struct Attempt {
    breaker: SharedBreaker,
    pass: Pass,
    pub(super) outcome: Outcome,
}

impl Attempt {
    /// Reports the first text of the call.
    pub(super) fn report_first_text(&self) {
        let change = self.breaker.lock().report_first_text(self.pass);
        self.breaker.log(change);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let change = self.breaker.lock().report(self.pass, self.outcome, Instant::now());
        self.breaker.log(change);
    }
}

/// Closed, it lets calls through. Open, it refuses calls until the cool-down is over; then one trial call decides.
struct Breaker {
    /// 0 closed, 1 during a trial, 2 open.
    gauge: Gauge,
    threshold: u32,
    cool_down: Duration,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant },
    Trial,
}

/// Permission for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Normal,
    /// The call that tests whether the service is back.
    Trial,
}

/// What a call shows about the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Worked,
    Failed,
    /// Nothing: the caller left, or the request was invalid.
    Unknown,
}

/// A change of state, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    Opened,
    Closed,
}

impl Breaker {
    fn new(gauge: Gauge, threshold: u32, cool_down: Duration) -> Self {
        gauge.set(0.0);
        Self { gauge, threshold: threshold.max(1), cool_down, state: State::Closed { failures: 0 } }
    }

    /// Returns whether `admit` would let a call through.
    fn lets_through(&self, now: Instant) -> bool {
        match self.state {
            State::Closed { .. } => true,
            State::Open { until } => now >= until,
            State::Trial => false,
        }
    }

    /// Permits one call, or returns `None` while the breaker is open. Each pass must be followed by one `report`.
    fn admit(&mut self, now: Instant) -> Option<Pass> {
        match self.state {
            State::Closed { .. } => Some(Pass::Normal),
            State::Open { until } if now >= until => {
                self.set_state(State::Trial);
                Some(Pass::Trial)
            }
            State::Open { .. } | State::Trial => None,
        }
    }

    /// Reports the first text of a call, which ends a trial; the rest may take minutes.
    fn report_first_text(&mut self, pass: Pass) -> Change {
        if pass == Pass::Trial && self.state == State::Trial {
            return self.close();
        }
        Change::None
    }

    /// Reports the end of a call.
    fn report(&mut self, pass: Pass, outcome: Outcome, now: Instant) -> Change {
        match (&mut self.state, pass, outcome) {
            (State::Closed { failures }, _, Outcome::Worked) => *failures = 0,
            (State::Closed { failures }, _, Outcome::Failed) => {
                *failures += 1;
                if *failures >= self.threshold {
                    self.set_state(State::Open { until: now + self.cool_down });
                    return Change::Opened;
                }
            }
            (State::Trial, Pass::Trial, Outcome::Worked) => return self.close(),
            (State::Trial, Pass::Trial, Outcome::Failed) => {
                self.set_state(State::Open { until: now + self.cool_down });
            }
            // The trial showed nothing: let the next call try.
            (State::Trial, Pass::Trial, Outcome::Unknown) => self.set_state(State::Open { until: now }),
            // A call that started before the breaker opened shows nothing about now.
            (State::Open { .. } | State::Trial, _, _) | (State::Closed { .. }, _, Outcome::Unknown) => {}
        }
        Change::None
    }

    /// Resets all failures, since the service is known to be up.
    fn close(&mut self) -> Change {
        let change = if matches!(self.state, State::Closed { .. }) { Change::None } else { Change::Closed };
        self.set_state(State::Closed { failures: 0 });
        change
    }

    fn set_state(&mut self, state: State) {
        self.gauge.set(match state {
            State::Closed { .. } => 0.0,
            State::Trial => 1.0,
            State::Open { .. } => 2.0,
        });
        self.state = state;
    }
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    const COOL_DOWN: Duration = Duration::from_secs(30);

    fn breaker() -> Breaker {
        Breaker::new(metrics::gauge!("frontdesk_breaker_state", "provider" => "test"), 3, COOL_DOWN)
    }

    fn opened(now: Instant) -> Breaker {
        let mut breaker = breaker();
        for expected in [Change::None, Change::None, Change::Opened] {
            let pass = breaker.admit(now).expect("closed");
            assert_eq!(breaker.report(pass, Outcome::Failed, now), expected);
        }
        breaker
    }

    #[test]
    fn only_consecutive_failures_open_it() {
        let now = Instant::now();
        let mut breaker = breaker();
        for outcome in
            [Outcome::Failed, Outcome::Failed, Outcome::Worked, Outcome::Failed, Outcome::Unknown, Outcome::Failed]
        {
            assert_eq!(breaker.report(Pass::Normal, outcome, now), Change::None);
        }
        assert_eq!(breaker.report(Pass::Normal, Outcome::Failed, now), Change::Opened);
        assert_eq!((breaker.admit(now), breaker.lets_through(now)), (None, false));
    }

    #[test]
    fn after_the_cool_down_one_trial_decides() {
        let now = Instant::now();
        let later = now + COOL_DOWN;
        for (outcome, change, through) in [
            (Outcome::Worked, Change::Closed, true),
            (Outcome::Failed, Change::None, false),
            (Outcome::Unknown, Change::None, true),
        ] {
            let mut breaker = opened(now);
            assert_eq!(breaker.admit(later - Duration::from_millis(1)), None);
            assert!(breaker.lets_through(later));
            assert_eq!(breaker.admit(later), Some(Pass::Trial));
            assert_eq!(breaker.admit(later), None, "one trial at a time");
            assert_eq!(breaker.report(Pass::Trial, outcome, later), change);
            assert_eq!(breaker.lets_through(later), through, "{outcome:?}");
        }
    }

    #[test]
    fn first_text_of_trial_closes_it() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.admit(now + COOL_DOWN), Some(Pass::Trial));
        assert_eq!(breaker.report_first_text(Pass::Trial), Change::Closed);
        assert_eq!(breaker.admit(now), Some(Pass::Normal));
        assert_eq!(
            breaker.report(Pass::Trial, Outcome::Failed, now),
            Change::None,
            "afterwards it counts like any call"
        );
    }

    #[test]
    fn earlier_calls_do_not_change_open_state() {
        let now = Instant::now();
        for outcome in [Outcome::Worked, Outcome::Failed, Outcome::Unknown] {
            let mut breaker = opened(now);
            assert_eq!(breaker.report(Pass::Normal, outcome, now), Change::None);
            assert_eq!(breaker.admit(now), None);
            assert_eq!(breaker.admit(now + COOL_DOWN), Some(Pass::Trial));
            assert_eq!(breaker.report(Pass::Normal, outcome, now), Change::None);
            assert_eq!(breaker.report_first_text(Pass::Normal), Change::None);
            assert_eq!(breaker.admit(now + COOL_DOWN), None, "the trial still runs");
        }
    }

    #[test]
    fn state_is_exported_as_metric() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let metrics = recorder.handle();
        let expect = |state: u8| {
            let line = format!("frontdesk_breaker_state{{provider=\"test\"}} {state}\n");
            assert!(metrics.render().contains(&line), "{state}: {}", metrics.render());
        };
        metrics::with_local_recorder(&recorder, || {
            let now = Instant::now();
            let mut breaker = breaker();
            expect(0);
            for _ in 0..3 {
                breaker.report(Pass::Normal, Outcome::Failed, now);
            }
            expect(2);
            breaker.admit(now + COOL_DOWN);
            expect(1);
            breaker.report_first_text(Pass::Trial);
            expect(0);
        });
    }
}
