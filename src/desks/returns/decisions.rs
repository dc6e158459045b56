//! Decisions of the shop's people: announces them, answers questions about them, and takes the customer's answers.

use serde_json::json;

use super::handlers::by;
use super::knowledge::is_with_person;
use super::rules::{Topic, Utterance};
use super::scenario::Scenario;
use super::state::{Intent, State};
use super::texts::ReturnsTexts;
use super::{Returns, remember};
use crate::desks::decisions::add_message;
use crate::desks::{DeskError, Turn};
use crate::dialogue::{Act, Answer};
use crate::domain::language::NumberFormat;
use crate::domain::returns::{Notice, Outcome, Resolution, Rma, Ticket, TicketKind, TicketNumber};
use crate::domain::{Kind, Metadata};
use crate::persona::Mode;
use crate::replies::MissingValue;
use crate::store::StoreError;

/// Returns the message about a decision. `variant` picks one of its texts.
pub(super) fn text(
    texts: &ReturnsTexts,
    numbers: &NumberFormat,
    notice: &Notice,
    variant: usize,
) -> Result<String, MissingValue> {
    let order = notice.order.as_ref().map(ToString::to_string).unwrap_or_default();
    let refund = match &notice.outcome {
        Outcome::Returned { refund, .. } => refund.shown(numbers),
        _ => String::new(),
    };
    let ticket = ("ticket_id", notice.ticket.as_str());
    let (scenario, values) = match &notice.outcome {
        Outcome::Returned { rma, masked_email, .. } => {
            let rma = ("rma_number", rma.as_str());
            let mail = ("masked_email", masked_email.as_str());
            (Scenario::DecisionReturned, vec![ticket, rma, mail, ("refund_amount", &refund)])
        }
        Outcome::Continues { rma } => (Scenario::DecisionApproved, vec![ticket, ("rma_number", rma.as_str())]),
        Outcome::Rejected => (Scenario::DecisionRejected, vec![ticket, ("order_number", &order)]),
        Outcome::OrderCancelled => (Scenario::DecisionCancelled, vec![ticket, ("order_number", &order)]),
        Outcome::OrderKept => (Scenario::DecisionNotCancelled, vec![ticket, ("order_number", &order)]),
        Outcome::MoreInfo { question } => (Scenario::DecisionQuestion, vec![ticket, ("question", question)]),
        Outcome::Closed => (Scenario::DecisionClosed, vec![ticket]),
    };
    Ok(texts.replies.pick(scenario, Some(variant), &values)?.0)
}

impl Returns {
    /// Returns the conversation's ticket with a person's question, or the last one that a person decides. Asks the store only if there
    /// may be one; most conversations have none.
    pub(super) async fn last_ticket(
        &self,
        turn: &Turn,
        state: &State,
        utterance: &Utterance,
    ) -> Result<Option<Ticket>, StoreError> {
        let last = state.meta.last_ticket.as_ref();
        if last.is_none() && !utterance.asks(Topic::Ticket) {
            return Ok(None);
        }
        let store = self.store_of(turn);
        let mut tickets = store.list_tickets_in(turn.conversation.id).await?;
        tickets.retain(|ticket| TicketKind::DECIDED.contains(&ticket.kind));
        if let Some(asking) = tickets.iter().rfind(|ticket| ticket.question.is_some()) {
            return Ok(Some(asking.clone()));
        }
        match last {
            Some(_) if state.meta.is_ticket_settled && !utterance.asks(Topic::Ticket) => Ok(None),
            Some(id) => match tickets.into_iter().find(|ticket| ticket.id == *id) {
                Some(known) => Ok(Some(known)),
                // Another conversation opened it.
                None => store.find_ticket(id).await,
            },
            None => Ok(tickets.pop()),
        }
    }

    /// Returns the ticket whose number the message names if it is about no order, which could show whose it is. Reads the message
    /// as a question about it. In another conversation, the ticket's question is not shown.
    pub(super) async fn named_ticket(
        &self,
        turn: &Turn,
        utterance: &mut Utterance,
    ) -> Result<Option<Ticket>, StoreError> {
        let named = utterance.order().filter(|found| found.number.as_str().parse::<TicketNumber>().is_ok());
        let Some(found) = named else { return Ok(None) };
        let ticket = self.store_of(turn).find_ticket(found.number.as_str()).await?;
        let Some(mut ticket) = ticket.filter(|ticket| ticket.order.is_none()) else { return Ok(None) };
        utterance.entities.orders.clear();
        utterance.set(Act::Ask(Topic::Ticket), true);
        if ticket.conversation != Some(turn.conversation.id) {
            ticket.question = None;
        }
        Ok(Some(ticket))
    }

