//! Sends questions and endings, with metadata for clients that do not read the text.

use serde_json::json;

use super::advance::Event;
use super::route::can_be_cancelled;
use super::scenario::Scenario;
use super::state::{Ending, HandoffReason, Help, Intent, OrderSnapshot, Question, State};
use super::texts::VariantPicker;
use super::{Returns, kind};
use crate::desks::{DeskError, Turn};
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::{Action, Cause};
use crate::domain::{Kind, Metadata};
use crate::persona::texts::fill;

/// After this many questions what the message is about, the desk offers a person.
pub(super) const CLARIFIES: u32 = 2;
/// After a question was repeated so often, the desk offers a person instead.
pub(super) const OFFERS_PERSON: u32 = 2;

impl Returns {
    /// Asks the customer.
    pub(super) async fn ask_question(
        &self,
        turn: &mut Turn,
        state: &State,
        question: Question,
    ) -> Result<Event, DeskError> {
        let mut variants = VariantPicker::new(&self.texts(turn).replies, &state.meta.said);
        let is_stuck = state.case.repetitions(question) >= OFFERS_PERSON;
        let (kind, scenario) = match question {
            Question::Matter if state.is_refused() && state.case.clarifies < CLARIFIES => {
                (Kind::Clarify, Scenario::RefusalStands)
            }
            Question::Matter if state.case.clarifies >= CLARIFIES => (Kind::Clarify, Scenario::ClarifyPerson),
            Question::Matter if state.case.message.asks && is_under_way(state) => {
                (Kind::Clarify, Scenario::PolicyUnknown)
            }
            Question::Matter => (Kind::Clarify, Scenario::Clarify),
            Question::Contact if state.case.message.help == Some(Help::Purpose) => {
                (kind::ORDER_PROMPT, Scenario::WhyContact)
            }
            Question::Contact if state.case.message.help == Some(Help::Missing) => {
                (kind::ORDER_PROMPT, Scenario::NoContact)
            }
            Question::Confirm if state.case.message.adds_detail && state.case.message.asks => {
                (kind::ORDER_CONFIRM, Scenario::QuestionNoted)
            }
            Question::Confirm if state.case.message.adds_detail => (kind::ORDER_CONFIRM, Scenario::DetailNoted),
            Question::OrderNumber | Question::OtherOrder if state.case.message.help.is_some() => {
                (kind::ORDER_PROMPT, Scenario::NoOrderNumber)
            }
            Question::OrderNumber | Question::OtherOrder if is_stuck => (kind::ORDER_PROMPT, Scenario::StuckNumber),
            Question::Contact if is_stuck => (kind::ORDER_PROMPT, Scenario::StuckContact),
            Question::NotFound if state.case.last_question == Some(Question::NotFound) => {
                (kind::ORDER_PROMPT, Scenario::NotFoundAgain)
            }
            Question::Confirm | Question::OnlyReturn | Question::OnlyRefund | Question::OfferCancel if is_stuck => {
                (kind_of_yes(question), Scenario::StuckAnswer)
            }
            Question::OrderNumber if state.case.contact.is_needed && state.meta.contact.is_none() => {
                (kind::ORDER_PROMPT, Scenario::AskOrder)
            }
            Question::OrderNumber => (kind::ORDER_PROMPT, Scenario::AskOrderNumber),
            Question::OtherOrder => (kind::ORDER_PROMPT, Scenario::AskOtherOrder),
            Question::Contact => (kind::ORDER_PROMPT, Scenario::AskContact),
            Question::NotFound if state.case.contact.is_needed => (kind::ORDER_PROMPT, Scenario::OrderNotFound),
            Question::NotFound => (kind::ORDER_PROMPT, Scenario::OrderNotTheirs),
            Question::Locked => (kind::ORDER_PROMPT, Scenario::OrderLocked),
            Question::Confirm | Question::OnlyReturn | Question::OnlyRefund if state.wants_some_pieces() => {
                (kind::ORDER_CONFIRM, Scenario::ConfirmAllPieces)
            }
            Question::Confirm if state.action() == Some(Action::Refund) => {
                (kind::ORDER_CONFIRM, Scenario::ConfirmRefund)
            }
            Question::Confirm => (kind::ORDER_CONFIRM, request(state).unwrap_or(Scenario::ConfirmReturn)),
            Question::ChooseAction => (kind::ACTION_PROMPT, Scenario::ChooseAction),
            Question::OnlyReturn if state.case.wants_cancel => (kind::ACTION_PROMPT, Scenario::ReturnNotCancel),
            Question::OnlyReturn => (kind::ACTION_PROMPT, Scenario::OnlyReturn),
            Question::OnlyRefund => (kind::ACTION_PROMPT, Scenario::OnlyRefund),
            Question::OfferCancel if names_part(state) || state.wants_some_pieces() => {
                (kind::ACTION_PROMPT, Scenario::ConfirmCancelAll)
            }
            Question::OfferCancel if state.case.wants_cancel => (kind::ACTION_PROMPT, Scenario::ConfirmCancel),
            Question::OfferCancel => (kind::ACTION_PROMPT, Scenario::OfferCancel),
            Question::MailFailed => (kind::RETURN_TICKET, Scenario::MailFailed),
            Question::MailMissing => (kind::RETURN_TICKET, Scenario::MailMissing),
            Question::Trouble => (Kind::ErrorNotice, Scenario::Trouble),
        };
        let text = self.fill_in(turn, state, &mut variants, scenario)?;
        let asked = Event::after_texts(variants, Event::Asked(question));
        turn.say_with(kind, &text, metadata(kind, state, &text)).await?;
        Ok(asked)
    }

