//! The routing table: names the next step for a state. The first row that applies decides.
//!
//! The rows are described in `docs/desks/returns.md`.

use super::state::{
    Case, EmailStatus, Ending, HandoffReason, HandoffStatus, Intent, Mail, Phase, Progress, Question, Stage, State,
    TicketStatus, Trouble,
};
use crate::domain::returns::{Action, Cause, Decision};

/// A side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handler {
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

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Asks the customer a question, then continues.
    Ask(Question),
    /// Performs one side effect.
    Run(Handler),
    /// Reports the outcome, then continues.
    Finish(Ending),
    /// Ends the turn and waits for the customer.
    Wait,
}

/// A row: its number, and the step it names if it applies.
pub type Row = (u8, fn(&State) -> Option<Step>);

/// The table, in order.
pub const TABLE: [Row; 17] = [
    (1, error_or_escalation),
    (2, complete),
    (3, order_status),
    (4, question_open),
    (5, intent_missing),
    (6, slot_missing),
    (7, order_not_looked_up),
    (8, policy_unchecked),
    (9, declined),
    (10, not_eligible),
    (11, action_undecided),
    (12, not_agreed),
    (13, process_return),
    (14, process_refund),
    (15, send_email),
    (16, finalize),
    (17, |_| Some(Step::Finish(Ending::Other))),
];

/// Returns the next step.
pub fn route(state: &State) -> Step {
    decide(state).1
}

/// Returns the next step with the number of its row.
pub fn decide(state: &State) -> (u8, Step) {
    let found = TABLE.iter().find_map(|(number, row)| row(state).map(|step| (*number, step)));
    // The last row always applies.
    found.unwrap_or((17, Step::Finish(Ending::Other)))
}

/// A failure is reported and a handoff made before anything else.
fn error_or_escalation(state: &State) -> Option<Step> {
    match (state.phase, &state.handoff) {
        (Phase::Failed(Trouble::OrderNotFound), _) => Some(Step::Ask(Question::NotFound)),
        (Phase::Failed(Trouble::OrderLocked), _) => Some(Step::Ask(Question::Locked)),
        (Phase::Failed(Trouble::Internal), _) => Some(Step::Ask(Question::Trouble)),
        (Phase::Over, _) | (Phase::Working | Phase::Asked(_), HandoffStatus::None) => None,
        (_, HandoffStatus::Due(_)) => Some(Step::Run(Handler::Escalate)),
        (_, HandoffStatus::Opened(..)) => Some(Step::Finish(Ending::Escalated)),
    }
}

fn complete(state: &State) -> Option<Step> {
    (state.phase == Phase::Over).then_some(Step::Wait)
}

fn order_status(state: &State) -> Option<Step> {
    let subject = state.subject().filter(|_| state.case.intent == Some(Intent::OrderStatus))?;
    Some(if subject.status_shown { Step::Finish(Ending::StatusShown) } else { Step::Run(Handler::ShowStatus) })
}

fn question_open(state: &State) -> Option<Step> {
    state.open_question().map(|_| Step::Wait)
}

fn intent_missing(state: &State) -> Option<Step> {
    if state.case.intent.is_some() {
        return None;
    }
    Some(if state.case.message.is_unclear { Step::Ask(Question::Matter) } else { Step::Run(Handler::ClassifyIntent) })
}

/// The order number, and a contact that shows whose order it is.
fn slot_missing(state: &State) -> Option<Step> {
    state.case.intent.filter(|intent| *intent != Intent::Other)?;
    match state.stage {
        Stage::NoOrder | Stage::Declined if state.case.message.may_name_order => Some(Step::Run(Handler::FillSlot)),
        Stage::NoOrder | Stage::Declined if state.case.declines > 0 => Some(Step::Ask(Question::OtherOrder)),
        Stage::NoOrder | Stage::Declined => Some(Step::Ask(Question::OrderNumber)),
        Stage::Named { .. } if state.case.contact.is_needed && state.meta.contact.is_none() => {
            Some(Step::Ask(Question::Contact))
        }
        Stage::Named { .. } | Stage::Found(_) => None,
    }
}

fn order_not_looked_up(state: &State) -> Option<Step> {
    matches!(state.stage, Stage::Named { .. }).then_some(Step::Run(Handler::LookUpOrder))
}

