//! The workers: each one side effect, and the event that came of it.

use chrono::Utc;
use serde_json::json;

use super::Returns;
use super::advance::{Event, Ticketed};
use super::route::Worker;
use super::say::{is_damage, shown_day};
use super::scenario::Scenario;
use super::state::{ActionTicket, EmailStatus, Escalate, Intent, SeenItem, SeenOrder, State, TicketStatus};
use super::voice::Voice;
use crate::config::OrderVerification;
use crate::desks::{DeskError, Turn};
use crate::domain::returns::calendar::day_of;
use crate::domain::returns::misses::MissSubject;
use crate::domain::returns::ticket::idempotency_key;
use crate::domain::returns::{
    Action, AuditEntry, AuditKind, Contact, Hand, Order, OrderNumber, OrderStatus, Rma, Terms, Why,
};
use crate::domain::text::words;
use crate::domain::{Kind, Metadata};
use crate::persona::texts::fill;
use crate::store::TenantStore;
use crate::store::mails::{MailStatus, NewMail};
use crate::store::order_misses::Verification;
use crate::store::returns::By;
use crate::store::returns::create::{CancelOutcome, NewReturn, ReturnOutcome};
use crate::store::returns::escalate::NewEscalation;

/// Who the desk is in the records.
const WHO: &str = "desk";
/// The mail about a return or a refund that was made.
const APPROVED_MAIL: &str = "return_approved";
/// A shorter word of an item's name names no item: "a", "of", "xl".
const TELLING_LETTERS: usize = 4;

impl Returns {
    /// Whether whose order it is has to be shown: not by a customer whom the shop's own back end named.
    pub(super) fn needs_contact(&self, turn: &Turn) -> bool {
        self.services.config.returns.verification == OrderVerification::Contact && turn.conversation.user_id.is_none()
    }

    pub(super) async fn do_work(&self, turn: &mut Turn, state: &State, worker: Worker) -> Result<Event, DeskError> {
        match worker {
            Worker::ClassifyIntent => {
                let (intent, source) = self.ask_for_intent(turn).await;
                self.tell_intent(turn, intent, source).await?;
                Ok(Event::Classified(intent))
            }
            Worker::FillSlot => Ok(Event::SlotFilled(self.ask_for_order_number(turn).await)),
            Worker::LookUpOrder => {
                let step = turn.step("order");
                step.take(self.look_up(turn, state)).await
            }
            Worker::ShowStatus => self.show_status(turn, state).await,
            Worker::CheckPolicy => {
                let step = turn.step("policy");
                step.take(self.check_policy(turn, state)).await
            }
            Worker::DecideAction => Ok(Event::ActionDecided),
            Worker::ProcessReturn => self.process(turn, state, Action::Return).await,
            Worker::ProcessRefund => self.process(turn, state, Action::Refund).await,
            Worker::ProcessCancel => self.cancel(turn, state).await,
            Worker::SendEmail => self.send_email(turn, state).await,
            Worker::Escalate => self.escalate(turn, state).await,
        }
    }

    /// The order, if it is there and the customer's.
    async fn look_up(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let Some(number) = &state.order_number else { return Ok(Event::OrderNotFound) };
        let store = self.store_of(turn);
        let order = match (&turn.conversation.user_id, contact_of(state)) {
            (Some(user), _) => {
                store.find_order(number).await?.filter(|order| order.customer.user_id.as_ref() == Some(user))
            }
            (None, _) if !state.needs_contact => store.find_order(number).await?,
            (None, None) => None,
            (None, Some(contact)) => {
                let subjects = self.miss_subjects(turn, number);
                let limit = self.services.config.returns.misses;
                match store.verify_order(number, &contact, &subjects, &limit, Utc::now()).await? {
                    Verification::Verified(order) => Some(*order),
                    Verification::Missed => None,
                    Verification::Locked { .. } => {
                        self.record(turn, "order.locked", number, json!({})).await?;
                        return Ok(Event::OrderLocked);
                    }
                }
            }
        };
        self.record(turn, "order.looked_up", number, json!({ "found": order.is_some() })).await?;
        let Some(order) = order else { return Ok(Event::OrderNotFound) };
        let lines = named_lines(&order, &state.reason);
        Ok(Event::OrderFound(self.seen(&order), lines))
    }

    fn miss_subjects(&self, turn: &Turn, number: &OrderNumber) -> Vec<MissSubject> {
        let client = turn.caller.address.map(|address| MissSubject::Client(self.services.client_names.of(address)));
        let own = [MissSubject::Conversation(turn.conversation.id), MissSubject::Order(number.clone())];
        own.into_iter().chain(client).collect()
    }