    /// Makes the return of a person's approval the conversation's last one.
    pub(super) async fn remember_decision(
        &self,
        turn: &Turn,
        state: &mut State,
        ticket: &Ticket,
    ) -> Result<(), StoreError> {
        if ticket.resolved.is_none() || state.meta.is_ticket_settled {
            return Ok(());
        }
        if let Some(rma) = self.rma_of(turn, ticket).await? {
            state.meta.last_returned = Some(rma.order);
            state.meta.last_returned_lines = rma.lines.iter().map(|of| of.line).collect();
            state.meta.last_rma = Some(rma.number);
        }
        state.meta.is_ticket_settled = true;
        Ok(())
    }

    /// Returns the RMA that a ticket is about, or that its approval made.
    async fn rma_of(&self, turn: &Turn, ticket: &Ticket) -> Result<Option<Rma>, StoreError> {
        let store = self.store_of(turn);
        if let Some(number) = &ticket.rma {
            return store.find_rma(number).await;
        }
        let (Some(claim), Some(order)) = (&ticket.claim, &ticket.order) else { return Ok(None) };
        let made = store.list_rmas_of(order).await?;
        let is_of = |rma: &Rma| rma.lines.iter().any(|of| claim.lines.contains(&of.line));
        Ok(made.into_iter().rfind(|rma| is_of(rma) && rma.created_at >= ticket.created_at))
    }

    /// Sends the ticket's status.
    pub(super) async fn send_ticket_status(
        &self,
        turn: &mut Turn,
        state: &mut State,
        ticket: &Ticket,
    ) -> Result<(), DeskError> {
        let decision = ticket.resolved.as_ref().map(|resolved| resolved.decision);
        let rma = self.rma_of(turn, ticket).await?.map(|rma| rma.number.to_string());
        let order = ticket.order.as_ref().map(ToString::to_string);
        // The answer comes in the conversation that asked.
        let is_elsewhere = ticket.order.is_none() && ticket.conversation != Some(turn.conversation.id);
        let scenario = match (decision, &ticket.question) {
            (None, None) if is_elsewhere => Scenario::Duplicate,
            (None, Some(_)) => Scenario::DecisionQuestion,
            (None, None) => Scenario::TicketOpen,
            (Some(Resolution::Approve), _) if ticket.kind == TicketKind::Cancel => Scenario::DecisionCancelled,
            (Some(Resolution::Reject), _) if ticket.kind == TicketKind::Cancel => Scenario::DecisionNotCancelled,
            (Some(Resolution::Approve), _) if rma.is_some() => Scenario::DecisionApproved,
            // Only a return can be rejected; another request was closed.
            (Some(Resolution::Reject), _) if order.is_some() && (rma.is_some() || ticket.claim.is_some()) => {
                Scenario::DecisionRejected
            }
            (Some(_), _) => Scenario::DecisionClosed,
        };
        let values = [
            ("ticket_id", Some(ticket.id.as_str())),
            ("rma_number", rma.as_deref()),
            ("order_number", order.as_deref()),
            ("question", ticket.question.as_deref()),
        ];
        let values: Vec<(&str, &str)> = values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let escalation = json!({ "ticket_id": ticket.id, "decision": decision });
        let metadata = Metadata::of(Kind::Escalation).with("escalation", escalation);
        self.send_with(turn, state, Kind::Escalation, (scenario, &values), metadata).await
    }