/// The rules decide before the customer is asked, so that no customer agrees to what is refused then.
fn policy_unchecked(state: &State) -> Option<Step> {
    let is_open = state.subject()?.progress == Progress::Undecided;
    (is_open && state.case.intent.is_some_and(Intent::is_return)).then_some(Step::Run(Handler::CheckPolicy))
}

fn declined(state: &State) -> Option<Step> {
    state.is_declined().then_some(Step::Finish(Ending::Declined))
}

/// Neither window is open. An order that has not been shipped can be cancelled instead. The status
/// shows the return of what is in one already.
fn not_eligible(state: &State) -> Option<Step> {
    match &state.subject()?.progress {
        Progress::Decided { decision, .. }
            if decision.cause == Cause::AlreadyInRma && !state.subject()?.status_shown =>
        {
            Some(Step::Run(Handler::ShowStatus))
        }
        Progress::Decided { decision, .. } if !decision.eligible => {
            let offers_cancel = can_be_cancelled(decision);
            Some(if offers_cancel { Step::Ask(Question::OfferCancel) } else { Step::Finish(Ending::NotEligible) })
        }
        _ => None,
    }
}

fn action_undecided(state: &State) -> Option<Step> {
    let Progress::Decided { decision, action: None } = &state.subject()?.progress else { return None };
    Some(match action_of(&state.case, decision) {
        Some(_) => Step::Run(Handler::DecideAction),
        None if state.case.wants_cancel && decision.is_return_eligible => Step::Ask(Question::OnlyReturn),
        None if decision.is_return_eligible && decision.is_refund_eligible => Step::Ask(Question::ChooseAction),
        None if decision.is_return_eligible => Step::Ask(Question::OnlyReturn),
        None => Step::Ask(Question::OnlyRefund),
    })
}

/// The question names the action, the items and the money, or what a person will settle.
fn not_agreed(state: &State) -> Option<Step> {
    let must_ask = match state.subject()?.progress {
        Progress::Decided { action, .. } => action.is_some(),
        Progress::Undecided => state.case.intent.is_some_and(Intent::is_request),
        _ => false,
    };
    must_ask.then_some(Step::Ask(Question::Confirm))
}

/// A return or a cancellation.
fn process_return(state: &State) -> Option<Step> {
    match state.subject()?.progress {
        Progress::Agreed { action: Action::Return, .. } => Some(Step::Run(Handler::ProcessReturn)),
        Progress::Agreed { action: Action::Cancel, .. } => Some(Step::Run(Handler::ProcessCancel)),
        _ => None,
    }
}

fn process_refund(state: &State) -> Option<Step> {
    let is_agreed = matches!(state.subject()?.progress, Progress::Agreed { action: Action::Refund, .. });
    is_agreed.then_some(Step::Run(Handler::ProcessRefund))
}

/// A queued mail counts as sent: the outbox loses nothing. The desk reports a failed one and asks what to do.
fn send_email(state: &State) -> Option<Step> {
    match state.ticket()?.mail {
        Mail::Due => Some(Step::Run(Handler::SendEmail)),
        Mail::Left(_) => Some(Step::Finish(Ending::MailLeft)),
        Mail::Missing(_) => Some(Step::Ask(Question::MailMissing)),
        Mail::Settled(EmailStatus::Failed) => Some(Step::Ask(Question::MailFailed)),
        Mail::Settled(EmailStatus::Queued | EmailStatus::Sent | EmailStatus::None) => None,
    }
}

fn finalize(state: &State) -> Option<Step> {
    match state.action_ticket() {
        Some(ticket) if ticket.status == TicketStatus::Duplicate => Some(Step::Finish(Ending::Duplicate)),
        Some(_) => Some(Step::Finish(Ending::Done)),
        None if state.case.intent == Some(Intent::Other) => Some(Step::Finish(Ending::Other)),
        None => None,
    }
}

/// Returns the action that the customer asked for, if it is possible. `None` means that the desk has to ask.
pub fn action_of(case: &Case, decision: &Decision) -> Option<Action> {
    let (wanted, open) = match case.intent? {
        Intent::Return => (Action::Return, decision.is_return_eligible),
        Intent::Refund => (Action::Refund, decision.is_refund_eligible),
        _ => return None,
    };
    // An order that was to be cancelled and has left the shop may come back, but the customer did not ask for that.
    let both_open = decision.is_return_eligible && decision.is_refund_eligible;
    let ambiguous = case.wants_cancel || (case.wants_both && both_open);
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
