//! The desk's texts, from `prompts/texts/returns.{language}.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::scenario::Scenario;
use crate::desks::DeskError;
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::RmaStatus;
use crate::persona::texts::fill;
use crate::tools::label::LabelTexts;

/// How many variants each text has at least.
const LEAST_VARIANTS: usize = 3;

/// The desk's texts in one language. The file says what each is for.
#[derive(Clone, Debug, Deserialize)]
pub struct ReturnsTexts {
    pub lines: Lines,
    statuses: BTreeMap<String, String>,
    rma_statuses: BTreeMap<String, String>,
    pub label: LabelTexts,
    #[serde(flatten)]
    variants: BTreeMap<Scenario, Vec<String>>,
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
    pub returned: String,
    /// With `{name}` and `{quantity}`.
    pub item: String,
    /// With `{title}` and `{text}`.
    pub quote: String,
}

/// A text names a word that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text {key} has no value for {{{word}}}")]
pub struct MissingWord {
    key: &'static str,
    word: String,
}

impl ReturnsTexts {
    /// Checks that every scenario has its variants and names only words that the desk fills in.
    pub fn check(&self) -> Result<(), String> {
        for scenario in Scenario::ALL {
            let key = scenario.key();
            let variants = self.variants.get(scenario).map(Vec::as_slice).unwrap_or_default();
            if variants.len() < LEAST_VARIANTS {
                return Err(format!("{key} must have at least {LEAST_VARIANTS} variants"));
            }
            for variant in variants {
                if let Some(word) = places(variant).find(|word| !scenario.words().contains(word)) {
                    let known = scenario.words().join(", ");
                    let known = if known.is_empty() { "none".to_owned() } else { known };
                    return Err(format!("{key} names {{{word}}}, which is not filled in there; it may name: {known}"));
                }
            }
            let differ = |a: &String| variants.iter().filter(|b| *b == a).count() == 1;
            if !variants.iter().all(differ) {
                return Err(format!("{key} has the same variant twice"));
            }
        }
        has_all("statuses", &self.statuses, OrderStatus::ALL.iter().map(|status| status.as_str()))?;
        has_all("rma_statuses", &self.rma_statuses, RmaStatus::ALL.iter().map(|status| status.as_str()))
    }

    /// Returns the scenario's variant after the last one, filled in, and its index.
    ///
    /// # Errors
    /// The variant names a word without a value. It must not be sent.
    pub fn say(
        &self,
        scenario: Scenario,
        last: Option<usize>,
        values: &[(&str, &str)],
    ) -> Result<(String, usize), MissingWord> {
        let variants = self.variants.get(&scenario).map(Vec::as_slice).unwrap_or_default();
        let place = last.map_or(0, |last| last + 1) % variants.len().max(1);
        let variant = variants.get(place).map_or("", String::as_str);
        let has_value = |word: &&str| values.iter().any(|(name, _)| name == word);
        match places(variant).find(|word| !has_value(word)) {
            Some(word) => Err(MissingWord { key: scenario.key(), word: word.to_owned() }),
            None => Ok((fill(variant, values), place)),
        }
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

/// Picks text variants so that none is sent twice in a row.
pub struct VariantPicker<'a> {
    pub texts: &'a ReturnsTexts,
    last: &'a BTreeMap<Scenario, usize>,
    used: Vec<(Scenario, usize)>,
}

impl<'a> VariantPicker<'a> {
    /// `last` holds the variant of each text that was sent last.
    pub fn new(texts: &'a ReturnsTexts, last: &'a BTreeMap<Scenario, usize>) -> Self {
        Self { texts, last, used: Vec::new() }
    }

    /// Returns the scenario's next variant, filled in.
    pub fn text(&mut self, scenario: Scenario, values: &[(&str, &str)]) -> Result<String, DeskError> {
        let used = self.used.iter().rev().find(|(of, _)| *of == scenario).map(|(_, variant)| *variant);
        let last = used.or_else(|| self.last.get(&scenario).copied());
        let (text, variant) =
            self.texts.say(scenario, last, values).map_err(|missing| DeskError::Text(missing.to_string()))?;
        self.used.push((scenario, variant));
        Ok(text)
    }

    /// Returns the variants that were picked.
    pub fn used(self) -> Vec<(Scenario, usize)> {
        self.used
    }
}

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

/// Returns the words in braces.
fn places(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 2] = [
        include_str!("../../../prompts/texts/returns.en.toml"),
        include_str!("../../../prompts/texts/returns.vi.toml"),
    ];

    fn texts() -> [ReturnsTexts; 2] {
        FILES.map(|file| toml::from_str(file).expect("the shipped texts"))
    }

    #[test]
    fn every_variant_of_every_text_is_filled_in_whole() {
        for texts in texts() {
            texts.check().expect("the shipped texts");
            for scenario in Scenario::ALL {
                let values: Vec<(&str, &str)> = scenario.words().iter().map(|word| (*word, "<value>")).collect();
                for last in 0..texts.variants[scenario].len() {
                    let (text, _) = texts.say(*scenario, Some(last), &values).expect("every word");
                    assert!(!text.contains(['{', '}']) && !text.contains("undefined"), "{scenario:?}: {text}");
                }
            }
        }
    }

    #[test]
    fn a_word_without_a_value_is_an_error_and_never_shown() {
        let [texts, _] = texts();
        let values = [("order_number", "77893"), ("order_date", "1 Nov")];
        let missing = texts.say(Scenario::ConfirmOrder, None, &values).expect_err("item_names is missing");
        assert_eq!(missing.to_string(), "the text confirm_order has no value for {item_names}");
    }

    #[test]
    fn no_variant_comes_twice_in_a_row_and_each_comes_in_turn() {
        for texts in texts() {
            for scenario in Scenario::ALL {
                let values: Vec<(&str, &str)> = scenario.words().iter().map(|word| (*word, "x")).collect();
                let (mut last, mut said) = (None, Vec::new());
                for _ in 0..2 * texts.variants[scenario].len() {
                    let (text, place) = texts.say(*scenario, last, &values).expect("every word");
                    last = Some(place);
                    said.push(text);
                }
                assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "{scenario:?}");
                let distinct: std::collections::BTreeSet<&String> = said.iter().collect();
                assert_eq!(distinct.len(), texts.variants[scenario].len(), "{scenario:?}");
            }
        }
    }

    #[test]
    fn a_text_that_names_a_word_nobody_fills_in_is_refused_with_its_name() {
        for (from, to, complaint) in [
            ("**#{order_number}** from **{order_date}**", "**#{oder_number}**", "confirm_order names {oder_number}"),
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
