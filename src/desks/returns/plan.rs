//! Parses a message, and plans what the desk does about it.

use std::collections::BTreeSet;

use super::advance::{self, Effect, Event};
use super::aside::Aside;
use super::items;
use super::rules::{InTalk, Topic, Utterance};
use super::scenario::Scenario;
use super::state::{Intent, Meta, OrderSnapshot, Question, State};
use super::{Returns, remember};
use crate::desks::machine::{Machine, run_until_wait};
use crate::desks::{DeskError, Turn};
use crate::dialogue::{Act, Answer, language};
use crate::domain::Kind;
use crate::domain::commerce::{OrderNumber, OrderStatus};
use crate::domain::returns::{RmaNumber, Ticket};
use crate::nlu::entities::{Confidence, Found};
use crate::nlu::long_text::read_text;

/// How likely a section of the documents must be to answer a message that has the words of something else.
const PAGE_IS_SURE: f64 = 0.65;
/// The fewest digits that name an order of the conversation.
const LAST_DIGITS: usize = 2;

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
    /// Parses the message of the turn, and sets the conversation's language.
    pub(super) fn read_message(&self, turn: &mut Turn, state: &State) -> Message {
        read_text(turn.message.text.len(), || {
            let settled = language::settle(turn, &self.language_rules, |text| self.rules.without_names(text));
            let mut message = self.parse_message(state, settled.text, settled.switched_to.is_some());
            if self.only_asks_pages(turn, state, &message) {
                let utterance = &mut message.utterance;
                utterance.intent = None;
                utterance.acts.retain(|act| !matches!(act, Act::Ask(_) | Act::Chat(_)));
                utterance.set(Act::Ask(Topic::Policy), true);
            }
            message
        })
    }

    /// Whether a message only asks what the documents answer, though it has the words of a wish, or of a question about an order: "I paid by
    /// card, when is the money back?"
    fn only_asks_pages(&self, turn: &Turn, state: &State, message: &Message) -> bool {
        let utterance = &message.utterance;
        let of_order = [
            Topic::Arrival,
            Topic::Tracking,
            Topic::Price,
            Topic::Deadline,
            Topic::Amount,
            Topic::Changes,
            Topic::ReturnStatus,
        ];
        let asks_number = utterance.asks(Topic::ReturnNumber) && state.meta.last_rma.is_some();
        let may_be = utterance.has_question()
            && !asks_number
            && utterance.social().is_none()
            && !utterance.asks(Topic::Policy)
            && utterance.answer.is_none()
            && !utterance.names_order_or_contact()
            && !utterance.wants_person()
            && !utterance.reports(Topic::Damage)
            && !utterance.reports(Topic::MissingMail)
            && !of_order.iter().any(|topic| utterance.asks(*topic));
        // Without an order, the answer to a wish is followed by the question for one.
        let may_wish = matches!(utterance.intent, None | Some(Intent::OrderStatus));
        let may_be = may_be && !state.was_refused() && (may_wish || state.order().is_some());
        may_be
            && self.most_likely(turn, &message.text) >= PAGE_IS_SURE
            && self.rules.may_ask_terms(&message.text, may_wish)
    }

    /// Parses a text in the conversation.
    fn parse_message(&self, state: &State, mut text: String, switched: bool) -> Message {
        // After a ticket or a refusal, details and arguments have the words of other wishes.
        let is_ticket_open = state.meta.last_ticket.is_some() && !state.meta.is_ticket_settled;
        let is_ticket_open = is_ticket_open && state.open_question().is_none();
        let is_decided = is_ticket_open || state.was_refused();
        let has_return = state.meta.last_rma.is_some() || state.order().is_some_and(is_in_return);
        let in_talk = InTalk {
            // "Did you say yes?" is about the desk's own question.
            order: state.order().is_some() && state.open_question().is_none() && !has_return && !is_decided,
            made_return: has_return && !is_decided,
            asked_detail: state.open_question().is_some_and(Question::is_for_slot),
        };
        let parse = |text: &str| {
            let by_examples = self.rules.parse_in_talk(text, in_talk);
            by_examples.unwrap_or_else(|| match is_decided {
                true => self.rules.parse_after_decision(text),
                false => self.rules.parse(text),
            })
        };
        text = self.rules.without_corrected(&text).unwrap_or(text);
        let mut utterance = parse(&text);
        // The number of the order in talk says no more than "it".
        if utterance.has_question() && names_order_in_talk(state, &utterance) {
            let without_number = self.rules.without_names(&text);
            let question = parse(&without_number);
            if Aside::of(state, &question, None).is_some() {
                (text, utterance) = (without_number, question);
            }
        }
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
            && !advance::misses_mail(state, &utterance);
        utterance.set(Act::Ask(Topic::Policy), asks_policy);
        // "Cancel it" at the beginning of a conversation is about an order.
        let begins = state.is_idle() && state.meta == Meta::default();
        if begins && utterance.answer_to_cancel == Some(Answer::Yes) && utterance.mentions(Topic::Cancellation) {
            utterance.intent = Some(Intent::Return);
            utterance.set(Act::Request(Topic::Cancellation), true);
        }
        name_shop_number(state, &mut utterance);
        if let Some(order) = state.order() {
            utterance.entities.pieces.extend(self.rules.pieces_of(&text, &order.items));
        }
        // A label that does not open any more: the customer wants it again.
        if utterance.reports(Topic::BrokenLabel) && has_return && !utterance.wants_person() {
            utterance.intent = Some(Intent::OrderStatus);
            utterance.set(Act::Ask(Topic::Policy), false);
            utterance.set(Act::Request(Topic::Label), true);
        }
        Message { text, switched, utterance }
    }

    /// Finds out which order of the conversation the message means by its goods.
    pub(super) async fn name_order_of_goods(
        &self,
        turn: &Turn,
        state: &State,
        message: &mut Message,
    ) -> Result<(), DeskError> {
        let utterance = &message.utterance;
        let wants = utterance.mentions(Topic::Cancellation) || utterance.mentions(Topic::Return);
        let kept = self.rules.split_kept(&message.text).filter(|_| wants);
        let asks = asks_about_goods(state, utterance) && !utterance.names_order_or_contact();
        let names = |text: &str, order: &OrderSnapshot| items::named(&order.items, text);
        if let Some(first) = state.meta.opened.first().filter(|_| asks && utterance.mentions(Topic::FirstOrder)) {
            name_order(&mut message.utterance, first);
            return Ok(());
        }
        if let Some(number) = order_by_last_digits(state, &message.text).filter(|_| asks) {
            name_order(&mut message.utterance, &number);
            return Ok(());
        }
        let is_here = state.order().is_none_or(|order| !names(&utterance.text, order).is_empty());
        if kept.is_none() && (!asks || is_here) {
            return Ok(());
        }
        let orders = self.orders_of_talk(turn, state).await?;
        if let Some((wanted, kept)) = kept
            && self.is_about_other_goods(&orders, (&wanted, &kept))
        {
            *message = self.parse_message(state, wanted, message.switched);
        }
        let utterance = &mut message.utterance;
        if !asks_about_goods(state, utterance) || utterance.names_order_or_contact() {
            return Ok(());
        }
        let meant = orders.iter().find(|order| !names(&utterance.text, order).is_empty());
        if let Some(order) = meant.filter(|order| state.order_number() != Some(&order.number)) {
            name_order(utterance, &order.number);
        }
        Ok(())
    }

    /// Whether the message keeps other goods than those that it wants something for: "cancel that one, keep the shoes". Otherwise it
    /// takes its wish back.
    fn is_about_other_goods(&self, orders: &[OrderSnapshot], (said, kept): (&str, &str)) -> bool {
        let goods = |text: &str| -> Vec<(OrderNumber, u32)> {
            let (numbers, _) = self.rules.find(text);
            let said = self.rules.without_not_items(text);
            let lines = |order: &OrderSnapshot| match numbers.iter().any(|found| found.number == order.number) {
                true => order.items.iter().map(|item| item.line).collect(),
                false => items::named(&order.items, &said),
            };
            let of =
                |order: &OrderSnapshot| lines(order).into_iter().map(|line| (order.number.clone(), line)).collect();
            orders.iter().flat_map(|order| -> Vec<_> { of(order) }).collect()
        };
        let (wanted, kept_goods) = (goods(said), goods(kept));
        let in_talk = |(number, _): &(OrderNumber, u32)| orders.first().is_some_and(|order| order.number == *number);
        // Only whole orders can be cancelled: other goods of the same order are not apart.
        let cancels = self.rules.parse_by_patterns(said).mentions(Topic::Cancellation);
        let is_wanted = |(number, line): &(OrderNumber, u32)| {
            wanted.iter().any(|(of, wanted)| of == number && (cancels || wanted == line))
        };
        let is_apart = match wanted.is_empty() {
            true => !kept_goods.iter().any(in_talk),
            false => !kept_goods.iter().any(is_wanted),
        };
        // "Keep the other": the other order.
        let means_other = || {
            let kept = self.rules.parse_by_patterns(kept);
            kept.mentions(Topic::OtherOrder) || (cancels && orders.len() > 1 && kept.mentions(Topic::SomePieces))
        };
        is_apart && (!kept_goods.is_empty() || means_other())
    }

    /// Returns the orders of the conversation that the customer may see, the one in talk first, then the newest ones.
    async fn orders_of_talk(&self, turn: &Turn, state: &State) -> Result<Vec<OrderSnapshot>, DeskError> {
        let mut orders: Vec<_> = state.order().cloned().into_iter().collect();
        for number in state.meta.opened.iter().rev().filter(|number| state.order_number() != Some(*number)) {
            let order = self.store_of(turn).find_order(number).await?;
            orders.extend(order.map(|order| self.order_snapshot(&order)));
        }
        for number in &state.meta.waiting {
            let order = self.peek_at(turn, state, number).await?;
            orders.extend(order.map(|order| self.order_snapshot(&order)));
        }
        Ok(orders)
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

/// Reads the message as one about this order of the conversation.
fn name_order(utterance: &mut Utterance, number: &OrderNumber) {
    utterance.entities.orders = vec![Found { number: number.clone(), confidence: Confidence::Named }];
    if utterance.mentions(Topic::Cancellation) && utterance.answer_to_cancel != Some(Answer::No) {
        utterance.intent = Some(Intent::Return);
        utterance.set(Act::Request(Topic::Cancellation), true);
    }
}

/// Returns the order that a message names by its last digits ("the 29"), if exactly one of several in this conversation ends with them.
fn order_by_last_digits(state: &State, text: &str) -> Option<OrderNumber> {
    let known = state.meta.opened.iter().chain(&state.meta.waiting).chain(state.order_number());
    let known: BTreeSet<&OrderNumber> = known.collect();
    let is_number = |word: &&str| word.len() >= LAST_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit());
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()));
    let mut named = words.filter(is_number).filter_map(|digits| {
        let mut ending = known.iter().filter(|number| number.as_str().ends_with(digits));
        ending.next().filter(|_| ending.next().is_none())
    });
    named.next().filter(|_| known.len() > 1).map(|number| (*number).clone())
}

/// Whether the message asks or wants something about goods, which may be those of another order.
fn asks_about_goods(state: &State, utterance: &Utterance) -> bool {
    let cancels = utterance.mentions(Topic::Cancellation) && utterance.answer_to_cancel == Some(Answer::Yes);
    match utterance.intent {
        Some(Intent::OrderStatus) => utterance.has_question(),
        // What the desk asks about is not another order, unless it is to be cancelled.
        Some(intent) => intent.is_return() && (state.is_idle() || cancels),
        None => cancels,
    }
}

/// Whether the message names the order in talk, no other one, and no contact.
fn names_order_in_talk(state: &State, utterance: &Utterance) -> bool {
    let in_talk = state.order().map(|order| &order.number);
    let mut named = utterance.entities.orders.iter();
    utterance.contact().is_none() && utterance.order().is_some() && named.all(|found| Some(&found.number) == in_talk)
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
