//! Parses a message, and plans what the desk does about it.

use super::advance::{self, Effect, Event};
use super::aside::Aside;
use super::items;
use super::rules::{Topic, Utterance};
use super::scenario::Scenario;
use super::state::{Intent, OrderSnapshot, Question, State};
use super::{Returns, remember};
use crate::desks::machine::{Machine, run_until_wait};
use crate::desks::{DeskError, Turn};
use crate::dialogue::{Act, language};
use crate::domain::Kind;
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::{RmaNumber, Ticket};
use crate::nlu::entities::{Confidence, Found};
use crate::nlu::long_text::read_text;

/// A parsed message.
pub(super) struct Message {
    /// Without a request to switch the language.
    pub text: String,
    /// The message switched the language.
    pub switched: bool,
    pub utterance: Utterance,
}

/// What the desk does about a message.
pub(super) struct Plan<'a> {
    pub aside: Option<Aside<'a>>,
    /// The message is nothing but the aside, and no flow is open.
    pub is_aside_only: bool,
    /// The model decides what the desk does.
    pub is_for_agent: bool,
    pub next: State,
    pub effects: Vec<Effect>,
}

impl Returns {
    /// Sets the conversation's language. Returns the message without a request to switch it, and whether there was one.
    fn settle_language(&self, turn: &mut Turn) -> (String, bool) {
        let settled = language::settle(turn, &self.language_rules, |text| self.rules.without_names(text));
        (settled.text, settled.switched_to.is_some())
    }

    /// Parses the message of the turn, and sets the conversation's language.
    pub(super) fn read_message(&self, turn: &mut Turn, state: &State) -> Message {
        let mut message = read_text(turn.message.text.len(), || {
            let (text, switched) = self.settle_language(turn);
            // After a ticket or a refusal, details and arguments have the words of other wishes.
            let is_ticket_open = state.meta.last_ticket.is_some() && !state.meta.is_ticket_settled;
            let is_ticket_open = is_ticket_open && state.open_question().is_none();
            let utterance = if is_ticket_open || state.was_refused() {
                self.rules.parse_after_decision(&text)
            } else {
                self.rules.parse(&text)
            };
            Message { text, switched, utterance }
        });
        let utterance = &mut message.utterance;
        // A customer to whom nothing was refused asks in general which exceptions there are.
        let asks_exception = utterance.asks(Topic::Exception) && utterance.order().is_none() && !state.was_refused();
        // "Nobody told me" argues against a refusal and asks nothing.
        let argues = state.may_argue() && !utterance.has_question();
        // After the status, "why is it not on my account?" asks how long the money takes.
        let misses_money = utterance.reports(Topic::MissingMoney)
            && !utterance.wants_person()
            && !utterance.reports(Topic::Damage)
            && state.subject().is_some_and(|subject| subject.status_shown && is_in_return(&subject.order));
        if misses_money {
            utterance.intent = None;
        }
        // The desk knows more than the documents about a mail that it sent.
        let asks_policy = (utterance.asks(Topic::Policy) || asks_exception || misses_money)
            && !argues
            && !advance::misses_mail(state, utterance);
        utterance.set(Act::Ask(Topic::Policy), asks_policy);
        name_shop_number(state, utterance);
        if let Some(order) = state.order() {
            utterance.entities.pieces.extend(self.rules.pieces_of(&message.text, &order.items));
        }
        // A label that does not open any more: the customer wants it again.
        let has_return = state.meta.last_rma.is_some() || state.order().is_some_and(is_in_return);
        if utterance.reports(Topic::BrokenLabel) && has_return && !utterance.wants_person() {
            utterance.intent = Some(Intent::OrderStatus);
            utterance.set(Act::Ask(Topic::Policy), false);
            utterance.set(Act::Request(Topic::Label), true);
        }
        message
    }

    /// Reads a question or a wish about goods of an earlier order of the conversation ("are the shoes still coming?", "return the jacket")
    /// as one about that order.
    pub(super) async fn name_order_of_item(
        &self,
        turn: &Turn,
        state: &State,
        utterance: &mut Utterance,
    ) -> Result<(), DeskError> {
        let asks = match utterance.intent {
            Some(Intent::OrderStatus) => utterance.has_question(),
            // What the desk asks about is not another order.
            Some(intent) => intent.is_return() && state.is_idle(),
            None => false,
        };
        let asks = asks && !utterance.names_order_or_contact();
        let names = |order: &OrderSnapshot| !items::named(&order.items, &utterance.text).is_empty();
        if !asks || state.order().is_none_or(names) {
            return Ok(());
        }
        for number in state.meta.opened.iter().rev() {
            let order = self.store_of(turn).find_order(number).await?;
            if order.is_some_and(|order| names(&self.order_snapshot(&order))) {
                let found = Found { number: number.clone(), confidence: Confidence::Named };
                utterance.entities.orders = vec![found];
                return Ok(());
            }
        }
        Ok(())
    }

