//! A desk as a state machine: pure functions decide, and one loop performs the effects.
//!
//! [`Machine::route`] returns the next step for a state. A step performs one effect and returns an event.
//! [`Machine::advance`] returns the next state, which is saved before the next step starts. After a crash between two steps, the
//! next message of the customer continues with the second one. An effect outside the state (a ticket, a mail) has an idempotency
//! key, so a step that is repeated after a crash has it once. A message is stored before the state that records it: after a
//! crash it may be sent twice, but is never lost.

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{DeskError, Turn};
use crate::store::Store;

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<Worker, Question, Ending> {
    /// Asks the customer a question, then continues.
    Ask(Question),
    /// Performs one effect.
    Run(Worker),
    /// Reports the outcome, then continues.
    Finish(Ending),
    /// Ends the turn and waits for the customer.
    Wait,
}

/// The type of a machine's steps.
pub type StepOf<M> = Step<<M as Machine>::Worker, <M as Machine>::Question, <M as Machine>::Ending>;

/// A desk as a state machine.
#[async_trait]
pub trait Machine: Sync {
    /// Stored with the conversation.
    type State: Default + Serialize + DeserializeOwned + Send + Sync;
    /// One side effect.
    type Worker: Send + Sync + std::fmt::Debug;
    type Question: Send + Sync;
    type Ending: Send + Sync;
    /// A message of the customer, or the result of a step.
    type Event: Send;

    fn route(state: &Self::State) -> StepOf<Self>
    where
        Self: Sized;

    /// Returns the next state. An event that does not fit the state changes nothing.
    fn advance(state: Self::State, event: Self::Event) -> Self::State
    where
        Self: Sized;

    /// Performs an effect. What a customer may run into is an event; an error ends the turn.
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

/// More steps than any path through a machine has, to end a loop.
const MOST_STEPS: usize = 64;

/// Advances the state by a message and takes steps until the machine waits for the customer.
///
/// # Errors
/// A step failed. The state before it is saved, so the next message tries it again.
pub async fn drive<M: Machine>(
    machine: &M,
    turn: &mut Turn,
    store: &Store,
    state: M::State,
    said: M::Event,
) -> Result<(), DeskError> {
    run_until_wait(machine, turn, store, M::advance(state, said)).await
}

/// Takes steps from this state until the machine waits for the customer.
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

/// Saves the state with the conversation, if it has changed.
pub async fn save<S: Serialize>(turn: &mut Turn, store: &Store, state: &S) -> Result<(), DeskError> {
    let state = serde_json::to_value(state).unwrap_or_default();
    if state != turn.state {
        store.tenant(&turn.conversation.tenant).save_state(turn.conversation.id, &state).await?;
        turn.state = state;
    }
    Ok(())
}

/// Returns the conversation's state, or the default if it cannot be read.
pub fn state_of<S: Default + DeserializeOwned>(turn: &Turn) -> S {
    S::deserialize(&turn.state).unwrap_or_default()
}