    fn seen(&self, order: &Order) -> SeenOrder {
        SeenOrder {
            number: order.number.clone(),
            status: order.status,
            ordered_on: day_of(order.ordered_at, self.services.config.returns.time_zone),
            items: order
                .items
                .iter()
                .map(|item| SeenItem { line: item.line, name: item.name.clone(), quantity: item.quantity })
                .collect(),
            masked_email: order.email.masked(),
        }
    }

    /// Says where the order is, as a list.
    async fn show_status(&self, turn: &mut Turn, state: &State) -> Result<Event, DeskError> {
        let Some(seen) = &state.order else { return Ok(Event::Failed) };
        let Some(order) = self.store_of(turn).find_order(&seen.number).await? else { return Ok(Event::Failed) };
        let (language, zone) = (turn.language(), self.services.config.returns.time_zone);
        let seen = self.seen(&order);
        let texts = self.texts(turn);
        let day = |at| shown_day(day_of(at, zone), language);
        let all: Vec<u32> = seen.items.iter().map(|item| item.line).collect();
        let returned = order.items.iter().rev().find_map(|item| item.rma.as_ref());
        let lines = [
            (&texts.lines.number, Some(order.number.to_string())),
            (&texts.lines.status, Some(texts.status(order.status).to_owned())),
            (&texts.lines.ordered, Some(day(order.ordered_at))),
            (&texts.lines.shipped, order.shipped_at.map(day)),
            (&texts.lines.delivered, order.delivered_at.map(day)),
            (&texts.lines.items, Some(self.item_names(turn, &seen, &all))),
            (&texts.lines.tracking, order.tracking.clone()),
            (&texts.lines.returned, returned.map(|rma| format!("{} ({})", rma.number, rma.status))),
        ];
        let mut voice = Voice::new(texts, &state.meta.said);
        let mut text = voice.text(headline(order.status), &[])?;
        for (line, value) in lines {
            if let Some(value) = value {
                text.push('\n');
                text.push_str(&fill(line, &[("value", &value)]));
            }
        }
        let told = json!({
            "number": order.number, "status": order.status, "ordered_at": order.ordered_at,
            "shipped_at": order.shipped_at, "delivered_at": order.delivered_at, "tracking": order.tracking,
        });
        let said = voice.then(Event::StatusShown);
        turn.say_with(Kind::OrderStatus, &text, Metadata::of(Kind::OrderStatus).with("order", told)).await?;
        Ok(said)
    }

    /// What the rules say of the lines that are to come back; or that the same was asked for before.
    async fn check_policy(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let Some(seen) = &state.order else { return Ok(Event::Failed) };
        let store = self.store_of(turn);
        let Some(order) = store.find_order(&seen.number).await? else { return Ok(Event::Failed) };
        let lines = wanted_lines(&order, state);
        let decision = store.check_eligibility(&order.number, &lines, &state.reason, &self.terms(), Utc::now()).await?;
        let told = json!({ "decision": decision.to_metadata(""), "lines": lines });
        self.record(turn, "eligibility.decided", &order.number, told).await?;
        if decision.why == Why::AlreadyInRma {
            let wanted = if state.intent == Some(Intent::Refund) { Action::Refund } else { Action::Return };
            let made = store.list_rmas_of(&order.number).await?;
            if let Some(rma) = made.iter().rev().find(|rma| is_the_same(rma, wanted, &lines)) {
                let id = rma.number.to_string();
                return Ok(Event::AskedBefore(ActionTicket { id, status: TicketStatus::Duplicate }));
            }
        }
        Ok(Event::Decided(decision, lines))
    }

