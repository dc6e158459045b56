//! Makes tickets: the decision before one, the ticket, and its mail.

use chrono::{NaiveDate, TimeDelta, Utc};
use serde_json::json;

use super::super::Returns;
use super::super::advance::{Event, Ticketed};
use super::super::mail::Template;
use super::super::route::can_be_cancelled;
use super::super::state::{ActionTicket, EmailStatus, Intent, Progress, State, TicketStatus};
use super::{WHO, by, request_of};
use crate::desks::{DeskError, Turn};
use crate::domain::calendar::day_of;
use crate::domain::commerce::{Money, Order};
use crate::domain::identity::Email;
use crate::domain::returns::refund::refund;
use crate::domain::returns::{Action, Cause, Decision, Rma, Terms};
use crate::jobs::send_mail::wait_for_attempt;
use crate::store::mails::{MailStatus, NewMail};
use crate::store::returns::create::{CancelOutcome, NewReturn, ReturnOutcome};

impl Returns {
    /// Decides about the lines that come back, or finds the ticket of the same request.
    pub(in crate::desks::returns) async fn check_policy(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let Some(seen) = state.order() else { return Ok(Event::Failed) };
        let store = self.store_of(turn);
        let Some(order) = store.find_order(&seen.number).await? else { return Ok(Event::Failed) };
        let lines = wanted_lines(&order, state);
        let (terms, asked_at) = (self.terms(state), turn.accepted_at());
        let decision = store.check_eligibility(&order.number, &lines, &state.case.reason, &terms, asked_at).await?;
        let details = json!({ "decision": decision.to_record(), "lines": lines });
        self.record(turn, "eligibility.decided", &order.number, details).await?;
        if decision.cause == Cause::AlreadyInRma {
            let wanted = if state.case.intent == Some(Intent::Refund) { Action::Refund } else { Action::Return };
            let made = store.list_rmas_of(&order.number).await?;
            // "Cancel my order" is not about a return that has ended.
            let is_over = |rma: &Rma| state.case.wants_cancel && rma.status.has_ended();
            let same = made.iter().rev().find(|rma| is_the_same(rma, wanted, &lines) && !is_over(rma));
            // Damage concerns the return that has the item, whatever the customer asks for now.
            let damaged =
                || made.iter().rev().find(|rma| state.case.damage_reported && is_of(rma, &decision.refused_lines));
            if let Some(rma) = same.or_else(damaged) {
                let id = rma.number.to_string();
                return Ok(Event::AskedBefore(ActionTicket { id, status: TicketStatus::Duplicate }));
            }
        }
        Ok(decided(&order, decision, lines))
    }

    /// Returns the number of the conversation's order, its items, and the last days of their windows for a return and a refund.
    /// `None` if the rules name no window.
    pub(in crate::desks::returns) async fn last_days(
        &self,
        turn: &Turn,
        state: &State,
    ) -> Result<Option<(String, String, [NaiveDate; 2])>, DeskError> {
        let Some(seen) = state.order() else { return Ok(None) };
        let store = self.store_of(turn);
        let Some(order) = store.find_order(&seen.number).await? else { return Ok(None) };
        let (lines, asked_at) = (wanted_lines(&order, state), turn.accepted_at());
        let terms = Terms { damage_reported: false, ..self.terms(state) };
        let decision = store.check_eligibility(&order.number, &lines, "", &terms, asked_at).await?;
        let windows = (decision.cutoff_days, decision.refund_cutoff_days, decision.computed_days_since_delivery);
        let (Some(for_return), Some(for_refund), Some(passed)) = windows else { return Ok(None) };
        let today = day_of(asked_at, self.services.shop.time_zone);
        let last = |days: u32| today.checked_add_signed(TimeDelta::try_days(i64::from(days) - passed)?);
        let (Some(for_return), Some(for_refund)) = (last(for_return), last(for_refund)) else { return Ok(None) };
        let items = self.item_names(turn, seen, &lines);
        Ok(Some((seen.number.to_string(), items, [for_return, for_refund])))
    }

    /// Makes the RMA with its ticket, label and mail, in one transaction, once.
    pub(in crate::desks::returns) async fn process(
        &self,
        turn: &Turn,
        state: &State,
        action: Action,
    ) -> Result<Event, DeskError> {
        let (Some(seen), Some(lines)) = (state.order(), state.lines()) else { return Ok(Event::Failed) };
        let language = turn.language();
        let mail = |order: &Order, rma: &Rma| {
            let template = Template::ReturnApproved.as_str();
            let number = NewMail::number_for(rma, template);
            Some(NewMail::about(template, number, order, Some(rma), language))
        };
        let new = NewReturn {
            order: &seen.number,
            lines,
            action,
            agreed: agreed_amount(state),
            reason: &state.case.reason,
            request: &request_of(turn, state),
            terms: &self.terms(state),
            asked_at: turn.accepted_at(),
            random: rand::random(),
            mail: &mail,
        };
        let outcome = self.store_of(turn).create_return(&new, &by(turn)).await?;
        let (rma, key, status) = match outcome {
            ReturnOutcome::Created { rma, key } => (rma, key, TicketStatus::Created),
            ReturnOutcome::Duplicate { rma, key } => (rma, key, TicketStatus::Duplicate),
            // The rules decided differently before; the new decision holds.
            ReturnOutcome::Refused(decision) => return Ok(Event::Refused(*decision)),
            ReturnOutcome::OtherAmount(amount) => return Ok(Event::OtherAmount(amount)),
            ReturnOutcome::BadAmounts => return Ok(Event::Failed),
        };
        Ok(Event::Ticketed(Ticketed {
            ticket: ActionTicket { id: rma.number.to_string(), status },
            action,
            rma: Some(rma.number),
            refund: Some(rma.refund),
            key,
        }))
    }

