//! The desk's texts, from `prompts/texts/returns.{language}.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::scenario::Scenario;
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::RmaStatus;
use crate::replies::Replies;
use crate::tools::label::LabelTexts;

/// How many variants each text has at least.
const LEAST_VARIANTS: usize = 3;

/// The desk's texts in one language. The file explains each.
#[derive(Clone, Debug, Deserialize)]
pub struct ReturnsTexts {
    pub lines: Lines,
    statuses: BTreeMap<String, String>,
    rma_statuses: BTreeMap<String, String>,
    pub label: LabelTexts,
    #[serde(flatten)]
    pub replies: Replies<Scenario>,
}

/// The lines of a status, each with `{value}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    pub number: String,
    pub status: String,
    pub ordered: String,
    pub shipped: String,
    pub delivered: String,
    pub items: String,
    pub tracking: String,
    /// Below the status of an order that has not arrived: the day is not known. Without values.
    pub arrival: String,
    /// The same for an order that has not left the shop.
    pub not_shipped: String,
    pub returned: String,
    /// The last days for a return and for a refund.
    pub return_by: String,
    pub refund_by: String,
    /// A last day that has passed: `{value}`.
    pub window_over: String,
    /// With `{name}` and `{quantity}`.
    pub item: String,
    /// What an item cost, of which there is one: `{name}` and `{price}`.
    pub priced: String,
    /// The same of several pieces, with `{quantity}` and the `{whole}` price.
    pub priced_each: String,
    /// With `{title}` and `{text}`.
    pub quote: String,
    /// What the conversation has done, each with `{ticket_id}` and `{order_number}`.
    pub change_cancel: String,
    pub change_return: String,
    pub change_request: String,
    /// A question that the documents answer for a customer who has a ticket, or a return. Without values; no customer reads it.
    pub about_ticket: String,
    pub about_return: String,
}

impl ReturnsTexts {
    /// Checks the texts of every scenario and the names of every status.
    pub fn check(&self) -> Result<(), String> {
        self.replies.check(LEAST_VARIANTS)?;
        has_all("statuses", &self.statuses, OrderStatus::ALL.iter().map(|status| status.as_str()))?;
        has_all("rma_statuses", &self.rma_statuses, RmaStatus::ALL.iter().map(|status| status.as_str()))
    }

    /// Returns the name of an order status.
    pub fn status(&self, status: OrderStatus) -> &str {
        self.statuses.get(&key_of(status.as_str())).map_or(status.as_str(), String::as_str)
    }

    /// Returns the name of a return status.
    pub fn rma_status(&self, status: RmaStatus) -> &str {
        self.rma_statuses.get(&key_of(status.as_str())).map_or(status.as_str(), String::as_str)
    }
}

/// Picks the variants of the desk's texts.
pub type VariantPicker<'a> = crate::replies::VariantPicker<'a, Scenario>;

fn key_of(status: &str) -> String {
    status.to_ascii_lowercase()
}

fn has_all(
    table: &str,
    named: &BTreeMap<String, String>,
    mut statuses: impl Iterator<Item = &'static str>,
) -> Result<(), String> {
    match statuses.find(|status| !named.contains_key(&key_of(status))) {
        Some(missing) => Err(format!("[{table}] has no {}", key_of(missing))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replies::ReplyKey;

    const FILES: [&str; 2] = [
        include_str!("../../../prompts/texts/returns.en.toml"),
        include_str!("../../../prompts/texts/returns.vi.toml"),
    ];

    fn texts() -> [ReturnsTexts; 2] {
        FILES.map(|file| toml::from_str(file).expect("the shipped texts"))
    }

    #[test]
    fn every_text_variant_fills_all_placeholders() {
        for texts in texts() {
            texts.check().expect("the shipped texts");
            for scenario in Scenario::ALL {
                let values: Vec<(&str, &str)> = scenario.placeholders().iter().map(|word| (*word, "<value>")).collect();
                let (mut last, mut said) = (None, Vec::new());
                for _ in 0..2 * texts.replies.variants(*scenario).len() {
                    let (text, place) = texts.replies.pick(*scenario, last, &values).expect("every word");
                    assert!(!text.contains(['{', '}']) && !text.contains("undefined"), "{scenario:?}: {text}");
                    last = Some(place);
                    said.push(text);
                }
                assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "{scenario:?} repeats a variant");
                let distinct: std::collections::BTreeSet<&String> = said.iter().collect();
                assert_eq!(distinct.len(), texts.replies.variants(*scenario).len(), "{scenario:?}");
            }
        }
    }

    #[test]
    fn placeholder_without_value_is_an_error() {
        let [texts, _] = texts();
        let values = [("order_number", "77893"), ("refund_amount", "$1"), ("masked_email", "j***@example.com")];
        let missing = texts.replies.pick(Scenario::ConfirmReturn, None, &values).expect_err("item_names is missing");
        assert_eq!(missing.to_string(), "the text confirm_return has no value for {item_names}");
    }

    #[test]
    fn unknown_placeholder_is_refused_by_name() {
        for (from, to, complaint) in [
            ("Return **{item_names}**", "Return **{item_name}**", "confirm_return names {item_name}"),
            (
                "\"Then let's try another one. What's the right **order number**?\",",
                "",
                "ask_other_order must have at least 3",
            ),
            ("returned = \"Returned\"", "", "[statuses] has no returned"),
            ("in_transit = \"on its way to us\"", "", "[rma_statuses] has no in_transit"),
        ] {
            let broken = FILES[0].replacen(from, to, 1);
            assert_ne!(broken, FILES[0], "{from}");
            let texts: ReturnsTexts = toml::from_str(&broken).expect("well-formed");
            let complained = texts.check().expect_err("broken");
            assert!(complained.contains(complaint), "{complained}");
        }
    }
}
