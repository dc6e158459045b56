//! Parses a message of the returns desk by rules, without a language model. The words are data
//! (`prompts/rules/returns.LANG.toml`); this module combines them into an [`Utterance`].
//!
//! - [`answer`]: yes, no, and anything else
//! - `cut`: replaces addresses and numbers with placeholder words
//! - `file`: the rule file
//! - `goods`: the words that can name an item, and how many pieces of it
//! - `guess`: likeness to examples, where the patterns understand nothing
//! - `intent`: what a message wants, and damage
//! - `topic`: what a message asks about, requests, reports and mentions

use std::mem::take;
use std::sync::Arc;

use super::items;
use super::state::{Intent, ItemSnapshot};
use crate::dialogue::social::{SmallTalk, Social};
use crate::dialogue::utterance::Entities;
use crate::dialogue::{self, Act, Answer};
use crate::domain::identity::Contact;
use crate::domain::returns::DamageWords;
use crate::domain::serial::SerialWords;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, any_match, match_mask};
use crate::nlu::entities::{Found, find_contacts, find_order_numbers, join_prefixes};
use crate::nlu::examples::Classifier;
use crate::persona::{PromptError, Prompts};

pub mod answer;
mod cut;
mod file;
mod goods;
mod guess;
mod intent;
mod talk;
mod topic;

use answer::{AnswerRules, Reading};
use file::{AsideLists, IntentLists, OrderWords, RuleFile, Signs};
use goods::{GoodsWords, PieceRules};
pub use talk::InTalk;
pub use topic::{Topic, without_question};

/// A parsed message of this desk's customer.
pub type Utterance = dialogue::Utterance<Intent, Topic>;

/// The desk's keywords.
#[derive(Debug)]
pub struct ReturnsRules {
    lexicon: Lexicon,
    goods: GoodsWords,
    intents: IntentLists,
    asides: AsideLists,
    pieces: PieceRules,
    /// The patterns of each of `REQUESTS`, in their order.
    requests: Vec<(Intent, Vec<Pattern>)>,
    small_talk: SmallTalk,
    examples: Classifier,
    talk: Classifier,
    answers: AnswerRules,
    signs: Signs,
    order_words: OrderWords,
}

