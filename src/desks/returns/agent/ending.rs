//! Ends a turn that the model drove: the desk continues from the state, and announces what was decided and done.

use tracing::warn;

use super::bench::turned_over;
use super::rounds::Why;
use super::speaker::models_message;
use super::words::for_customer;
use crate::desks::machine::{Step, go_on};
use crate::desks::returns::Returns;
use crate::desks::returns::advance::{Event, advance};
use crate::desks::returns::route::route;
use crate::desks::returns::state::{HandoffReason, State};
use crate::desks::returns::work::status_of;
use crate::desks::{DeskError, Turn};
use crate::domain::{GuardReason, Kind, Metadata};
use crate::grounding::{Grounded, Guard, Piece, StandIns};

/// How the model's part of a turn ended.
pub(super) enum Ended {
    /// With these words.
    Said(String),
    GaveUp(Why),
    /// It failed before anything was done.
    WithoutModel,
    /// What comes next only the machine can ask.
    MachinesQuestion,
}

impl Returns {
    /// Ends the turn. Whatever the model has done is in the state, so that the desk takes the next step from there: it
    /// announces a decision once, asks what is missing, or does what the model left undone.
    pub(super) async fn end_agent_turn(
        &self,
        turn: &mut Turn,
        state: State,
        ended: Ended,
        told: &[String],
    ) -> Result<(), DeskError> {
        let mut state = without_idle_question(state);
        match ended {
            Ended::Said(text) => state = self.say_as_model(turn, state, &text, told).await?,
            Ended::GaveUp(why) => {
                warn!(why = why.as_str(), "Giving up on the language model");
                turn.note("gave_up", why.as_str());
                // What was made is announced like any other return; the customer can ask for more.
                if state.ticket.is_none() {
                    state = turned_over(state, HandoffReason::GaveUp);
                }
            }
            Ended::WithoutModel | Ended::MachinesQuestion => {
                state.is_unclear |= state.intent.is_none();
                state.may_name_order = false;
            }
        }
        go_on(self, turn, &self.services.store, state).await
    }

    /// Shows the model's words, if they may replace the desk's next step. Returns the state after that step, or the unchanged
    /// state.
    async fn say_as_model(
        &self,
        turn: &mut Turn,
        state: State,
        said: &str,
        told: &[String],
    ) -> Result<State, DeskError> {
        let Some(kind) = models_message(&state) else { return Ok(state) };
        let Some(pieces) = self.usable(turn, said, told).await? else { return Ok(state) };
        let mut metadata = Metadata::of(kind);
        if let Some(seen) = state.order.as_ref().filter(|_| kind == Kind::OrderStatus)
            && let Some(order) = self.store_of(turn).find_order(&seen.number).await?
        {
            metadata = metadata.with("order", status_of(&order));
        }
        turn.show(kind, pieces).await?;
        turn.end_message(metadata).await?;
        Ok(match route(&state) {
            Step::Finish(ending) => advance(state, Event::Finished(ending)),
            _ => advance(state, Event::StatusShown),
        })
    }

    /// The model's words as they may be shown; `None`: they cannot be used.
    async fn usable(&self, turn: &mut Turn, said: &str, told: &[String]) -> Result<Option<Vec<Piece>>, DeskError> {
        let (text, had_markup) = for_customer(said);
        if had_markup {
            self.note_guard(turn, GuardReason::Markup, "markup", said).await?;
        }
        if text.is_empty() || self.agent.decision_words.are_in_message(&turn.message.text) {
            return Ok(None);
        }
        if self.agent.decision_words.are_in_reply(&text) {
            self.note_guard(turn, GuardReason::UnsupportedClaim, "decision", &text).await?;
            return Ok(None);
        }
        let pieces = self.grounded(turn, &text, told);
        let is_left = |piece: &Piece| matches!(piece, Piece::Text(text) if text.chars().any(char::is_alphanumeric));
        if pieces.iter().any(is_left) {
            return Ok(Some(pieces));
        }
        for piece in pieces {
            if let Piece::Guard(guard) = piece {
                self.note_guard(turn, guard.reason, guard.kind, &guard.text).await?;
            }
        }
        Ok(None)
    }