    /// Says how the flow ended, and asks what else.
    pub(super) async fn end(&self, turn: &mut Turn, state: &State, ending: Ending) -> Result<Event, DeskError> {
        let mut variants = VariantPicker::new(&self.texts(turn).replies, &state.meta.said);
        let main = match ending {
            Ending::StatusShown => None,
            // Nothing was asked, or only for the order.
            Ending::Declined
                if state.case.message.is_goodbye && (state.meta.declined.is_none() || state.order().is_none()) =>
            {
                Some((Kind::Reply, Scenario::Goodbye))
            }
            Ending::Declined if state.case.message.is_goodbye => Some((Kind::Reply, Scenario::DeclinedGoodbye)),
            Ending::Declined if state.order().is_some() => Some((Kind::Reply, Scenario::DeclinedOrder)),
            Ending::Declined => Some((Kind::Reply, Scenario::Declined)),
            Ending::NotEligible => Some((kind::RETURN_DECISION, refusal(state))),
            Ending::Escalated => Some((Kind::Escalation, handover(state))),
            Ending::Done => Some((kind::RETURN_TICKET, done(state))),
            // "Cancel my order" after a return of it was made: that return stays.
            Ending::Duplicate if state.case.wants_cancel && state.action() != Some(Action::Cancel) => {
                Some((Kind::Reply, Scenario::TicketStays))
            }
            Ending::Duplicate => Some((kind::RETURN_TICKET, Scenario::Duplicate)),
            Ending::MailLeft => Some((kind::RETURN_TICKET, Scenario::MailLeft)),
            Ending::Other if state.case.message.called_off => Some((Kind::Reply, Scenario::TicketStays)),
            Ending::Other if state.case.message.is_goodbye => Some((Kind::Reply, Scenario::Goodbye)),
            // The desk has done nothing yet, so it lists what it can do.
            Ending::Other if state.meta.flow == 0 && !has_answered(state) => Some((Kind::Clarify, Scenario::Clarify)),
            Ending::Other if state.case.message.is_greeting => Some((Kind::Clarify, Scenario::Clarify)),
            Ending::Other if state.case.message.is_acknowledged => None,
            // The desk asked "anything else?" before.
            Ending::Other => Some((Kind::Reply, Scenario::Goodbye)),
        };
        self.call_person(turn, state, ending);
        let mut asks_more = !state.case.message.is_goodbye && state.case.also.is_none();
        if let Some((kind, scenario)) = main {
            let text = self.fill_in(turn, state, &mut variants, scenario)?;
            turn.say_with(kind, &text, metadata(kind, state, &text)).await?;
            // A person continues, or the customer has left: there is nothing more to ask.
            asks_more &= kind != Kind::Clarify && !matches!(scenario, Scenario::GaveUp | Scenario::Goodbye);
        }
        self.record_ending(turn, state, ending).await?;
        if asks_more {
            let text = match state.meta.waiting.first() {
                Some(number) => variants.text(Scenario::NextOrder, &[("order_number", number.as_str())])?,
                None => variants.text(Scenario::AnythingElse, &[])?,
            };
            turn.say(Kind::FollowUp, &text).await?;
        }
        Ok(Event::after_texts(variants, Event::Finished(ending)))
    }

    /// Calls a person in the console, if one has to act. Without a console, the ticket alone calls.
    pub(super) fn call_person(&self, turn: &mut Turn, state: &State, ending: Ending) {
        if !self.services.config.console.on {
            return;
        }
        if ending == Ending::Escalated || (ending == Ending::Done && state.action() == Some(Action::Cancel)) {
            turn.call_person();
        }
    }

