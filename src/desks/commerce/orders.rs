//! The orders journey: the status of orders and payments. Changes of an order are for a person.

use super::advance::{Next, hand_over};
use super::effect::{Effect, Incoming, Line, Reason};
use super::rules::Says;
use super::sales::to_payment;
use super::state::{ConversationState, Question, Stage};
use super::texts::Text;
use super::tools::OrderView;
use crate::domain::commerce::policy::Intent;
use crate::domain::returns::Priority;

/// Starts with a question about an order or a payment.
pub(super) fn start(state: ConversationState, incoming: &Incoming) -> Next {
    let said = &incoming.said;
    let is_payment = incoming.intent == Intent::PaymentHelp && !said.names_receipt();
    if is_payment && !said.says(Says::WentThrough) && said.order().is_none() && state.stage != Stage::Paying {
        // How to pay is in the shop's documents, and whether the goods can be paid later.
        let asks_later = said.is_about("pay_later");
        if said.utterance.has_question() && (state.order.is_none() || asks_later) {
            return super::support::start(state, incoming);
        }
        if incoming.names_goods() && state.order.is_none() {
            let state = ConversationState { method: said.method(), ..state };
            return super::sales::start(state, incoming);
        }
        if state.order.is_some() || !said.methods.is_empty() {
            return to_payment(state, said.methods.first().copied());
        }
    }
    // "I bought shoes of you, and they are too small" asks for the rules.
    if said.is_about("exchange") && said.order().is_none() {
        return super::support::start(state, incoming);
    }
    if said.says(Says::ChangeOrder) && state.order.is_none() {
        return hand_over(state, Reason::OrderChange, Priority::Medium);
    }
    let order = said.order();
    let question = Question { text: said.text().to_owned(), subjects: said.subjects.clone() };
    // The shop's documents say it of every order.
    let question = said.is_about("delivery").then_some(question);
    let question = question.filter(|_| incoming.has_bought).or(state.question);
    (ConversationState { question, ..state }, vec![Effect::GetOrders(order)])
}

/// Says where the orders stand.
pub(super) fn listed(mut state: ConversationState, list: Vec<OrderView>) -> Next {
    let had_none = std::mem::replace(&mut state.has_no_order, list.is_empty());
    // A yes must mean the amount that waits, and nothing else.
    let may_offer = had_none && !matches!(state.stage, Stage::ConfirmAmount { .. });
    let line = match list.is_empty() {
        true if may_offer && !state.is_waiting => {
            state.offers_person = true;
            Line::Plain(Text::StillNoOrders)
        }
        true => Line::Plain(Text::NoOrders),
        false => Line::Orders(list),
    };
    (state, vec![Effect::Say(line)])
}
