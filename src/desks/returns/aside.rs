//! Questions outside of the flow, such as one about a policy, and their answers.

use super::advance::Event;
use super::facts::Fact;
use super::knowledge::{has_changed, is_with_person};
use super::plan::Message;
use super::route::{self, Handler, Step};
use super::rules::{self, Topic, Utterance};
use super::scenario::Scenario;
use super::state::{HandoffReason, Intent, Phase, Question, State};
use super::texts::VariantPicker;
use super::{Returns, kind, remember};
use crate::desks::{DeskError, Turn};
use crate::dialogue::Answer;
use crate::dialogue::social::{Social, Written};
use crate::domain::returns::{RmaNumber, Ticket};
use crate::domain::{Kind, Metadata};

/// A question of fewer words says little.
const TELLING_WORDS: usize = 5;

/// What the desk answers outside of the flow, which then continues where it was.
pub(super) enum Aside<'a> {
    Ticket(&'a Ticket),
    /// The customer says yes again after the return was made.
    Done(RmaNumber),
    /// Asks what the desk has done about the order: nothing.
    NothingDone,
    /// Asks how long the conversation's order may come back.
    Deadline,
    /// Asks how much money comes back for the conversation's order.
    Amount,
    /// A question that the documents answer. The message's other wish is kept, unless a person decides about it.
    Policy {
        keeps_wish: bool,
    },
    ReturnNumber(RmaNumber),
    /// Asks where the order is before answering a question about it.
    Status,
    /// Asks what the shop's data know.
    Fact(Fact),
    /// Asks what neither the data nor the documents of this desk know, such as what the shop sells.
    Unknown(Scenario),
    /// Needs time to answer.
    Pause,
    SmallTalk(Social),
}

impl<'a> Aside<'a> {
    /// Returns what a message asks outside of the flow. The first row that applies decides; `docs/desks/returns.md` has the table.
    pub fn of(state: &State, utterance: &Utterance, ticket: Option<&'a Ticket>) -> Option<Self> {
        let fact = Fact::of(state, utterance);
        match (ticket, &state.meta.last_rma) {
            (Some(ticket), _) if utterance.asks(Topic::Ticket) || calls_person_again(state, utterance, ticket) => {
                Some(Self::Ticket(ticket))
            }
            (_, Some(number)) if agrees_again(state, utterance) && is_ticket_of_flow(state, number) => {
                Some(Self::Done(number.clone()))
            }
            _ if utterance.wants_person() => None,
            (None, None) if asks_what_was_done(state, utterance) => Some(Self::NothingDone),
            _ if utterance.asks(Topic::Assortment) && wants_nothing_else(utterance) => {
                Some(Self::Unknown(Scenario::Assortment))
            }
            _ if asks_deadline(state, utterance) || asks_why_no_refund(state, utterance) => Some(Self::Deadline),
            _ if asks_amount(state, utterance) && may_know_amount(state) => Some(Self::Amount),
            _ if fact.is_some() => fact.map(Self::Fact),
            _ if utterance.asks(Topic::Policy) => Some(Self::Policy { keeps_wish: !only_supposes(state, utterance) }),
            (_, Some(number)) if utterance.asks(Topic::ReturnNumber) => Some(Self::ReturnNumber(number.clone())),
            _ if asks_status_before_yes(state, utterance) => Some(Self::Status),
            _ if pauses(state, utterance) => Some(Self::Pause),
            _ => utterance.social().map(Self::SmallTalk),
        }
    }

    /// Returns the rest of the message, which does not answer what the desk asked before.
    pub fn rest(&self, utterance: &Utterance) -> Utterance {
        match self {
            Self::Policy { keeps_wish } => rules::without_question(utterance.clone(), *keeps_wish),
            // The question itself reads as a wish: "until when can I send it back?"
            Self::Deadline => rules::without_question(utterance.clone(), false),
            // "Forget that. Do you sell tents?"
            Self::Unknown(_) if utterance.cancels() || utterance.denies() => {
                Utterance { answer: utterance.answer, ..Utterance::default() }
            }
            // The question itself may read as a yes, or as a wish: "any news about my exchange?"
            Self::Ticket(_) | Self::ReturnNumber(_) => {
                let names_wish = utterance.asks(Topic::Ticket) && utterance.mentions(Topic::Return);
                let keeps_wish = names_wish && utterance.intent.is_some_and(Intent::is_return);
                let answers_nothing =
                    Utterance { answer: None, answer_to_cancel: None, answer_to_ticket: None, ..utterance.clone() };
                rules::without_question(answers_nothing, keeps_wish)
            }
            _ => Utterance::default(),
        }
    }

