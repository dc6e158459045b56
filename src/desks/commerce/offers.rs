//! The offers journey: answers with the shop's offers, or counts a coupon and asks how to pay.

use super::advance::Next;
use super::effect::{Effect, Heard, Line};
use super::rules::Says;
use super::state::{ConversationState, Stage};
use crate::domain::commerce::Sale;
use crate::domain::commerce::sale::{CouponRefused, Offer};

/// Starts with a message about offers or coupons.
pub(super) fn start(state: ConversationState, heard: &Heard) -> Next {
    let said = &heard.said;
    match said.codes().into_iter().next() {
        Some(code) if state.order.is_some() => (state, vec![Effect::ApplyCoupon(code)]),
        _ if said.says(Says::Pay) && state.order.is_some() => super::sales::to_payment(state, None),
        _ => {
            let mut state = state;
            // Elsewhere the list answers a question; with a cart it accompanies the cart.
            if state.order.is_none() {
                state.stage = Stage::Offers;
            }
            (
                ConversationState { journey: crate::domain::commerce::policy::Journey::Offers, ..state },
                vec![Effect::ListOffers],
            )
        }
    }
}

/// Shows the offers: with the cart after it was priced, else by themselves.
pub(super) fn listed(state: ConversationState, offers: Vec<Offer>) -> Next {
    use crate::domain::commerce::policy::Journey;
    let line = match &state.order {
        Some(sale) if state.journey != Journey::Offers => Line::Cart { sale: Box::new(sale.clone()), offers },
        _ if offers.is_empty() => Line::NoOffers,
        _ => Line::Offers(offers),
    };
    (state, vec![Effect::Say(line)])
}

/// Continues with the ways to pay after a coupon counted.
pub(super) fn applied(mut state: ConversationState, result: Result<Box<Sale>, CouponRefused>) -> Next {
    match result {
        Ok(sale) => {
            let code = sale.coupon.clone().unwrap_or_default();
            state.order = Some((*sale).clone());
            let applied = Effect::Say(Line::CouponApplied { code, sale });
            (state, vec![applied, Effect::ListMethods(None)])
        }
        Err(refused) => (state, vec![Effect::Say(Line::CouponRefused(refused))]),
    }
}
