//! What a message is about after the conversation before it: a product that was shown, a record that was looked up, or a question
//! that the documents answer.
//!
//! A question is answered before anything is asked back. The rules know few words for it, so examples
//! (`prompts/examples/retail.LANG.tsv`) help to tell questions about the shop's terms from wishes to look up a warranty.

use serde_json::Value;

use super::builds::Build;
use super::classify::Understood;
use super::guess::{CLAUSE, Guess, Guessed, LIKELY, VERY_LIKELY};
use super::intent::Intent;
use super::memory::{Current, Memory};
use super::products::{Asked, FEW, Goods, clauses};
use super::rules::{Topic, Utterance};
use super::texts::Text;
use super::topics::Candidate;
use super::{Incoming, Retail, kind};
use crate::desks::Turn;
use crate::dialogue::answer;
use crate::dialogue::shown::Shown;
use crate::dialogue::{Act, Social};
use crate::domain::serial::{Likeness, PossibleSerial};
use crate::domain::text::words;
use crate::domain::{IntentSource, Message};
use crate::nlu::pick::{Pick, Sign};
use crate::retrieval::mention::Level;
use crate::retrieval::{Passage, Query};

/// The score from which a page describes the fault that a customer reports.
const DESCRIBED: f64 = 0.6;
/// The groups of words that ask about the shop's services, whatever goods a message names.
const OF_SHOP: [&str; 2] = ["repair_question", "warranty_question"];
/// A message or clause with fewer words is only small talk, even if it resembles a question.
const MATTER: usize = 5;

/// What a message is about.
#[derive(Debug, Default)]
pub(super) struct About {
    /// Products.
    pub goods: Goods,
    /// A text of the desk that answers.
    pub written: Option<Text>,
    /// Whether it asks again about the warranty that was looked up last.
    pub is_record: bool,
    /// Whether it is a question about the shop, which catalogue rows do not answer.
    pub pages_only: bool,
    /// Whether it names products.
    pub names_products: bool,
    /// A question about the shop besides one about products.
    pub besides: Option<String>,
    /// Whether the best part of the subject's document answers, where nothing covers the message.
    pub is_of_subject: bool,
    /// The section that the customer chose among those that the last reply offered, with the question.
    pub topic: Option<(Candidate, Passage)>,
    /// What it asks of the sample build of the conversation.
    pub build: Option<Build>,
    /// What is searched instead of the message: without what the customer owns, with the kind of goods that the conversation is about.
    pub searched: Option<String>,
}

impl Retail {
    /// Returns a message without the thanks that it begins with, if a question follows.
    pub(super) fn without_thanks(&self, turn: &Turn, text: &str) -> String {
        let is_polite = |clause: &&str| {
            let parsed = self.rules.parse(clause, &self.vocabulary(turn));
            let is_thanks = matches!(parsed.social(), Some(Social::Thanks | Social::Compliment));
            clause.trim().is_empty() || (parsed.intent.is_none() && (is_thanks || parsed.stalls()))
        };
        let polite: Vec<&str> = clauses(text).take_while(is_polite).collect();
        let Some(rest) = clauses(text).nth(polite.len()).filter(|_| !polite.is_empty()) else { return text.to_owned() };
        let rest = text.find(rest).map_or(text, |start| &text[start..]);
        let asks = rest.contains('?') || self.guess(rest).at_least(LIKELY).is_some_and(Guessed::is_business);
        if asks { rest.trim().to_owned() } else { text.to_owned() }
    }

