//! The whole way of a sale, whatever else the customer says on it.

use super::*;

/// What a customer may say in between. It may lead back to the cart, and never on.
const ASIDES: [&str; 7] = ["hello", "where is my order", "any offers?", "thanks", "how much", "do you deliver", "yes?"];

/// What a customer who buys says at a stage, and the stage that follows.
fn next_step(stage: &str) -> (&'static str, &'static str) {
    match stage {
        "idle" | "narrow" | "offers" => ("I want canvas shoes", "options"),
        "options" => ("1", "disambiguate"),
        "disambiguate" => ("40", "draft"),
        "draft" => ("pay", "method"),
        "method" => ("2", "confirm_amount"),
        "confirm_amount" => ("yes", "paying"),
        other => panic!("{other} is on no way to a payment"),
    }
}

/// Returns the steps since the cart was ordered last.
fn since_order(steps: &[Step]) -> &[Step] {
    let last = steps.iter().rposition(|step| *step == Step::Order);
    last.map_or(&[], |at| &steps[at..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    // Feature: tulia-ai-v2-langgraph-refactor, Property 5: Complete Sales Journey Execution
    #[test]
    fn payment_follows_every_step_before_it(
        messages in prop::collection::vec(prop::sample::select(&TEXTS[..]), 1..24)
    ) {
        let (mut state, mut steps) = (new_state(), Vec::new());
        for text in messages {
            let before = steps.len();
            state = play_steps(state, incoming(text), 0, &mut steps).0;
            if steps[before..].contains(&Step::Pay) {
                // The amount was asked in an earlier message.
                let mut since = since_order(&steps[..before]).iter();
                for step in [Step::Order, Step::Offers, Step::Methods, Step::Confirm] {
                    prop_assert!(since.any(|done| *done == step), "{} pays without {:?}: {:?}", text, step, steps);
                }
            }
        }
    }

    // Feature: tulia-ai-v2-langgraph-refactor, Property 5: Complete Sales Journey Execution
    #[test]
    fn customer_is_led_to_the_payment(
        asides in prop::collection::vec(prop::collection::vec(prop::sample::select(&ASIDES[..]), 0..3), 6)
    ) {
        let (mut state, mut steps, mut asides) = (new_state(), Vec::new(), asides.into_iter());
        while state.stage.as_str() != "paying" {
            for aside in asides.next().into_iter().flatten() {
                state = play_steps(state, incoming(aside), 0, &mut steps).0;
                prop_assert!(!steps.contains(&Step::Pay), "{}", aside);
            }
            let (text, expected) = next_step(state.stage.as_str());
            state = play_steps(state, incoming(text), 0, &mut steps).0;
            prop_assert_eq!(state.stage.as_str(), expected, "{}", text);
        }
        prop_assert_eq!(steps.iter().filter(|step| **step == Step::Pay).count(), 1);
    }
}
