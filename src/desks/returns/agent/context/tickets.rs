//! Decisions, tickets, labels, mails and handoffs that a model asks for.

use chrono::Utc;

use super::{ReturnsContext, about_return};
use crate::desks::returns::advance::{Event, Ticketed, next_state};
use crate::desks::returns::agent::WHO;
use crate::desks::returns::agent::tools::ToolError;
use crate::desks::returns::handlers::{by, decided, request_of};
use crate::desks::returns::mail::Template;
use crate::desks::returns::state::{ActionTicket, EmailStatus, HandoffReason, HandoffStatus, State, TicketStatus};
use crate::domain::commerce::Order;
use crate::domain::returns::{Action, Decision, MailNumber, NoStep, Priority, Rma, RmaNumber, TrackingNumber};
use crate::jobs::send_mail::wait_for_attempt;
use crate::store::audit::Actor;
use crate::store::mails::{MailStatus, NewMail};
use crate::store::returns::advance::LabelOutcome;

/// Characters of the model's reason that are stored with the customer's words.
const REASON_MAX_CHARS: usize = 500;

/// The rules' decision.
pub(in crate::desks::returns::agent) enum Verdict {
    Decided(Decision),
    /// The same return was made before.
    AskedBefore(ActionTicket),
}

pub(in crate::desks::returns::agent) struct QueuedMail {
    pub number: MailNumber,
    /// The first 200 characters; empty until it was sent.
    pub preview: String,
    pub status: &'static str,
}