    /// Completes what the classification understood, and remembers the products that the message names.
    pub(super) fn in_conversation(
        &self,
        turn: &Turn,
        incoming: &mut Incoming,
        understood: &mut Understood,
        memory: &mut Memory,
    ) -> About {
        let gives_serial =
            understood.utterance.entities.serials.iter().any(|serial| serial.likeness() >= Likeness::Number);
        let looks_up = gives_serial && understood.intent() == Intent::Warranty;
        if !incoming.is_only_switch() && !looks_up && self.correct_serial(turn, incoming, understood) {
            return About::default();
        }
        if incoming.is_only_switch() || looks_up || understood.utterance.social() == Some(Social::Person) {
            return About::default();
        }
        let text = understood.utterance.text.clone();
        let topics = std::mem::take(&mut memory.topics);
        if let Some(topic) = self.chosen_topic(turn, &text, &topics) {
            understood.settle(Intent::Shopping, "topics");
            return About { topic: Some(topic), ..About::default() };
        }
        let (current, waiting) = (memory.current, incoming.waiting_for_serial);
        let is_short = words(&text).len() <= FEW;
        let guess = self.guess_after(&text, |kind| kind.times_as_likely(current, waiting, is_short));
        let mood = self.mood_of_matter(&guess, understood);
        let likely = guess.at_least(LIKELY);
        let owned = self.rules.without_owned(&text);
        let wish = owned.as_deref().filter(|rest| !self.names_nothing(turn, rest)).unwrap_or(&text);
        let named_in = if self.picks.says(Sign::Fits, &text) { text.as_str() } else { wish };
        let mentions = self.named(turn, named_in, memory);
        let before = memory.shown.as_ref().map_or_else(Vec::new, Shown::in_talk);
        self.focus(turn, &text, &mentions, memory);
        // What ends the answer needs more than a guess, and a model that has classified the message knows better.
        let is_by_model = understood.source == IntentSource::Llm;
        let decisive = guess.at_least(VERY_LIKELY).filter(|_| !is_by_model);
        let is_unclear = understood.clarify_needed && understood.utterance.social().is_none() && !is_by_model;
        let asks_for_serial = understood.intent() == Intent::Warranty && !understood.clarify_needed;
        // What happened to something of the customer's, or what its repair costs, is no wish for another one.
        let is_of_shop = understood.utterance.matched.iter().any(|group| OF_SHOP.contains(&group.as_str()));
        let wants_new = |rest: &String| self.rules.parse(rest, &self.vocabulary(turn)).requests(Topic::UnnamedGoods);
        let is_report = wish == text && owned.as_ref().is_some_and(|rest| !wants_new(rest));
        // "Does this build include a monitor?": no row of the catalogue has the build.
        let names_kind = !self.services.pages(turn).categories(wish, turn.language()).is_empty();
        let is_set = self.picks.says(Sign::Set, wish)
            && (!names_kind || likely == Some(Guessed::Shop))
            && mentions.iter().all(|mention| mention.level == Level::Brand);
        let is_else = asks_for_serial || is_report || is_of_shop || is_by_model || understood.utterance.complains();
        let is_offer = !is_else && decisive != Some(Guessed::Shop) && self.asks_offer(turn, wish);
        let asked = Asked {
            text: &text,
            wish,
            mentions: &mentions,
            before: &before,
            is_product: is_offer || (likely == Some(Guessed::Product) && !is_report && !is_of_shop),
            is_sure: decisive.is_some(),
            is_shop: (likely == Some(Guessed::Shop) && !is_offer) || is_of_shop,
            is_offer,
            is_look_up: asks_for_serial,
            is_set,
        };
        let searched = self.searched(turn, &asked, memory);
        let is_for_person = decisive == Some(Guessed::Chat(Social::Person));
        if let Some(about) = self.settled_first(turn, &asked, understood, memory).filter(|_| !is_for_person) {
            return About { names_products: !mentions.is_empty(), ..about };
        }
        let likely = match memory.current {
            Some(Current::Record) if understood.utterance.asks(Topic::Records) => Some(Guessed::Record),
            _ => likely,
        };
        match likely {
            Some(Guessed::Chat(Social::Person)) if decisive.is_some() => {
                understood.utterance.set(Act::Chat(Social::Person), true);
                understood.utterance.intent = None;
                understood.clarify_needed = true;
                return About::default();
            }
            Some(Guessed::Record) => {
                incoming.utterance.entities.serials.extend(serials_in_talk(&turn.history, &understood.utterance));
                understood.settle(Intent::Warranty, "record");
                return About { is_record: true, ..About::default() };
            }
            Some(Guessed::NoSerial) => return Self::written(understood, Text::ReplyNoSerial),
            Some(Guessed::Order) if !is_by_model && !incoming.waiting_for_serial => {
                return Self::written(understood, Text::ReplyOrder);
            }
            Some(Guessed::Restock) => {
                if let Some(chosen) = self.sold_out(turn, &asked, memory) {
                    let goods = Goods { chosen: Some(chosen), ..Goods::default() };
                    return About { goods, ..Self::written(understood, Text::ReplyRestock) };
                }
            }
            _ => {}
        }
        let names_products = !mentions.is_empty();
        if let Some(goods) = self.goods_besides_shop(turn, &asked, memory) {
            understood.settle(Intent::Shopping, "catalogue");
            return About { goods, names_products, besides: Some(text), searched, ..About::default() };
        }
        // "Who makes it?", after products.
        let asks_of_goods = memory.current == Some(Current::Products) && self.picks.without_attributes(&text).is_some();
        let is_chat =
            decisive.is_some_and(|kind| !kind.is_business()) && self.picks.pieces(&text).is_none() && !asks_of_goods;
        if (is_unclear || !understood.clarify_needed)
            && !is_chat
            && let Some(goods) = self.goods(turn, &asked, memory)
            && !(asks_for_serial && goods.chosen.is_none())
        {
            understood.settle(Intent::Shopping, "catalogue");
            let besides = self.question_besides(turn, &text);
            return About { goods, names_products, besides, searched, ..About::default() };
        }
        let is_look_up = likely == Some(Guessed::Warranty);
        // Who owns something and reports what happened to it wants no other product.
        let pages_only = asked.is_shop || is_look_up || asked.is_set;
        // "The invoice is HD00123" answers with a wrong number.
        let names_number = !understood.utterance.entities.serials.is_empty();
        // A fault that is reported after a record is one of that product, and so is a question about the warranty.
        let has_record = memory.current == Some(Current::Record)
            || (memory.current == Some(Current::Page) && shown_serials(&turn.history).next().is_some());
        let is_other = matches!(self.picks.pick(&text), Some((Pick::Similar, _)));
        let is_about_it = understood.utterance.complains() || asked.is_shop;
        let is_fault = has_record && is_about_it && !is_other;
        let is_of_subject = has_record && (is_look_up || is_fault || is_unclear);
        if asks_for_serial && is_look_up && understood.utterance.points_back() {
            incoming.utterance.entities.serials.extend(serials_in_talk(&turn.history, &understood.utterance));
        } else if asks_for_serial && is_fault {
            let search = self.search(turn, &text, true);
            if answer::is_answered(&self.services.pages(turn), &search, None, true) {
                understood.settle(Intent::Shopping, "documents");
            } else {
                incoming.utterance.entities.serials.extend(serials_in_talk(&turn.history, &understood.utterance));
                return About { is_record: true, ..About::default() };
            }
        } else if (asks_for_serial || is_unclear) && !(incoming.waiting_for_serial && names_number) {
            let is_aside = incoming.waiting_for_serial || memory.current == Some(Current::Page);
            let search = self.search(turn, &text, pages_only);
            self.answer_first(turn, understood, &guess, &search, is_aside, memory);
            if let Some(topic) = mood.filter(|_| understood.clarify_needed) {
                understood.utterance.set(Act::Chat(topic), true);
            }
        }
        About { pages_only, names_products, is_of_subject, searched, ..About::default() }
    }

