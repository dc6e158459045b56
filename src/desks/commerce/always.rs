//! Messages that mean the same at every stage of the conversation.

use super::advance::Next;
use super::effect::{Effect, Incoming, Line};
use super::rules::Says;
use super::state::{ConversationState, Question, Search, Stage};
use super::{sales, support};
use crate::domain::commerce::policy::Routing;
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::text::words;

/// Warns who asks whether to send a PIN or the details of a card, and repeats what the desk asked.
pub(super) fn warn(state: ConversationState) -> Next {
    let reminder = sales::reminder(&state).map(Effect::Say);
    (state, [Effect::Say(Line::NeverSend)].into_iter().chain(reminder).collect())
}

/// Says that there are no pictures, with a link to the goods: those that are named, else those that are talked about.
fn no_picture(state: ConversationState, incoming: &Incoming) -> Next {
    let of_item = || state.item().or(state.last.as_ref()).map(|wanted| words(&wanted.item.name));
    let named = incoming.names_goods().then(|| incoming.said.sought.clone());
    let link = Search { words: named.or_else(of_item).unwrap_or_default(), ..Search::default() };
    let reminder = sales::reminder(&state).map(Effect::Say);
    (state, [Effect::Say(Line::NoPicture { link })].into_iter().chain(reminder).collect())
}

/// Answers messages that mean the same at every stage: why a payment failed, "let me ask her first", when sold-out
/// goods come back, and goods that may not be returned.
pub(super) fn answer_at_every_stage(
    mut state: ConversationState,
    incoming: &Incoming,
    (was_sold_out, asked): (bool, &[String]),
) -> Result<Next, Box<ConversationState>> {
    let said = &incoming.said;
    let is_paying = matches!(state.stage, Stage::Paying | Stage::Done | Stage::Review);
    // The order's status names the last payment.
    if let Some(order) = state.order.as_ref().filter(|_| said.says(Says::WhyFailed) && !is_paying) {
        let effects = vec![Effect::GetOrders(Some(order.id.clone()))];
        return Ok((state, effects));
    }
    let is_asking = matches!(state.stage, Stage::ConfirmAmount { .. });
    if said.says(Says::Restock) && was_sold_out && !is_asking {
        return Ok(support::restock_unknown(state));
    }
    if said.says(Says::Picture) && !is_paying {
        return Ok(no_picture(state, incoming));
    }
    if said.says(Says::PaybillNumber) && !is_paying && said.utterance.has_question() {
        return Ok(match state.order {
            Some(_) => sales::to_payment(state, Some(PaymentMethod::MpesaC2b)),
            None => (state, vec![Effect::Say(Line::PaybillLater)]),
        });
    }
    // "What is the total, with delivery to Kasarani?"
    if said.is_about("delivery") && said.says(Says::ShowCart) && state.order.is_some() && !is_asking && !is_paying {
        state.question = Some(Question { text: String::new(), subjects: vec!["delivery_cost".to_owned()] });
        return Ok(sales::show_cart(state));
    }
    if said.says(Says::Why) && !asked.is_empty() && !is_asking && !state.is_waiting {
        state.offers_person = true;
        return Ok((state, vec![Effect::Say(Line::ReasonUnknown)]));
    }
    // "And on the tenth day?", after a question about returns.
    let is_unknown = matches!(incoming.routing, Routing::Unknown | Routing::Clarify) && !incoming.names_goods();
    if is_unknown
        && said.utterance.has_question()
        && said.subjects.is_empty()
        && state.item().is_none()
        && let Some(subject) = asked.first().filter(|_| said.says(Says::Follows))
    {
        return Ok(support::ask_more(state, subject));
    }
    if said.says(Says::Excuse) && !is_asking && (said.is_about("exchange") || asked.iter().any(|of| of == "exchange")) {
        let is_first = asked.is_empty();
        let question = Question { text: String::new(), subjects: vec!["exchange".to_owned()] };
        (state.offers_person, state.question) = (true, is_first.then_some(question));
        return Ok((state, vec![Effect::Say(Line::PersonDecides)]));
    }
    let decides = incoming.names_goods() || !said.details.numbers.is_empty() || said.utterance.has_question();
    let decides = decides || said.says(Says::Remove);
    if state.postpones && !decides && !said.utterance.cancels() && !is_paying && !state.is_waiting {
        let is_payment = is_asking || matches!(state.stage, Stage::Method { .. } | Stage::Phone { .. });
        if is_payment {
            state.stage = Stage::Draft;
        }
        let line = if is_payment { Line::NotPaid } else { Line::TakeTime };
        return Ok((state, vec![Effect::Say(line)]));
    }
    Err(Box::new(state))
}
