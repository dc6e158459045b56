//! Single cases of the sale.

use super::*;

/// Returns the state in which the amount of two canvas shoes waits for its yes.
fn confirming() -> ConversationState {
    let mut state = new_state();
    for text in ["canvas shoes", "1", "40", "2 pairs", "pay", "1"] {
        (state, _, _) = play(state, text, 0);
    }
    assert_eq!(state.stage.as_str(), "confirm_amount");
    state
}

fn incoming(text: &str) -> Incoming {
    unrouted(RULES.parse(text))
}

#[test]
fn yes_before_the_question_pays_nothing() {
    let (state, lines, paid) = play_message(confirming(), Incoming { is_earlier: true, ..incoming("yes") }, 0);
    assert!(paid.is_empty() && matches!(lines.last(), Some(Line::Confirm { .. })), "{lines:?}");
    assert_eq!(play(state, "yes", 0).2, [Money::new(250_000, CATALOG_CURRENCY)]);
}

#[test]
fn number_can_be_corrected_before_the_yes() {
    let (state, lines, paid) = play_message(confirming(), incoming("no wait, use 0712 345 678"), 0);
    let asked =
        matches!(lines.last(), Some(Line::Confirm { phone: Some(phone), .. }) if phone.as_str() == "+254712345678");
    assert!(asked && paid.is_empty(), "{lines:?}");
    // The channel's own number is not replaced.
    let (_, lines, _) = play(state, "0799 000 111", 0);
    assert!(matches!(lines.first(), Some(Line::OwnNumber(_))), "{lines:?}");
}

#[test]
fn changed_cart_asks_for_the_new_amount() {
    let (state, lines, paid) = play(confirming(), "actually make it 5 pairs", 0);
    assert_eq!((state.stage.as_str(), paid.len()), ("confirm_amount", 0));
    assert!(
        matches!(lines.last(), Some(Line::Confirm { sale, .. }) if sale.totals.total.whole() == 6_250),
        "{lines:?}"
    );
}

#[test]
fn bare_size_changes_the_size() {
    let mut state = new_state();
    for text in ["canvas shoes", "1", "40", "41"] {
        (state, _, _) = play(state, text, 0);
    }
    let [line] = state.cart.as_slice() else { panic!("{:?}", state.cart) };
    assert_eq!((line.quantity, line.choices["size"].as_str()), (1, "41"));
    let (state, _, _) = play(state, "make it 3", 0);
    assert_eq!(state.cart[0].quantity, 3);
}

#[test]
fn wish_to_pay_names_the_missing_choice() {
    for texts in [&["canvas shoes", "1", "pay"][..], &["socks", "2", "canvas shoes", "1", "yes, pay with mpesa", "yes"]]
    {
        let (mut state, mut lines) = (new_state(), Vec::new());
        for text in texts {
            (state, lines, _) = play(state, text, 0);
        }
        assert!(
            matches!(lines.as_slice(), [Line::StillMissing(line)] if line.item.name == "Canvas shoes"),
            "{lines:?}"
        );
        let (paying, lines, _) = play(state.clone(), "40", 0);
        assert!(matches!(paying.stage.as_str(), "method" | "confirm_amount"), "{:?}: {lines:?}", paying.stage);
        // Who drops the item pays nothing.
        let (state, _, _) = play(state, "cancel", 0);
        let (state, _, _) = play(state, "canvas shoes", 0);
        let (state, _, _) = play(play(state, "1", 0).0, "40", 0);
        assert_eq!(state.stage.as_str(), "draft", "{texts:?}");
    }
}

#[test]
fn open_payment_lets_another_order_begin() {
    let (mut state, _, paid) = play(confirming(), "yes", 0);
    assert_eq!((paid.len(), state.paying.is_some(), state.cart.len()), (1, true, 0));
    for text in ["show me socks", "2"] {
        (state, _, _) = play(state, text, 0);
    }
    assert_eq!((state.stage.as_str(), state.cart.len(), state.paying.is_some()), ("draft", 1, true));
    state.stop_paying(Vec::new());
    assert_eq!((state.stage.as_str(), state.cart.len()), ("draft", 1));
}

#[test]
fn bare_size_counts_nothing_after_failed_payment() {
    let (mut state, _, _) = play(confirming(), "yes", 0);
    state.stop_paying(Vec::new());
    let (state, _, _) = play(state, "41", 0);
    let [line] = state.cart.as_slice() else { panic!("{:?}", state.cart) };
    assert_eq!((line.quantity, line.choices["size"].as_str()), (2, "41"));
}

#[test]
fn goods_that_vanished_leave_the_cart() {
    let mut state = new_state();
    for text in ["canvas shoes", "1", "40", "show me socks", "2"] {
        (state, _, _) = play(state, text, 0);
    }
    assert_eq!(state.cart.len(), 2);
    let item = state.cart[0].item.clone();
    let (state, effects) = ordered(state, Placing::Refused(CannotOrder::NoItem(item)));
    assert!(matches!(effects[..], [Effect::Say(Line::SoldOut(_)), Effect::PlaceOrder]), "{effects:?}");
    assert_eq!(state.cart.len(), 1);
    let item = state.cart[0].item.clone();
    let sold_out = CannotOrder::Stock { item, name: "Socks".to_owned(), left: 0 };
    let (state, _) = ordered(state, Placing::Refused(sold_out));
    assert!(state.cart.is_empty() && state.order.is_none());
}

