//! Which products a message is about: those that it names, others of a kind that it wishes for, or those of the conversation.

use super::Retail;
use super::memory::{Current, Memory};
use crate::desks::Turn;
use crate::dialogue::attribute::answer_first;
use crate::dialogue::shown::{Chosen, Shown, sorted};
use crate::domain::Sender;
use crate::domain::text::words;
use crate::nlu::instalments::Plan;
use crate::nlu::pick::Pick;
use crate::retrieval::mention::{Level, Mention};
use crate::retrieval::rows::Row;
use crate::retrieval::{Passage, Query};

/// The words of a wish that a product must have without a budget: its category and another one.
const WISHED: usize = 2;
/// A longer message names its subject.
const SHORT: usize = 8;
/// The score from which a page gives advice on a wish.
const ADVISES: f64 = 0.6;
/// Products that are chosen at most, where the customer asks for others.
const CHOSEN: usize = 3;
/// Products of each kind, where a message wishes for several kinds.
const OF_EACH: usize = 2;

/// The products that a message is about.
#[derive(Debug, Default)]
pub(super) struct Goods {
    /// Products of the conversation.
    pub chosen: Option<Chosen>,
    /// Products that a new wish describes.
    pub wished: Vec<Passage>,
    /// Whether the message asks for the sum of their prices.
    pub is_total: bool,
    /// Whether it asks what their rows say.
    pub asks_row: bool,
    /// Whether two products fit together, and by what.
    pub fit: Option<FitTogether>,
    /// What the product costs each month.
    pub plans: Vec<Plan>,
}

/// Two products, and what the catalogue says about each.
#[derive(Debug)]
pub(super) struct FitTogether {
    pub fits: bool,
    pub names: [String; 2],
    pub values: [String; 2],
}

/// A message about products, with what is known of it.
pub(super) struct Asked<'a> {
    pub text: &'a str,
    /// The products that it names.
    pub mentions: &'a [Mention],
    /// Whether the examples take it for a wish or a question about products, and whether they are sure.
    pub is_product: bool,
    pub is_sure: bool,
    /// Whether they take it for a question about the shop.
    pub is_shop: bool,
}

impl Retail {
    /// Returns the products that a message names, given those of the conversation.
    pub(super) fn named(&self, turn: &Turn, text: &str, memory: &Memory) -> Vec<Mention> {
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        let shown = memory.shown.as_ref();
        let mut mentions = Shown::named(shown, knowledge, folders, &self.wish(turn, text));
        // "Does the keychron work with a macbook?", after keyboards.
        let is_known = |mention: &Mention| {
            let is_of = |row: &Row| shown.is_some_and(|shown| shown.products.contains(&row.passage.title));
            mention.rows.iter().any(is_of)
        };
        let known = mentions.iter().find(|mention| is_known(mention));
        let category = known.and_then(|known| known.rows.first()).map(|row| row.passage.section.clone());
        if let Some(category) =
            category.filter(|_| !self.picks.asks_fit(text) || mentions.iter().any(|of| of.level < Level::Model))
        {
            mentions.retain(|mention| {
                mention.level == Level::Model || mention.rows.iter().any(|row| row.passage.section == category)
            });
        }
        mentions
    }

    /// Makes the products that a message names those of the conversation.
    pub(super) fn focus(&self, turn: &Turn, text: &str, mentions: &[Mention], memory: &mut Memory) {
        let (knowledge, folders, query) = (&self.services.knowledge, &turn.persona.knowledge, self.wish(turn, text));
        let earlier = memory.shown.as_ref();
        if let Some(focused) = Shown::focused(earlier, mentions, knowledge, folders, &query) {
            memory.shown = Some(focused);
        }
    }

