//! A random walk through the machine, with a world that hands out tickets and sends mails.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::desks::returns::route::{Handler, decide};
use crate::desks::returns::rules::Topic;
use crate::desks::returns::state::TicketStatus;
use crate::desks::returns::tests::sample;
use crate::dialogue::utterance::Entities;
use crate::dialogue::{Act, Answer};
use crate::domain::identity::Contact;
use crate::domain::returns::{Action, Cause, ticket::idempotency_key};
use crate::nlu::entities::{Confidence, Found};

/// How many events the walk is long.
const EVENTS: usize = 10_000;

/// What a random walk has to ask for: dice, and the shop's tables.
struct World {
    dice: StdRng,
    /// Tickets by their key.
    tickets: BTreeMap<String, String>,
    /// Which tickets a mail was sent for.
    mailed: BTreeSet<String>,
    rows: BTreeSet<u8>,
}

impl World {
    fn roll(&mut self, sides: usize) -> usize {
        self.dice.random_range(0..sides)
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }

    fn message(&mut self) -> Utterance {
        let number = |text: &str| Found { number: text.parse().expect("a number"), confidence: Confidence::Named };
        let contact = |text: &str| Contact::Email(text.parse().expect("an address"));
        let answer = self.pick(&[
            None,
            Some(Answer::Yes),
            Some(Answer::Yes),
            Some(Answer::No),
            Some(Answer::Cancel),
            Some(Answer::Again),
        ]);
        let intent = self.pick(&[
            None,
            None,
            Some(Intent::Return),
            Some(Intent::Refund),
            Some(Intent::OrderStatus),
            Some(Intent::Other),
        ]);
        let mut orders = self.pick(&[vec![], vec![], vec![number("77893")], vec![number("77894")]]);
        if !orders.is_empty() && self.roll(3) == 0 {
            orders.push(number("77894"));
        }
        let (mail, other) = (|| contact("a@example.com"), || contact("b@example.com"));
        let contacts = self.pick(&[vec![], vec![], vec![], vec![mail()], vec![mail(), other()]]);
        let has_unread_order = self.roll(8) == 0;
        let utterance = Utterance {
            text: "words".to_owned(),
            explanation: "words".to_owned(),
            intent,
            answer,
            answer_to_cancel: answer,
            answer_to_ticket: answer,
            entities: Entities { orders, contacts, has_unread_order, ..Entities::default() },
            ..Utterance::default()
        };
        let acts = [
            (Act::LeaveOpen, 6),
            (Act::Request(Topic::Cancellation), 8),
            (Act::Hesitate, 4),
            (Act::Mention(Topic::Cancellation), 8),
            (Act::Question, 8),
            (Act::Equivocate, 12),
            (Act::OnlyAnswer, 4),
            (Act::PointBack, 4),
            (Act::Greet, 12),
            (Act::Ask(Topic::Exception), 12),
            (Act::Report(Topic::Damage), 12),
            (Act::WantPerson, 30),
        ];
        let said = acts.into_iter().filter(|(_, sides)| self.roll(*sides) == 0);
        said.fold(utterance, |utterance, (act, _)| utterance.with(act))
    }

