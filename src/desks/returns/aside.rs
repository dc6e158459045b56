//! Questions outside of the flow, such as one about a policy, and their answers.

use super::knowledge::is_with_person;
use super::plan::Message;
use super::route::{self, Step, Worker};
use super::rules::{self, Topic, Utterance};
use super::scenario::Scenario;
use super::state::{Intent, Phase, State};
use super::texts::VariantPicker;
use super::{Returns, remember};
use crate::desks::{DeskError, Turn};
use crate::dialogue::social::{Social, Written};
use crate::domain::returns::{RmaNumber, Ticket};
use crate::domain::{Kind, Metadata};

/// A question outside of the flow.
pub(super) enum Aside<'a> {
    Ticket(&'a Ticket),
    /// A question that the documents answer. The message's other wish is kept, unless a person decides about it.
    Policy {
        keeps_wish: bool,
    },
    ReturnNumber(RmaNumber),
    SmallTalk(Social),
}

impl<'a> Aside<'a> {
    fn of(state: &State, utterance: &Utterance, ticket: Option<&'a Ticket>) -> Option<Self> {
        match (ticket, &state.meta.last_rma) {
            (Some(ticket), _) if utterance.asks(Topic::Ticket) => Some(Self::Ticket(ticket)),
            _ if utterance.asks(Topic::Policy) => Some(Self::Policy { keeps_wish: true }),
            (_, Some(number)) if utterance.asks(Topic::ReturnNumber) => Some(Self::ReturnNumber(number.clone())),
            _ => utterance.social().map(Self::SmallTalk),
        }
    }

    /// Returns the rest of the message, which does not answer what the desk asked before.
    pub fn rest(&self, utterance: &Utterance) -> Utterance {
        match self {
            Self::Policy { keeps_wish } => rules::without_question(utterance.clone(), *keeps_wish),
            Self::Ticket(_) | Self::ReturnNumber(_) | Self::SmallTalk(_) => Utterance::default(),
        }
    }
}

/// Whether the message asks something unclear after a person was called: the desk says that the person has not decided yet.
fn asks_again(before: &State, after: &State, utterance: &Utterance, ticket: &Ticket) -> bool {
    let is_unclear = route::route(after) == Step::Run(Worker::ClassifyIntent);
    is_open_after(before, ticket) && is_unclear && utterance.has_question()
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
            return aside.filter(|aside| !matches!(aside, Aside::SmallTalk(_))).or_else(from_ticket);
        }
        let from_documents = || {
            let is_answered = self.documents_answer(turn, (before, after), utterance, &message.text);
            is_answered.then_some(Aside::Policy { keeps_wish: !is_with_person(before) })
        };
        let is_waiting =
            |ticket: &&Ticket| awaits(before, utterance, ticket) || asks_again(before, after, utterance, ticket);
        let from_ticket = || ticket.filter(is_waiting).map(Aside::Ticket);
        aside.or_else(from_documents).or_else(from_ticket)
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
            Aside::Policy { .. } => self.answer_question(turn, state, text).await,
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
        if !matches!(aside, Aside::SmallTalk(_)) {
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
    use crate::desks::returns::state::{Handoff, HandoffReason};
    use crate::domain::returns::TicketKind;

    #[test]
    fn ticket_without_order_holds_no_return_up() {
        let id = "TICKET-1-AAAA".to_owned();
        let handoff = Handoff::Opened(HandoffReason::Request, id.clone());
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