    /// The RMA with its ticket, label and mail, in one transaction, once.
    async fn process(&self, turn: &Turn, state: &State, action: Action) -> Result<Event, DeskError> {
        let (Some(seen), Some(lines)) = (&state.order, &state.lines) else { return Ok(Event::Failed) };
        let language = turn.language();
        let mail = |order: &Order, rma: &Rma| {
            Some(NewMail {
                number: NewMail::number_for(rma, APPROVED_MAIL),
                to: order.email.clone(),
                template: APPROVED_MAIL.to_owned(),
                language,
                context: json!({
                    "customer_name": order.customer.name, "order_number": order.number, "rma_number": rma.number,
                    "refund_amount": rma.refund.shown(language),
                }),
                conversation: rma.conversation,
                order: Some(order.number.clone()),
                rma: Some(rma.number.clone()),
            })
        };
        let new = NewReturn {
            order: &seen.number,
            lines,
            action,
            reason: &state.reason,
            request: &request_of(turn, state),
            terms: &self.terms(),
            random: rand::random(),
            mail: &mail,
        };
        let outcome = self.store_of(turn).create_return(&new, &by(turn)).await?;
        let (rma, status) = match outcome {
            ReturnOutcome::Created(rma) => (rma, TicketStatus::Created),
            ReturnOutcome::Duplicate(rma) => (rma, TicketStatus::Duplicate),
            // The rules have changed their mind since they were asked: what they say now is told.
            ReturnOutcome::Refused(decision) => return Ok(Event::Refused(*decision)),
            ReturnOutcome::BadAmounts => return Ok(Event::Failed),
        };
        let whole = rma.lines.len() == seen.items.len();
        let key = idempotency_key(&seen.number, action, (!whole).then_some(lines), 0);
        Ok(Event::Ticketed(Ticketed {
            ticket: ActionTicket { id: rma.number.to_string(), status },
            rma: Some(rma.number),
            refund: Some(rma.refund),
            key,
        }))
    }

    /// A ticket that asks the shop to stop the order.
    async fn cancel(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let Some(seen) = &state.order else { return Ok(Event::Failed) };
        let request = request_of(turn, state);
        let store = self.store_of(turn);
        let outcome = store.create_cancellation(&seen.number, &state.reason, &request, &by(turn)).await?;
        let (ticket, status) = match outcome {
            CancelOutcome::Created(ticket) => (ticket, TicketStatus::Created),
            CancelOutcome::Duplicate(ticket) => (ticket, TicketStatus::Duplicate),
            // It was shipped meanwhile: the rules are asked again.
            CancelOutcome::TooLate(_) | CancelOutcome::NotFound => {
                let (terms, now) = (self.terms(), Utc::now());
                let lines = state.lines.clone().unwrap_or_default();
                let decision = store.check_eligibility(&seen.number, &lines, &state.reason, &terms, now).await?;
                return Ok(Event::Refused(decision));
            }
        };
        let key = idempotency_key(&seen.number, Action::Cancel, None, 0);
        let ticket = ActionTicket { id: ticket.id, status };
        Ok(Event::Ticketed(Ticketed { ticket, rma: None, refund: None, key }))
    }

    /// How the first attempt of the mail went; the outbox tries again by itself where it failed.
    async fn send_email(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let made_now = state.action_ticket.as_ref().filter(|ticket| ticket.status == TicketStatus::Created);
        let Some(number) = made_now.and_then(|ticket| ticket.id.parse().ok()) else {
            return Ok(Event::Mailed(EmailStatus::None));
        };
        let store = self.store_of(turn);
        let mails = store.list_mails_of(&number).await?;
        let Some(mail) = mails.into_iter().rev().find(|mail| mail.template == APPROVED_MAIL) else {
            return Ok(Event::Mailed(EmailStatus::None));
        };
        let other = state.mail_to.as_deref().and_then(|to| to.parse().ok()).filter(|to| *to != mail.to);
        if mail.status == MailStatus::Failed || other.is_some() {
            store.requeue_mail(mail.id, other.as_ref(), WHO, Utc::now()).await?;
        }
        let within = self.services.config.returns.mail_wait;
        let settled = self.services.post.settle(&turn.conversation.tenant, mail.id, within);
        let status = turn.step("mail").take(settled).await?;
        Ok(Event::Mailed(match status {
            MailStatus::Queued => EmailStatus::Queued,
            MailStatus::Sent => EmailStatus::Sent,
            MailStatus::Failed => EmailStatus::Failed,
        }))
    }

    /// A ticket for a person, with what the person should know.
    async fn escalate(&self, turn: &mut Turn, state: &State) -> Result<Event, DeskError> {
        let why = state.escalate.unwrap_or(Escalate::Person);
        let rma = state.meta.last_rma.as_ref().filter(|_| why == Escalate::DamageLater);
        let order = state.order.as_ref().map(|order| &order.number).filter(|_| rma.is_none());
        let new = NewEscalation {
            rma,
            order,
            priority: why.priority(is_damage(state)),
            reason: reason_of(why, state),
            summary: &summary(why, state),
        };
        let escalated = self.store_of(turn).escalate(&new, &by(turn)).await?;
        // Where there is no console, the ticket alone says so.
        if self.services.config.console.on {
            turn.ask_for_person();
        }
        Ok(Event::Escalated(escalated.ticket().id.clone()))
    }

    fn terms(&self) -> Terms {
        let config = &self.services.config;
        Terms {
            windows: config.returns.windows,
            frequency: config.returns.frequency,
            damage: self.rules.damage().clone(),
            time_zone: config.returns.time_zone,
        }
    }

