//! Seed 000's routing table: what comes next, decided by the state alone.
//!
//! Rows are evaluated in their order, and the first that applies decides. Where a row is not the seed's to the letter, it
//! says so.

use super::state::{EmailStatus, Ending, Escalate, Intent, Question, State, TicketStatus, Trouble};
use crate::desks::machine::Step;
use crate::domain::returns::{Action, Decision, Why};

/// One side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Worker {
    /// Asks the model what the message is about, where the rules cannot tell.
    ClassifyIntent,
    /// Asks the model for the order number, where the rules cannot tell.
    FillSlot,
    LookUpOrder,
    ShowStatus,
    CheckPolicy,
    DecideAction,
    ProcessReturn,
    ProcessRefund,
    ProcessCancel,
    SendEmail,
    /// Hands over to a person.
    Escalate,
}

pub type ReturnsStep = Step<Worker, Question, Ending>;

/// A row: its number in the seed's table, and when it applies.
pub type Row = (u8, fn(&State) -> Option<ReturnsStep>);

/// The table.
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

/// The next step.
pub fn route(state: &State) -> ReturnsStep {
    decide(state).1
}

/// The row that decides, and what it says.
pub fn decide(state: &State) -> (u8, ReturnsStep) {
    let found = TABLE.iter().find_map(|(number, row)| row(state).map(|step| (*number, step)));
    // The last row always applies.
    found.unwrap_or((17, Step::Finish(Ending::Other)))
}

/// "Surface message, offer recovery or handoff"; and the handoff itself, which stands above every flow.
fn error_or_escalation(state: &State) -> Option<ReturnsStep> {
    if let Some(trouble) = state.error {
        return Some(Step::Ask(match trouble {
            Trouble::OrderNotFound => Question::NotFound,
            Trouble::OrderLocked => Question::Locked,
            Trouble::Internal => Question::Trouble,
        }));
    }
    if state.conversation_complete {
        return None;
    }
    match (state.escalate, &state.escalation_ticket) {
        (Some(_), None) => Some(Step::Run(Worker::Escalate)),
        (Some(_), Some(_)) => Some(Step::Finish(Ending::Escalated)),
        (None, _) => None,
    }
}

fn complete(state: &State) -> Option<ReturnsStep> {
    state.conversation_complete.then_some(Step::Wait)
}

/// The seed looks into the last message for "Order #" and "Status:"; here a field says that the status was shown.
fn order_status(state: &State) -> Option<ReturnsStep> {
    if state.intent != Some(Intent::OrderStatus) || state.order.is_none() {
        return None;
    }
    let shown = state.status_shown;
    Some(if shown { Step::Finish(Ending::StatusShown) } else { Step::Run(Worker::ShowStatus) })
}

/// The seed's "last message has ? or please" is: a question was put, and the customer has not answered.
fn question_open(state: &State) -> Option<ReturnsStep> {
    state.asked.map(|_| Step::Wait)
}

fn intent_missing(state: &State) -> Option<ReturnsStep> {
    if state.intent.is_some() {
        return None;
    }
    Some(if state.is_unclear { Step::Ask(Question::Matter) } else { Step::Run(Worker::ClassifyIntent) })
}

/// The order number, and whose order it is, which the seed does not ask.
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

/// The seed's condition is "not true", which would leave row 9 to nobody; here a no is row 9's.
fn not_confirmed(state: &State) -> Option<ReturnsStep> {
    let open =
        state.intent.is_some_and(Intent::is_return) && state.order.is_some() && state.user_confirmed_order.is_none();
    open.then_some(Step::Ask(Question::Confirm))
}

fn declined(state: &State) -> Option<ReturnsStep> {
    (state.user_confirmed_order == Some(false)).then_some(Step::Finish(Ending::Declined))
}

/// Not where the same was asked for before: then there is a ticket already.
fn policy_unchecked(state: &State) -> Option<ReturnsStep> {
    let open = state.user_confirmed_order == Some(true) && state.eligibility.is_none() && state.action_ticket.is_none();
    open.then_some(Step::Run(Worker::CheckPolicy))
}