    /// Stores the customer's answer to a person's question with the ticket, and calls the person. While the ticket is open, a
    /// further detail is stored as well. Returns whether the message is nothing else: then the turn is over.
    pub(super) async fn take_answer(
        &self,
        turn: &mut Turn,
        state: &mut State,
        utterance: &Utterance,
        ticket: &Ticket,
    ) -> Result<bool, DeskError> {
        let was_asked = ticket.was_asked();
        // "Then keep that one", after another order was shown, is not about the ticket.
        let is_of_other =
            ticket.order.is_some() && state.order_number().is_some_and(|shown| Some(shown) != ticket.order.as_ref());
        // In agent mode the model decides on a detail that the desk did not ask for.
        let may_add = state.is_idle() && (was_asked || turn.persona.mode == Mode::Supervisor && !is_of_other);
        let is_detail = may_add && is_detail(utterance, was_asked, state.case.intent.filter(|_| is_with_person(state)));
        if (ticket.question.is_none() && !is_detail) || utterance.asks(Topic::Ticket) {
            return Ok(false);
        }
        let by = by(turn);
        if !add_message(&self.services, turn, ticket, &by).await? {
            return Ok(false);
        }
        if has_other_request(utterance, ticket) {
            return Ok(false);
        }
        // What the customer adds next belongs to this ticket.
        state.meta.last_ticket = Some(ticket.id.clone());
        state.meta.is_ticket_settled = false;
        let text = (Scenario::AnswerTaken, &[("ticket_id", ticket.id.as_str())][..]);
        let metadata = Metadata::of(Kind::Escalation).with("escalation", json!({ "ticket_id": ticket.id }));
        self.send_with(turn, state, Kind::Escalation, text, metadata).await?;
        remember(turn, state);
        Ok(true)
    }
}

/// Whether the message explains something and does nothing else. After a question of a person, a yes or a no explains as well; after
/// a request, so does what has its words: "the new address is …".
fn is_detail(utterance: &Utterance, was_asked: bool, requested: Option<Intent>) -> bool {
    let answers = was_asked && utterance.answer.is_some();
    let is_social = utterance.greets() || utterance.says_goodbye() || utterance.social().is_some();
    let asks = utterance.has_question() || utterance.asks(Topic::Policy) || utterance.asks(Topic::Exception);
    let has_other =
        utterance.wants_person() || utterance.reports(Topic::Damage) || utterance.reports(Topic::MissingMail);
    utterance.intent.is_none_or(|intent| intent.is_request() && Some(intent) == requested)
        && utterance.order().is_none()
        && !(is_social || asks || has_other)
        && (answers || !utterance.only_answers())
        && utterance.answer != Some(Answer::Cancel)
}

/// Whether the message also requests something that the desk does itself.
fn has_other_request(utterance: &Utterance, ticket: &Ticket) -> bool {
    let names_another = utterance.order().is_some_and(|found| ticket.order.as_ref() != Some(&found.number));
    let is_status = utterance.intent == Some(Intent::OrderStatus);
    utterance.asks(Topic::Policy)
        || utterance.wants_person()
        || utterance.requests(Topic::Label)
        || names_another
        || (is_status && utterance.order().is_some())
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::Language;
    use crate::persona::Prompts;
    use crate::persona::texts::CommonTexts;

    #[test]
    fn every_decision_has_its_text_in_each_language() {
        let prompts = Prompts::shipped();
        let rma: crate::domain::returns::RmaNumber = "RMA-1701234567-ABCD".parse().unwrap();
        let refund = crate::domain::commerce::Money::new(12_999, crate::domain::commerce::Currency::Usd);
        let outcomes = [
            Outcome::Returned { rma: rma.clone(), refund, masked_email: "j***@example.com".to_owned() },
            Outcome::Continues { rma },
            Outcome::Rejected,
            Outcome::OrderCancelled,
            Outcome::OrderKept,
            Outcome::MoreInfo { question: "Is the sole torn?".to_owned() },
            Outcome::Closed,
        ];
        for (language, amount) in [(Language::EN, "$129.99"), (Language::VI, "129")] {
            let texts: ReturnsTexts = prompts.texts("returns", language).unwrap();
            let common: CommonTexts = prompts.texts("common", language).unwrap();
            for outcome in &outcomes {
                let notice = Notice {
                    ticket: "TICKET-1-AAAA".to_owned(),
                    order: Some("77893".parse().unwrap()),
                    by: None,
                    outcome: outcome.clone(),
                    at: DateTime::UNIX_EPOCH,
                };
                for variant in 0..3 {
                    let said = text(&texts, &common.number_format, &notice, variant).unwrap();
                    assert!(!said.contains(['{', '}']), "{said}");
                    match outcome {
                        Outcome::Returned { .. } => assert!(said.contains(amount) && said.contains("RMA-"), "{said}"),
                        Outcome::MoreInfo { question } => assert!(said.contains(question), "{said}"),
                        _ => assert!(said.contains("TICKET-1-AAAA"), "{said}"),
                    }
                }
            }
        }
    }
}
