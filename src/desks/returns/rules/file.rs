//! The shape of the rule files of the returns desk. Their comments describe each list.

use std::collections::HashMap;

use serde::Deserialize;

use super::super::state::Intent;
use super::answer::AnswerFile;
use crate::domain::returns::DamageWords;
use crate::nlu::entities::OrderNumberWords;

/// `rules/orders.*.toml`: words around order numbers, and words of damage.
#[derive(Debug, Deserialize)]
pub(super) struct OrderWords {
    pub order_number: OrderNumberWords,
    pub damage: DamageWords,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RuleFile {
    pub plain_words: Vec<String>,
    pub not_items: Vec<String>,
    pub aliases: HashMap<String, String>,
    pub classes: HashMap<String, Vec<String>>,
    pub intents: IntentFile,
    /// The patterns of each intent that a person settles.
    pub requests: HashMap<Intent, Vec<String>>,
    pub answers: AnswerFile,
    pub signs: Signs,
    pub asides: AsideFile,
    /// Goods in the customer's language, and their words in an item's name.
    pub goods_names: HashMap<String, String>,
    /// The numbers that count pieces, by their words.
    pub piece_counts: HashMap<String, u32>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct IntentFile {
    pub order_status: Vec<String>,
    pub refund: Vec<String>,
    #[serde(rename = "return")]
    pub returns: Vec<String>,
    pub other: Vec<String>,
    pub greeting: Vec<String>,
    pub status_of_return: Vec<String>,
    pub both: Vec<String>,
    pub return_verb: Vec<String>,
    pub cancel_order: Vec<String>,
    pub unwished: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AsideFile {
    pub person: Vec<String>,
    pub goodbye: Vec<String>,
    pub exception: Vec<String>,
    pub return_number: Vec<String>,
    pub mail_missing: Vec<String>,
    pub ticket_news: Vec<String>,
    pub label_again: Vec<String>,
    pub label_broken: Vec<String>,
    pub send_again: Vec<String>,
    pub pointing_back: Vec<String>,
    pub policy: Vec<String>,
    pub policy_words: Vec<String>,
    pub deadline: Vec<String>,
    pub amount: Vec<String>,
    pub money_missing: Vec<String>,
    pub hypothetical: Vec<String>,
    pub spelled_number: Vec<String>,
    pub some_pieces: Vec<String>,
    pub pieces: Vec<String>,
    pub no_pieces: Vec<String>,
    pub other_order: Vec<String>,
    pub missing_detail: Vec<String>,
    pub missing_contact: Vec<String>,
    pub purpose: Vec<String>,
    pub no_person: Vec<String>,
    pub no_request: Vec<String>,
    pub nothing_came: Vec<String>,
    pub reason: Vec<String>,
    pub window: Vec<String>,
    pub arrival: Vec<String>,
    pub no_arrival: Vec<String>,
    pub tracking: Vec<String>,
    pub changes: Vec<String>,
    pub assortment: Vec<String>,
    pub label_use: Vec<String>,
}

/// Emoji that answer. They are a weak yes, or a no.
#[derive(Default, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Signs {
    yes: Vec<String>,
    no: Vec<String>,
}

impl Signs {
    /// Replaces each emoji by the word that it stands for, as a separate clause.
    pub fn spelled_out(&self, text: &str) -> String {
        let spell = |text: String, signs: &[String], word: &str| {
            signs.iter().fold(text, |text, sign| text.replace(sign.as_str(), &format!(", {word}, ")))
        };
        spell(spell(text.to_owned(), &self.yes, "ok"), &self.no, "no")
    }
}
