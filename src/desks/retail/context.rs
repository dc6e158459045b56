//! What a message is about after the conversation before it: a product that was shown, a record that was looked up, or a question
//! that the documents answer.
//!
//! A question is answered before anything is asked back. The rules know few words for it, so examples
//! (`prompts/examples/retail.LANG.tsv`) help to tell questions about the shop's terms from wishes to look up a warranty.

use serde_json::Value;

use super::classify::Understood;
use super::intent::Intent;
use super::memory::{Current, Memory};
use super::texts::Text;
use super::{Incoming, Retail, kind};
use crate::desks::Turn;
use crate::dialogue::answer;
use crate::dialogue::shown::Chosen;
use crate::dialogue::{Act, Social};
use crate::domain::serial::{Likeness, PossibleSerial};
use crate::domain::text::words;
use crate::domain::{IntentSource, Message};
use crate::nlu::pick::Pick;
use crate::replies::ReplyKey;
use crate::retrieval::{Passage, Query};

/// The probability from which an example's kind decides where the rules say something else.
const LIKELY: f64 = 0.6;
/// The probability from which it decides where the rules say nothing.
const VERY_LIKELY: f64 = 0.8;
/// The words of a wish that a product must have without a budget: its category and another one.
const WISHED: usize = 2;
/// A longer message names its subject.
const SHORT: usize = 8;
/// The score from which a page describes the fault that a customer reports.
const DESCRIBED: f64 = 0.6;
/// Products that are chosen at most, where the customer asks for others.
const CHOSEN: usize = 3;

/// The kind of a message, by the examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guessed {
    Product,
    Shop,
    Warranty,
    /// A question about the warranty that was just looked up: "how many days are left?".
    Record,
    /// Has no serial number to give.
    NoSerial,
    /// Wants the assistant to order or to book something.
    Order,
    /// Asks when sold-out goods come back.
    Restock,
    Unclear,
    Chat(Social),
}

/// What a message is about.
#[derive(Debug, Default)]
pub(super) struct About {
    /// Products that were shown.
    pub chosen: Option<Chosen>,
    /// Products that a new wish names or describes.
    pub wished: Vec<Passage>,
    /// A text of the desk that answers.
    pub written: Option<Text>,
    /// Whether it asks again about the warranty that was looked up last.
    pub is_record: bool,
    /// Whether it asks for the sum of prices.
    pub is_total: bool,
    /// Whether it is a question about the shop, which catalogue rows do not answer.
    pub pages_only: bool,
}

/// A guess by the examples.
struct Guess(Option<(Guessed, f64)>);

impl Guess {
    /// Returns the kind if it is at least so probable.
    fn at_least(&self, probability: f64) -> Option<Guessed> {
        self.0.filter(|(_, guessed)| *guessed >= probability).map(|(kind, _)| kind)
    }
}

