//! The offers journey: answers with the shop's offers, or counts a coupon and asks how to pay.

use super::advance::Next;
use super::effect::{Effect, Incoming, Line};
use super::rules::Says;
use super::state::{ConversationState, Stage};
use super::texts::Text;
use crate::domain::commerce::Sale;
use crate::domain::commerce::policy::Journey;
use crate::domain::commerce::sale::{CouponRefused, Offer};

/// Counts a coupon that the message names, or keeps it for the order that the message makes.
pub(super) fn coupon(state: &ConversationState, incoming: &Incoming) -> Option<Next> {
    let said = &incoming.said;
    let named = incoming.coupon.clone();
    // "Does it cover gum boots?", "how much are the boots with that code?"
    let asks_price = said.utterance.has_question() && incoming.names_goods();
    if asks_price && named.is_none() && said.says(Says::Covers) && state.coupon.is_some() {
        return Some(super::sales::search_with_offers(state.clone(), said));
    }
    // "Use this 0712345678", while the desk asks how to pay, is about no coupon.
    let pays = matches!(state.stage, Stage::Method { .. } | Stage::Phone { .. } | Stage::ConfirmAmount { .. });
    let refers = said.says(Says::UseCoupon) && (said.introduces_code || !(pays || said.phone.is_some()));
    let referred = || state.coupon.clone().filter(|_| refers);
    let code = named.or_else(referred).filter(|_| !matches!(state.stage, Stage::Done | Stage::Review))?;
    let mut state = ConversationState { coupon: Some(code.clone()), ..state.clone() };
    if asks_price && state.order.is_none() {
        return Some(super::sales::search_with_offers(state, said));
    }
    // "Does it work on boots?" is answered with what the order costs.
    let names_other = incoming.names_goods() && !(said.utterance.has_question() && state.order.is_some());
    let makes_order = state.item().is_some() || names_other || state.changes_line(incoming).is_some();
    if state.order.is_some() && !makes_order {
        state.method = said.method().or(state.chosen_method());
        return Some((state, vec![Effect::ApplyCoupon(code)]));
    }
    state.wants_coupon = true;
    if let Some(next) = super::sales::answer(&state, incoming) {
        return Some(next);
    }
    if said.utterance.has_question() {
        return Some(list(state));
    }
    if incoming.names_goods() {
        return Some(super::sales::start(state, incoming));
    }
    // Without goods there is nothing to count it on yet.
    let (state, mut effects) = list(state);
    effects.insert(0, Effect::Say(Line::CouponKept(code)));
    Some((state, effects))
}

/// Starts with a message about offers or coupons.
pub(super) fn start(state: ConversationState, incoming: &Incoming) -> Next {
    if incoming.said.says(Says::Pay) && state.order.is_some() {
        return super::sales::to_payment(state, None);
    }
    // "How much are the beaded ones, and is there an offer?"
    if incoming.said.says(Says::HowMuch) && incoming.said.describes_goods() && !incoming.is_strange {
        return super::sales::search_with_offers(state, &incoming.said);
    }
    list(state)
}

/// Answers a customer who bargains: prices are fixed, and offers are all there is.
pub(super) fn haggle(state: ConversationState) -> Next {
    let (state, mut effects) = list(state);
    effects.insert(0, Effect::Say(Line::Plain(Text::PriceFixed)));
    (state, effects)
}

fn list(mut state: ConversationState) -> Next {
    // Elsewhere the list answers a question; with a cart it accompanies the cart.
    if state.order.is_none() && !matches!(state.stage, Stage::Options) && state.item().is_none() {
        state.stage = Stage::Offers;
    }
    state.journey = Journey::Offers;
    (state, vec![Effect::ListOffers])
}

/// Shows the offers: with the cart after it was priced, else by themselves.
pub(super) fn listed(mut state: ConversationState, offers: Vec<Offer>) -> Next {
    if let Some(sale) = state.order.clone().filter(|_| state.journey != Journey::Offers) {
        // "Use that code": there is only one.
        if let ([only], None) = (offers.as_slice(), &state.coupon) {
            state.coupon = Some(only.code.clone());
        }
        // The cart was changed while an amount waited: the new one is asked.
        let payment = state.take_payment();
        let cart = Line::Cart { sale: Box::new(sale), offers, is_paid_next: payment.is_some() };
        let mut effects = vec![Effect::Say(cart)];
        effects.extend(payment.map(Effect::ListMethods));
        return (state, effects);
    }
    // "Use that code": there is only one.
    if let [only] = offers.as_slice() {
        state.coupon = Some(only.code.clone());
    }
    let line = if offers.is_empty() { Line::Plain(Text::NoOffers) } else { Line::Offers(offers) };
    (state, vec![Effect::Say(line)])
}

/// Continues with the ways to pay after a coupon counted. A coupon that was named with the goods is shown with the cart.
pub(super) fn applied(mut state: ConversationState, result: Result<Box<Sale>, CouponRefused>) -> Next {
    let with_cart = std::mem::take(&mut state.wants_coupon);
    let order = state.order.clone().map(Box::new);
    match result {
        Ok(sale) => {
            let code = sale.coupon.clone().unwrap_or_default();
            state.order = Some((*sale).clone());
            let line = match with_cart {
                true => Line::Cart { sale, offers: Vec::new(), is_paid_next: true },
                false => Line::CouponApplied { code, sale },
            };
            let payment = state.take_payment();
            (state, vec![Effect::Say(line), Effect::ListMethods(payment.flatten())])
        }
        Err(refused) => {
            let mut effects = vec![Effect::Say(Line::CouponRefused(refused))];
            let payment = state.take_payment();
            let cart = |sale| Line::Cart { sale, offers: Vec::new(), is_paid_next: payment.is_some() };
            let next = match order.filter(|_| with_cart) {
                Some(sale) => Some(cart(sale)),
                None if payment.is_none() => super::sales::reminder(&state),
                None => None,
            };
            effects.extend(next.map(Effect::Say));
            effects.extend(payment.map(Effect::ListMethods));
            (state, effects)
        }
    }
}