    /// Returns the scenario's text, filled in from the state.
    fn fill_in(
        &self,
        turn: &Turn,
        state: &State,
        variants: &mut VariantPicker<'_>,
        scenario: Scenario,
    ) -> Result<String, DeskError> {
        let common = self.common.get(turn.language());
        let lock = self.services.config.identity.attempts.lock.num_minutes();
        let mut values: Vec<(&str, String)> =
            vec![("hotline", self.hotline(turn).to_owned()), ("minutes", lock.to_string())];
        let number = state.order_number().or(state.meta.tried.as_ref());
        values.extend(number.map(|number| ("order_number", number.to_string())));
        if let Some(order) = state.order() {
            values.push(("item_names", self.item_names(turn, order, &named_lines(state, order))));
            let to = state.ticket().and_then(|of_flow| of_flow.mail_to.as_deref()?.parse().ok());
            let to = to.map_or(order.masked_email.clone(), |to: crate::domain::identity::Email| to.masked());
            values.push(("masked_email", to));
        }
        if let Some(decision) = state.decision() {
            values.extend(decision.cutoff_days.map(|days| ("return_days", days.to_string())));
            values.extend(decision.refund_cutoff_days.map(|days| ("refund_days", days.to_string())));
            values.extend(decision.cutoff_days.map(|days| ("cutoff_days", days.to_string())));
            values.extend(decision.computed_days_since_delivery.map(|days| ("days", days.to_string())));
        }
        let ticket = state.handoff.ticket().or(state.action_ticket().map(|ticket| &ticket.id));
        values.extend(ticket.map(|ticket| ("ticket_id", ticket.clone())));
        let refund = state.subject().and_then(|subject| subject.refund);
        values.extend(refund.map(|refund| ("refund_amount", refund.shown(&common.number_format))));
        values.extend(state.meta.last_rma.as_ref().map(|rma| ("rma_number", rma.to_string())));
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Ok(variants.text(scenario, &values)?)
    }