impl Retail {
    /// Completes what the classification understood.
    pub(super) fn in_conversation(
        &self,
        turn: &Turn,
        incoming: &mut Incoming,
        understood: &mut Understood,
        memory: &Memory,
    ) -> About {
        let gives_serial =
            understood.utterance.entities.serials.iter().any(|serial| serial.likeness() >= Likeness::Number);
        let looks_up = gives_serial && understood.intent() == Intent::Warranty;
        if incoming.is_only_switch() || looks_up || understood.utterance.social() == Some(Social::Person) {
            return About::default();
        }
        let guess = self.examples.classify(&understood.utterance.text);
        let guess = Guess(guess.and_then(|guess| Some((kind_of(guess.label)?, guess.probability))));
        let likely = guess.at_least(LIKELY);
        let pages_only = likely == Some(Guessed::Shop);
        // What ends the answer needs more than a guess, and a model that has classified the message knows better.
        let is_by_model = understood.source == IntentSource::Llm;
        let decisive = guess.at_least(VERY_LIKELY).filter(|_| !is_by_model);
        let is_unclear = understood.clarify_needed && understood.utterance.social().is_none();
        let is_unclear = is_unclear && !is_by_model;
        match likely {
            Some(Guessed::Chat(Social::Person)) if decisive.is_some() => {
                understood.utterance.set(Act::Chat(Social::Person), true);
                understood.utterance.intent = None;
                understood.clarify_needed = true;
                return About::default();
            }
            Some(Guessed::Record) if memory.current == Some(Current::Record) => {
                incoming.utterance.entities.serials.extend(last_serial(&turn.history));
                understood.settle(Intent::Warranty, "record");
                return About { is_record: true, ..About::default() };
            }
            Some(Guessed::NoSerial) if incoming.waiting_for_serial => {
                return Self::written(understood, Text::ReplyNoSerial);
            }
            Some(Guessed::Order) if !is_by_model && !incoming.waiting_for_serial => {
                return Self::written(understood, Text::ReplyOrder);
            }
            Some(Guessed::Restock) => {
                if let Some(chosen) = self.sold_out(turn, &understood.utterance.text, memory) {
                    return About { chosen: Some(chosen), ..Self::written(understood, Text::ReplyRestock) };
                }
            }
            _ => {}
        }
        if memory.current == Some(Current::Products)
            && let wished = self.other_kind(turn, &understood.utterance.text, memory)
            && !wished.is_empty()
        {
            understood.settle(Intent::Shopping, "catalogue");
            return About { wished, ..About::default() };
        }
        let is_product = likely == Some(Guessed::Product) || memory.current == Some(Current::Products);
        let is_of_shown =
            memory.current == Some(Current::Products) && self.asks_attribute(turn, &understood.utterance.text);
        if (!pages_only || is_of_shown)
            && (is_unclear || !understood.clarify_needed)
            && let Some((chosen, is_total)) = self.choose_shown(turn, &understood.utterance.text, memory, is_product)
        {
            understood.settle(Intent::Shopping, "shown_products");
            return About { chosen: Some(chosen), is_total, ..About::default() };
        }
        let asks_for_serial = understood.intent() == Intent::Warranty && !understood.clarify_needed;
        if likely == Some(Guessed::Product)
            && (is_unclear || !understood.clarify_needed)
            && !asks_for_serial
            && let wished = self.wished(turn, &understood.utterance.text, decisive.is_some())
            && !wished.is_empty()
        {
            if is_unclear {
                understood.settle(Intent::Shopping, "catalogue");
            }
            return About { wished, ..About::default() };
        }
        if likely == Some(Guessed::Product)
            && (is_unclear || !understood.clarify_needed)
            && !asks_for_serial
            && let Some(chosen) = self.still_meant(turn, &understood.utterance.text, memory)
        {
            understood.settle(Intent::Shopping, "shown_products");
            return About { chosen: Some(chosen), ..About::default() };
        }
        let is_look_up = likely == Some(Guessed::Warranty);
        // "The invoice is HD00123" answers with a wrong number.
        let names_number = !understood.utterance.entities.serials.is_empty();
        // A fault that is reported after a record is one of that product, and so is a question about the warranty.
        let has_record = memory.current == Some(Current::Record)
            || (memory.current == Some(Current::Page) && last_serial(&turn.history).is_some());
        let is_other = matches!(self.picks.pick(&understood.utterance.text), Some((Pick::Similar, _)));
        let is_about_it = understood.utterance.complains() || likely == Some(Guessed::Shop);
        let is_fault = has_record && is_about_it && !is_other;
        if asks_for_serial && is_look_up && understood.utterance.points_back() {
            incoming.utterance.entities.serials.extend(last_serial(&turn.history));
        } else if asks_for_serial && is_fault {
            let search = self.search(turn, &understood.utterance.text, true);
            if answer::is_answered(&self.services.knowledge, &turn.persona.knowledge, &search, None, true) {
                understood.settle(Intent::Shopping, "documents");
            } else {
                incoming.utterance.entities.serials.extend(last_serial(&turn.history));
                return About { is_record: true, ..About::default() };
            }
        } else if (asks_for_serial || is_unclear) && !(incoming.waiting_for_serial && names_number) {
            let is_aside = incoming.waiting_for_serial || memory.current == Some(Current::Page);
            let search = self.search(turn, &understood.utterance.text, pages_only);
            self.answer_first(turn, understood, &guess, &search, is_aside, memory);
        }
        About { pages_only, ..About::default() }
    }