    /// Returns the products that a message is about, or `None` if it is about something else.
    pub(super) fn goods(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<Goods> {
        let is_current = asked.is_product || memory.current == Some(Current::Products);
        if let Some(chosen) = self.to_sum(turn, asked.text, memory).filter(|_| is_current) {
            return Some(Goods { chosen: Some(chosen), is_total: true, ..Goods::default() });
        }
        self.per_month(turn, asked.text, memory)
            .or_else(|| self.fitting(turn, asked, memory))
            .or_else(|| self.of_names(turn, asked, memory))
            .or_else(|| self.of_other_kind(turn, asked, memory))
            .or_else(|| self.of_conversation(turn, asked, memory, is_current))
    }

    /// Returns the products whose prices a message adds up.
    fn to_sum(&self, turn: &Turn, text: &str, memory: &Memory) -> Option<Chosen> {
        let asks = self.picks.asks_total(text) || self.picks.pieces(text).is_some_and(|pieces| pieces > 1);
        let shown = memory.shown.as_ref().filter(|_| asks)?;
        shown.to_sum(&self.services.knowledge, &turn.persona.knowledge, &self.picks, &self.wish(turn, text))
    }

    /// Returns the product of the conversation, with what it costs each month, if the message asks for it.
    fn per_month(&self, turn: &Turn, text: &str, memory: &Memory) -> Option<Goods> {
        let shown = memory.shown.as_ref().filter(|_| self.instalments.asks(text))?;
        let row =
            match shown.again(&self.services.knowledge, &turn.persona.knowledge, turn.language()).passages.as_slice() {
                [one] => self.services.knowledge.rows(
                    &turn.persona.knowledge,
                    std::slice::from_ref(&one.title),
                    turn.language(),
                ),
                _ => return None,
            };
        let row = row.into_iter().flatten().next()?;
        let questions = turn.history.iter().rev().filter(|message| message.sender == Sender::User);
        let plans = self.instalments.plans(text, questions.map(|message| message.text.as_str()), row.price?);
        let chosen = shown.about(vec![row]);
        (!plans.is_empty()).then(|| Goods { chosen: Some(chosen), plans, ..Goods::default() })
    }

    /// Returns two products of which a message asks whether they fit together, or those of a kind that fit one of the conversation.
    fn fitting(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<Goods> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let shown = memory.shown.as_ref().filter(|_| self.picks.asks_fit(asked.text))?;
        let others = shown.all(knowledge, folders, language);
        let fit = |one: &Row, other: &Row| self.picks.fit(&one.whole(), &other.whole());
        let tells = |one: &Row| {
            let is_other = |other: &&Row| other.passage.section != one.passage.section;
            others.iter().filter(is_other).find_map(|other| Some((other.clone(), fit(one, other)?)))
        };
        let named: Vec<&Row> = asked.mentions.iter().filter_map(|mention| mention.rows.first()).collect();
        if let Some((one, (other, (fits, value, of_other)))) =
            named.into_iter().find_map(|one| Some((one, tells(one)?)))
        {
            let together = FitTogether {
                fits,
                names: [one, &other].map(|row| row.passage.title.clone()),
                values: [value, of_other],
            };
            let chosen = shown.about(vec![one.clone(), other]);
            return Some(Goods { chosen: Some(chosen), fit: Some(together), ..Goods::default() });
        }
        let query = self.wish(turn, asked.text);
        let rows = knowledge.rows_wished(folders, &query, Some(1)).into_iter();
        let fitting = rows.filter(|row| tells(row).is_some_and(|(_, (fits, ..))| fits));
        let wished: Vec<Passage> = fitting.take(query.limit).map(|row| row.passage).collect();
        (!wished.is_empty()).then(|| Goods { wished, ..Goods::default() })
    }

    /// Returns the products that a message names, if it asks for them.
    fn of_names(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<Goods> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let is_meant = |mention: &&Mention| mention.level > Level::Brand || asked.is_product;
        let mut rows: Vec<Row> = asked.mentions.iter().filter(is_meant).flat_map(|of| of.rows.clone()).collect();
        let texts: String = rows.iter().map(Row::whole).collect();
        let is_explained = || !knowledge.names_more_than(folders, asked.text, &texts, language);
        if rows.is_empty() || !((asked.is_product && !asked.is_shop) || is_explained()) {
            return None;
        }
        // "Which has the longer warranty?": all, the best first.
        if let Some((Pick::Least(attribute) | Pick::Most(attribute), _)) = self.picks.pick(asked.text)
            && rows.len() > 1
        {
            let is_most = matches!(self.picks.pick(asked.text), Some((Pick::Most(_), _)));
            rows.sort_by(|a, b| {
                let order = a.value(&attribute).unwrap_or_default().total_cmp(&b.value(&attribute).unwrap_or_default());
                if is_most { order.reverse() } else { order }
            });
        }
        rows.truncate(CHOSEN);
        let is_sure = asked.mentions.iter().any(|mention| mention.level > Level::Brand);
        let shown = memory.shown.clone().filter(|_| is_sure).unwrap_or_default();
        let chosen = if is_sure { shown.about(rows) } else { memory.shown.clone().unwrap_or_default().instead(rows) };
        Some(Goods { chosen: Some(chosen), asks_row: true, ..Goods::default() })
    }

    /// Returns products of another kind than those of the conversation, which a message wishes for or a short one names: "and mice?".
    fn of_other_kind(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<Goods> {
        let (knowledge, folders, query) =
            (&self.services.knowledge, &turn.persona.knowledge, self.wish(turn, asked.text));
        let shown = memory.shown.as_ref();
        let is_other = shown.is_some_and(|shown| shown.is_other_kind(knowledge, folders, &query));
        // "Which SSD does it have?"
        let points = matches!(self.picks.pick(asked.text), Some((Pick::It | Pick::All | Pick::Nth(_), _)));
        let rows = shown.map_or_else(Vec::new, |shown| shown.again(knowledge, folders, query.language).passages);
        let says = |row: &Passage| answer_first(&self.picks, asked.text, &row.text).is_said == Some(true);
        if is_other && (points || self.asks_attribute(turn, asked.text)) && rows.iter().any(says) {
            let chosen = shown.map(|shown| shown.again(knowledge, folders, query.language));
            return chosen.map(|chosen| Goods { chosen: Some(chosen), asks_row: true, ..Goods::default() });
        }
        // "Can it charge my laptop?", after monitors.
        if is_other && points {
            return None;
        }
        // "Anything with USB?", after headsets: USB is also a kind of goods.
        let category = shown.and_then(|shown| shown.category(knowledge, folders, query.language));
        let of_kind = category
            .map_or_else(Vec::new, |category| knowledge.rows_of_category(folders, &category, "", query.language));
        let with = knowledge.rows_with(folders, &of_kind, asked.text, query.language);
        if is_other && memory.current == Some(Current::Products) && !with.is_empty() && with.len() < of_kind.len() {
            let mut with = with;
            with.sort_by_key(|row| !row.in_stock);
            with.truncate(query.limit);
            let chosen = shown.map(|shown| shown.instead(with));
            return chosen.map(|chosen| Goods { chosen: Some(chosen), ..Goods::default() });
        }
        if is_other && memory.current == Some(Current::Products) && knowledge.names_one(folders, &query) {
            let rows = knowledge.rows_wished(folders, &query, Some(1));
            let wished: Vec<Passage> = rows.into_iter().take(query.limit).map(|row| row.passage).collect();
            return (!wished.is_empty()).then(|| Goods { wished, ..Goods::default() });
        }
        let is_new = is_other || (!points && (shown.is_none() || memory.current != Some(Current::Products)));
        let wished = if asked.is_product && is_new { self.wished(turn, asked.text, asked.is_sure) } else { Vec::new() };
        (!wished.is_empty()).then(|| Goods { wished, ..Goods::default() })
    }

    /// Returns the products of the conversation that a message is about, or others of their kind.
    fn of_conversation(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory, is_current: bool) -> Option<Goods> {
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        let (language, query) = (turn.language(), self.wish(turn, asked.text));
        let of_wish = || {
            let wished = if asked.is_product { self.wished(turn, asked.text, asked.is_sure) } else { Vec::new() };
            (!wished.is_empty()).then(|| Goods { wished, ..Goods::default() })
        };
        let Some(shown) = memory.shown.as_ref() else { return of_wish() };
        let points = matches!(self.picks.pick(asked.text), Some((Pick::It, _)));
        let asks_attribute = self.asks_attribute(turn, asked.text);
        // After a look-up, "how much is a new battery?" is no question about the product that the shop sells.
        let names_kind = || !knowledge.categories(folders, asked.text, language).is_empty();
        let is_of_record = memory.current == Some(Current::Record)
            && !matches!(self.picks.pick(asked.text), Some((Pick::Similar | Pick::Cheaper, _)))
            && !(asked.is_product && names_kind());
        if is_of_record || (asked.is_shop && !asks_attribute) {
            return None;
        }
        let choose = |query: &Query| shown.choose(knowledge, folders, &self.picks, query, is_current || asks_attribute);
        // "Is it heavy? I go by bus": what else is said does not matter.
        let of_clauses = || {
            let asks = |clause: &&str| {
                let is_it = matches!(self.picks.pick(clause), Some((Pick::It, _)));
                is_it && self.picks.without_attributes(clause).is_some()
            };
            clauses(asked.text).filter(asks).find_map(|clause| choose(&self.wish(turn, clause)))
        };
        if let Some(chosen) = choose(&query).or_else(of_clauses) {
            let again = shown.again(knowledge, folders, language).passages;
            let asks_row = chosen.passages == again && !matches!(self.picks.pick(asked.text), Some((Pick::All, _)));
            return Some(Goods { chosen: Some(chosen), asks_row, ..Goods::default() });
        }
        // "Can it charge my laptop?" wishes for no laptop.
        let is_other = shown.is_other_kind(knowledge, folders, &query);
        if !(points && is_other)
            && let Some(goods) = of_wish()
        {
            return Some(goods);
        }
        // What their rows do not say: pages about something else would answer it worse.
        let is_about = points || !is_other;
        let is_asked = (asked.is_product || (points && is_other))
            && (memory.current == Some(Current::Products) || points || asks_attribute);
        let is_short = words(asked.text).len() <= SHORT || points;
        let is_about = is_about && is_asked && is_short && knowledge.budget(folders, asked.text).is_none();
        let again = shown.again(knowledge, folders, language);
        let says = |row: &Passage| answer_first(&self.picks, asked.text, &row.text).is_said == Some(true);
        let is_said = asks_attribute || again.passages.iter().any(says);
        let is_about = is_about && (is_said || !self.has_advice(turn, asked.text));
        is_about.then(|| Goods { chosen: Some(again), asks_row: true, ..Goods::default() })
    }

    /// Whether a message asks for what a product has, and says nothing else: "cái đó bảo hành bao lâu".
    fn asks_attribute(&self, turn: &Turn, text: &str) -> bool {
        let rest = self.picks.without_attributes(text);
        rest.is_some_and(|rest| self.services.knowledge.names_nothing(&turn.persona.knowledge, &self.wish(turn, &rest)))
    }

    /// Returns the products that a message wishes for. One that is not sure needs a budget, or a word besides the kind of goods.
    fn wished(&self, turn: &Turn, text: &str, is_sure: bool) -> Vec<Passage> {
        let (knowledge, folders, query) = (&self.services.knowledge, &turn.persona.knowledge, self.wish(turn, text));
        let of_each = self.wished_of_each(turn, text);
        let rows = match of_each.is_empty() {
            true => knowledge.rows_wished(folders, &query, is_sure.then_some(WISHED)),
            false => return of_each,
        };
        // "A power supply for my graphics card": any of the category, unless a page gives advice.
        let rows = match rows.is_empty() && is_sure && !self.has_advice(turn, text) {
            true => knowledge.rows_wished(folders, &query, Some(1)),
            false => rows,
        };
        // "The lightest laptop you have": one.
        let rows = match self.picks.pick(text) {
            Some((Pick::Least(attribute), _)) => sorted(rows, &attribute, 1.0).into_iter().take(1).collect(),
            Some((Pick::Most(attribute), _)) => sorted(rows, &attribute, -1.0).into_iter().take(1).collect(),
            _ => rows,
        };
        rows.into_iter().take(query.limit).map(|row| row.passage).collect()
    }

    /// Whether a page is about what a message says.
    fn has_advice(&self, turn: &Turn, text: &str) -> bool {
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        let pages = Query { pages_only: true, ..self.wish(turn, text) };
        let found = knowledge.find_by_words(folders, &pages).passages;
        let is_about = |best: &Passage| knowledge.has_most_of(folders, text, best, pages.language);
        found.first().is_some_and(|best| best.score >= ADVISES && is_about(best))
    }

    /// Returns some products of each kind, where a message wishes for several: "a cheap headset plus a basic mouse".
    fn wished_of_each(&self, turn: &Turn, text: &str) -> Vec<Passage> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let mut kinds: Vec<(String, Vec<Row>)> = Vec::new();
        let first = text.split(['?', '.', '!', '\n']).next().unwrap_or_default();
        for part in self.picks.wishes_of(first) {
            let query = self.wish(turn, &part);
            let Some(kind) = knowledge.categories(folders, &part, language).into_iter().next() else { continue };
            // "A laptop with 16 GB of RAM and an SSD" wishes for one.
            let is_part =
                kinds.first().is_some_and(|(_, rows)| !knowledge.rows_with(folders, rows, &part, language).is_empty());
            if is_part || kinds.iter().any(|(known, _)| *known == kind) {
                continue;
            }
            let rows = knowledge.rows_wished_of(folders, &query, &kind, Some(1));
            kinds.push((kind, rows));
        }
        kinds.retain(|(_, rows)| !rows.is_empty());
        if kinds.len() < 2 {
            return Vec::new();
        }
        kinds.into_iter().flat_map(|(_, rows)| rows.into_iter().take(OF_EACH)).map(|row| row.passage).collect()
    }

    /// Returns the products that a message asks for and that are sold out.
    pub(super) fn sold_out(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<Chosen> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let again = || Some(memory.shown.as_ref()?.again(knowledge, folders, language));
        let chosen = self.of_names(turn, asked, memory).or_else(|| self.of_conversation(turn, asked, memory, true));
        let chosen = chosen.and_then(|goods| goods.chosen).or_else(again)?;
        let rows = knowledge.rows_of(folders, &chosen.passages, language).into_iter();
        let passages: Vec<Passage> = rows.filter(|row| !row.in_stock).map(|row| row.passage).collect();
        (!passages.is_empty()).then_some(Chosen { passages, ..chosen })
    }

    /// Returns the search among products. Polite words stay: "the first one" has some.
    fn wish(&self, turn: &Turn, text: &str) -> Query {
        Query { text: text.to_owned(), language: turn.language(), limit: CHOSEN, pages_only: false }
    }
}

/// Splits a message at its punctuation.
pub(super) fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '?', '!']).flat_map(|part| part.split(". "))
}