    /// "Hiking Boots, Socks × 2".
    pub(super) fn item_names(&self, turn: &Turn, order: &OrderSnapshot, lines: &[u32]) -> String {
        let item = &self.texts(turn).lines.item;
        let items = order.items.iter().filter(|item| lines.contains(&item.line));
        let names = items.map(|seen| match seen.quantity {
            1 => seen.name.clone(),
            quantity => fill(item, &[("name", &seen.name), ("quantity", &quantity.to_string())]),
        });
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the kind of a question that a yes answers.
fn kind_of_yes(question: Question) -> Kind {
    if question == Question::Confirm { kind::ORDER_CONFIRM } else { kind::ACTION_PROMPT }
}

/// Returns the lines that the text is about: the refused ones, those that the customer named, or all. A cancellation is about the
/// whole order.
fn named_lines(state: &State, order: &OrderSnapshot) -> Vec<u32> {
    let all = || order.items.iter().map(|item| item.line).collect();
    if state.decision().is_some_and(can_be_cancelled) {
        return all();
    }
    let refused = state.decision().map(|decision| &decision.refused_lines).filter(|lines| !lines.is_empty());
    let named = refused.or(state.lines());
    named.cloned().unwrap_or_else(all)
}

/// Whether the customer named some items of the order, and not all.
fn names_part(state: &State) -> bool {
    let (Some(order), Some(lines)) = (state.order(), state.lines()) else { return false };
    lines.len() < order.items.len()
}

/// Whether the conversation has a subject: the customer knows what the desk is for.
fn is_under_way(state: &State) -> bool {
    let meta = &state.meta;
    state.order().is_some() || meta.topic.is_some() || meta.last_rma.is_some() || meta.last_ticket.is_some()
}

/// Whether the desk answered a general question before.
fn has_answered(state: &State) -> bool {
    let said = &state.meta.said;
    said.contains_key(&Scenario::PolicyIntro) || said.contains_key(&Scenario::PolicyUnknown)
}

/// Returns the text of a refusal. It does not tell the customer why a person looks at the order.
fn refusal(state: &State) -> Scenario {
    match state.decision().map(|decision| decision.cause) {
        Some(Cause::NotDelivered) if state.case.wants_cancel => Scenario::TooLateToCancel,
        Some(Cause::NotDelivered) => Scenario::RefusedNotDelivered,
        Some(Cause::WindowOver) => Scenario::RefusedTime,
        Some(Cause::FinalSale | Cause::NotReturnable) => Scenario::RefusedItem,
        Some(Cause::AlreadyInRma) => Scenario::RefusedInReturn,
        Some(Cause::Rejected) => Scenario::RefusedByPerson,
        _ => Scenario::RefusedData,
    }
}

/// Returns the question whether a person may settle the request.
fn request(state: &State) -> Option<Scenario> {
    Some(match state.case.intent? {
        Intent::Exchange if stays_sold(state) => Scenario::ConfirmExchangeFinal,
        Intent::Exchange if is_in_shop(state) => Scenario::ConfirmExchangeUnshipped,
        Intent::Exchange => Scenario::ConfirmExchange,
        Intent::WrongItem => Scenario::ConfirmWrongItem,
        Intent::MissingItem => Scenario::ConfirmMissingItem,
        Intent::DoubleCharge => Scenario::ConfirmDoubleCharge,
        Intent::AddressChange => Scenario::ConfirmAddressChange,
        Intent::Invoice => Scenario::ConfirmInvoice,
        Intent::Return | Intent::Refund | Intent::OrderStatus | Intent::Other => return None,
    })
}

/// Whether all items that the flow is about are final sale, or do not come back for another reason.
fn stays_sold(state: &State) -> bool {
    let Some(order) = state.order() else { return false };
    let named = named_lines(state, order);
    order.items.iter().filter(|item| named.contains(&item.line)).all(|item| item.stays_sold)
}

/// Whether the order has not left the shop.
fn is_in_shop(state: &State) -> bool {
    state.order().is_some_and(|order| order.status == OrderStatus::Pending)
}

fn handover(state: &State) -> Scenario {
    match state.handoff.reason() {
        Some(HandoffReason::DamageLater) => Scenario::DamageLater,
        Some(HandoffReason::Review) if is_damage(state) => Scenario::ReviewDamage,
        Some(HandoffReason::DamagedButRefused) => Scenario::ReviewDamage,
        Some(HandoffReason::Review) => Scenario::ReviewNeeded,
        Some(HandoffReason::Assistant) if state.case.damage_reported => Scenario::ReviewDamage,
        Some(HandoffReason::GaveUp) => Scenario::GaveUp,
        Some(HandoffReason::Request) => Scenario::RequestTaken,
        Some(HandoffReason::Person | HandoffReason::Assistant) | None => Scenario::HandedOver,
    }
}

/// Whether a person looks because of damage.
fn is_damage(state: &State) -> bool {
    state.decision().is_some_and(|decision| decision.cause == Cause::Damaged)
}

fn done(state: &State) -> Scenario {
    match state.action() {
        Some(Action::Refund) => Scenario::DoneRefund,
        Some(Action::Cancel) => Scenario::DoneCancel,
        Some(Action::Return) | None => Scenario::DoneReturn,
    }
}

/// Returns the message's metadata, with the decision and the ticket on each message about one.
fn metadata(kind: Kind, state: &State, text: &str) -> Metadata {
    let mut metadata = Metadata::of(kind);
    let shows_decision =
        matches!(kind, kind::ACTION_PROMPT | kind::RETURN_DECISION | kind::RETURN_TICKET | Kind::Escalation);
    if let Some(decision) = state.decision().filter(|_| shows_decision) {
        metadata = metadata.with("eligibility", decision.to_metadata(text));
    }
    if let Some(ticket) = state.action_ticket().filter(|_| shows_decision) {
        metadata = metadata.with("action_ticket", ticket);
    }
    if let Some(ticket) = state.handoff.ticket().filter(|_| kind == Kind::Escalation) {
        let priority = state.handoff.reason().map(|reason| state.priority(reason));
        metadata = metadata.with("escalation", json!({ "ticket_id": ticket, "priority": priority }));
    }
    if let Some(status) = state.email_status().filter(|_| kind == kind::RETURN_TICKET) {
        metadata = metadata.with("email_status", status);
    }
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desks::returns::tests::sample;

    #[test]
    fn cancellation_names_the_whole_order() {
        for (cause, expected) in [(Cause::NotShipped, vec![1, 2]), (Cause::NotDelivered, vec![2])] {
            let mut state = sample::decided(sample::refused(cause));
            let subject = state.subject_mut().expect("an order");
            subject.order.items.push(sample::item(2, "Wool Socks"));
            subject.lines = Some(vec![2]);
            assert!(names_part(&state));
            let order = state.order().expect("an order");
            assert_eq!(named_lines(&state, order), expected, "{cause}");
        }
    }
}
