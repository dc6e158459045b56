//! Understanding a customer of the returns desk by rules alone: the words are data (`prompts/rules/returns.toml`), this
//! file holds what they add up to.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::Error as _;

use super::state::Intent;
use crate::desks::wording::{InvalidPattern, Lexicon, Pattern, Wording, cover};
use crate::domain::returns::contact::find_contacts;
use crate::domain::returns::order_number::{Found, OrderNumberWords, find_order_numbers};
use crate::domain::returns::{Contact, DamageWords};
use crate::persona::{PromptError, Prompts};

/// How a question of ours was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// Ends whatever is going on.
    Cancel,
    /// Do it again.
    Again,
}

/// What one message says, before the conversation around it is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    pub text: String,
    /// What of it may say why something comes back, without contacts; empty where it only answers.
    pub why: String,
    pub intent: Option<Intent>,
    /// Both a return and a refund.
    pub wants_both: bool,
    /// The order is to be called off.
    pub wants_cancel: bool,
    pub number: Option<Found>,
    /// There is something in it that might be an order number which the rules do not read.
    pub may_name_order: bool,
    pub contact: Option<Contact>,
    pub answer: Option<Answer>,
    /// There is a no in it, whatever else is: nothing that cannot be undone is done on it.
    pub says_no: bool,
    /// The word for calling something off is in it.
    pub says_cancel: bool,
    pub damage: bool,
    pub wants_person: bool,
    /// It asks how the shop does things, and nothing else: of no order and for no person.
    pub asks_policy: bool,
}

/// The desk's keywords.
#[derive(Debug)]
pub struct ReturnsRules {
    lexicon: Lexicon,
    order_status: Vec<Pattern>,
    refund: Vec<Pattern>,
    returns: Vec<Pattern>,
    other: Vec<Pattern>,
    status_of_return: Vec<Pattern>,
    both: Vec<Pattern>,
    cancel_order: Vec<Pattern>,
    yes: Vec<Pattern>,
    no: Vec<Pattern>,
    cancel: Vec<Pattern>,
    again: Vec<Pattern>,
    person: Vec<Pattern>,
    policy: Vec<Pattern>,
    spelled_number: Vec<Pattern>,
    says_cancel: Vec<Pattern>,
    /// Every way to answer, and the words around an answer.
    answers: Vec<Pattern>,
    order_words: OrderWords,
}

