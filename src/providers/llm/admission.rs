//! The waiting line before the model: so many calls at once, so many waiting, first come, first served.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The line itself.
#[derive(Debug)]
pub(super) struct Admission {
    max_concurrent: usize,
    queue_max: usize,
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    running: usize,
    waiting: VecDeque<Waiter>,
    next_id: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    position: watch::Sender<u32>,
}

/// The line is full.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// A place: first in the line, then among the running calls. Dropping it gives it to the next in line.
#[derive(Debug)]
pub(super) struct Place {
    admission: Arc<Admission>,
    id: u64,
    /// Counted from 1; 0 once admitted.
    position: watch::Receiver<u32>,
    told: u32,
}

impl Admission {
    /// At least one call can run.
    pub(super) fn new(max_concurrent: usize, queue_max: usize) -> Arc<Self> {
        Arc::new(Self { max_concurrent: max_concurrent.max(1), queue_max, line: Mutex::default() })
    }

    /// Takes a place at the end of the line, which may be the front at once.
    pub(super) fn enter(self: &Arc<Self>) -> Result<Place, Full> {
        let mut line = self.lock();
        let id = line.next_id;
        let position = if line.running < self.max_concurrent {
            line.running += 1;
            watch::channel(0).1
        } else if line.waiting.len() < self.queue_max {
            let (sender, receiver) = watch::channel(count(line.waiting.len()));
            line.waiting.push_back(Waiter { id, position: sender });
            waiting_calls().increment(1.0);
            receiver
        } else {
            return Err(Full);
        };
        line.next_id += 1;
        Ok(Place { admission: Arc::clone(self), id, position, told: 0 })
    }

    fn leave(&self, id: u64) {
        let mut line = self.lock();
        let from = match line.waiting.iter().position(|waiter| waiter.id == id) {
            Some(place) => {
                line.waiting.remove(place);
                waiting_calls().decrement(1.0);
                place
            }
            // It was running: its place among the running goes to the first in line.
            None => {
                match line.waiting.pop_front() {
                    Some(first) => {
                        waiting_calls().decrement(1.0);
                        first.position.send_replace(0)
                    }
                    None => {
                        line.running -= 1;
                        0
                    }
                };
                0
            }
        };
        for (place, waiter) in line.waiting.iter().enumerate().skip(from) {
            waiter.position.send_replace(count(place));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn waiting_calls() -> metrics::Gauge {
    metrics::gauge!("frontdesk_llm_queue_calls")
}

/// The position, counted from 1, of this place in the line.
fn count(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1)
}

impl Place {
    /// The position in the line, counted from 1: at once the first time, then each time that it changes. `None`:
    /// admitted. Can be cancelled and called again.
    pub(super) async fn waiting(&mut self) -> Option<u32> {
        loop {
            let position = *self.position.borrow_and_update();
            if position == 0 {
                return None;
            }
            if position != self.told {
                self.told = position;
                return Some(position);
            }
            // The other end goes away only after it has said 0.
            if self.position.changed().await.is_err() {
                return None;
            }
        }
    }

    pub(super) async fn admitted(&mut self) {
        while self.waiting().await.is_some() {}
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.leave(self.id);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn position(place: &Place) -> u32 {
        *place.position.borrow()
    }

    #[tokio::test]
    async fn a_waiting_caller_sees_each_move_and_then_its_turn() {
        let admission = Admission::new(1, 2);
        let first = admission.enter().expect("free");
        let second = admission.enter().expect("room in the line");
        let mut third = admission.enter().expect("room in the line");
        assert_eq!(admission.enter().err(), Some(Full));
        assert_eq!(third.waiting().await, Some(2));
        drop(first);
        assert_eq!(third.waiting().await, Some(1));
        drop(second);
        assert_eq!(third.waiting().await, None);
        assert_eq!(third.waiting().await, None);
    }

    #[tokio::test]
    async fn with_no_line_a_caller_is_admitted_or_refused() {
        let admission = Admission::new(0, 0);
        let mut only = admission.enter().expect("one can always run");
        assert_eq!(only.waiting().await, None);
        assert_eq!(admission.enter().err(), Some(Full));
        drop(only);
        assert!(admission.enter().is_ok());
    }

    proptest! {
        /// Against the plainest model there is: a list in order of arrival, of which the first few run.
        #[test]
        fn whoever_comes_and_goes_the_line_stays_in_order(
            limit in 1_usize..4,
            queue_max in 0_usize..5,
            steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..60),
        ) {
            let admission = Admission::new(limit, queue_max);
            let mut places: Vec<Place> = Vec::new();
            for (enters, which) in steps {
                if enters {
                    let entered = admission.enter();
                    prop_assert_eq!(entered.is_ok(), places.len() < limit + queue_max);
                    places.extend(entered);
                } else if !places.is_empty() {
                    let leaving = which.index(places.len());
                    drop(places.remove(leaving));
                }
                let seen: Vec<u32> = places.iter().map(position).collect();
                let expected: Vec<u32> = (0..places.len()).map(|at| (at + 1).saturating_sub(limit) as u32).collect();
                prop_assert_eq!(seen, expected);
            }
            drop(places);
            let line = admission.lock();
            prop_assert_eq!((line.running, line.waiting.len()), (0, 0));
        }
    }
}