    /// Removes the mood of a message that also has a matter, and returns it: "my new monitor has 4 dead pixels, what a mess".
    fn mood_of_matter(&self, guess: &Guess, understood: &mut Understood) -> Option<Social> {
        let ends_talk = |topic: &Social| matches!(topic, Social::Person | Social::Goodbye | Social::Thanks);
        let topic = understood.utterance.social().filter(|topic| !ends_talk(topic))?;
        let text = understood.utterance.text.as_str();
        let is_business = |guess: &Guess| guess.at_least(LIKELY).is_some_and(Guessed::is_business);
        let is_long = |text: &str| text.split_whitespace().count() >= MATTER;
        let has_matter = (is_long(text) && is_business(guess))
            || clauses(text)
                .any(|clause| clause.len() < text.len() && is_long(clause) && is_business(&self.guess(clause)));
        if !has_matter || understood.source == IntentSource::Llm {
            return None;
        }
        understood.utterance.acts.retain(|act| !matches!(act, Act::Chat(_)));
        Some(topic)
    }

    /// Returns what to search instead of a message, if that differs: advice on goods that it does not name is about the shown kind.
    fn searched(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<String> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let names_kind = !pages.categories(asked.wish, language).is_empty();
        let is_of_shown = asked.is_product && !names_kind && memory.current == Some(Current::Products);
        let shown = memory.shown.as_ref().filter(|_| is_of_shown);
        match shown.and_then(|shown| shown.category(&pages, language)) {
            Some(category) => Some(format!("{} {category}", asked.wish)),
            None => (asked.wish != asked.text).then(|| asked.wish.to_owned()),
        }
    }

    /// Whether a text asks for goods of the catalogue, named by nothing that they are not: "do you have a quiet mouse for the office?",
    /// but neither "do you have a mouse repair" nor "do you sell used mice".
    fn asks_offer(&self, turn: &Turn, text: &str) -> bool {
        let Some(goods) = self.picks.offered(text) else { return false };
        let (pages, language) = (self.services.pages(turn), turn.language());
        let query = Query { text: goods.to_owned(), language, limit: 1, pages_only: false };
        let words = pages.strong_words(&query);
        let rows =
            pages.categories(goods, language).into_iter().flat_map(|of| pages.rows_of_category(&of, "", language));
        rows.into_iter().any(|row| pages.words_met(goods, &row.whole(), language) == words)
    }

    /// Whether a text has no meaningful word.
    fn names_nothing(&self, turn: &Turn, text: &str) -> bool {
        let query = Query { text: text.to_owned(), language: turn.language(), limit: 1, pages_only: false };
        self.services.pages(turn).names_nothing(&query)
    }

    /// Returns the clause of a message about products that asks something about the shop: "2 of them. How fast do you ship?".
    fn question_besides(&self, turn: &Turn, text: &str) -> Option<String> {
        self.shop_clauses(turn, text).pop().map(str::to_owned)
    }

