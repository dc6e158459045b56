//! A desk as a machine: what comes next is decided by pure functions, and one loop does what they say.
//!
//! [`Machine::route`] looks at the state and names the next step; a step does one thing and comes back with an event;
//! [`Machine::advance`] makes the next state of it, which is saved before the next step begins. Whoever is killed between two
//! steps goes on with the next one when the customer writes again. What a step does outside of the state (a ticket, a
//! mail) has a key under which it is done once, so that a step that was cut off before its state was saved repeats nothing.
//! What a step says is stored before the state that says it was said: a message may come twice, and is never lost.

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{DeskError, Turn};
use crate::store::Store;

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<Worker, Question, Ending> {
    /// Puts a question to the customer; the next event is that it was put.
    Ask(Question),
    /// Does one thing.
    Run(Worker),
    /// Says how it ended; the next event is that it was said.
    Finish(Ending),
    /// It is the customer's turn: this one ends.
    Wait,
}

/// The step of a machine.
pub type StepOf<M> = Step<<M as Machine>::Worker, <M as Machine>::Question, <M as Machine>::Ending>;

/// A desk that goes from state to state.
#[async_trait]
pub trait Machine: Sync {
    /// Saved with the conversation.
    type State: Default + Serialize + DeserializeOwned + Send + Sync;
    /// One side effect.
    type Worker: Send + Sync + std::fmt::Debug;
    type Question: Send + Sync;
    type Ending: Send + Sync;
    /// What the customer said, or a step found.
    type Event: Send;

    fn route(state: &Self::State) -> StepOf<Self>
    where
        Self: Sized;

    /// The next state. An event that does not fit changes nothing.
    fn advance(state: Self::State, event: Self::Event) -> Self::State
    where
        Self: Sized;

    /// Does what the worker is for. What a customer may run into is an event; an error ends the turn.
    async fn work(&self, turn: &mut Turn, state: &Self::State, worker: Self::Worker) -> Result<Self::Event, DeskError>;

    async fn ask(
        &self,
        turn: &mut Turn,
        state: &Self::State,
        question: Self::Question,
    ) -> Result<Self::Event, DeskError>;

    async fn finish(
        &self,
        turn: &mut Turn,
        state: &Self::State,
        ending: Self::Ending,
    ) -> Result<Self::Event, DeskError>;
}

/// More steps than any way through a machine has: one that does not come to rest would otherwise never let go.
const MOST_STEPS: usize = 64;

/// Takes steps until it is the customer's turn.
///
/// # Errors
/// A step failed; the state before it is saved, so that the next message tries it again.
pub async fn drive<M: Machine>(
    machine: &M,
    turn: &mut Turn,
    store: &Store,
    state: M::State,
    said: M::Event,
) -> Result<(), DeskError> {
    run_until_wait(machine, turn, store, M::advance(state, said)).await
}

/// Takes steps from a state on, without anything said, until it is the customer's turn.
///
/// # Errors
/// As for [`drive`].
pub async fn run_until_wait<M: Machine>(
    machine: &M,
    turn: &mut Turn,
    store: &Store,
    mut state: M::State,
) -> Result<(), DeskError> {
    turn.stores_at_once = true;
    for _ in 0..MOST_STEPS {
        save(turn, store, &state).await?;
        let event = match M::route(&state) {
            Step::Wait => return Ok(()),
            Step::Run(worker) => machine.work(turn, &state, worker).await?,
            Step::Ask(question) => machine.ask(turn, &state, question).await?,
            Step::Finish(ending) => machine.finish(turn, &state, ending).await?,
        };
        state = M::advance(state, event);
    }
    Err(DeskError::Restless)
}

/// Saves the state with the conversation, where it has changed.
pub async fn save<S: Serialize>(turn: &mut Turn, store: &Store, state: &S) -> Result<(), DeskError> {
    let state = serde_json::to_value(state).unwrap_or_default();
    if state != turn.state {
        store.tenant(&turn.conversation.tenant).save_state(turn.conversation.id, &state).await?;
        turn.state = state;
    }
    Ok(())
}

/// What the conversation's state says; one that cannot be read is a fresh start.
pub fn state_of<S: Default + DeserializeOwned>(turn: &Turn) -> S {
    S::deserialize(&turn.state).unwrap_or_default()
}
