//! What the desk says: questions and endings, with what a client should not have to read out of prose.

use serde_json::{Value, json};

use super::Returns;
use super::advance::Event;
use super::scenario::Scenario;
use super::state::{Ending, Escalate, Question, SeenOrder, State};
use super::voice::Voice;
use crate::desks::{DeskError, Turn};
use crate::domain::returns::{Action, Decision, Why};
use crate::domain::{Kind, Metadata};
use crate::persona::texts::fill;

/// Behind so many questions what it is about, a person is offered.
pub(super) const CLARIFIES: u32 = 2;

impl Returns {
    /// Puts a question.
    pub(super) async fn put(&self, turn: &mut Turn, state: &State, question: Question) -> Result<Event, DeskError> {
        let mut voice = Voice::new(self.texts(turn), &state.meta.said);
        let (kind, scenario) = match question {
            Question::Matter if state.clarifies >= CLARIFIES => (Kind::Clarify, Scenario::ClarifyPerson),
            Question::Matter => (Kind::Clarify, Scenario::Clarify),
            Question::OrderNumber => (Kind::OrderPrompt, Scenario::AskOrderNumber),
            Question::OtherOrder => (Kind::OrderPrompt, Scenario::AskOtherOrder),
            Question::Contact => (Kind::OrderPrompt, Scenario::AskContact),
            Question::NotFound if state.needs_contact => (Kind::OrderPrompt, Scenario::OrderNotFound),
            Question::NotFound => (Kind::OrderPrompt, Scenario::OrderNotTheirs),
            Question::Locked => (Kind::OrderPrompt, Scenario::OrderLocked),
            Question::Confirm => (Kind::OrderConfirm, Scenario::ConfirmOrder),
            Question::ChooseAction => (Kind::ActionPrompt, Scenario::ChooseAction),
            Question::OnlyReturn => (Kind::ActionPrompt, Scenario::OnlyReturn),
            Question::OnlyRefund => (Kind::ActionPrompt, Scenario::OnlyRefund),
            Question::OfferCancel => (Kind::ActionPrompt, Scenario::OfferCancel),
            Question::MailFailed => (Kind::ReturnTicket, Scenario::MailFailed),
            Question::MailMissing => (Kind::ReturnTicket, Scenario::MailMissing),
            Question::Trouble => (Kind::ErrorNotice, Scenario::Trouble),
        };
        let text = self.fill_in(turn, state, &mut voice, scenario)?;
        let said = voice.then(Event::Asked(question));
        turn.say_with(kind, &text, tell(kind, state, &text)).await?;
        Ok(said)
    }

    /// Says how it ended, and asks what else.
    pub(super) async fn end(&self, turn: &mut Turn, state: &State, ending: Ending) -> Result<Event, DeskError> {
        let mut voice = Voice::new(self.texts(turn), &state.meta.said);
        let main = match ending {
            Ending::StatusShown => None,
            Ending::Declined => Some((Kind::Reply, Scenario::Declined)),
            Ending::NotEligible => Some((Kind::ReturnDecision, refusal(state.eligibility.as_ref()))),
            Ending::Escalated => Some((Kind::Escalation, handover(state))),
            Ending::Done => Some((Kind::ReturnTicket, done(state))),
            Ending::Duplicate => Some((Kind::ReturnTicket, Scenario::Duplicate)),
            Ending::MailLeft => Some((Kind::ReturnTicket, Scenario::MailLeft)),
            Ending::Other if state.is_goodbye => Some((Kind::Reply, Scenario::Goodbye)),
            // Nothing was done yet: what can be done is more than "anything else".
            Ending::Other if state.meta.flow == 0 && !has_answered(state) => Some((Kind::Clarify, Scenario::Clarify)),
            Ending::Other if self.rules.hear(&turn.message.text).greets => Some((Kind::Clarify, Scenario::Clarify)),
            // "Anything else?" was asked before.
            Ending::Other => Some((Kind::Reply, Scenario::Goodbye)),
        };
        self.call_person(turn, state, ending);
        let mut asks_more = !state.is_goodbye;
        if let Some((kind, scenario)) = main {
            let text = self.fill_in(turn, state, &mut voice, scenario)?;
            turn.say_with(kind, &text, tell(kind, state, &text)).await?;
            // A person continues, or the customer has left: there is nothing more to ask.
            asks_more &= kind != Kind::Clarify && !matches!(scenario, Scenario::GaveUp | Scenario::Goodbye);
        }
        self.record_ending(turn, state, ending).await?;
        if asks_more {
            let text = match state.meta.waiting.first() {
                Some(number) => voice.text(Scenario::NextOrder, &[("order_number", number.as_str())])?,
                None => voice.text(Scenario::AnythingElse, &[])?,
            };
            turn.say(Kind::FollowUp, &text).await?;
        }
        Ok(voice.then(Event::Finished(ending)))
    }

    /// Lets the shop see the conversation where a person is to do something. It waits from the message on that says so: one
    /// that is lost in a crash is said again. Without a console, the ticket alone says so.
    pub(super) fn call_person(&self, turn: &mut Turn, state: &State, ending: Ending) {
        if !self.services.config.console.on {
            return;
        }
        match ending {
            Ending::Escalated => turn.ask_for_person(),
            Ending::Done if state.desired_action == Some(Action::Cancel) => turn.call_person(),
            _ => {}
        }
    }

