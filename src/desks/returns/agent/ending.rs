//! How a turn ends that the model played: with its words, where they can be used, else with the shop's own.

use tracing::warn;

use super::bench::turned_over;
use super::claims::Facts;
use super::rounds::Why;
use super::words::for_customer;
use crate::desks::grounding::{Grounded, Guard, Piece, StandIns};
use crate::desks::machine::{go_on, save, state_of};
use crate::desks::returns::Returns;
use crate::desks::returns::advance::{Event, advance};
use crate::desks::returns::say::tell;
use crate::desks::returns::scenario::Scenario;
use crate::desks::returns::state::{EmailStatus, Ending, Escalate, Intent, State, TicketStatus};
use crate::desks::returns::voice::Voice;
use crate::desks::returns::work::status_of;
use crate::desks::{DeskError, Turn};
use crate::domain::{GuardReason, Kind};

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
    pub(super) async fn end_agent_turn(
        &self,
        turn: &mut Turn,
        state: State,
        ended: Ended,
        told: &[String],
        is_refunded: bool,
    ) -> Result<(), DeskError> {
        let state = self.settled(turn, state).await?;
        match ended {
            Ended::GaveUp(why) => self.give_up(turn, state, why).await,
            Ended::WithoutModel | Ended::MachinesQuestion => self.say_as_machine(turn, state).await,
            Ended::Said(text) => match self.usable(turn, &state, &text, told, is_refunded).await? {
                Some(pieces) => self.say_as_agent(turn, state, pieces).await,
                None => self.say_as_machine(turn, state).await,
            },
        }
    }

    /// What is due, whatever the model has done: how the mail fares is known before anything is said of it.
    async fn settled(&self, turn: &mut Turn, state: State) -> Result<State, DeskError> {
        let made_now = state.action_ticket.as_ref().is_some_and(|ticket| ticket.status == TicketStatus::Created);
        if made_now && state.email_status.is_none() {
            let event = self.send_email(turn, &state).await?;
            let state = advance(state, event);
            save(turn, &self.services.store, &state).await?;
            return Ok(state);
        }
        Ok(state)
    }

    /// The model's words as they may be shown; `None`: they cannot be used.
    async fn usable(
        &self,
        turn: &mut Turn,
        state: &State,
        said: &str,
        told: &[String],
        is_refunded: bool,
    ) -> Result<Option<Vec<Piece>>, DeskError> {
        let (text, had_markup) = for_customer(said);
        if had_markup {
            self.note_guard(turn, GuardReason::Markup, "markup", said).await?;
        }
        if text.is_empty() || must_be_said_by_machine(state) {
            return Ok(None);
        }
        let facts = Facts::of(state, turn.conversation.status, is_refunded);
        if let Some(claim) = self.agent.claims.unsupported(&text, &facts) {
            self.note_guard(turn, GuardReason::UnsupportedClaim, claim.as_str(), &text).await?;
            return Ok(None);
        }
        let pieces = self.grounded(turn, &text, told, facts);
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
    fn grounded(&self, turn: &Turn, text: &str, told: &[String], facts: Facts) -> Vec<Piece> {
        let stand_ins = StandIns::of(self.common.get(turn.language()));
        let mut sources = turn.sources();
        sources.claims = facts;
        sources.instructions.push(&self.agent.instructions);
        sources.shop.extend(told.iter().map(String::as_str));
        sources.shop.push(self.hotline(turn));
        let mut speech = Grounded::new(&self.agent.grounding, &stand_ins, &sources);
        let mut pieces = speech.push(text);
        pieces.extend(speech.finish());
        crate::desks::grounding::joined(pieces)
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

    /// The model's words as a message, with what was decided and made.
    async fn say_as_agent(&self, turn: &mut Turn, state: State, pieces: Vec<Piece>) -> Result<(), DeskError> {
        let kind = kind_of(&state);
        let text: String = pieces
            .iter()
            .filter_map(|piece| if let Piece::Text(text) = piece { Some(text.as_str()) } else { None })
            .collect();
        let ending = match kind {
            Kind::Escalation => Some(Ending::Escalated),
            Kind::ReturnTicket => Some(Ending::Done),
            Kind::ReturnDecision => Some(Ending::NotEligible),
            Kind::OrderStatus => Some(Ending::StatusShown),
            _ => None,
        };
        if let Some(ending) = ending {
            self.call_person(turn, &state, ending);
        }
        let mut metadata = tell(kind, &state, &text);
        if let Some(seen) = state.order.as_ref().filter(|_| kind == Kind::OrderStatus)
            && let Some(order) = self.store_of(turn).find_order(&seen.number).await?
        {
            metadata = metadata.with("order", status_of(&order));
        }
        turn.show(kind, pieces).await?;
        turn.end_message(metadata).await?;
        let Some(ending) = ending else { return save(turn, &self.services.store, &state).await };
        self.record_ending(turn, &state, ending).await?;
        // Every ending asks what else.
        let mut voice = Voice::new(self.texts(turn), &state.meta.said);
        let more = voice.text(Scenario::AnythingElse, &[])?;
        let event = voice.then(Event::Finished(ending));
        turn.say(Kind::FollowUp, &more).await?;
        save(turn, &self.services.store, &advance(state, event)).await
    }

    /// The machine goes on from here: it says what was done, asks what is missing, and hands over what a person must decide.
    async fn say_as_machine(&self, turn: &mut Turn, state: State) -> Result<(), DeskError> {
        go_on(self, turn, &self.services.store, for_machine(state)).await
    }

    /// What was done is told, and a person goes on.
    async fn give_up(&self, turn: &mut Turn, state: State, why: Why) -> Result<(), DeskError> {
        warn!(why = why.as_str(), "The language model is asked no further");
        turn.note("gave_up", why.as_str());
        let mut state = state;
        if state.action_ticket.is_some() && state.escalate.is_none() {
            self.say_as_machine(turn, state).await?;
            state = state_of(turn);
            if !state.conversation_complete {
                // The machine has a question about it, and the customer can answer.
                return Ok(());
            }
        }
        go_on(self, turn, &self.services.store, turned_over(state, Escalate::GaveUp)).await
    }
}

/// What the shop's own words alone may tell: that a mail failed, that a person has to decide and has not been told yet, that
/// guessing is over.
fn must_be_said_by_machine(state: &State) -> bool {
    let is_unhandled = state.escalate.is_some() && state.escalation_ticket.is_none();
    let is_locked = state.error == Some(crate::desks::returns::state::Trouble::OrderLocked);
    is_unhandled || is_locked || state.email_status == Some(EmailStatus::Failed)
}

/// The state as the machine takes it up. It asks no model, and puts no question whose answer a refusal has made idle.
fn for_machine(mut state: State) -> State {
    state.is_unclear |= state.intent.is_none();
    state.may_name_order = false;
    if state.eligibility.as_ref().is_some_and(|decision| !decision.eligible) {
        state.user_confirmed_order = Some(true);
    }
    state
}

/// What a message of the model's is about: what has come of the flow so far.
fn kind_of(state: &State) -> Kind {
    if state.escalation_ticket.is_some() {
        return Kind::Escalation;
    }
    if state.action_ticket.is_some() {
        return Kind::ReturnTicket;
    }
    match (&state.eligibility, &state.order) {
        (Some(decision), _) if decision.eligible => Kind::ActionPrompt,
        (Some(_), _) => Kind::ReturnDecision,
        (None, Some(_)) if state.intent == Some(Intent::OrderStatus) => Kind::OrderStatus,
        (None, _) => Kind::Reply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desks::machine::Step;
    use crate::desks::returns::route::{ReturnsStep, Worker, route};
    use crate::desks::returns::state::{ActionTicket, Question};
    use crate::desks::returns::tests::sample;
    use crate::domain::returns::{Decision, Why};

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
        let ticket = Some(ActionTicket { id, status: TicketStatus::Created });
        let (email_status, user_confirmed_order) = (Some(EmailStatus::Sent), Some(true));
        State { action_ticket: ticket, email_status, user_confirmed_order, ..decided(sample::approved()) }
    }

    #[test]
    fn wherever_a_model_stops_the_machine_says_what_was_done_or_asks_what_is_missing() {
        let unclear = State::default();
        let table: [(&str, State, ReturnsStep); 8] = [
            ("nothing was understood", unclear, Step::Ask(Question::Matter)),
            ("no number", State { intent: Some(Intent::Return), ..State::default() }, Step::Ask(Question::OrderNumber)),
            ("found", found(), Step::Ask(Question::Confirm)),
            // Nobody has said yes to anything: eligible is not asked for.
            ("eligible", decided(sample::approved()), Step::Ask(Question::Confirm)),
            ("refused", decided(sample::refused(Why::WindowOver)), Step::Finish(Ending::NotEligible)),
            ("a review", decided(sample::refused(Why::FraudFlag)), Step::Run(Worker::Escalate)),
            ("not shipped", decided(sample::refused(Why::NotShipped)), Step::Ask(Question::OfferCancel)),
            ("made", ticketed(), Step::Finish(Ending::Done)),
        ];
        for (what, state, expected) in table {
            assert_eq!(route(&for_machine(state)), expected, "{what}");
        }
    }

    #[test]
    fn a_message_is_of_the_kind_of_what_has_come_of_the_flow() {
        let status = State { intent: Some(Intent::OrderStatus), ..found() };
        let escalated = State { escalation_ticket: Some("TICKET-1-2".into()), ..ticketed() };
        for (state, kind) in [
            (State::default(), Kind::Reply),
            (found(), Kind::Reply),
            (status, Kind::OrderStatus),
            (decided(sample::approved()), Kind::ActionPrompt),
            (decided(sample::refused(Why::WindowOver)), Kind::ReturnDecision),
            (ticketed(), Kind::ReturnTicket),
            (escalated, Kind::Escalation),
        ] {
            assert_eq!(kind_of(&state), kind);
        }
    }

    #[test]
    fn what_a_person_must_decide_is_never_left_to_a_models_words() {
        let review = decided(sample::refused(Why::Damaged));
        assert!(must_be_said_by_machine(&review));
        let handed = State { escalation_ticket: Some("TICKET-1-2".into()), ..review };
        assert!(!must_be_said_by_machine(&handed));
        assert!(must_be_said_by_machine(&State { email_status: Some(EmailStatus::Failed), ..ticketed() }));
    }
}
