//! The routing table: names the next step for a state. The first row that applies decides.
//!
//! The rows are described in `docs/desks/returns.md`.

use super::state::{
    EmailStatus, Ending, Handoff, HandoffReason, Intent, Mail, Question, Stage, State, TicketStatus, Trouble,
};
use crate::desks::machine::Step;
use crate::domain::returns::{Action, Cause, Decision};

/// A side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Worker {
    /// Asks the model for the intent, which the rules cannot tell.
    ClassifyIntent,
    /// Asks the model for the order number, which the rules cannot read.
    FillSlot,
    LookUpOrder,
    ShowStatus,
    CheckPolicy,
    DecideAction,
    ProcessReturn,
    ProcessRefund,
    ProcessCancel,
    SendEmail,
    /// Opens a ticket for a person.
    Escalate,
}

pub type ReturnsStep = Step<Worker, Question, Ending>;

/// A row: its number, and the step it names if it applies.
pub type Row = (u8, fn(&State) -> Option<ReturnsStep>);

/// The table, in order.
pub const TABLE: [Row; 17] = [
    (1, error_or_escalation),
    (2, complete),
    (3, order_status),
    (4, question_open),
    (5, intent_missing),
    (6, slot_missing),
    (7, order_not_looked_up),
    (8, not_confirmed),
    (9, declined),
    (10, policy_unchecked),
    (11, not_eligible),
    (12, action_undecided),
    (13, process_return),
    (14, process_refund),
    (15, send_email),
    (16, finalize),
    (17, |_| Some(Step::Finish(Ending::Other))),
];

/// Returns the next step.
pub fn route(state: &State) -> ReturnsStep {
    decide(state).1
}

/// Returns the next step with the number of its row.
pub fn decide(state: &State) -> (u8, ReturnsStep) {
    let found = TABLE.iter().find_map(|(number, row)| row(state).map(|step| (*number, step)));
    // The last row always applies.
    found.unwrap_or((17, Step::Finish(Ending::Other)))
}

/// A failure is reported and a handoff made before anything else.
fn error_or_escalation(state: &State) -> Option<ReturnsStep> {
    match (state.stage, &state.handoff) {
        (Stage::Failed(Trouble::OrderNotFound), _) => Some(Step::Ask(Question::NotFound)),
        (Stage::Failed(Trouble::OrderLocked), _) => Some(Step::Ask(Question::Locked)),
        (Stage::Failed(Trouble::Internal), _) => Some(Step::Ask(Question::Trouble)),
        (Stage::Over, _) | (Stage::Working | Stage::Asked(_), Handoff::None) => None,
        (_, Handoff::Due(_)) => Some(Step::Run(Worker::Escalate)),
        (_, Handoff::Opened(..)) => Some(Step::Finish(Ending::Escalated)),
    }
}

fn complete(state: &State) -> Option<ReturnsStep> {
    (state.stage == Stage::Over).then_some(Step::Wait)
}

fn order_status(state: &State) -> Option<ReturnsStep> {
    if state.intent != Some(Intent::OrderStatus) || state.order.is_none() {
        return None;
    }
    let shown = state.status_shown;
    Some(if shown { Step::Finish(Ending::StatusShown) } else { Step::Run(Worker::ShowStatus) })
}

fn question_open(state: &State) -> Option<ReturnsStep> {
    state.open_question().map(|_| Step::Wait)
}

fn intent_missing(state: &State) -> Option<ReturnsStep> {
    if state.intent.is_some() {
        return None;
    }
    Some(if state.is_unclear { Step::Ask(Question::Matter) } else { Step::Run(Worker::ClassifyIntent) })
}

/// The order number, and a contact that shows whose order it is.
fn slot_missing(state: &State) -> Option<ReturnsStep> {
    if !state.intent.is_some_and(needs_order) {
        return None;
    }
    if state.order_number.is_none() {
        return Some(match state.declines {
            _ if state.may_name_order => Step::Run(Worker::FillSlot),
            0 => Step::Ask(Question::OrderNumber),
            _ => Step::Ask(Question::OtherOrder),
        });
    }
    let unknown = state.needs_contact && state.meta.contact.is_none() && state.order.is_none();
    unknown.then_some(Step::Ask(Question::Contact))
}

fn order_not_looked_up(state: &State) -> Option<ReturnsStep> {
    (state.order_number.is_some() && state.order.is_none()).then_some(Step::Run(Worker::LookUpOrder))
}

fn not_confirmed(state: &State) -> Option<ReturnsStep> {
    let open =
        state.intent.is_some_and(Intent::is_return) && state.order.is_some() && state.user_confirmed_order.is_none();
    open.then_some(Step::Ask(Question::Confirm))
}