impl ReturnsContext<'_> {
    /// Decides whether these lines may come back.
    pub async fn decide(&mut self, order: &Order, lines: &[u32], reason: &str) -> Result<Verdict, ToolError> {
        self.check_open()?;
        let lines = known_lines(order, lines)?;
        about_return(&mut self.state);
        let asked = self.asking_for(lines, self.reason(reason));
        let event = self.desk.check_policy(self.turn, &asked).await?;
        let verdict = match &event {
            Event::Decided(decision, ..) => Verdict::Decided(decision.clone()),
            Event::AskedBefore(ticket) => Verdict::AskedBefore(ticket.clone()),
            _ => return Err(ToolError::Trouble),
        };
        self.advance(event);
        Ok(verdict)
    }

    /// Makes the return if the rules allow it now, or returns the earlier one.
    pub async fn make_return(
        &mut self,
        order: &Order,
        lines: &[u32],
        action: Action,
        reason: &str,
    ) -> Result<Ticketed, ToolError> {
        if self.state.case.message.is_held_back {
            return Err(ToolError::HeldBack);
        }
        if self.state.wants_some_pieces() && !self.state.is_agreed() {
            return Err(ToolError::SomePieces);
        }
        let lines = known_lines(order, lines)?;
        if self.state.lines() != Some(&lines) || self.state.handoff.ticket().is_some() {
            self.check_open()?;
        }
        about_return(&mut self.state);
        let reason = self.reason(reason);
        if self.state.decision().is_none() || self.state.lines() != Some(&lines) {
            // The message about the return carries the decision, even if the model did not ask for one.
            let (terms, asked_at) = (self.desk.terms(&self.state), self.turn.accepted_at());
            let decision = self.store().check_eligibility(&order.number, &lines, &reason, &terms, asked_at).await?;
            if decision.eligible {
                self.advance(decided(order, decision, lines.clone()));
            }
        }
        let asked = self.asking_for(lines, reason);
        let event = self.desk.process(self.turn, &asked, action).await?;
        match &event {
            Event::Ticketed(made) => {
                let made = made.clone();
                let is_refused = self.state.decision().is_some_and(|decision| !decision.eligible);
                if let Some(subject) = self.state.subject_mut() {
                    subject.lines = asked.lines().cloned();
                    if made.ticket.status == TicketStatus::Duplicate && is_refused {
                        // The items are in this return already, which does not refuse it.
                        subject.progress.undecide();
                    }
                }
                self.advance(event);
                Ok(made)
            }
            Event::Refused(decision) => {
                let decision = Box::new(decision.clone());
                if let Some(subject) = self.state.subject_mut() {
                    subject.lines = asked.lines().cloned();
                }
                self.advance(event);
                Err(match (decision.eligible, action) {
                    (true, Action::Refund) => ToolError::OtherAction(Action::Refund, Action::Return),
                    (true, _) => ToolError::OtherAction(Action::Return, Action::Refund),
                    (false, _) => ToolError::Refused(decision),
                })
            }
            Event::OtherAmount(_) => {
                self.advance(event);
                Err(ToolError::OtherAmount)
            }
            _ => Err(ToolError::Trouble),
        }
    }

    /// Returns the RMA with that number if it belongs to the order.
    pub async fn rma_of(&self, order: &Order, number: &str) -> Result<Rma, ToolError> {
        let number: RmaNumber = number.trim().parse().map_err(|_| ToolError::NoRma)?;
        let rma = self.store().find_rma(&number).await?;
        rma.filter(|rma| rma.order == order.number).ok_or(ToolError::NoRma)
    }

    /// Returns the link to the label of a return and its tracking number. Issues a label if there is none.
    pub async fn label(&self, rma: &Rma) -> Result<(String, TrackingNumber), ToolError> {
        let tracking = TrackingNumber::new(rand::random());
        let outcome = self.store().issue_label(&rma.number, &tracking, &self.by()).await?;
        let label = match outcome {
            LabelOutcome::Issued(label) | LabelOutcome::Repeated(label) => label,
            LabelOutcome::Refused(NoStep::Locked { .. }) => return Err(ToolError::RmaLocked),
            LabelOutcome::Refused(NoStep::Illegal(_) | NoStep::NoLabel) => return Err(ToolError::Trouble),
            LabelOutcome::NotFound => return Err(ToolError::NoRma),
        };
        let url = self.desk.services.labels.link(&self.turn.conversation.tenant, &rma.number);
        Ok((url, label.tracking))
    }

    /// Sends a mail to the address on the order. Sending the same one again has no effect.
    pub async fn mail(
        &mut self,
        order: &Order,
        rma: Option<&Rma>,
        template: Template,
    ) -> Result<QueuedMail, ToolError> {
        let new = self.new_mail(order, rma, template)?;
        let (id, status) = {
            let store = self.store();
            let id = store.queue_mail(&new, WHO, Utc::now()).await?;
            store.requeue_mail(id, None, WHO, Utc::now()).await?;
            let within = self.desk.services.config.returns.mail_wait;
            let attempt = wait_for_attempt(&self.desk.services.jobs, &store, id, within);
            (id, self.turn.step("mail").take(attempt).await?)
        };
        let is_about_ticket =
            self.state.action_ticket().map(|ticket| ticket.id.as_str()) == rma.map(|rma| rma.number.as_str());
        if template == Template::ReturnApproved && is_about_ticket {
            self.advance(Event::Mailed(match status {
                MailStatus::Queued => EmailStatus::Queued,
                MailStatus::Sent => EmailStatus::Sent,
                MailStatus::Failed => EmailStatus::Failed,
            }));
        }
        let mail = self.store().find_mail(id).await?;
        let preview = mail.and_then(|mail| mail.preview).unwrap_or_default();
        Ok(QueuedMail { number: new.number, preview, status: status.as_str() })
    }

    fn new_mail(&self, order: &Order, rma: Option<&Rma>, template: Template) -> Result<NewMail, ToolError> {
        let name = template.as_str();
        let (number, rma) = match (template, rma) {
            (Template::ReturnRejected, _) => {
                let refused = self.state.decision().filter(|decision| !decision.eligible);
                if refused.is_none_or(|decision| decision.requires_manual_review) {
                    return Err(ToolError::NotRefused);
                }
                let request = request_of(self.turn, &self.state);
                (MailNumber::new(order.ordered_at, &[order.number.as_str(), name, &request]), None)
            }
            (_, None) => return Err(ToolError::NoMailWithoutRma),
            (Template::LabelReady, Some(rma)) if rma.label.is_none() => return Err(ToolError::NoLabel),
            (_, Some(rma)) => (NewMail::number_for(rma, name), Some(rma)),
        };
        let mail = NewMail::about(name, number, order, rma, self.turn.language());
        Ok(NewMail { conversation: Some(self.turn.conversation.id), ..mail })
    }

    /// Hands the conversation to a person. Returns the id and the priority of its ticket, which is the same while it is open.
    pub async fn hand_over(&mut self, urgency: Option<Priority>) -> Result<(String, Priority), ToolError> {
        if self.state.handoff == HandoffStatus::None {
            self.check_open()?;
        }
        let why = self.state.handoff.request(HandoffReason::Assistant);
        if self.state.handoff.is_due() {
            self.state.case.urgency = urgency;
            let event = self.desk.escalate(self.turn, &self.state).await?;
            self.advance(event);
        }
        let id = self.state.handoff.ticket().cloned().ok_or(ToolError::Trouble)?;
        Ok((id, self.state.priority(why)))
    }

    fn by(&self) -> Actor<'static> {
        Actor { who: WHO, ..by(self.turn) }
    }

    fn advance(&mut self, event: Event) {
        self.state = next_state(std::mem::take(&mut self.state), event);
    }

    /// Returns the state in which these lines are to come back for this reason.
    fn asking_for(&self, lines: Vec<u32>, reason: String) -> State {
        let mut asked = self.state.clone();
        asked.case.reason = reason;
        if let Some(subject) = asked.subject_mut() {
            if subject.lines.as_ref() != Some(&lines) {
                // The customer was not asked about these lines.
                subject.refund = None;
            }
            subject.lines = Some(lines);
        }
        asked
    }

    /// Returns the reason for the return: the customer's own words, then the model's.
    fn reason(&self, given: &str) -> String {
        let (said, given) = (self.state.case.reason.trim(), given.trim());
        if said.contains(given) {
            return said.to_owned();
        }
        let given: String = given.chars().take(REASON_MAX_CHARS).collect();
        if said.is_empty() { given } else { format!("{said}\n{given}") }
    }
}

/// Returns the distinct lines in order if the order has all of them.
fn known_lines(order: &Order, lines: &[u32]) -> Result<Vec<u32>, ToolError> {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    lines.dedup();
    if lines.is_empty() || lines.iter().any(|line| order.find_item(*line).is_none()) {
        let known: Vec<String> = order.items.iter().map(|item| item.line.to_string()).collect();
        return Err(ToolError::UnknownItems(known.join(", ")));
    }
    Ok(lines)
}