    /// Whether the customer answers later, so that the desk does not repeat its question.
    pub fn is_pause(&self, state: &State, utterance: &Utterance) -> bool {
        let asks_for_slot = state.open_question().is_some_and(Question::is_for_slot);
        match self {
            Self::Pause => true,
            // The customer is at something else.
            Self::Unknown(_) => asks_for_slot && utterance.answer.is_none(),
            _ => false,
        }
    }
}

/// Whether the customer asks for the person who has the ticket already, or agrees to the ticket that was opened.
fn calls_person_again(state: &State, utterance: &Utterance, ticket: &Ticket) -> bool {
    let is_waiting = state.meta.last_ticket.as_ref() == Some(&ticket.id) && ticket.resolved.is_none();
    let is_for_person = utterance.wants_person()
        && state.phase == Phase::Over
        && state.handoff.reason() == Some(HandoffReason::Person)
        && wants_nothing_else(utterance);
    is_waiting && (agrees_again(state, utterance) || is_for_person)
}

/// Whether the message says yes although nothing was asked.
fn agrees_again(state: &State, utterance: &Utterance) -> bool {
    // "Ok make the ticket" says more than "ok".
    let agrees_to_ticket = utterance.answer_to_ticket == Some(Answer::Yes) && !utterance.only_answers();
    state.phase == Phase::Over
        && state.meta.waiting.is_empty()
        && (utterance.affirms() && !utterance.acknowledges() || agrees_to_ticket)
        && !utterance.has_question()
        && !utterance.wants_person()
        && wants_nothing_else(utterance)
}

/// Whether the message only supposes a case before there is an order: "if I wore them, can they go back?"
fn only_supposes(state: &State, utterance: &Utterance) -> bool {
    utterance.asks(Topic::Return) && state.order_number().is_none() && state.is_idle()
}

/// Whether the message asks until when the conversation's order may come back. "Is it too late to cancel?" does not.
fn asks_deadline(state: &State, utterance: &Utterance) -> bool {
    utterance.asks(Topic::Deadline) && state.order().is_some() && !utterance.mentions(Topic::Cancellation)
}

/// Whether the message asks why there is no refund, where only a return is possible.
fn asks_why_no_refund(state: &State, utterance: &Utterance) -> bool {
    let is_past = state.decision().is_some_and(|of| of.is_return_eligible && !of.is_refund_eligible);
    is_past && utterance.mentions(Topic::Reason) && utterance.has_question() && utterance.wants(Intent::Refund)
}

fn wants_nothing_else(utterance: &Utterance) -> bool {
    matches!(utterance.intent, None | Some(Intent::Other))
        && !utterance.names_order_or_contact()
        && !utterance.reports(Topic::Damage)
}

/// Whether the message asks how much money comes back. While the desk waits for an answer, that is what the goods cost, too.
fn asks_amount(state: &State, utterance: &Utterance) -> bool {
    let asks_price = || utterance.asks(Topic::Price) && utterance.intent.is_none() && state.open_question().is_some();
    utterance.asks(Topic::Amount) || asks_price()
}

/// Whether the money for the conversation's order is known: it was named in a question, or belongs to a return.
fn may_know_amount(state: &State) -> bool {
    state.order().is_some() && (!state.is_refused() || state.open_question() == Some(Question::OfferCancel))
}

fn is_ticket_of_flow(state: &State, number: &RmaNumber) -> bool {
    state.action_ticket().is_some_and(|ticket| ticket.id == number.as_str())
}

/// Whether the message asks what came of a flow about an order, and nothing else.
fn asks_what_was_done(state: &State, utterance: &Utterance) -> bool {
    state.order().is_some()
        && (utterance.asks(Topic::Ticket) || utterance.asks(Topic::ReturnNumber))
        && wants_nothing_else(utterance)
}