    /// The words, held against what the tools said and what every reply may stand on.
    fn grounded(&self, turn: &Turn, text: &str, told: &[String]) -> Vec<Piece> {
        let stand_ins = StandIns::of(self.common.get(turn.language()));
        let mut sources = turn.sources();
        sources.instructions.push(&self.agent.instructions);
        sources.shop.extend(told.iter().map(String::as_str));
        sources.shop.push(self.hotline(turn));
        let mut speech = Grounded::new(&self.agent.grounding, &stand_ins, &sources);
        let mut pieces = speech.push(text);
        pieces.extend(speech.finish());
        crate::grounding::joined(pieces)
    }

    /// Says that something of the model's was held back, before the message that stands in for it.
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

/// Leaves the question "is it this order?" out where a yes would lead to no work: a refusal, an offer or a ticket is
/// announced at once.
fn without_idle_question(state: State) -> State {
    let confirmed = State { user_confirmed_order: Some(true), ..state.clone() };
    let is_offered = state.eligibility.is_some() && !matches!(route(&confirmed), Step::Run(_));
    if state.ticket.is_some() || is_offered { confirmed } else { state }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desks::returns::route::{ReturnsStep, Worker};
    use crate::desks::returns::state::{
        ActionTicket, EmailStatus, Ending, FlowTicket, Intent, Mail, Question, TicketStatus,
    };
    use crate::desks::returns::tests::sample;
    use crate::domain::returns::{Cause, Decision};

    fn found() -> State {
        State {
            intent: Some(Intent::Return),
            order_number: Some(sample::number()),
            order: Some(sample::order()),
            ..State::default()
        }
    }

    fn decided(decision: Decision) -> State {
        advance(found(), Event::Decided(decision, vec![1]))
    }

    fn ticketed() -> State {
        let id = "RMA-1700000000-AB12".to_owned();
        let ticket = FlowTicket {
            mail: Mail::Settled(EmailStatus::Sent),
            ..FlowTicket::new(ActionTicket { id, status: TicketStatus::Created })
        };
        State { ticket: Some(ticket), user_confirmed_order: Some(true), ..decided(sample::approved()) }
    }

    #[test]
    fn desk_announces_or_asks_wherever_a_model_stops() {
        let only_return = Decision { is_refund_eligible: false, ..sample::approved() };
        let refund = State { intent: Some(Intent::Refund), ..decided(only_return) };
        let id = "RMA-1700000000-AB12".to_owned();
        let before = ActionTicket { id, status: TicketStatus::Duplicate };
        let table: [(&str, State, ReturnsStep); 9] = [
            ("no number", State { intent: Some(Intent::Return), ..State::default() }, Step::Ask(Question::OrderNumber)),
            ("found", found(), Step::Ask(Question::Confirm)),
            // Nobody has said yes to anything: eligible is not asked for.
            ("eligible", decided(sample::approved()), Step::Ask(Question::Confirm)),
            ("only the other action", refund, Step::Ask(Question::OnlyReturn)),
            ("refused", decided(sample::refused(Cause::WindowOver)), Step::Finish(Ending::NotEligible)),
            ("a review", decided(sample::refused(Cause::FraudFlag)), Step::Run(Worker::Escalate)),
            ("not shipped", decided(sample::refused(Cause::NotShipped)), Step::Ask(Question::OfferCancel)),
            ("made", ticketed(), Step::Finish(Ending::Done)),
            ("made before", advance(found(), Event::AskedBefore(before)), Step::Run(Worker::SendEmail)),
        ];
        for (what, state, expected) in table {
            assert_eq!(route(&without_idle_question(state)), expected, "{what}");
        }
    }
}