    fn store_of<'a>(&'a self, turn: &'a Turn) -> TenantStore<'a> {
        self.services.store.tenant(&turn.conversation.tenant)
    }

    /// A row of what the desk did that changed nothing.
    async fn record(
        &self,
        turn: &Turn,
        what: &str,
        order: &OrderNumber,
        after: serde_json::Value,
    ) -> Result<(), DeskError> {
        let entry = AuditEntry {
            kind: AuditKind::Tool,
            who: WHO.to_owned(),
            what: what.to_owned(),
            before: None,
            after: Some(after),
            conversation: Some(turn.conversation.id),
            order: Some(order.clone()),
            rma: None,
            at: Utc::now(),
        };
        Ok(self.store_of(turn).record(&entry).await?)
    }
}

fn by(turn: &Turn) -> By<'static> {
    By { hand: Hand::Automatic, who: WHO, conversation: Some(turn.conversation.id), now: Utc::now() }
}

/// Names one asking: the same flow that asks again, after a crash, is told what it made.
fn request_of(turn: &Turn, state: &State) -> String {
    format!("{}:{}", turn.conversation.id, state.meta.flow)
}

fn contact_of(state: &State) -> Option<Contact> {
    let written = state.meta.contact.as_deref()?;
    written.parse().map(Contact::Email).ok().or_else(|| written.parse().map(Contact::Phone).ok())
}

/// The lines whose names stand in the customer's words; `None`: none of them, or all.
fn named_lines(order: &Order, said: &str) -> Option<Vec<u32>> {
    let said = words(said);
    let is_named =
        |name: &str| words(name).iter().any(|word| word.chars().count() >= TELLING_LETTERS && said.contains(word));
    let named: Vec<u32> = order.items.iter().filter(|item| is_named(&item.name)).map(|item| item.line).collect();
    (!named.is_empty() && named.len() < order.items.len()).then_some(named)
}

/// What is to come back: what the customer named, or whatever has not come back yet.
fn wanted_lines(order: &Order, state: &State) -> Vec<u32> {
    let named = state.lines.clone().filter(|lines| !lines.is_empty());
    let open = Some(order.open_lines()).filter(|lines| !lines.is_empty());
    named.or(open).unwrap_or_else(|| order.items.iter().map(|item| item.line).collect())
}

/// Whether the RMA is for the same, and still stands.
fn is_the_same(rma: &Rma, action: Action, lines: &[u32]) -> bool {
    let of_rma: Vec<u32> = rma.lines.iter().map(|line| line.line).collect();
    rma.action == action && of_rma == lines && !rma.status.is_rejected()
}

fn headline(status: OrderStatus) -> Scenario {
    match status {
        OrderStatus::Pending => Scenario::StatusPending,
        OrderStatus::Shipped => Scenario::StatusShipped,
        OrderStatus::Delivered => Scenario::StatusDelivered,
        OrderStatus::ReturnInitiated => Scenario::StatusReturnInitiated,
        OrderStatus::Returned => Scenario::StatusReturned,
    }
}

/// Why a person looks, for that person.
fn reason_of(why: Escalate, state: &State) -> &'static str {
    match (why, state.eligibility.as_ref().map(|decision| decision.reason_code.as_str())) {
        (Escalate::Person, _) => "the customer asks for a person",
        (Escalate::DamageLater, _) => "damage reported after the return was made",
        (Escalate::Review, Some("DAMAGED_MANUAL")) => "damaged items",
        (Escalate::Review, _) => "manual review by the return rules",
    }
}

/// Seed 001's handoff summary: reason, request, actions taken, next steps.
fn summary(why: Escalate, state: &State) -> String {
    let request = match state.intent {
        Some(intent) => intent.as_str(),
        None => "not clear yet",
    };
    let order = state.order.as_ref().map_or("none named".to_owned(), |order| order.number.to_string());
    let decision = state
        .eligibility
        .as_ref()
        .map_or("none".to_owned(), |decision| format!("{} ({})", decision.reason_code, decision.why));
    let rma = state.meta.last_rma.as_ref().map_or("none".to_owned(), ToString::to_string);
    let next = match why {
        Escalate::Person => "answer the customer in the conversation",
        Escalate::DamageLater => "ask for photos, then approve or reject the return",
        Escalate::Review => "look at the order and the customer's history, then approve or reject",
    };
    format!(
        "Reason: {}\nRequest: {request}, order {order}\nActions taken: eligibility {decision}, return {rma}\nNext steps: {next}",
        reason_of(why, state)
    )
}