    /// Decides what to do about the message.
    pub(super) fn plan<'a>(
        &self,
        turn: &Turn,
        state: &State,
        message: &Message,
        ticket: Option<&'a Ticket>,
    ) -> Plan<'a> {
        let utterance = &message.utterance;
        let may_be_for_agent = self.may_be_for_agent(turn, state, utterance);
        let after = advance::next_state(state.clone(), Event::Said(utterance.clone()));
        let aside = self.find_aside(turn, (state, &after), message, ticket, may_be_for_agent);
        let rest = aside.as_ref().map(|aside| aside.rest(utterance));
        let is_pause = aside.as_ref().is_some_and(|aside| aside.is_pause(state, utterance));
        let is_aside_only = is_pause || rest.as_ref().is_some_and(|rest| state.is_idle() && rest.intent.is_none());
        // The flow continues after an aside: the desk repeats its question, which the aside did not answer.
        let mut next = match rest.filter(|_| !is_aside_only && !may_be_for_agent) {
            Some(rest) => advance::next_state(state.clone(), Event::Said(rest)),
            None => after,
        };
        Self::keep_question(&mut next, message, aside.is_some());
        // The machine hands over, and "never mind" ends the flow without a decision.
        let is_for_agent = may_be_for_agent && !next.handoff.is_due() && !next.is_declined();
        let effects = advance::effects_of_message(state, &next);
        Plan { aside, is_aside_only, is_for_agent, next, effects }
    }

    /// Confirms another language, stores an answer to a person's question, and apologizes. Returns whether the turn is over.
    pub(super) async fn acknowledge(
        &self,
        turn: &mut Turn,
        state: &mut State,
        message: &Message,
        ticket: Option<&Ticket>,
    ) -> Result<bool, DeskError> {
        if message.switched {
            self.send(turn, state, Kind::LanguageAck, Scenario::LanguageAck, &[]).await?;
            if message.text.is_empty() && state.is_idle() {
                remember(turn, state);
                return Ok(true);
            }
        }
        if let Some(ticket) = ticket
            && self.take_answer(turn, state, &message.utterance, ticket).await?
        {
            return Ok(true);
        }
        if message.utterance.complains() {
            self.send(turn, state, Kind::Social, Scenario::Acknowledge, &[]).await?;
        }
        Ok(false)
    }

    /// Runs the rest of the turn: by the model in agent mode, else by the state machine.
    pub(super) async fn continue_flow(&self, turn: &mut Turn, state: State, plan: Plan<'_>) -> Result<(), DeskError> {
        let Plan { mut next, effects, is_for_agent, aside, .. } = plan;
        next.meta.said = state.meta.said;
        let continues_flow = aside.is_none() && next.case.intent.is_some_and(|intent| intent != Intent::Other);
        next.meta.topic = state.meta.topic.filter(|_| !continues_flow);
        if !is_for_agent {
            return run_until_wait(self, turn, &self.services.store, (next, effects)).await;
        }
        for effect in effects.into_iter().filter(|effect| matches!(effect, Effect::Record(_))) {
            self.perform(turn, &next, effect).await?;
        }
        self.play_agent(turn, next).await
    }
}

/// Whether items of the order are in a return, or were returned.
fn is_in_return(order: &OrderSnapshot) -> bool {
    matches!(order.status, OrderStatus::ReturnInitiated | OrderStatus::Returned)
}

/// Reads the number of a return or a ticket of an earlier conversation as its order's. The look-up verifies whose it is.
fn name_shop_number(state: &State, utterance: &mut Utterance) {
    let Some(number) = utterance.entities.shop_number.clone() else { return };
    let own = [state.meta.last_rma.as_ref().map(RmaNumber::as_str), state.meta.last_ticket.as_deref()];
    let asked = [Question::OrderNumber, Question::OtherOrder, Question::NotFound];
    let is_expected = state.is_idle() || state.open_question().is_some_and(|question| asked.contains(&question));
    if own.contains(&Some(number.as_str())) || !is_expected || utterance.order().is_some() || utterance.wants_person() {
        return;
    }
    utterance.entities.orders = vec![Found { number, confidence: Confidence::Named }];
    for topic in [Topic::Ticket, Topic::ReturnNumber, Topic::Policy] {
        utterance.set(Act::Ask(topic), false);
    }
    // "RMA-… arrived broken" reads like a question for the status, but reports damage, which begins a return.
    utterance.intent = match utterance.intent {
        None | Some(Intent::Other | Intent::OrderStatus) if utterance.reports(Topic::Damage) => Some(Intent::Return),
        None | Some(Intent::Other) => Some(Intent::OrderStatus),
        known => known,
    };
}