/// Whether the message asks where the order is, while the desk waits for a yes.
fn asks_status_before_yes(state: &State, utterance: &Utterance) -> bool {
    state.order().is_some()
        && state.open_question().is_some_and(Question::is_for_yes)
        && utterance.wants(Intent::OrderStatus)
        && utterance.has_question()
        && utterance.answer.is_none()
        && !utterance.names_order_or_contact()
        && !utterance.mentions(Topic::OtherOrder)
        && !utterance.requests(Topic::Label)
        && !utterance.wants_person()
}

/// Whether the message only says that the answer takes time.
fn pauses(state: &State, utterance: &Utterance) -> bool {
    state.open_question().is_some_and(Question::is_for_slot)
        && utterance.stalls()
        && utterance.intent.is_none()
        && utterance.answer.is_none()
        && !utterance.has_question()
        && !utterance.names_order_or_contact()
}

/// Whether the message asks something unclear after a person was called: the desk says that the person has not decided yet.
fn asks_again(before: &State, after: &State, utterance: &Utterance, ticket: &Ticket) -> bool {
    let is_unclear = route::route(after) == Step::Run(Handler::ClassifyIntent);
    is_open_after(before, ticket) && is_unclear && utterance.has_question()
}

/// Whether the message asks something else than what the desk waits for, or than why it refused. A short one only doubts: "is that
/// final?".
fn asks_beside(before: &State, after: &State, utterance: &Utterance) -> bool {
    let repeats = |question| route::route(after) == Step::Ask(question) && !has_changed(before, after);
    let is_beside = match before.open_question() {
        Some(question) if question.is_for_yes() => repeats(question),
        _ => before.may_argue() && route::route(after) == Step::Run(Handler::ClassifyIntent),
    };
    is_beside
        && utterance.has_question()
        && utterance.intent.is_none()
        && utterance.answer.is_none()
        && !after.case.message.adds_detail
        && utterance.explanation.split_whitespace().count() >= TELLING_WORDS
}

/// Whether the last flow ended with this ticket, and no person has decided it.
fn is_open_after(state: &State, ticket: &Ticket) -> bool {
    state.phase == Phase::Over && state.handoff.ticket() == Some(&ticket.id) && ticket.resolved.is_none()
}

/// Whether the message wants again what a person is about to decide: the ticket stands, whatever the rules would say. A ticket
/// without an order, such as one about an invoice, decides no return.
fn awaits(state: &State, utterance: &Utterance, ticket: &Ticket) -> bool {
    let adds_something = utterance.names_order_or_contact()
        || utterance.wants_person()
        || utterance.reports(Topic::Damage)
        || utterance.requests(Topic::Cancellation)
        || utterance.cancels();
    is_open_after(state, ticket)
        && ticket.order.is_some()
        && utterance.intent.is_some_and(Intent::is_return)
        && !adds_something
}

