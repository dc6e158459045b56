//! Decides which part of the desk answers: a pure function of the classification and of who answered last.

use schemars::JsonSchema;

use crate::domain::string_enum;

/// From here on, a classification decides regardless of who answered last. Below it, a model is asked.
pub(super) const SURE: f64 = 0.7;
/// From here on, a classification decides if no specialist has answered yet.
const LIKELY: f64 = 0.5;

string_enum! {
    // A doc comment here would be shown to the model. Small talk and unclear messages are `Unknown`.
    #[derive(JsonSchema)]
    pub enum Category {
        Technical = "technical",
        Billing = "billing",
        Unknown = "unknown",
    }
}

string_enum! {
    /// A part of the desk.
    pub enum Route {
        /// Answers from documents.
        Technical = "technical",
        /// Answers from the customer's account.
        Billing = "billing",
        /// Asks what the customer needs.
        Fallback = "fallback",
    }
}

impl Category {
    fn specialist(self) -> Option<Route> {
        match self {
            Self::Technical => Some(Route::Technical),
            Self::Billing => Some(Route::Billing),
            Self::Unknown => None,
        }
    }
}

/// Returns who answers a message. A sure classification switches at any time; with an unsure one the specialist who answered last
/// continues.
pub fn route(category: Category, confidence: f64, last: Option<Route>) -> Route {
    let last = last.filter(|last| *last != Route::Fallback);
    match (category.specialist(), last) {
        (Some(specialist), _) if confidence >= SURE => specialist,
        (_, Some(last)) if confidence < SURE => last,
        (Some(specialist), _) if confidence >= LIKELY => specialist,
        _ => Route::Fallback,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table is what `tests/data/telecom/router.py` prints, a transcription of the published pseudocode. Its column
    /// `recent` is a condition of that pseudocode that never changes the result, so [`route`] does not have it.
    #[test]
    fn routes_equal_the_reference_table() {
        let table = include_str!("../../../tests/data/telecom/router.tsv");
        let mut rows = 0;
        for row in table.lines().skip(1) {
            let fields: Vec<&str> = row.split('\t').collect();
            let [category, confidence, last, _recent, expected] = fields[..] else { panic!("{row}") };
            let named = |name: &str| serde_json::from_value(name.into()).unwrap();
            let last = (last != "-").then(|| serde_json::from_value(last.into()).unwrap());
            let routed = route(named(category), confidence.parse().unwrap(), last);
            assert_eq!(routed.as_str(), expected, "{row}");
            rows += 1;
        }
        assert_eq!(rows, 3 * 6 * 4 * 2, "every category, confidence, last agent and recent context");
    }
}