fn declined(state: &State) -> Option<ReturnsStep> {
    (state.user_confirmed_order == Some(false)).then_some(Step::Finish(Ending::Declined))
}

fn policy_unchecked(state: &State) -> Option<ReturnsStep> {
    let open = state.user_confirmed_order == Some(true) && state.eligibility.is_none() && state.ticket.is_none();
    open.then_some(Step::Run(Worker::CheckPolicy))
}

/// Neither window is open. An order that has not been shipped can be cancelled instead.
fn not_eligible(state: &State) -> Option<ReturnsStep> {
    let decision = state.eligibility.as_ref().filter(|_| state.ticket.is_none())?;
    if is_open(decision) || state.desired_action == Some(Action::Cancel) {
        return None;
    }
    Some(if can_be_cancelled(decision) { Step::Ask(Question::OfferCancel) } else { Step::Finish(Ending::NotEligible) })
}

fn action_undecided(state: &State) -> Option<ReturnsStep> {
    let decision = state.eligibility.as_ref()?;
    if state.desired_action.is_some() || state.ticket.is_some() {
        return None;
    }
    Some(match action_of(state) {
        Some(_) => Step::Run(Worker::DecideAction),
        None if decision.is_return_eligible && decision.is_refund_eligible => Step::Ask(Question::ChooseAction),
        None if decision.is_return_eligible => Step::Ask(Question::OnlyReturn),
        None => Step::Ask(Question::OnlyRefund),
    })
}

/// A return or a cancellation.
fn process_return(state: &State) -> Option<ReturnsStep> {
    if state.ticket.is_some() {
        return None;
    }
    match state.desired_action? {
        Action::Return => Some(Step::Run(Worker::ProcessReturn)),
        Action::Cancel => Some(Step::Run(Worker::ProcessCancel)),
        Action::Refund => None,
    }
}

fn process_refund(state: &State) -> Option<ReturnsStep> {
    (state.desired_action == Some(Action::Refund) && state.ticket.is_none()).then_some(Step::Run(Worker::ProcessRefund))
}

/// A queued mail counts as sent: the outbox loses nothing. The desk reports a failed one and asks what to do.
fn send_email(state: &State) -> Option<ReturnsStep> {
    match state.ticket.as_ref()?.mail {
        Mail::Due => Some(Step::Run(Worker::SendEmail)),
        Mail::Left(_) => Some(Step::Finish(Ending::MailLeft)),
        Mail::Missing(_) => Some(Step::Ask(Question::MailMissing)),
        Mail::Settled(EmailStatus::Failed) => Some(Step::Ask(Question::MailFailed)),
        Mail::Settled(EmailStatus::Queued | EmailStatus::Sent | EmailStatus::None) => None,
    }
}

fn finalize(state: &State) -> Option<ReturnsStep> {
    match state.action_ticket() {
        Some(ticket) if ticket.status == TicketStatus::Duplicate => Some(Step::Finish(Ending::Duplicate)),
        Some(_) => Some(Step::Finish(Ending::Done)),
        None if state.intent == Some(Intent::Other) => Some(Step::Finish(Ending::Other)),
        None => None,
    }
}

fn needs_order(intent: Intent) -> bool {
    intent != Intent::Other
}

/// Whether a return or a refund is possible.
pub fn is_open(decision: &Decision) -> bool {
    decision.is_return_eligible || decision.is_refund_eligible
}

/// Returns the action that the customer asked for, if it is possible. `None` means that the desk has to ask.
pub fn action_of(state: &State) -> Option<Action> {
    let decision = state.eligibility.as_ref()?;
    let (wanted, open) = match state.intent? {
        Intent::Return => (Action::Return, decision.is_return_eligible),
        Intent::Refund => (Action::Refund, decision.is_refund_eligible),
        Intent::OrderStatus | Intent::Other => return None,
    };
    // An order that was to be cancelled and has left the shop may come back, but the customer did not ask for that.
    let both_open = decision.is_return_eligible && decision.is_refund_eligible;
    let ambiguous = state.wants_cancel || (state.wants_both && both_open);
    (open && !ambiguous).then_some(wanted)
}

/// Whether nothing has left the shop yet.
pub fn can_be_cancelled(decision: &Decision) -> bool {
    decision.cause == Cause::NotShipped
}

/// Returns the reason for a handoff if the rules require a person.
pub fn review_of(decision: &Decision) -> Option<HandoffReason> {
    decision.requires_manual_review.then_some(HandoffReason::Review)
}

#[cfg(test)]
mod tests;