/// "Not eligible" is: neither window is open. What has not been shipped can be cancelled instead.
fn not_eligible(state: &State) -> Option<ReturnsStep> {
    let decision = state.eligibility.as_ref().filter(|_| state.action_ticket.is_none())?;
    if is_open(decision) || state.desired_action == Some(Action::Cancel) {
        return None;
    }
    Some(if can_be_cancelled(decision) { Step::Ask(Question::OfferCancel) } else { Step::Finish(Ending::NotEligible) })
}

fn action_undecided(state: &State) -> Option<ReturnsStep> {
    let decision = state.eligibility.as_ref()?;
    if state.desired_action.is_some() || state.action_ticket.is_some() {
        return None;
    }
    Some(match action_of(state) {
        Some(_) => Step::Run(Worker::DecideAction),
        None if decision.is_return_eligible && decision.is_refund_eligible => Step::Ask(Question::ChooseAction),
        None if decision.is_return_eligible => Step::Ask(Question::OnlyReturn),
        None => Step::Ask(Question::OnlyRefund),
    })
}

/// And an order that is called off, which the seed names an action and gives no row.
fn process_return(state: &State) -> Option<ReturnsStep> {
    if state.action_ticket.is_some() {
        return None;
    }
    match state.desired_action? {
        Action::Return => Some(Step::Run(Worker::ProcessReturn)),
        Action::Cancel => Some(Step::Run(Worker::ProcessCancel)),
        Action::Refund => None,
    }
}

fn process_refund(state: &State) -> Option<ReturnsStep> {
    (state.desired_action == Some(Action::Refund) && state.action_ticket.is_none())
        .then_some(Step::Run(Worker::ProcessRefund))
}

/// Queued satisfies this row as sent does: the outbox loses nothing. Failed is told, with an offer.
fn send_email(state: &State) -> Option<ReturnsStep> {
    state.action_ticket.as_ref()?;
    if state.leaves_mail && (state.mail_missing || state.email_status == Some(EmailStatus::Failed)) {
        return Some(Step::Finish(Ending::MailLeft));
    }
    if state.mail_missing {
        return Some(Step::Ask(Question::MailMissing));
    }
    match state.email_status {
        None => Some(Step::Run(Worker::SendEmail)),
        Some(EmailStatus::Failed) => Some(Step::Ask(Question::MailFailed)),
        Some(EmailStatus::Queued | EmailStatus::Sent | EmailStatus::None) => None,
    }
}

fn finalize(state: &State) -> Option<ReturnsStep> {
    match &state.action_ticket {
        Some(ticket) if ticket.status == TicketStatus::Duplicate => Some(Step::Finish(Ending::Duplicate)),
        Some(_) => Some(Step::Finish(Ending::Done)),
        None if state.intent == Some(Intent::Other) => Some(Step::Finish(Ending::Other)),
        None => None,
    }
}

fn needs_order(intent: Intent) -> bool {
    intent != Intent::Other
}

/// Whether the goods may come back, or the money go out.
pub fn is_open(decision: &Decision) -> bool {
    decision.is_return_eligible || decision.is_refund_eligible
}

/// Seed 000's DecideActionWorker: what the customer asked for, where it is open. `None`: it has to be asked.
pub fn action_of(state: &State) -> Option<Action> {
    let decision = state.eligibility.as_ref()?;
    let (wanted, open) = match state.intent? {
        Intent::Return => (Action::Return, decision.is_return_eligible),
        Intent::Refund => (Action::Refund, decision.is_refund_eligible),
        Intent::OrderStatus | Intent::Other => return None,
    };
    // What was to be called off and has left the shop can come back, but nobody has asked for that.
    let both_open = decision.is_return_eligible && decision.is_refund_eligible;
    let ambiguous = state.wants_cancel || (state.wants_both && both_open);
    (open && !ambiguous).then_some(wanted)
}

/// Nothing has left the shop yet.
pub fn can_be_cancelled(decision: &Decision) -> bool {
    decision.why == Why::NotShipped
}

/// Why a person is to look at a decision, if one is.
pub fn review_of(decision: &Decision) -> Option<Escalate> {
    decision.requires_manual_review.then_some(Escalate::Review)
}

#[cfg(test)]
mod tests;