    /// What a handler comes back with.
    fn work(&mut self, state: &State, handler: Handler) -> Event {
        match handler {
            Handler::ClassifyIntent => Event::Classified(self.pick(&[None, Some(Intent::Return)])),
            Handler::FillSlot => Event::SlotFilled(self.pick(&[None, Some(sample::number())])),
            Handler::LookUpOrder => match self.roll(8) {
                0 => Event::OrderNotFound,
                1 => Event::OrderLocked,
                3 if state.case.contact.other.is_some() => {
                    let order = sample::order_of(state.order_number().cloned().expect("a number"));
                    Event::WithContact("b@example.com".to_owned(), Box::new(Event::OrderFound(order, None)))
                }
                2 if state.meta.contact_fits && !state.case.contact.is_given => Event::OtherContact,
                _ => Event::OrderFound(sample::order_of(state.order_number().cloned().expect("a number")), None),
            },
            Handler::ShowStatus => Event::StatusShown,
            Handler::CheckPolicy => {
                let order = state.order().expect("an order");
                let action = if state.case.intent == Some(Intent::Refund) { Action::Refund } else { Action::Return };
                let key = idempotency_key(&order.number, action, None, 0);
                match self.tickets.get(&key) {
                    Some(id) => Event::AskedBefore(ActionTicket { id: id.clone(), status: TicketStatus::Duplicate }),
                    None => Event::Decided(
                        match self.roll(7) {
                            0 => sample::refused(Cause::NotShipped),
                            1 => sample::refused(Cause::WindowOver),
                            2 => sample::refused(Cause::Damaged),
                            3 => sample::open(true, false),
                            4 => sample::open(false, true),
                            _ => sample::approved(),
                        },
                        vec![1],
                        sample::refund(),
                    ),
                }
            }
            Handler::DecideAction => Event::ActionDecided,
            Handler::ProcessReturn | Handler::ProcessRefund | Handler::ProcessCancel => self.process(state),
            Handler::SendEmail => {
                let ticket = state.action_ticket().expect("a ticket");
                if self.mailed.contains(&ticket.id) {
                    return Event::Mailed(EmailStatus::Sent);
                }
                let status = self.pick(&[EmailStatus::Sent, EmailStatus::Failed, EmailStatus::Queued]);
                if status == EmailStatus::Sent {
                    assert!(self.mailed.insert(ticket.id.clone()), "mailed twice");
                }
                Event::Mailed(status)
            }
            Handler::Escalate => Event::Escalated("TICKET-1-AAAA".to_owned()),
        }
    }

    /// A ticket under its key, once.
    fn process(&mut self, state: &State) -> Event {
        let order = state.order().expect("a ticket without an order");
        assert!(state.is_agreed(), "a ticket without a yes");
        let action = state.action().expect("a ticket without an action");
        let decision = state.decision().expect("a ticket without a decision");
        let open = match action {
            Action::Return => decision.is_return_eligible,
            Action::Refund => decision.is_refund_eligible,
            Action::Cancel => decision.cause == Cause::NotShipped,
        };
        assert!(open, "a ticket that the decision does not allow: {state:?}");
        if self.roll(8) == 0 {
            return Event::OtherAmount(sample::refund());
        }
        let key = idempotency_key(&order.number, action, None, 0);
        let count = self.tickets.len();
        let (id, status) = match self.tickets.get(&key) {
            Some(id) => (id.clone(), TicketStatus::Duplicate),
            None => (format!("RMA-{}-AAAA", count + 1), TicketStatus::Created),
        };
        self.tickets.insert(key.clone(), id.clone());
        let rma = id.parse().ok().filter(|_| action != Action::Cancel);
        Event::Ticketed(Ticketed { ticket: ActionTicket { id, status }, action, rma, refund: None, key })
    }
}

/// The stored form loses nothing of a reachable state.
fn check(state: &State) {
    let text = serde_json::to_value(state).expect("a state");
    assert_eq!(&serde_json::from_value::<State>(text).expect("a state"), state, "what is saved is read back");
}

#[test]
fn random_events_keep_states_legal_and_effects_single() {
    let dice = StdRng::seed_from_u64(7);
    let mut world = World { dice, tickets: BTreeMap::new(), mailed: BTreeSet::new(), rows: BTreeSet::new() };
    let (mut state, mut steps) = (State::default(), 0);
    for _ in 0..EVENTS {
        let (row, step) = decide(&state);
        world.rows.insert(row);
        steps += 1;
        assert!(steps < 40, "the machine never waits: {state:?}");
        let event = match step {
            Step::Wait => {
                steps = 0;
                // Now and then another shop's worth of orders, so that not everything was asked for before.
                if world.roll(20) == 0 {
                    world.tickets.clear();
                    world.mailed.clear();
                }
                state.case.contact.is_needed = world.roll(2) == 0;
                Event::Said(world.message())
            }
            Step::Run(handler) => world.work(&state, handler),
            Step::Ask(question) => Event::Asked(question),
            Step::Finish(ending) => Event::Finished(ending),
        };
        state = advance(state, event).0;
        check(&state);
    }
    assert_eq!(
        world.rows.into_iter().collect::<Vec<_>>(),
        (1..=16).collect::<Vec<_>>(),
        "every row was reached, 17 never"
    );
}
