//! Understanding a customer of the returns desk by rules alone: the words are data (`prompts/rules/returns.toml`), this
//! file holds what they add up to.
//!
//! - [`answer`]: yes, no, and what is neither
//! - `cut`: addresses and numbers are no words
//! - `file`: the rule file

use super::state::Intent;
use crate::domain::commerce::OrderNumber;
use crate::domain::commerce::order_number::{Found, find_order_numbers};
use crate::domain::identity::Contact;
use crate::domain::identity::contact::find_contacts;
use crate::domain::returns::DamageWords;
use crate::nlu::wording::{InvalidPattern, Lexicon, Pattern, Wording, cover};
use crate::persona::{PromptError, Prompts};

pub mod answer;
mod cut;
mod file;

pub use answer::Answer;
use answer::{AnswerRules, Reading};
use file::{OrderWords, RuleFile, Signs};

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
    /// Further orders that are named.
    pub more_numbers: Vec<OrderNumber>,
    /// There is something in it that might be an order number which the rules do not read.
    pub may_name_order: bool,
    pub contact: Option<Contact>,
    /// Another address or number beside the contact: either may be the order's.
    pub other_contact: Option<Contact>,
    pub answer: Option<Answer>,
    /// The answer where the offer is to call an order off.
    pub to_cancelling: Option<Answer>,
    /// There is a no in it or a wait, whatever else is: nothing that cannot be undone is done on it.
    pub says_no: bool,
    /// The word for calling something off is in it.
    pub says_cancel: bool,
    /// It asks something.
    pub asks: bool,
    /// Its yes may be meant as a no.
    pub is_doubtful: bool,
    /// There is nothing in it but an answer, a number or an address.
    pub is_bare: bool,
    pub damage: bool,
    /// It says hello.
    pub greets: bool,
    /// It says goodbye, and asks for nothing.
    pub says_goodbye: bool,
    /// "It", "this order": what was talked of before is meant.
    pub points_back: bool,
    pub wants_person: bool,
    /// The rules shall be bent for once.
    pub asks_exception: bool,
    /// It asks how a return or a refund is going.
    pub asks_return_status: bool,
    /// The number of the return that was made is asked for.
    pub asks_return_number: bool,
    /// The mail about a return has not come.
    pub misses_mail: bool,
    /// It asks what became of a ticket.
    pub asks_ticket: bool,
    /// The label of a return is wanted again.
    pub asks_label: bool,
    /// It asks how the shop does things, of no order and for no person.
    pub asks_policy: bool,
}

impl Heard {
    /// What is left of a question about the policy once it is answered: damage that was told beside it. Nothing in it answers
    /// what was asked before.
    #[must_use]
    pub fn beside_question(self) -> Self {
        if !self.damage {
            return Self::default();
        }
        Self { text: self.text, why: self.why, damage: true, intent: Some(Intent::Return), ..Self::default() }
    }
}

/// The desk's keywords.
#[derive(Debug)]
pub struct ReturnsRules {
    lexicon: Lexicon,
    order_status: Vec<Pattern>,
    refund: Vec<Pattern>,
    returns: Vec<Pattern>,
    other: Vec<Pattern>,
    greeting: Vec<Pattern>,
    pointing_back: Vec<Pattern>,
    status_of_return: Vec<Pattern>,
    both: Vec<Pattern>,
    cancel_order: Vec<Pattern>,
    unwished: Vec<Pattern>,
    person: Vec<Pattern>,
    goodbye: Vec<Pattern>,
    exception: Vec<Pattern>,
    return_number: Vec<Pattern>,
    mail_missing: Vec<Pattern>,
    ticket_news: Vec<Pattern>,
    label_again: Vec<Pattern>,
    policy: Vec<Pattern>,
    hypothetical: Vec<Pattern>,
    spelled_number: Vec<Pattern>,
    answers: AnswerRules,
    signs: Signs,
    order_words: OrderWords,
}

