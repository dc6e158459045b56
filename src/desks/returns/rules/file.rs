//! The shape of the rule files of the returns desk. Their comments describe each list.

use std::collections::HashMap;

use serde::Deserialize;

use super::super::state::Intent;
use super::answer::AnswerFile;
use crate::domain::returns::DamageWords;
use crate::nlu::entities::OrderNumberWords;
use crate::nlu::keywords::pattern_lists;

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
    pub not_goods: Vec<String>,
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

pattern_lists! {
    /// `[intents]` of the rule files.
    pub(super) IntentFile => IntentLists {
        order_status, refund, returns as "return", other, greeting, status_of_return, both, return_verb,
        cancel_order, unwished,
    }
}

pattern_lists! {
    /// `[asides]` of the rule files.
    pub(super) AsideFile => AsideLists {
        person, goodbye, exception, return_number, mail_missing, ticket_news, label_again, label_broken,
        send_again, pointing_back, policy, policy_words, deadline, amount, money_missing, hypothetical,
        spelled_number, some_pieces, pieces, no_pieces, other_order, missing_detail, missing_contact, purpose,
        no_person, no_request, nothing_came, reason, window, first_order, arrival, no_arrival, tracking,
        price, changes, assortment, label_use, kept, not_kept, corrected, except, except_in, except_end,
    }
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