/// `prompts/rules/orders.toml`: words around order numbers, and of damage.
#[derive(Debug, Deserialize)]
struct OrderWords {
    order_number: OrderNumberWords,
    damage: DamageWords,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    classes: HashMap<String, Vec<String>>,
    intents: IntentFile,
    answers: AnswerFile,
    asides: AsideFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentFile {
    order_status: Vec<String>,
    refund: Vec<String>,
    #[serde(rename = "return")]
    returns: Vec<String>,
    other: Vec<String>,
    status_of_return: Vec<String>,
    both: Vec<String>,
    cancel_order: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerFile {
    yes: Vec<String>,
    no: Vec<String>,
    cancel: Vec<String>,
    again: Vec<String>,
    says_cancel: Vec<String>,
    around: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AsideFile {
    person: Vec<String>,
    policy: Vec<String>,
    spelled_number: Vec<String>,
}

impl ReturnsRules {
    /// Reads `rules/returns.toml` and `rules/orders.toml`.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        let order_words = prompts.toml("rules/orders.toml")?;
        prompts.toml_with("rules/returns.toml", |text| {
            Self::new(toml::from_str(text)?, order_words).map_err(toml::de::Error::custom)
        })
    }

    fn new(file: RuleFile, order_words: OrderWords) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(file.aliases, file.classes).with_plain_words(&file.plain_words);
        let patterns = |written: &[String]| lexicon.patterns(written);
        let answers = &file.answers;
        let all_answers = [&answers.yes, &answers.no, &answers.cancel, &answers.again, &answers.around];
        Ok(Self {
            answers: patterns(&all_answers.into_iter().flatten().cloned().collect::<Vec<_>>())?,
            order_status: patterns(&file.intents.order_status)?,
            refund: patterns(&file.intents.refund)?,
            returns: patterns(&file.intents.returns)?,
            other: patterns(&file.intents.other)?,
            status_of_return: patterns(&file.intents.status_of_return)?,
            both: patterns(&file.intents.both)?,
            cancel_order: patterns(&file.intents.cancel_order)?,
            yes: patterns(&file.answers.yes)?,
            no: patterns(&file.answers.no)?,
            cancel: patterns(&file.answers.cancel)?,
            again: patterns(&file.answers.again)?,
            person: patterns(&file.asides.person)?,
            policy: patterns(&file.asides.policy)?,
            spelled_number: patterns(&file.asides.spelled_number)?,
            says_cancel: patterns(&file.answers.says_cancel)?,
            order_words,
            lexicon,
        })
    }

    /// What the message says.
    pub fn hear(&self, text: &str) -> Heard {
        let wording = self.lexicon.read(text);
        let has = |patterns: &[Pattern]| is_in(patterns, &wording);
        let wants_person = has(&self.person);
        let (numbers, contacts) = self.find(text);
        let (number, contact) = (numbers.into_iter().next(), contacts.into_iter().next());
        let asks_policy = has(&self.policy) && number.is_none() && contact.is_none() && !wants_person;
        let damage = self.order_words.damage.is_told_in(text);
        let (wants_return, wants_refund) = (has(&self.returns), has(&self.refund));
        let wants_status = has(&self.order_status);
        let intent = if asks_policy {
            // "How long do I have to return it?" is a question about the policy, not the wish.
            None
        } else if has(&self.status_of_return) {
            Some(Intent::OrderStatus)
        } else if wants_refund {
            Some(Intent::Refund)
        } else if wants_return {
            Some(Intent::Return)
        } else if wants_status {
            Some(Intent::OrderStatus)
        } else if has(&self.cancel_order) {
            Some(Intent::Return)
        } else {
            has(&self.other).then_some(Intent::Other)
        };
        Heard {
            wants_both: !asks_policy && has(&self.both),
            wants_cancel: has(&self.cancel_order),
            may_name_order: number.is_none()
                && contact.is_none()
                && (has(&self.spelled_number) || text.chars().filter(char::is_ascii_digit).count() >= DIGITS),
            answer: self.answer(&wording),
            says_no: has(&self.no),
            says_cancel: has(&self.says_cancel),
            why: if damage || !self.only_answers(&wording) {
                without_contact(text, contact.as_ref())
            } else {
                String::new()
            },
            text: text.to_owned(),
            damage,
            intent,
            number,
            contact,
            wants_person,
            asks_policy,
        }
    }

    /// Every order number and every contact in the message, those that are meant the most first.
    pub fn find(&self, text: &str) -> (Vec<Found>, Vec<Contact>) {
        let numbers = find_order_numbers(text, &self.order_words.order_number);
        let orders: Vec<_> = numbers.iter().map(|found| found.number.clone()).collect();
        let contacts = find_contacts(text, &orders);
        (numbers, contacts)
    }

    /// A cancel is stronger than a no, a no than a yes ("no, that's not correct").
    fn answer(&self, wording: &Wording<'_>) -> Option<Answer> {
        let order = [
            (&self.cancel, Answer::Cancel),
            (&self.no, Answer::No),
            (&self.again, Answer::Again),
            (&self.yes, Answer::Yes),
        ];
        order.into_iter().find(|(patterns, _)| is_in(patterns, wording)).map(|(_, answer)| answer)
    }

    /// Whether there is nothing in it but answers, numbers and addresses.
    fn only_answers(&self, wording: &Wording<'_>) -> bool {
        let answers = cover(&self.answers, wording, &[]);
        let tokens = wording.tokens().iter().zip(answers);
        tokens.filter(|(_, answers)| !answers).all(|(token, _)| {
            let piece = piece_around(wording.text(), token.span.start);
            piece.contains('@') || piece.contains(|c: char| c.is_ascii_digit())
        })
    }

    /// The words of damage.
    pub fn damage(&self) -> &DamageWords {
        &self.order_words.damage
    }
}

fn is_in(patterns: &[Pattern], wording: &Wording<'_>) -> bool {
    patterns.iter().any(|pattern| pattern.find(wording, &[]).is_some())
}

/// The text between spaces around that place.
fn piece_around(text: &str, at: usize) -> &str {
    let (before, behind) = text.split_at(at);
    let start = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let end = behind.find(char::is_whitespace).map_or(text.len(), |space| at + space);
    text.get(start..end).unwrap_or(behind)
}

/// The text without addresses, and without numbers where one of them is a phone's, which may be written in pieces.
fn without_contact(text: &str, contact: Option<&Contact>) -> String {
    let has_phone = matches!(contact, Some(Contact::Phone(_)));
    let is_contact = |piece: &&str| piece.contains('@') || (has_phone && piece.contains(|c: char| c.is_ascii_digit()));
    let pieces = text.split_inclusive(char::is_whitespace).filter(|piece| !is_contact(piece));
    pieces.collect::<String>().trim().to_owned()
}

/// So many digits may be an order number that is written in parts ("77 893").
const DIGITS: usize = 4;

#[cfg(test)]
mod tests;