impl ReturnsRules {
    /// Reads `rules/common.*.toml`, `rules/social*.toml`, `rules/returns*.toml` and `rules/orders*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Arc<Self>, PromptError> {
        let mut files = prompts.files_of_rules(&["common", "serials", "social", "returns", "orders"])?;
        for examples in ["returns", "returns_talk"] {
            files.extend(Classifier::files(prompts, examples)?);
        }
        prompts.shared(&files, || {
            let order_words = prompts.rules(&["orders"], Ok::<OrderWords, InvalidPattern>)?;
            let serial_words = prompts.serial_words()?;
            let [examples, talk] = ["returns", "returns_talk"].map(|name| Classifier::read(prompts, name));
            let learned = (SmallTalk::read(prompts)?, examples?, talk?);
            prompts.rules(&["common", "returns"], |file| Self::new(file, order_words, serial_words, learned))
        })
    }

    fn new(
        mut file: RuleFile,
        order_words: OrderWords,
        serial_words: SerialWords,
        (small_talk, examples, talk): (SmallTalk, Classifier, Classifier),
    ) -> Result<Self, InvalidPattern> {
        file.classes.insert(goods::COUNT.to_owned(), file.piece_counts.keys().cloned().collect());
        let lexicon = Lexicon::new(file.aliases, file.classes)
            .with_plain_words(&file.plain_words)
            .with_serial_words(serial_words);
        let patterns = |written: &[String]| lexicon.patterns(written);
        let mut requests = Vec::new();
        for intent in REQUESTS {
            requests.push((intent, patterns(file.requests.get(&intent).map_or(&[], Vec::as_slice))?));
        }
        let mut asides = file.asides.parse(&lexicon)?;
        Ok(Self {
            goods: GoodsWords::new(&file.not_items, patterns(&file.not_goods)?, &file.goods_names, &lexicon)?,
            intents: file.intents.parse(&lexicon)?,
            requests,
            small_talk,
            examples,
            talk,
            answers: file.answers.parse(&lexicon)?,
            signs: file.signs,
            pieces: PieceRules::new(&file.piece_counts, take(&mut asides.pieces), take(&mut asides.no_pieces)),
            asides,
            order_words,
            lexicon,
        })
    }

    /// Trains the examples.
    pub fn prepare(&self) {
        self.examples.prepare();
        self.talk.prepare();
    }

    /// Parses a message by patterns, and by its likeness to examples where they do not understand it. The examples may show that it
    /// hesitates or stops what is going on, and never that it agrees.
    pub fn parse(&self, text: &str) -> Utterance {
        guess::complete(self.parse_by_patterns(text), text, &self.examples)
    }

    /// Parses a message after a ticket or a refusal. Details and arguments have the words of other wishes, so the examples begin no
    /// flow.
    pub fn parse_after_decision(&self, text: &str) -> Utterance {
        guess::continue_talk(self.parse_by_patterns(text), text, &self.examples)
    }

    /// Parses a message about what the conversation has, or returns `None` if the examples do not know it as such.
    pub fn parse_in_talk(&self, text: &str, in_talk: InTalk) -> Option<Utterance> {
        talk::complete(&self.parse_by_patterns(text), text, &self.talk, in_talk)
    }

    /// Whether the examples take a message for a question about the shop's terms, or, with `is_open`, for nothing else for certain.
    pub fn may_ask_terms(&self, text: &str, is_open: bool) -> bool {
        guess::may_ask_terms(text, is_open, &self.examples)
    }

    /// Parses a message by patterns alone.
    pub fn parse_by_patterns(&self, text: &str) -> Utterance {
        let (orders, contacts) = self.find(text);
        let joined = join_prefixes(text, &self.order_words.order_number);
        let text = joined.as_ref();
        let numbers: Vec<_> = orders.iter().map(|found| found.number.clone()).collect();
        let words = self.signs.spelled_out(&cut::cut(text, &numbers));
        let stream = self.lexicon.tokenize(&words);
        let has = |patterns: &[Pattern]| any_match(patterns, &stream, &[]);
        let wants_person = any_match(&self.asides.person, &stream, &match_mask(&self.asides.no_person, &stream, &[]));
        // "The link has expired, send it again": two clauses.
        let breaks_label = has(&self.asides.label_broken);
        let requests_label =
            has(&self.asides.label_again) || (breaks_label && (has(&self.asides.send_again) || !orders.is_empty()));
        let misses_mail = has(&self.asides.mail_missing) && !requests_label;
        let names_ticket = orders.is_empty() || text.to_uppercase().contains("TICKET-");
        let reading = self.answers.read(&stream, |clause| self.order_words.damage.is_reported_in(clause));
        let Reading { answer, answer_to_cancel, mentions_cancel, has_question, .. } = reading;
        // "Yes, and what does it cost?" asks as well; "yes, it was a gift" does not.
        let only_answers = self.answers.is_nothing_else(&stream);
        let cancels = mentions_cancel && answer_to_cancel == Some(Answer::Yes);
        let is_answer = (answer == Some(Answer::Yes) && !has_question) || cancels || (answer.is_some() && only_answers);
        let names_nothing = orders.is_empty() && contacts.is_empty();
        let has_policy_words = has(&self.asides.policy) || (has_question && has(&self.asides.policy_words));
        let asks_deadline = has_question
            && has(&self.asides.deadline)
            && !has(&self.intents.cancel_order)
            && !wants_person
            && !is_answer;
        // "Register the return, please": no question about the procedure.
        let is_told = reading.instructs && !has_question;
        let asks_policy = ((has_policy_words && !requests_label) || misses_mail || asks_deadline)
            && names_nothing
            && !wants_person
            && !is_told
            && !is_answer;
        let reports_damage = match asks_policy {
            // A label that does not open is no damage.
            _ if breaks_label => self.reports_damage_next_to_label(&stream),
            true => self.reports_damage_next_to_question(&stream),
            false => self.reports_damage(&stream),
        };
        // "Không chín một hai" is a number, not a no.
        let spells_number = has(&self.asides.spelled_number);
        let has_explanation = reports_damage || !only_answers;
        let asks_ticket = has(&self.asides.ticket_news) && !wants_person && names_ticket;
        let is_stopped = matches!(answer_to_cancel, Some(Answer::No)) || has(&self.intents.unwished);
        let cancels_named = mentions_cancel && !orders.is_empty() && !is_stopped;
        let may_ask_fact = !wants_person && !is_answer;
        let facts = if may_ask_fact { self.asides.facts(&stream, has_question) } else { Vec::new() };
        let asks_where = [Topic::Arrival, Topic::Tracking].iter().any(|topic| facts.contains(&Act::Ask(*topic)));
        let intent = match self.intent(&stream) {
            // "Is it too late for 77893?" is answered by the rules, which decide about a return of it.
            None | Some(Intent::OrderStatus) if asks_deadline && !names_nothing => Some(Intent::Return),
            _ if asks_policy => self.wish_outside_question(&stream).filter(|_| !misses_mail),
            _ if requests_label => Some(Intent::OrderStatus),
            // "And 77900, cancel that too": two clauses.
            None | Some(Intent::Other) if cancels_named => Some(Intent::Return),
            Some(Intent::OrderStatus) if cancels_named && !has_question => Some(Intent::Return),
            // Damaged goods are decided as a return, whatever the customer wants for them.
            Some(intent) if reports_damage && intent.is_request() => Some(Intent::Return),
            None if asks_where => Some(Intent::OrderStatus),
            // "Hello, did you get 77893?" does more than greet.
            Some(Intent::Other) if !orders.is_empty() && !has(&self.intents.other) => None,
            intent => intent,
        };
        let topics = self.small_talk.topics(text);
        let requests_nothing = matches!(intent, None | Some(Intent::Other)) && names_nothing && !wants_person;
        let asks_nothing = !(has_question || asks_policy || asks_ticket);
        // "What a joke!" asks for none.
        let complains = topics.contains(&Social::Complaint);
        let chats_about = topics.iter().copied().find(|topic| is_chat(*topic) && !complains).filter(|_| {
            requests_nothing && !(asks_policy || asks_ticket || requests_label || reports_damage || answer.is_some())
        });
        let acts = [
            (Act::Greet, has(&self.intents.greeting)),
            (Act::Leave, has(&self.asides.goodbye) && requests_nothing && asks_nothing && !reports_damage),
            (Act::Thank, reading.thanks && requests_nothing && asks_nothing && !reports_damage),
            (Act::PointBack, has(&self.asides.pointing_back)),
            (Act::WantPerson, wants_person),
            (Act::Question, has_question),
            (Act::Hesitate, reading.hesitates),
            (Act::Equivocate, reading.equivocates),
            (Act::LeaveOpen, !asks_policy && has(&self.intents.both)),
            (Act::Acknowledge, reading.acknowledges && only_answers && names_nothing),
            (Act::OnlyAnswer, only_answers),
            (Act::Ask(Topic::Policy), asks_policy),
            (Act::Ask(Topic::Deadline), asks_deadline && names_nothing),
            (Act::Ask(Topic::Amount), has_question && names_nothing && !is_answer && has(&self.asides.amount)),
            (Act::Ask(Topic::Exception), has(&self.asides.exception)),
            (Act::Ask(Topic::ReturnStatus), !asks_policy && has(&self.intents.status_of_return)),
            (Act::Ask(Topic::ReturnNumber), has(&self.asides.return_number)),
            (Act::Ask(Topic::Ticket), asks_ticket),
            (Act::Request(Topic::Label), requests_label && !asks_policy && !wants_person),
            (Act::Request(Topic::Cancellation), !asks_policy && (has(&self.intents.cancel_order) || cancels_named)),
            (Act::Report(Topic::MissingMail), misses_mail),
            (Act::Report(Topic::Damage), reports_damage),
            (Act::Mention(Topic::Cancellation), mentions_cancel),
            (Act::Mention(Topic::Return), self.names_return(&stream)),
            (Act::Mention(Topic::SomePieces), has(&self.asides.some_pieces)),
            (Act::Mention(Topic::OtherOrder), has(&self.asides.other_order)),
            (Act::Report(Topic::MissingMoney), names_nothing && has(&self.asides.money_missing)),
            (Act::Report(Topic::MissingDetail), has(&self.asides.missing_detail)),
            (Act::Report(Topic::MissingContact), has(&self.asides.missing_contact)),
            (Act::Ask(Topic::Purpose), has(&self.asides.purpose)),
            (Act::Report(Topic::NothingCame), has(&self.asides.nothing_came)),
            (Act::Report(Topic::BrokenLabel), breaks_label),
            (Act::Request(Topic::Return), reading.instructs && !reading.equivocates),
            (Act::Ask(Topic::Return), has_question && self.only_supposes(&stream) && !reports_damage),
            (Act::Complain, complains && !(asks_ticket || wants_person)),
            (Act::Chat(chats_about.unwrap_or(Social::Other)), chats_about.is_some()),
        ];
        // "No, the sole is torn" reports damage, and stops nothing.
        let only_tells_damage = |answer: &Answer| reports_damage && *answer == Answer::No;
        let counts = |answer: &Answer| !(spells_number || only_tells_damage(answer));
        let utterance = Utterance {
            text: self.without_not_items(text),
            explanation: if has_explanation { without_contact(text, contacts.first()) } else { String::new() },
            intent,
            answer: answer.filter(counts),
            answer_to_cancel: answer_to_cancel.filter(|_| !spells_number),
            answer_to_ticket: reading.answer_to_ticket.filter(counts),
            entities: Entities {
                has_unread_order: names_nothing
                    && (spells_number || text.chars().filter(char::is_ascii_digit).count() >= UNREAD_DIGITS),
                shop_number: cut::shop_number(text),
                pieces: self.pieces.find(&stream),
                kept_goods: self.kept_goods_in(&stream),
                orders,
                contacts,
                ..Entities::default()
            },
            ..Utterance::default()
        };
        let acts = acts.into_iter().filter(|(_, holds)| *holds).map(|(act, _)| act).chain(facts);
        acts.fold(utterance, Utterance::with)
    }

    /// Returns the numbers of pieces that the message names together with an item of the order: "one headlamp".
    pub fn pieces_of(&self, text: &str, items: &[ItemSnapshot]) -> Vec<u32> {
        let stream = self.lexicon.tokenize(text);
        self.pieces.find_before(&stream, |words| !items::named(items, &self.without_not_items(words)).is_empty())
    }

    /// Finds every order number and every contact in the message, the surest first.
    pub fn find(&self, text: &str) -> (Vec<Found>, Vec<Contact>) {
        let numbers = find_order_numbers(text, &self.order_words.order_number);
        let orders: Vec<_> = numbers.iter().map(|found| found.number.clone()).collect();
        let contacts = find_contacts(text, &orders);
        (numbers, contacts)
    }

    /// Returns the text without addresses and numbers, which belong to no language.
    pub fn without_names(&self, text: &str) -> String {
        let numbers = find_order_numbers(text, &self.order_words.order_number);
        let orders: Vec<_> = numbers.into_iter().map(|found| found.number).collect();
        cut::without_placeholders(&cut::cut(&join_prefixes(text, &self.order_words.order_number), &orders))
    }

    /// Returns the text with the words that can name an item of an order, and without "the" and "one".
    pub fn without_not_items(&self, text: &str) -> String {
        self.goods.of(text, &self.lexicon)
    }

    pub fn damage(&self) -> &DamageWords {
        &self.order_words.damage
    }
}

/// Returns the text without e-mail addresses. If the contact is a phone number, which may be written in pieces, all words with
/// digits go as well.
fn without_contact(text: &str, contact: Option<&Contact>) -> String {
    let has_phone = matches!(contact, Some(Contact::Phone(_)));
    let is_contact = |piece: &&str| piece.contains('@') || (has_phone && piece.contains(|c: char| c.is_ascii_digit()));
    let pieces = text.split_inclusive(char::is_whitespace).filter(|piece| !is_contact(piece));
    pieces.collect::<String>().trim().to_owned()
}

/// The intents that a person settles, the surest first.
const REQUESTS: [Intent; 6] = [
    Intent::WrongItem,
    Intent::MissingItem,
    Intent::DoubleCharge,
    Intent::AddressChange,
    Intent::Invoice,
    Intent::Exchange,
];

/// Whether the desk answers a topic of small talk as such. Thanks, goodbyes, anger and persons have texts of the returns desk.
fn is_chat(topic: Social) -> bool {
    !matches!(topic, Social::Person | Social::Complaint | Social::Goodbye | Social::Thanks)
}

/// At least this many digits may be an order number written in parts ("77 893").
const UNREAD_DIGITS: usize = 4;

#[cfg(test)]
pub(super) mod tests;