    /// The scenario's text, with whatever it names.
    fn fill_in(
        &self,
        turn: &Turn,
        state: &State,
        voice: &mut Voice<'_>,
        scenario: Scenario,
    ) -> Result<String, DeskError> {
        let language = turn.language();
        let mut values: Vec<(&str, String)> = vec![("hotline", self.hotline(turn).to_owned())];
        let number = state.order_number.as_ref().or(state.meta.tried.as_ref());
        values.extend(number.map(|number| ("order_number", number.to_string())));
        if let Some(order) = &state.order {
            values.push(("order_date", language.date(order.ordered_on)));
            values.push(("item_names", self.item_names(turn, order, &named_lines(state, order))));
            let to = state.mail_to.as_deref().and_then(|to| to.parse().ok());
            let to = to.map_or(order.masked_email.clone(), |to: crate::domain::identity::Email| to.masked());
            values.push(("masked_email", to));
        }
        if let Some(decision) = &state.eligibility {
            values.extend(decision.cutoff_days.map(|days| ("return_days", days.to_string())));
            values.extend(decision.refund_cutoff_days.map(|days| ("refund_days", days.to_string())));
            values.extend(decision.cutoff_days.map(|days| ("cutoff_days", days.to_string())));
            values.extend(decision.computed_days_since_delivery.map(|days| ("days", days.to_string())));
        }
        let ticket = state.escalation_ticket.as_ref().or(state.action_ticket.as_ref().map(|ticket| &ticket.id));
        values.extend(ticket.map(|ticket| ("ticket_id", ticket.clone())));
        values.extend(state.refund.map(|refund| ("refund_amount", refund.shown(language))));
        values.extend(state.meta.last_rma.as_ref().map(|rma| ("rma_number", rma.to_string())));
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        voice.text(scenario, &values)
    }

    /// "Hiking Boots, Socks × 2".
    pub(super) fn item_names(&self, turn: &Turn, order: &SeenOrder, lines: &[u32]) -> String {
        let item = &self.texts(turn).lines.item;
        let items = order.items.iter().filter(|item| lines.contains(&item.line));
        let names = items.map(|seen| match seen.quantity {
            1 => seen.name.clone(),
            quantity => fill(item, &[("name", &seen.name), ("quantity", &quantity.to_string())]),
        });
        names.collect::<Vec<_>>().join(", ")
    }
}

/// The lines that the sentence is about: those that were refused, those that the customer named, or all.
fn named_lines(state: &State, order: &SeenOrder) -> Vec<u32> {
    let refused = state.eligibility.as_ref().map(|decision| &decision.refused_lines).filter(|lines| !lines.is_empty());
    let named = refused.or(state.lines.as_ref());
    named.cloned().unwrap_or_else(|| order.items.iter().map(|item| item.line).collect())
}

/// Whether a question about the policy was answered before.
fn has_answered(state: &State) -> bool {
    let said = &state.meta.said;
    said.contains_key(&Scenario::PolicyIntro) || said.contains_key(&Scenario::PolicyUnknown)
}

/// A refusal in the customer's words. Why a person looks is the shop's matter.
fn refusal(decision: Option<&Decision>) -> Scenario {
    match decision.map(|decision| decision.why) {
        Some(Why::NotDelivered) => Scenario::RefusedNotDelivered,
        Some(Why::WindowOver) => Scenario::RefusedTime,
        Some(Why::FinalSale | Why::NotReturnable) => Scenario::RefusedItem,
        Some(Why::AlreadyInRma) => Scenario::RefusedInReturn,
        Some(Why::Rejected) => Scenario::RefusedByPerson,
        _ => Scenario::RefusedData,
    }
}

fn handover(state: &State) -> Scenario {
    match state.escalate {
        Some(Escalate::DamageLater) => Scenario::DamageLater,
        Some(Escalate::Review) if is_damage(state) => Scenario::ReviewDamage,
        Some(Escalate::DamageTold) => Scenario::ReviewDamage,
        Some(Escalate::Review) => Scenario::ReviewNeeded,
        Some(Escalate::Assistant) if state.damage_told => Scenario::ReviewDamage,
        Some(Escalate::GaveUp) => Scenario::GaveUp,
        Some(Escalate::Person | Escalate::Assistant) | None => Scenario::HandedOver,
    }
}

/// Whether a person looks because of damage.
fn is_damage(state: &State) -> bool {
    state.eligibility.as_ref().is_some_and(|decision| decision.why == Why::Damaged)
}

fn done(state: &State) -> Scenario {
    match state.desired_action {
        Some(Action::Refund) => Scenario::DoneRefund,
        Some(Action::Cancel) => Scenario::DoneCancel,
        Some(Action::Return) | None => Scenario::DoneReturn,
    }
}

/// The message's metadata: a decision and a ticket, whole, on each message that tells of one.
pub(super) fn tell(kind: Kind, state: &State, text: &str) -> Metadata {
    let mut metadata = Metadata::of(kind);
    let tells_decision =
        matches!(kind, Kind::ActionPrompt | Kind::ReturnDecision | Kind::ReturnTicket | Kind::Escalation);
    if let Some(decision) = state.eligibility.as_ref().filter(|_| tells_decision) {
        metadata = metadata.with("eligibility", decision.to_metadata(text));
    }
    if let Some(ticket) = state.action_ticket.as_ref().filter(|_| tells_decision) {
        metadata = metadata.with("action_ticket", ticket);
    }
    if let Some(ticket) = state.escalation_ticket.as_ref().filter(|_| kind == Kind::Escalation) {
        metadata = metadata.with("escalation", escalation(state, ticket));
    }
    if let Some(status) = state.email_status.filter(|_| kind == Kind::ReturnTicket) {
        metadata = metadata.with("email_status", status);
    }
    metadata
}

fn escalation(state: &State, ticket: &str) -> Value {
    let priority = state.escalate.map(|why| state.priority(why));
    json!({ "ticket_id": ticket, "priority": priority })
}
