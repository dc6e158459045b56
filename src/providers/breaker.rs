//! A circuit breaker: after some failures in a row nobody is made to wait for a dead service.
//!
//! It only decides, and shows its state among the metrics; time comes in as an argument.

use std::time::Duration;

use metrics::Gauge;
use tokio::time::Instant;

/// Closed lets calls through, open refuses them until the cool-down is over, and then one trial decides.
pub(super) struct Breaker {
    /// 0 closed, 1 while a trial runs, 2 open.
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

/// Leave to make one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Normal,
    /// The one call that finds out whether the service is back.
    Trial,
}

/// How a call went, as far as it tells about the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Worked,
    Failed,
    /// It says nothing: the caller left, or the request was at fault.
    Unknown,
}

/// What a report changed, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Opened,
    Closed,
}

impl Breaker {
    /// A closed one for the service that the metrics call `provider`.
    pub(super) fn new(provider: &'static str, threshold: u32, cool_down: Duration) -> Self {
        let gauge = metrics::gauge!("frontdesk_breaker_state", "provider" => provider);
        gauge.set(0.0);
        Self { gauge, threshold: threshold.max(1), cool_down, state: State::Closed { failures: 0 } }
    }

    /// Whether `admit` would let a call through.
    pub(super) fn lets_through(&self, now: Instant) -> bool {
        match self.state {
            State::Closed { .. } => true,
            State::Open { until } => now >= until,
            State::Trial => false,
        }
    }

    /// Leave for one call, or `None` while the breaker is open. Each leave must be followed by one `report`.
    pub(super) fn admit(&mut self, now: Instant) -> Option<Pass> {
        match self.state {
            State::Closed { .. } => Some(Pass::Normal),
            State::Open { until } if now >= until => {
                self.turn_to(State::Trial);
                Some(Pass::Trial)
            }
            State::Open { .. } | State::Trial => None,
        }
    }

    /// The call has brought its first words. For a trial that is enough; its end may be minutes away.
    pub(super) fn speaks(&mut self, pass: Pass) -> Change {
        if pass == Pass::Trial && self.state == State::Trial {
            return self.close();
        }
        Change::None
    }

    /// The call is over.
    pub(super) fn report(&mut self, pass: Pass, outcome: Outcome, now: Instant) -> Change {
        match (&mut self.state, pass, outcome) {
            (State::Closed { failures }, _, Outcome::Worked) => *failures = 0,
            (State::Closed { failures }, _, Outcome::Failed) => {
                *failures += 1;
                if *failures >= self.threshold {
                    self.turn_to(State::Open { until: now + self.cool_down });
                    return Change::Opened;
                }
            }
            (State::Trial, Pass::Trial, Outcome::Worked) => return self.close(),
            (State::Trial, Pass::Trial, Outcome::Failed) => {
                self.turn_to(State::Open { until: now + self.cool_down });
            }
            // Nothing was learnt: the next caller tries.
            (State::Trial, Pass::Trial, Outcome::Unknown) => self.turn_to(State::Open { until: now }),
            // A call from before it opened tells nothing about now.
            (State::Open { .. } | State::Trial, _, _) | (State::Closed { .. }, _, Outcome::Unknown) => {}
        }
        Change::None
    }

    /// Forgets every failure: the service is known to be a fresh one.
    pub(super) fn close(&mut self) -> Change {
        let change = if matches!(self.state, State::Closed { .. }) { Change::None } else { Change::Closed };
        self.turn_to(State::Closed { failures: 0 });
        change
    }

    fn turn_to(&mut self, state: State) {
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

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::new("test", 3, COOL_DOWN);
        for expected in [Change::None, Change::None, Change::Opened] {
            let pass = breaker.admit(now).expect("closed");
            assert_eq!(breaker.report(pass, Outcome::Failed, now), expected);
        }
        breaker
    }

    #[test]
    fn only_failures_in_a_row_open_it() {
        let now = Instant::now();
        let mut breaker = Breaker::new("test", 3, COOL_DOWN);
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
    fn a_trial_that_speaks_closes_it_before_it_ends() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.admit(now + COOL_DOWN), Some(Pass::Trial));
        assert_eq!(breaker.speaks(Pass::Trial), Change::Closed);
        assert_eq!(breaker.admit(now), Some(Pass::Normal));
        assert_eq!(breaker.report(Pass::Trial, Outcome::Failed, now), Change::None, "then it counts as any other");
    }

    #[test]
    fn a_call_from_before_it_opened_changes_nothing() {
        let now = Instant::now();
        for outcome in [Outcome::Worked, Outcome::Failed, Outcome::Unknown] {
            let mut breaker = opened(now);
            assert_eq!(breaker.report(Pass::Normal, outcome, now), Change::None);
            assert_eq!(breaker.admit(now), None);
            assert_eq!(breaker.admit(now + COOL_DOWN), Some(Pass::Trial));
            assert_eq!(breaker.report(Pass::Normal, outcome, now), Change::None);
            assert_eq!(breaker.speaks(Pass::Normal), Change::None);
            assert_eq!(breaker.admit(now + COOL_DOWN), None, "the trial still runs");
        }
    }

    #[test]
    fn its_state_shows_among_the_metrics() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let figures = recorder.handle();
        let shows = |state: u8| {
            let line = format!("frontdesk_breaker_state{{provider=\"test\"}} {state}\n");
            assert!(figures.render().contains(&line), "{state}: {}", figures.render());
        };
        metrics::with_local_recorder(&recorder, || {
            let now = Instant::now();
            let mut breaker = Breaker::new("test", 3, COOL_DOWN);
            shows(0);
            for _ in 0..3 {
                breaker.report(Pass::Normal, Outcome::Failed, now);
            }
            shows(2);
            breaker.admit(now + COOL_DOWN);
            shows(1);
            breaker.speaks(Pass::Trial);
            shows(0);
        });
    }
}