impl ReturnsRules {
    /// Reads `rules/returns.toml` and `rules/orders.toml`.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        let order_words = prompts.toml("rules/orders.toml")?;
        prompts.toml_with("rules/returns.toml", |text| {
            Self::new(toml::from_str(text)?, order_words).map_err(serde::de::Error::custom)
        })
    }

    fn new(file: RuleFile, order_words: OrderWords) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(file.aliases, file.classes).with_plain_words(&file.plain_words);
        let patterns = |written: &[String]| lexicon.patterns(written);
        Ok(Self {
            answers: AnswerRules::new(&file.answers, &lexicon)?,
            signs: file.signs,
            order_status: patterns(&file.intents.order_status)?,
            refund: patterns(&file.intents.refund)?,
            returns: patterns(&file.intents.returns)?,
            other: patterns(&file.intents.other)?,
            greeting: patterns(&file.intents.greeting)?,
            pointing_back: patterns(&file.asides.pointing_back)?,
            status_of_return: patterns(&file.intents.status_of_return)?,
            both: patterns(&file.intents.both)?,
            cancel_order: patterns(&file.intents.cancel_order)?,
            unwished: patterns(&file.intents.unwished)?,
            person: patterns(&file.asides.person)?,
            goodbye: patterns(&file.asides.goodbye)?,
            exception: patterns(&file.asides.exception)?,
            return_number: patterns(&file.asides.return_number)?,
            mail_missing: patterns(&file.asides.mail_missing)?,
            ticket_news: patterns(&file.asides.ticket_news)?,
            label_again: patterns(&file.asides.label_again)?,
            policy: patterns(&file.asides.policy)?,
            hypothetical: patterns(&file.asides.hypothetical)?,
            spelled_number: patterns(&file.asides.spelled_number)?,
            order_words,
            lexicon,
        })
    }

    /// What the message says.
    pub fn hear(&self, text: &str) -> Heard {
        let (numbers, contacts) = self.find(text);
        let orders: Vec<_> = numbers.iter().map(|found| found.number.clone()).collect();
        let mut contacts = contacts.into_iter();
        let (contact, other_contact) = (contacts.next(), contacts.next());
        let mut numbers = numbers.into_iter();
        let number = numbers.next();
        let words = self.signs.spelled_out(&cut::cut(text, &orders));
        let wording = self.lexicon.read(&words);
        let has = |patterns: &[Pattern]| is_in(patterns, &wording, &[]);
        let wants_person = has(&self.person);
        let misses_mail = has(&self.mail_missing);
        let asks_label = has(&self.label_again);
        let names_ticket = number.is_none() || text.to_uppercase().contains("TICKET-");
        let asks_ticket = has(&self.ticket_news) && !wants_person && names_ticket;
        let asks_policy = ((has(&self.policy) && !asks_label) || misses_mail)
            && number.is_none()
            && contact.is_none()
            && !wants_person;
        let Reading { answer, to_cancelling, says_cancel, holds_back, asks, is_doubtful } =
            self.answers.read(&wording, |clause| self.order_words.damage.is_told_in(clause));
        // "Yes, and what does it cost?" asks; "yes, it was a gift" does not.
        let is_bare = self.answers.is_nothing_else(&wording);
        let is_answer = answer == Some(Answer::Yes) || (answer.is_some() && is_bare);
        let asks_policy = asks_policy && !is_answer;
        let damage = if asks_policy { self.tells_damage_beside(&wording) } else { self.tells_damage(&wording) };
        // "Không chín một hai" is a number, and no no.
        let spells = has(&self.spelled_number);
        let intent = match self.intent(&wording).filter(|_| !asks_policy) {
            _ if asks_label && !asks_policy => Some(Intent::OrderStatus),
            intent => intent,
        };
        let asks_nothing = intent.is_none_or(|intent| intent == Intent::Other)
            && (number.is_none() && contact.is_none())
            && !(asks || damage || wants_person || asks_policy || asks_ticket);
        Heard {
            wants_both: !asks_policy && has(&self.both),
            wants_cancel: !asks_policy && has(&self.cancel_order),
            may_name_order: number.is_none()
                && contact.is_none()
                && (spells || text.chars().filter(char::is_ascii_digit).count() >= DIGITS),
            answer: answer.filter(|_| !spells),
            to_cancelling: to_cancelling.filter(|_| !spells),
            says_no: holds_back,
            says_cancel,
            asks,
            is_doubtful,
            why: if damage || !is_bare { without_contact(text, contact.as_ref()) } else { String::new() },
            is_bare,
            text: text.to_owned(),
            damage,
            greets: has(&self.greeting),
            points_back: has(&self.pointing_back),
            says_goodbye: asks_nothing && has(&self.goodbye),
            intent,
            number,
            more_numbers: numbers.map(|found| found.number).collect(),
            contact,
            other_contact,
            wants_person,
            asks_exception: has(&self.exception),
            asks_return_status: !asks_policy && has(&self.status_of_return),
            asks_return_number: has(&self.return_number),
            misses_mail,
            asks_ticket,
            asks_label: asks_label && !asks_policy && !wants_person,
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

    /// What the message is about. What is spoken of as not wanted ("don't return it, just tell me where it is") is none.
    fn intent(&self, wording: &Wording<'_>) -> Option<Intent> {
        let unwished = cover(&self.unwished, wording, &[]);
        let wants = |patterns: &[Pattern]| is_in(patterns, wording, &unwished);
        let has = |patterns: &[Pattern]| is_in(patterns, wording, &[]);
        if has(&self.status_of_return) || has(&self.return_number) {
            Some(Intent::OrderStatus)
        } else if wants(&self.refund) {
            Some(Intent::Refund)
        } else if wants(&self.returns) {
            Some(Intent::Return)
        } else if has(&self.order_status) {
            Some(Intent::OrderStatus)
        } else if wants(&self.cancel_order) {
            Some(Intent::Return)
        } else {
            (has(&self.other) || has(&self.greeting)).then_some(Intent::Other)
        }
    }

    /// Whether a part of the message tells of damage that there is, not that there may be.
    fn tells_damage(&self, wording: &Wording<'_>) -> bool {
        let hypothetical = cover(&self.hypothetical, wording, &[]);
        if !hypothetical.contains(&true) {
            return self.order_words.damage.is_told_in(&cut::without_stand_ins(wording.text()));
        }
        self.is_damage_told_outside(wording, &hypothetical)
    }

    /// The same beside a question about the policy: what the question itself speaks of is a case.
    fn tells_damage_beside(&self, wording: &Wording<'_>) -> bool {
        let asked = cover(&self.policy, wording, &[]);
        let hypothetical = cover(&self.hypothetical, wording, &[]);
        let of_question: Vec<bool> = asked.iter().zip(hypothetical).map(|(a, b)| *a || b).collect();
        self.is_damage_told_outside(wording, &of_question)
    }

    /// Whether damage is told in a part of the sentence that has none of these words.
    fn is_damage_told_outside(&self, wording: &Wording<'_>, hidden: &[bool]) -> bool {
        let mut at = 0;
        while at < wording.tokens().len() {
            let words = wording.clause(at);
            at = words.end.max(at + 1);
            let is_free = hidden.get(words.clone()).is_some_and(|hidden| !hidden.contains(&true));
            if is_free && self.order_words.damage.is_told_in(wording.typed(words)) {
                return true;
            }
        }
        false
    }

    /// The text without addresses and numbers, which are of no language.
    pub fn without_names(&self, text: &str) -> String {
        let numbers = find_order_numbers(text, &self.order_words.order_number);
        let orders: Vec<_> = numbers.into_iter().map(|found| found.number).collect();
        cut::without_stand_ins(&cut::cut(text, &orders))
    }

    /// The words of damage.
    pub fn damage(&self) -> &DamageWords {
        &self.order_words.damage
    }
}

fn is_in(patterns: &[Pattern], wording: &Wording<'_>, hidden: &[bool]) -> bool {
    patterns.iter().any(|pattern| pattern.find(wording, hidden).is_some())
}

/// An address or a number as it can be read again.
pub fn written(contact: &Contact) -> &str {
    match contact {
        Contact::Email(email) => email.as_str(),
        Contact::Phone(phone) => phone.as_str(),
    }
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