    /// Returns the clauses of a message of several that ask something about the shop.
    pub(super) fn shop_clauses<'t>(&self, turn: &Turn, text: &'t str) -> Vec<&'t str> {
        // "The CPU and the board, how much is that?" asks about the goods.
        let is_of_goods =
            |clause: &str| self.picks.without_attributes(clause).is_some_and(|rest| self.names_nothing(turn, &rest));
        // "A keyboard and a mouse. Delivery fee?"
        let asked = text.trim_end().strip_suffix('?').unwrap_or_default();
        let least = |clause: &str| if asked.ends_with(clause) { CLAUSE - 1 } else { CLAUSE };
        let is_question = |clause: &&str| {
            clause.len() < text.len()
                && clause.split_whitespace().count() >= least(clause)
                && self.guess(clause).at_least(LIKELY) == Some(Guessed::Shop)
                && !is_of_goods(clause)
        };
        clauses(text).filter(is_question).collect()
    }

    /// Answers with a text of the desk.
    fn written(understood: &mut Understood, text: Text) -> About {
        understood.settle(Intent::Shopping, "examples");
        About { written: Some(text), ..About::default() }
    }

    /// Settles on the documents where they answer a message that is unclear, or that mentions a warranty and asks something
    /// else. For an unclear message that they do not answer, the examples decide.
    fn answer_first(
        &self,
        turn: &Turn,
        understood: &mut Understood,
        guess: &Guess,
        search: &Query,
        is_aside: bool,
        memory: &Memory,
    ) {
        let pages = self.services.pages(turn);
        let is_described = || pages.find_by_words(search).passages.first().is_some_and(|best| best.score >= DESCRIBED);
        let is_long = search.text.split_whitespace().count() >= MATTER;
        let is_question = match guess.at_least(LIKELY) {
            Some(Guessed::Shop | Guessed::Product) => true,
            // "I'm free on Sunday only, is anybody there to take it?"
            Some(Guessed::Chat(topic)) if topic != Social::Person && is_long => is_described(),
            Some(Guessed::Chat(_) | Guessed::Unclear) => false,
            // A fault that a page describes: "it has two dead pixels, bought last week".
            Some(Guessed::Warranty) if understood.utterance.complains() => is_described(),
            Some(Guessed::Warranty) => understood.clarify_needed,
            Some(_) | None => understood.clarify_needed || is_aside,
        };
        let is_answered = || answer::is_answered(&pages, search, memory.subject.as_ref(), true);
        if is_question && is_answered() {
            understood.settle(Intent::Shopping, "documents");
            return;
        }
        let least = if memory.current.is_some() { LIKELY } else { VERY_LIKELY };
        match guess.at_least(least).filter(|_| understood.clarify_needed) {
            Some(Guessed::Chat(topic)) => understood.utterance.set(Act::Chat(topic), true),
            Some(Guessed::Warranty) if memory.current != Some(Current::Record) => {
                understood.settle(Intent::Warranty, "examples");
            }
            Some(Guessed::Shop | Guessed::Product) if !pages.names_nothing(search) => {
                understood.settle(Intent::Shopping, "examples");
            }
            Some(_) | None => {}
        }
        // In a conversation, what the documents do not answer is not asked back.
        let is_business = guess.at_least(LIKELY).is_none_or(Guessed::is_business);
        let goes_on = memory.current.is_some() && understood.clarify_needed && understood.utterance.social().is_none();
        if goes_on && is_business && !pages.names_nothing(search) {
            understood.settle(Intent::Shopping, "conversation");
        }
    }
}

/// Returns the serial number whose record was shown last, or all of them for a question that compares: "which one ends first?"
fn serials_in_talk(history: &[Message], utterance: &Utterance) -> Vec<PossibleSerial> {
    let most = if utterance.asks(Topic::Records) { usize::MAX } else { 1 };
    let mut serials: Vec<String> = Vec::new();
    for serial in shown_serials(history) {
        if serials.len() < most && !serials.contains(&serial) {
            serials.push(serial);
        }
    }
    serials.into_iter().map(|text| PossibleSerial { text, looks: Likeness::Serial, known: None }).rev().collect()
}

/// Returns the serial numbers whose records were shown, the last one first.
fn shown_serials(history: &[Message]) -> impl Iterator<Item = String> {
    let results = history.iter().rev().filter(|message| message.metadata.kind() == Some(kind::WARRANTY_RESULT));
    let metas = results.filter_map(|message| message.metadata.0.get("warranty_meta"));
    let found = metas.filter(|meta| meta["found"] == Value::Bool(true));
    found.filter_map(|meta| meta["serial"].as_str().map(str::to_owned))
}
