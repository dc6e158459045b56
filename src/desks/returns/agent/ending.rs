//! Ends a turn that the model ran: the desk continues from the state and announces decisions and results.

use tracing::warn;

use super::context::with_handoff;
use super::speaker::models_message;
use super::tools::tool_set;
use crate::agent::Outcome;
use crate::agent::reply_text::for_customer;
use crate::desks::machine::run_until_wait;
use crate::desks::returns::advance::{Event, next_effect, next_state};
use crate::desks::returns::handlers::status_of;
use crate::desks::returns::route::{Step, route};
use crate::desks::returns::state::{HandoffReason, State};
use crate::desks::returns::{Returns, kind};
use crate::desks::{DeskError, Turn};
use crate::dialogue::opening::Wanted;
use crate::domain::{GuardReason, Kind, Metadata};
use crate::grounding::{Guard, Piece, Placeholders};
use crate::providers::llm::LlmError;

impl Returns {
    /// Ends the turn. The state holds everything that the model did, so the desk takes the next step from there: it announces a
    /// decision once, asks for what is missing, or finishes what the model left.
    pub(super) async fn end_agent_turn(
        &self,
        turn: &mut Turn,
        mut state: State,
        outcome: Outcome,
        facts: &[String],
    ) -> Result<(), DeskError> {
        match outcome {
            Outcome::Answered(text) => state = self.say_as_model(turn, state, &text, facts).await?,
            Outcome::GaveUp(reason) => {
                warn!(reason = reason.as_str(), "Giving up on the language model");
                turn.note("gave_up", reason.as_str());
                // A return that was made is announced like any other; the customer can ask for more.
                if state.ticket().is_none() {
                    state = with_handoff(state, HandoffReason::GaveUp);
                }
            }
            Outcome::Failed | Outcome::Stopped => {
                state.case.message.is_unclear |= state.case.intent.is_none();
                state.case.message.may_name_order = false;
            }
        }
        let effects = next_effect(&state).into_iter().collect();
        run_until_wait(self, turn, &self.services.store, (state, effects)).await
    }

    /// Sends the model's text if it may replace the desk's next step. Returns the state after that step, or the unchanged state.
    async fn say_as_model(
        &self,
        turn: &mut Turn,
        state: State,
        said: &str,
        facts: &[String],
    ) -> Result<State, DeskError> {
        let Some(kind) = models_message(&state) else { return Ok(state) };
        let Some(pieces) = self.usable(turn, said, facts).await? else { return Ok(state) };
        let mut metadata = Metadata::of(kind);
        if let Some(seen) = state.order().filter(|_| kind == kind::ORDER_STATUS)
            && let Some(order) = self.store_of(turn).find_order(&seen.number).await?
        {
            metadata = metadata.with("order", status_of(&order));
        }
        turn.show(kind, pieces).await?;
        turn.end_message(metadata).await?;
        Ok(match route(&state) {
            Step::Finish(ending) => next_state(state, Event::Finished(ending)),
            _ => next_state(state, Event::StatusShown),
        })
    }

    /// Returns the model's text after the guards, or `None` if it cannot be used, nothing is left of it, or they stopped it.
    async fn usable(&self, turn: &mut Turn, said: &str, facts: &[String]) -> Result<Option<Vec<Piece>>, DeskError> {
        let (text, had_markup) = for_customer(said, &tool_set().names());
        if had_markup {
            self.note_guard(turn, GuardReason::Markup, "markup", said).await?;
        }
        if text.is_empty() || self.agent.decision_words.are_in_message(&turn.message.text) {
            return Ok(None);
        }
        if Wanted::of(turn, &self.language_rules).is_missed_by(&text) {
            turn.note_model_error(LlmError::WrongLanguage);
            return Ok(None);
        }
        if self.agent.decision_words.are_in_reply(&text) {
            self.note_guard(turn, GuardReason::UnsupportedClaim, "decision", &text).await?;
            return Ok(None);
        }
        let (pieces, is_stopped) = self.grounded(turn, &text, facts);
        let is_left = |piece: &Piece| matches!(piece, Piece::Text(text) if text.chars().any(char::is_alphanumeric));
        if !is_stopped && pieces.iter().any(is_left) {
            return Ok(Some(pieces));
        }
        for piece in pieces {
            if let Piece::Guard(guard) = piece {
                self.note_guard(turn, guard.reason, guard.kind, &guard.text).await?;
            }
        }
        Ok(None)
    }

    /// Checks the text against the tools' results and the sources of every reply. Returns whether the guards stopped it as well.
    fn grounded(&self, turn: &Turn, text: &str, facts: &[String]) -> (Vec<Piece>, bool) {
        let placeholders = Placeholders::of(self.common.get(turn.language()));
        let mut sources = turn.sources();
        sources.instructions.push(&self.agent.instructions);
        sources.shop.extend(facts.iter().map(String::as_str));
        sources.shop.push(self.hotline(turn));
        let (pieces, is_stopped) = self.agent.grounding.check(text, &placeholders, &sources);
        (crate::grounding::joined(pieces), is_stopped)
    }

    /// Reports that the guards removed the model's text, before the message that replaces it.
    async fn note_guard(
        &self,
        turn: &mut Turn,
        reason: GuardReason,
        kind: &'static str,
        text: &str,
    ) -> Result<(), DeskError> {
        let guard = Piece::Guard(Guard { reason, kind, text: text.to_owned() });
        Ok(turn.show(Kind::Reply, vec![guard]).await?)
    }
}
