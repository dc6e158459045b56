//! A desk as a state machine: a pure function decides, and one loop performs the effects.
//!
//! [`Machine::advance`] runs once for each input: a message of the customer, or the result of an effect. It returns the next
//! state and the effects that follow. The state is saved before its effects are performed. After a crash between two effects, the
//! next message of the customer continues with the second one. An effect outside the state (a ticket, a mail) has an idempotency
//! key, so an effect that is repeated after a crash happens once. A message is stored before the state that records it: after a
//! crash it may be sent twice, but is never lost.
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tracing::warn;

use super::{DeskError, Turn};
use crate::store::Store;

/// A desk as a state machine.
pub trait Machine: Sync {
    /// Stored with the conversation.
    type State: Default + Serialize + DeserializeOwned + Send + Sync;
    /// A message of the customer, or the result of an effect.
    type Input: Send;
    type Effect: Send;

    /// Returns the next state and its effects. An input that does not fit the state changes nothing. Without an effect that has a
    /// result, the machine waits for the customer.
    fn advance(state: Self::State, input: Self::Input) -> (Self::State, Vec<Self::Effect>)
    where
        Self: Sized;

    /// Performs an effect, and returns its result, if it has one. What a customer may run into is a result; an error ends the turn.
    fn perform(
        &self,
        turn: &mut Turn,
        state: &Self::State,
        effect: Self::Effect,
    ) -> impl Future<Output = Result<Option<Self::Input>, DeskError>> + Send;
}

/// More inputs than any path through a machine has, to end a loop.
const MOST_INPUTS: usize = 64;

/// Performs the effects and advances the state by their results, until the machine waits for the customer.
///
/// # Errors
/// An effect failed. The state before it is saved, so the next message tries it again.
pub async fn run_until_wait<M: Machine>(
    machine: &M,
    turn: &mut Turn,
    store: &Store,
    (mut state, mut effects): (M::State, Vec<M::Effect>),
) -> Result<(), DeskError> {
    turn.stores_at_once = true;
    for _ in 0..MOST_INPUTS {
        save(turn, store, &state).await?;
        let mut result = None;
        for effect in effects {
            // Boxed: the futures of all effects would be a part of each turn's.
            result = Box::pin(machine.perform(turn, &state, effect)).await?.or(result);
        }
        let Some(input) = result else { return Ok(()) };
        (state, effects) = M::advance(state, input);
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

/// Returns the conversation's state. Of one that cannot be read, only `meta` is kept, if that can be read.
pub fn state_of<S: Default + DeserializeOwned>(turn: &Turn) -> S {
    if turn.state.is_null() {
        return S::default();
    }
    S::deserialize(&turn.state).unwrap_or_else(|_| {
        // The error may quote the customer's words.
        warn!(conversation = %turn.conversation.id, "Discarded the unreadable state of a conversation");
        S::deserialize(json!({ "meta": turn.state.get("meta") })).unwrap_or_default()
    })
}
