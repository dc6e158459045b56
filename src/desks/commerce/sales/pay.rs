//! How an order is paid: the list of ways, the question for the amount, and the yes to it.
//!
//! [`Effect::Pay`] is made in one place, [`confirm`], by a clear yes to the amount that was just asked.

use super::super::advance::{Next, hand_over, tool_failed};
use super::super::effect::{Began, Effect, Incoming, Line, Reason};
use super::super::state::{ConversationState, Stage};
use super::super::texts::Text;
use super::say;
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::returns::Priority;

/// Asks how to pay, if there is something to pay.
pub(in crate::desks::commerce) fn to_payment(mut state: ConversationState, wanted: Option<PaymentMethod>) -> Next {
    if state.order.is_some() {
        return (state, vec![Effect::ListMethods(wanted)]);
    }
    if state.paying.is_some() {
        return say(state, Line::Plain(Text::StillWaiting));
    }
    if state.item().is_none() {
        state.stage = Stage::Narrow;
    }
    say(state, Line::Plain(Text::EmptyCart))
}

/// Lists the ways to pay, or continues with the named one, or with the only one.
pub(in crate::desks::commerce) fn got_methods(
    mut state: ConversationState,
    methods: Vec<PaymentMethod>,
    wanted: Option<PaymentMethod>,
) -> Next {
    let Some(total) = state.order.as_ref().map(|sale| sale.totals.total) else {
        return say(state, Line::Plain(Text::EmptyCart));
    };
    let chosen = wanted.filter(|wanted| methods.contains(wanted));
    match (methods.as_slice(), chosen) {
        ([], _) => {
            state.stage = Stage::Draft;
            let (line, reason) = match total.minor {
                0 => (Line::Plain(Text::NothingToPay), Reason::FreeOrder),
                _ if !PaymentMethod::ALL.iter().all(|method| method.takes(total)) => {
                    return say(state, Line::Plain(Text::TooLarge));
                }
                _ => (Line::Plain(Text::NoMethods), Reason::Payments),
            };
            let (state, mut effects) = hand_over(state, reason, Priority::Medium);
            effects.insert(0, Effect::Say(line));
            (state, effects)
        }
        (_, Some(method)) => choose_method(state, method),
        ([only], None) => choose_method(state, *only),
        _ => {
            state.stage = Stage::Method { methods: methods.clone() };
            say(state, Line::Methods { methods, total })
        }
    }
}

/// Asks for the number, if none is known, then for the yes to the amount.
pub(super) fn choose_method(mut state: ConversationState, method: PaymentMethod) -> Next {
    let Some(sale) = state.order.clone() else { return say(state, Line::Plain(Text::EmptyCart)) };
    // The page for cards needs a number as well.
    if let Some(line) = ask_phone(method).filter(|_| state.phone.is_none()) {
        state.stage = Stage::Phone { method };
        return say(state, line);
    }
    state.stage = Stage::ConfirmAmount { method, amount: sale.totals.total };
    let phone = state.phone.clone();
    say(state, Line::Confirm { method, sale: Box::new(sale), phone })
}

/// Returns the question for the number that a way to pay needs.
pub(super) fn ask_phone(method: PaymentMethod) -> Option<Line> {
    match method {
        PaymentMethod::MpesaStk => Some(Line::Plain(Text::AskPhone)),
        PaymentMethod::Pesapal => Some(Line::Plain(Text::AskCardPhone)),
        PaymentMethod::MpesaC2b => None,
    }
}

/// Pays by a clear yes to the amount that was just asked. Everything else is no yes, and neither is what was sent before the question.
pub(super) fn confirm(state: &ConversationState, incoming: &Incoming) -> Option<Effect> {
    match &state.stage {
        Stage::ConfirmAmount { method, amount } if incoming.said.is_clear_yes_to(*amount) && !incoming.is_earlier => {
            let phone = state.phone.clone().filter(|_| ask_phone(*method).is_some());
            Some(Effect::Pay { method: *method, amount: *amount, phone })
        }
        _ => None,
    }
}

/// Continues after the wish to pay was stored.
pub(in crate::desks::commerce) fn began(mut state: ConversationState, began: Began) -> Next {
    match began {
        Began::Asked(payment) => {
            state.begin_paying(payment);
            say(state, Line::Asked)
        }
        // The result follows as a separate message.
        Began::Refused(payment) => {
            state.begin_paying(payment);
            (state, Vec::new())
        }
        Began::Unavailable(payment) => {
            state.begin_paying(payment);
            tool_failed(state, Vec::new())
        }
        // The cart is priced again, and the customer sees it before the next yes.
        Began::Changed => {
            state.stage = Stage::Draft;
            (state, vec![Effect::PlaceOrder])
        }
        Began::Open => {
            state.stage = Stage::Draft;
            say(state, Line::Plain(Text::PayOpen))
        }
        Began::Review => {
            state.clear_sale();
            state.stage = Stage::Review;
            say(state, Line::Plain(Text::PayReview))
        }
        Began::Paid => {
            state.clear_sale();
            state.stage = Stage::Done;
            say(state, Line::Plain(Text::AlreadyPaid))
        }
    }
}
