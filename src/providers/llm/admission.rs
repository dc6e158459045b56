//! The queue of calls to the model: limits running and waiting calls, first in, first out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The queue.
#[derive(Debug)]
pub(super) struct Admission {
    max_concurrent: usize,
    queue_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    waiting: VecDeque<Waiter>,
    next_id: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    position: watch::Sender<u32>,
}

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// A place in the queue, and then among the running calls. Dropping it admits the next call.
#[derive(Debug)]
pub(super) struct Place {
    admission: Arc<Admission>,
    id: u64,
    /// The position from 1; 0 once admitted.
    position: watch::Receiver<u32>,
    reported: u32,
}

impl Admission {
    /// Creates a queue. `max_concurrent` is at least 1.
    pub(super) fn new(max_concurrent: usize, queue_max: usize) -> Arc<Self> {
        Arc::new(Self { max_concurrent: max_concurrent.max(1), queue_max, state: Mutex::default() })
    }

    /// Takes a place at the end of the queue, or is admitted at once.
    pub(super) fn enter(self: &Arc<Self>) -> Result<Place, Full> {
        let mut state = self.lock();
        let id = state.next_id;
        let position = if state.running < self.max_concurrent {
            state.running += 1;
            watch::channel(0).1
        } else if state.waiting.len() < self.queue_max {
            let (sender, receiver) = watch::channel(count(state.waiting.len()));
            state.waiting.push_back(Waiter { id, position: sender });
            waiting_calls().increment(1.0);
            receiver
        } else {
            return Err(Full);
        };
        state.next_id += 1;
        Ok(Place { admission: Arc::clone(self), id, position, reported: 0 })
    }

    fn leave(&self, id: u64) {
        let mut state = self.lock();
        let from = match state.waiting.iter().position(|waiter| waiter.id == id) {
            Some(place) => {
                state.waiting.remove(place);
                waiting_calls().decrement(1.0);
                place
            }
            // It was running: admit the first waiting call.
            None => {
                match state.waiting.pop_front() {
                    Some(first) => {
                        waiting_calls().decrement(1.0);
                        first.position.send_replace(0)
                    }
                    None => {
                        state.running -= 1;
                        0
                    }
                };
                0
            }
        };
        for (place, waiter) in state.waiting.iter().enumerate().skip(from) {
            waiter.position.send_replace(count(place));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn waiting_calls() -> metrics::Gauge {
    metrics::gauge!("frontdesk_llm_queue_calls")
}

/// Converts an index into a position from 1.
fn count(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1)
}

impl Place {
    /// Returns the position in the queue, from 1: immediately at first, then on each change. Returns `None` once admitted. Cancel safe.
    pub(super) async fn waiting(&mut self) -> Option<u32> {
        loop {
            let position = *self.position.borrow_and_update();
            if position == 0 {
                return None;
            }
            if position != self.reported {
                self.reported = position;
                return Some(position);
            }
            // The sender is dropped only after sending 0.
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
    async fn waiting_call_sees_each_position() {
        let admission = Admission::new(1, 2);
        let first = admission.enter().expect("free");
        let second = admission.enter().expect("room in the queue");
        let mut third = admission.enter().expect("room in the queue");
        assert_eq!(admission.enter().err(), Some(Full));
        assert_eq!(third.waiting().await, Some(2));
        drop(first);
        assert_eq!(third.waiting().await, Some(1));
        drop(second);
        assert_eq!(third.waiting().await, None);
        assert_eq!(third.waiting().await, None);
    }

    #[tokio::test]
    async fn calls_without_queue_are_admitted_or_refused() {
        let admission = Admission::new(0, 0);
        let mut only = admission.enter().expect("one can always run");
        assert_eq!(only.waiting().await, None);
        assert_eq!(admission.enter().err(), Some(Full));
        drop(only);
        assert!(admission.enter().is_ok());
    }

    proptest! {
        /// Compares with a simple model: a list in order of arrival whose first elements run.
        #[test]
        fn queue_stays_in_order(
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
            let state = admission.lock();
            prop_assert_eq!((state.running, state.waiting.len()), (0, 0));
        }
    }
}