#[test]
fn declined_person_is_not_called() {
    let mut state = new_state();
    for _ in 0..2 {
        (state, _) = advance(state, Event::Message(Box::new(incoming("asdf"))));
        (state, _) = advance(state, Event::Answered(false));
    }
    assert!(state.offers_person);
    let (state, effects) = advance(state, Event::Message(Box::new(incoming("no"))));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::CallPerson { .. })), "{effects:?}");
    assert_eq!(state.clarifications, 0);
}

#[test]
fn pieces_are_neither_a_size_nor_an_option() {
    let (state, lines, _) = play(confirming(), "3 pairs. same size", 0);
    assert_eq!((state.cart[0].quantity, state.cart[0].choices["size"].as_str()), (3, "40"), "{lines:?}");
    let mut state = new_state();
    for text in ["canvas shoes", "1", "40", "pay", "2 pairs only"] {
        (state, _, _) = play(state, text, 0);
    }
    assert_eq!((state.stage.as_str(), state.cart[0].quantity), ("draft", 2));
}

#[test]
fn receipt_while_waiting_joins_the_ticket() {
    let incoming = Incoming { is_waiting: true, ..incoming("code ni SGH7K2LQ9P, please check") };
    let (_, effects) = advance(new_state(), Event::Message(Box::new(incoming)));
    assert!(matches!(effects[..], [Effect::CallPerson { reason: Reason::Dispute, .. }]), "{effects:?}");
}

#[test]
fn order_that_cannot_be_cancelled_says_so() {
    let (_, effects) = advance(confirming(), Event::Cancelled(false));
    assert_eq!(effects, [Effect::Say(Line::Plain(Text::Settled))]);
}

#[test]
fn success_forgets_an_earlier_complaint() {
    let mut state = new_state();
    for text in ["this is annoying", "canvas shoes", "so frustrating, socks"] {
        let (next, lines, _) = play(state, text, 0);
        assert!(!lines.contains(&Line::HandedOver), "{text}: {lines:?}");
        state = next;
    }
    assert_eq!(state.unresolved, 1);
}

#[test]
fn shops_own_limits_call_a_person() {
    let rules = EscalationRules { tool_errors: 1, ..EscalationRules::default() };
    let state = ConversationState { rules, ..new_state() };
    let (_, effects) = advance(state, Event::Failed);
    assert!(matches!(effects[..], [Effect::CallPerson { .. }]), "{effects:?}");
}

#[test]
fn waiting_amount_offers_no_person() {
    let mut state = confirming();
    for _ in 0..2 {
        (state, _) = advance(state, Event::Message(Box::new(incoming("asdf"))));
        let (next, effects) = advance(state, Event::Answered(false));
        assert!(matches!(effects[..], [Effect::Say(Line::Confirm { .. })]), "{effects:?}");
        state = next;
    }
    assert!(!state.offers_person);
}

#[test]
fn free_and_dear_orders_say_why() {
    for (shillings, expected) in [(0, Line::Plain(Text::NothingToPay)), (300_000, Line::Plain(Text::TooLarge))] {
        let mut state = confirming();
        if let Some(order) = &mut state.order {
            order.totals.total = Money::new(shillings * 100, CATALOG_CURRENCY);
        }
        let (_, effects) = got_methods(state, Vec::new(), None);
        assert_eq!(effects.first(), Some(&Effect::Say(expected)));
    }
    let amount = Money::new(25_000_100, CATALOG_CURRENCY);
    assert_eq!(PaymentMethod::ALL.iter().filter(|method| method.takes(amount)).count(), 1);
}

#[test]
fn claims_call_a_person_and_questions_do_not() {
    let calls = |text: &str, has_bought: bool, state: ConversationState| {
        let (_, effects) = advance(state, Event::Message(Box::new(Incoming { has_bought, ..incoming(text) })));
        effects.iter().any(|effect| matches!(effect, Effect::CallPerson { reason: Reason::Dispute, .. }))
    };
    let listed = || play(new_state(), "canvas shoes", 0).0;
    for (text, has_bought, expected) in [
        ("I was charged twice, I want my money back", false, true),
        ("I want a refund", false, true),
        ("you are scammers", false, true),
        ("my shoes arrived damaged", false, true),
        ("nimelipa but pesa imekatwa mara mbili kwa mpesa", false, true),
        ("mlinitumia viatu vibovu, nataka pesa yangu", false, true),
        ("can I get a refund?", false, false),
        ("what is your refund policy", false, false),
        ("I want a different size", false, false),
        ("show me different shoes", true, false),
        ("original or fake shoes", false, false),
        ("you sent the wrong size", true, true),
        ("my parcel never arrived", true, true),
    ] {
        assert_eq!(calls(text, has_bought, listed()), expected, "{text}");
    }
}