impl Returns {
    /// Returns what the message asks outside of the flow. In agent mode the model makes small talk, and answers what is unclear.
    pub(super) fn find_aside<'a>(
        &self,
        turn: &Turn,
        (before, after): (&State, &State),
        message: &Message,
        ticket: Option<&'a Ticket>,
        may_be_for_agent: bool,
    ) -> Option<Aside<'a>> {
        let utterance = &message.utterance;
        let aside = Aside::of(before, utterance, ticket);
        if may_be_for_agent {
            let from_ticket = || ticket.filter(|ticket| awaits(before, utterance, ticket)).map(Aside::Ticket);
            let is_for_desk =
                |aside: &Aside<'_>| matches!(aside, Aside::Ticket(_) | Aside::Policy { .. } | Aside::ReturnNumber(_));
            return aside.filter(is_for_desk).or_else(from_ticket);
        }
        let from_documents = || {
            let is_answered = self.documents_answer(turn, (before, after), utterance, &message.text);
            let keeps_wish = !is_with_person(before) && !only_supposes(before, utterance);
            is_answered.then_some(Aside::Policy { keeps_wish })
        };
        let is_waiting =
            |ticket: &&Ticket| awaits(before, utterance, ticket) || asks_again(before, after, utterance, ticket);
        let from_ticket = || ticket.filter(is_waiting).map(Aside::Ticket);
        // What the documents do not answer is an argument against the refusal.
        let argues = matches!(aside, Some(Aside::Policy { .. })) && before.may_argue();
        let aside = aside.filter(|_| !argues || self.has_answer(turn, before, &message.text, true));
        let unanswered = || asks_beside(before, after, utterance).then_some(Aside::Unknown(Scenario::PolicyUnknown));
        aside.or_else(from_documents).or_else(from_ticket).or_else(unanswered)
    }

    /// Answers a question outside of the flow.
    pub(super) async fn answer_aside(
        &self,
        turn: &mut Turn,
        state: &mut State,
        aside: &Aside<'_>,
        text: &str,
    ) -> Result<(), DeskError> {
        match aside {
            Aside::Ticket(ticket) => self.send_ticket_status(turn, state, ticket).await,
            Aside::Done(number) => {
                let values = [("ticket_id", number.as_str())];
                self.send(turn, state, kind::RETURN_TICKET, Scenario::Duplicate, &values).await
            }
            Aside::NothingDone => self.send(turn, state, Kind::Reply, Scenario::NothingDone, &[]).await,
            Aside::Deadline => self.answer_deadline(turn, state, text).await,
            Aside::Amount => self.answer_amount(turn, state, text).await,
            Aside::Policy { .. } => self.answer_question(turn, state, text).await,
            Aside::Status => {
                if let Event::Spoke(said, _) = self.show_status(turn, state).await? {
                    state.meta.said.extend(said);
                }
                Ok(())
            }
            Aside::Fact(fact) => self.answer_fact(turn, state, *fact, text).await,
            Aside::Unknown(scenario) => {
                let hotline = self.hotline(turn).to_owned();
                self.send(turn, state, Kind::Reply, *scenario, &[("hotline", hotline.as_str())]).await
            }
            Aside::Pause => self.send(turn, state, Kind::Reply, Scenario::NoHurry, &[]).await,
            Aside::ReturnNumber(number) => {
                let values = [("rma_number", number.as_str())];
                self.send(turn, state, Kind::Reply, Scenario::ReturnNumber, &values).await
            }
            Aside::SmallTalk(topic) => self.chat(turn, state, *topic).await,
        }
    }

    /// Answers small talk. Outside of any flow, says once what the desk is for.
    async fn chat(&self, turn: &mut Turn, state: &mut State, topic: Social) -> Result<(), DeskError> {
        let Written { mut text, .. } = self.social.written(turn, topic, self.common.get(turn.language()))?;
        if state.is_idle() && !state.meta.said.contains_key(&Scenario::SocialRedirect) {
            let mut variants = VariantPicker::new(&self.texts(turn).replies, &state.meta.said);
            text = format!("{text} {}", variants.text(Scenario::SocialRedirect, &[])?);
            state.meta.said.extend(variants.used());
        }
        Ok(turn.say_with(Kind::Social, &text, Metadata::of(Kind::Social)).await?)
    }

    /// Ends the turn after an aside outside of any flow. A question that was answered is followed by "anything else?".
    pub(super) async fn end_after_aside(
        &self,
        turn: &mut Turn,
        mut state: State,
        aside: &Aside<'_>,
    ) -> Result<(), DeskError> {
        if !matches!(aside, Aside::SmallTalk(_) | Aside::Pause) {
            self.send(turn, &mut state, Kind::FollowUp, Scenario::AnythingElse, &[]).await?;
        }
        remember(turn, &state);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::desks::returns::state::HandoffStatus;
    use crate::domain::returns::TicketKind;

    #[test]
    fn ticket_without_order_holds_no_return_up() {
        let id = "TICKET-1-AAAA".to_owned();
        let handoff = HandoffStatus::Opened(HandoffReason::Request, id.clone());
        let state = State { phase: Phase::Over, handoff, ..State::default() };
        let wish = Utterance { intent: Some(Intent::Return), ..Utterance::default() };
        for (order, expected) in [(None, false), (Some("77893"), true)] {
            let ticket = Ticket {
                id: id.clone(),
                kind: TicketKind::Escalation,
                order: order.map(|number| number.parse().expect("a number")),
                rma: None,
                conversation: None,
                priority: None,
                reason: String::new(),
                summary: String::new(),
                claim: None,
                question: None,
                created_at: DateTime::UNIX_EPOCH,
                resolved: None,
            };
            assert_eq!(awaits(&state, &wish, &ticket), expected, "{order:?}");
        }
    }
}