    /// Makes a ticket that asks the shop to stop the order.
    pub(super) async fn cancel(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let Some(seen) = state.order() else { return Ok(Event::Failed) };
        let request = request_of(turn, state);
        let store = self.store_of(turn);
        let (reason, agreed) = (&state.case.reason, agreed_amount(state));
        let outcome = store.create_cancellation(&seen.number, agreed, reason, &request, &by(turn)).await?;
        let (ticket, key, status) = match outcome {
            CancelOutcome::Created { ticket, key } => (ticket, key, TicketStatus::Created),
            CancelOutcome::Duplicate { ticket, key } => (ticket, key, TicketStatus::Duplicate),
            CancelOutcome::OtherAmount(amount) => return Ok(Event::OtherAmount(amount)),
            // The order was shipped in the meantime: decide again.
            CancelOutcome::TooLate(_) | CancelOutcome::NotFound => return self.check_policy(turn, state).await,
        };
        let ticket = ActionTicket { id: ticket.id, status };
        Ok(Event::Ticketed(Ticketed { ticket, action: Action::Cancel, rma: None, refund: None, key }))
    }

    /// Waits for the first attempt to send the mail. The outbox retries a failed one by itself.
    pub(in crate::desks::returns) async fn send_email(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let made_now = state.action_ticket().filter(|ticket| ticket.status == TicketStatus::Created);
        let Some(number) = made_now.and_then(|ticket| ticket.id.parse().ok()) else {
            return Ok(Event::Mailed(EmailStatus::None));
        };
        let store = self.store_of(turn);
        let mails = store.list_mails_of(&number).await?;
        let Some(mail) = mails.into_iter().rev().find(|mail| mail.template == Template::ReturnApproved.as_str()) else {
            return Ok(Event::Mailed(EmailStatus::None));
        };
        let named: Option<Email> = state.ticket().and_then(|of_flow| of_flow.mail_to.as_deref()?.parse().ok());
        if mail.status == MailStatus::Sent && named.as_ref() == Some(&mail.to) {
            return Ok(Event::MailedBefore);
        }
        if mail.status == MailStatus::Failed || named.is_some() {
            store.requeue_mail(mail.id, named.as_ref(), WHO, Utc::now()).await?;
        }
        let within = self.services.config.returns.mail_wait;
        let attempt = wait_for_attempt(&self.services.jobs, &store, mail.id, within);
        let status = turn.step("mail").take(attempt).await?;
        Ok(Event::Mailed(match status {
            MailStatus::Queued => EmailStatus::Queued,
            MailStatus::Sent => EmailStatus::Sent,
            MailStatus::Failed => EmailStatus::Failed,
        }))
    }
}

/// Returns the event of a decision, with what the customer would get back. Amounts that do not add up make no offer.
pub(in crate::desks::returns) fn decided(order: &Order, decision: Decision, lines: Vec<u32>) -> Event {
    let refund = match refund(order, &lines) {
        // The whole order is cancelled.
        _ if can_be_cancelled(&decision) => order.paid,
        Ok((refund, _)) => refund,
        Err(_) if decision.eligible => return Event::Failed,
        Err(_) => Money::zero(order.paid.currency),
    };
    Event::Decided(decision, lines, refund)
}

/// Returns the amount in the question to which the customer said yes. `None` if a model acts without that question.
fn agreed_amount(state: &State) -> Option<Money> {
    let subject = state.subject().filter(|subject| matches!(subject.progress, Progress::Agreed { .. }))?;
    subject.refund
}

/// Returns the lines that come back: those that the customer named, or all that have not come back yet.
pub(super) fn wanted_lines(order: &Order, state: &State) -> Vec<u32> {
    let named = state.lines().cloned().filter(|lines| !lines.is_empty());
    let open = Some(order.open_lines()).filter(|lines| !lines.is_empty());
    named.or(open).unwrap_or_else(|| order.items.iter().map(|item| item.line).collect())
}

/// Whether one of the lines is in this open RMA.
fn is_of(rma: &Rma, lines: &[u32]) -> bool {
    !rma.status.is_rejected() && !rma.status.has_ended() && rma.lines.iter().any(|line| lines.contains(&line.line))
}

/// Whether the RMA is for the same request and was not rejected.
fn is_the_same(rma: &Rma, action: Action, lines: &[u32]) -> bool {
    let of_rma: Vec<u32> = rma.lines.iter().map(|line| line.line).collect();
    rma.action == action && of_rma == lines && !rma.status.is_rejected()
}