    /// Answers with a text of the desk.
    fn written(understood: &mut Understood, text: Text) -> About {
        understood.settle(Intent::Shopping, "examples");
        About { written: Some(text), ..About::default() }
    }

    /// Returns the products that a message asks for and that are sold out.
    fn sold_out(&self, turn: &Turn, text: &str, memory: &Memory) -> Option<Chosen> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let again = || Some(memory.shown.as_ref()?.again(knowledge, folders, language));
        let chosen = self.choose_shown(turn, text, memory, true).map(|(chosen, _)| chosen).or_else(again)?;
        let rows = knowledge.rows_of(folders, &chosen.passages, language).into_iter();
        let passages: Vec<Passage> = rows.filter(|row| !row.in_stock).map(|row| row.passage).collect();
        (!passages.is_empty()).then_some(Chosen { passages, ..chosen })
    }

    /// Whether a message asks for what every product has, and says nothing else: "cái đó bảo hành bao lâu".
    fn asks_attribute(&self, turn: &Turn, text: &str) -> bool {
        let rest = self.picks.without_attributes(text);
        rest.is_some_and(|rest| self.services.knowledge.names_nothing(&turn.persona.knowledge, &self.wish(turn, &rest)))
    }

    /// Returns the products that a message wishes for. A guess that is not sure does not suffice for one that names products: "I bought
    /// the 7600, may I return it?".
    fn wished(&self, turn: &Turn, text: &str, is_sure: bool) -> Vec<Passage> {
        let (knowledge, folders, query) = (&self.services.knowledge, &turn.persona.knowledge, self.wish(turn, text));
        let named = if is_sure { knowledge.rows_named(folders, &query) } else { Vec::new() };
        let sides: Vec<Query> = self.picks.sides(text).iter().map(|side| self.wish(turn, side)).collect();
        let compared = knowledge.rows_compared(folders, &sides);
        let rows = match (compared.is_empty(), named.is_empty()) {
            (false, _) => compared,
            (true, false) => named,
            (true, true) => knowledge.rows_wished(folders, &query, is_sure.then_some(WISHED)),
        };
        // "A power supply for my graphics card": any of the category, unless a page gives advice.
        let has_advice = || {
            let pages = Query { pages_only: true, ..query.clone() };
            let found = knowledge.find_by_words(folders, &pages).passages;
            let is_about = |best: &Passage| knowledge.has_most_of(folders, text, best, query.language);
            found.first().is_some_and(|best| best.score >= DESCRIBED && is_about(best))
        };
        let rows = match rows.is_empty() && is_sure && !has_advice() {
            true => knowledge.rows_wished(folders, &query, Some(1)),
            false => rows,
        };
        rows.into_iter().take(query.limit).map(|row| row.passage).collect()
    }

    /// Returns the shown products for a short question about them that their rows do not answer ("is it good for running?"): pages
    /// about something else would answer it worse.
    fn still_meant(&self, turn: &Turn, text: &str, memory: &Memory) -> Option<Chosen> {
        let (knowledge, folders, query) = (&self.services.knowledge, &turn.persona.knowledge, self.wish(turn, text));
        let shown = memory.shown.as_ref().filter(|_| memory.current == Some(Current::Products))?;
        let points = matches!(self.picks.pick(text), Some((Pick::It, _)));
        let is_about = points || !shown.is_other_kind(knowledge, folders, &query);
        (is_about && words(text).len() <= SHORT && knowledge.budget(folders, text).is_none())
            .then(|| shown.again(knowledge, folders, turn.language()))
    }

    /// Returns products of another category than the shown ones, which a short message names: "and mice?".
    fn other_kind(&self, turn: &Turn, text: &str, memory: &Memory) -> Vec<Passage> {
        let (knowledge, folders, query) = (&self.services.knowledge, &turn.persona.knowledge, self.wish(turn, text));
        let names_kind = memory.shown.as_ref().is_some_and(|shown| shown.is_other_kind(knowledge, folders, &query));
        let points = matches!(self.picks.pick(text), Some((Pick::It | Pick::All | Pick::Nth(_), _)));
        if !names_kind || points || !knowledge.names_one(folders, &query) {
            return Vec::new();
        }
        let rows = knowledge.rows_wished(folders, &query, Some(1));
        rows.into_iter().take(query.limit).map(|row| row.passage).collect()
    }

    /// Returns the search among products.
    fn wish(&self, turn: &Turn, text: &str) -> Query {
        Query { text: text.to_owned(), language: turn.language(), limit: CHOSEN, pages_only: false }
    }

    /// Whether a message asks for the sum of prices, or for the price of several pieces.
    fn asks_total(&self, text: &str) -> bool {
        self.picks.asks_total(text) || self.picks.pieces(text).is_some_and(|pieces| pieces > 1)
    }

    /// Returns the products that a message is about, and whether it asks for the sum of their prices.
    fn choose_shown(&self, turn: &Turn, text: &str, memory: &Memory, is_current: bool) -> Option<(Chosen, bool)> {
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        let query = self.wish(turn, text);
        let shown = memory.shown.as_ref()?;
        let sum = (is_current && self.asks_total(text))
            .then(|| shown.to_sum(knowledge, folders, &self.picks, &query))
            .flatten();
        let choose = |query: &Query| shown.choose(knowledge, folders, &self.picks, query, is_current);
        // "Is it heavy? I go by bus": what else is said does not matter.
        let points = |clause: &&str| {
            let is_it = matches!(self.picks.pick(clause), Some((Pick::It, _)));
            is_it && self.picks.without_attributes(clause).is_some()
        };
        let clauses = || text.split([',', ';', '?', '!']).flat_map(|part| part.split(". "));
        let of_clauses = || clauses().filter(points).find_map(|clause| choose(&self.wish(turn, clause)));
        match sum {
            Some(chosen) => Some((chosen, true)),
            None => Some((choose(&query).or_else(of_clauses)?, false)),
        }
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
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        let is_question = match guess.at_least(LIKELY) {
            Some(Guessed::Shop | Guessed::Product) => true,
            Some(Guessed::Chat(_) | Guessed::Unclear) => false,
            // A fault that a page describes: "it has two dead pixels, bought last week".
            Some(Guessed::Warranty) if understood.utterance.complains() => {
                knowledge.find_by_words(folders, search).passages.first().is_some_and(|best| best.score >= DESCRIBED)
            }
            Some(Guessed::Warranty) => understood.clarify_needed,
            Some(_) | None => understood.clarify_needed || is_aside,
        };
        let is_answered = || answer::is_answered(knowledge, folders, search, memory.subject.as_ref(), true);
        if is_question && is_answered() {
            understood.settle(Intent::Shopping, "documents");
            return;
        }
        match guess.at_least(VERY_LIKELY).filter(|_| understood.clarify_needed) {
            Some(Guessed::Chat(topic)) => understood.utterance.set(Act::Chat(topic), true),
            Some(Guessed::Warranty) => understood.settle(Intent::Warranty, "examples"),
            Some(Guessed::Shop | Guessed::Product) if !knowledge.names_nothing(folders, search) => {
                understood.settle(Intent::Shopping, "examples");
            }
            Some(_) | None => {}
        }
    }
}

fn kind_of(label: &str) -> Option<Guessed> {
    match label {
        "product" => Some(Guessed::Product),
        "shop" => Some(Guessed::Shop),
        "warranty" => Some(Guessed::Warranty),
        "record" => Some(Guessed::Record),
        "no_serial" => Some(Guessed::NoSerial),
        "order" => Some(Guessed::Order),
        "restock" => Some(Guessed::Restock),
        "unclear" => Some(Guessed::Unclear),
        topic => Social::ALL.iter().find(|known| known.as_str() == topic).map(|topic| Guessed::Chat(*topic)),
    }
}

/// Returns the serial number whose record was shown last.
fn last_serial(history: &[Message]) -> Option<PossibleSerial> {
    let serial = history.iter().rev().find_map(|message| {
        let meta = (message.metadata.kind() == Some(kind::WARRANTY_RESULT))
            .then(|| message.metadata.0.get("warranty_meta"))
            .flatten()?;
        (meta["found"] == Value::Bool(true)).then(|| meta["serial"].as_str().map(str::to_owned))?
    })?;
    Some(PossibleSerial { text: serial, looks: Likeness::Serial, known: None })
}
