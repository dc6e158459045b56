//! Which products a message is about, and what it asks of them.
//!
//! [`Finder::goods`] takes the first that applies:
//!
//! 1. Something to compute: a sum, a monthly amount, whether two products fit together (`products/computed.rs`).
//! 2. The best product of the kind that the message names: "the cheapest AM5 board". Then products that it names.
//! 3. A product of the conversation of the kind that the message points at: "the board".
//! 4. If the message names another kind than the shown products: what the shown ones have of it, else products of that kind.
//! 5. The shown products, others of their kind, or the admission that their rows do not say it.
//!
//! Otherwise pages answer. A wish does not include what the customer owns (`Asked::wish`).

use super::Retail;
use super::memory::{Current, Memory};
use crate::desks::Turn;
use crate::dialogue::attribute::{answer_first, says_all};
use crate::dialogue::shown::{Chosen, Shown};
use crate::domain::text::words;
use crate::nlu::pick::{Pick, Sign};
use crate::retrieval::mention::{Level, Mention};
use crate::retrieval::rows::Row;
use crate::retrieval::search::Pages;
use crate::retrieval::{Passage, Query};

mod compared;
mod computed;
mod goods;
mod wish;

pub(super) use goods::{Computed, FitTogether, Goods};

/// A longer message names its subject.
const SHORT: usize = 8;
/// So few words after products that they ask about them, unless a page has most of them.
pub(super) const FEW: usize = 6;
/// Products that are chosen at most, where the customer asks for others.
const CHOSEN: usize = 3;

/// A message about products, with what is known of it.
pub(super) struct Asked<'a> {
    pub text: &'a str,
    /// The message without what the customer owns.
    pub wish: &'a str,
    /// The products that it names, and those that the conversation was about before.
    pub mentions: &'a [Mention],
    pub before: &'a [String],
    /// Whether it is a wish or a question about products, by the examples or as an offer, and whether the examples are sure.
    pub is_product: bool,
    pub is_sure: bool,
    /// Whether they take it for a question about the shop.
    pub is_shop: bool,
    /// Whether it asks whether the shop sells such goods.
    pub is_offer: bool,
    /// Whether the message asks to look up a warranty.
    pub is_look_up: bool,
    /// Whether it is about goods that are sold as a set, which pages describe.
    pub is_set: bool,
}

/// Finds the products of a message in its conversation.
struct Finder<'a> {
    desk: &'a Retail,
    turn: &'a Turn,
    pages: Pages,
    asked: &'a Asked<'a>,
    query: Query,
    shown: Option<&'a Shown>,
    /// What the last answer was about.
    current: Option<Current>,
    pick: Option<Pick>,
    /// Whether the message asks for what a product has, and says nothing else: "cái đó bảo hành bao lâu".
    asks_attribute: bool,
    /// Whether it names another kind of goods than the shown one.
    is_other: bool,
}

impl Retail {
    /// Returns the products that a message names, given those of the conversation.
    pub(super) fn named(&self, turn: &Turn, text: &str, memory: &Memory) -> Vec<Mention> {
        let pages = self.services.pages(turn);
        let shown = memory.shown.as_ref();
        let query = wish(turn, text);
        let mut mentions = Shown::named(shown, &pages, &query);
        // Goods whose prices are added up may be of any kind.
        let is_sum = self.picks.says(Sign::Total, text) && !self.picks.says(Sign::Fits, text);
        if is_sum && mentions.len() > 1 {
            return mentions;
        }
        // "Does the keychron work with a macbook?", after keyboards.
        let is_known = |mention: &Mention| {
            let is_of = |row: &Row| shown.is_some_and(|shown| shown.products.contains(&row.passage.title));
            mention.rows.iter().any(is_of)
        };
        let known = mentions.iter().find(|mention| is_known(mention));
        let category = known.and_then(|known| known.rows.first()).map(|row| row.passage.section.clone());
        if let Some(category) =
            category.filter(|_| !self.picks.says(Sign::Fits, text) || mentions.iter().any(|of| of.level < Level::Model))
        {
            mentions.retain(|mention| {
                mention.level == Level::Model || mention.rows.iter().any(|row| row.passage.section == category)
            });
        }
        // "Two of the 1 TB 990 Pros", after the one of 2 TB: the quantity decides.
        if let [mention] = mentions.as_mut_slice()
            && is_known(mention)
            && let Some(first) = mention.rows.first()
        {
            let rows = pages.rows_of_category(&first.passage.section, "", turn.language());
            let told = pages.rows_told(&rows, text, turn.language());
            if told.len() == 1 && mention.rows != told {
                mention.rows = told;
            }
        }
        pages.without_parts(&mut mentions, &query);
        mentions
    }

    /// Makes the products that a message names those of the conversation.
    pub(super) fn focus(&self, turn: &Turn, text: &str, mentions: &[Mention], memory: &mut Memory) {
        let pages = self.services.pages(turn);
        let earlier = memory.shown.as_ref();
        if let Some(focused) = Shown::focused(earlier, mentions, &pages, &wish(turn, text)) {
            memory.shown = Some(focused);
        }
    }

    /// Returns the products that a message is about, or `None` if it is about something else.
    pub(super) fn goods(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<Goods> {
        self.finder(turn, asked, memory).goods()
    }

    fn finder<'a>(&'a self, turn: &'a Turn, asked: &'a Asked<'a>, memory: &'a Memory) -> Finder<'a> {
        let pages = self.services.pages(turn);
        let (query, shown) = (wish(turn, asked.wish), memory.shown.as_ref());
        let is_other = shown.is_some_and(|shown| shown.is_other_kind(&pages, &query));
        let asks_attribute = self.asks_attribute(turn, &pages, asked.wish, is_other);
        let pick = self.picks.pick(asked.wish).map(|(pick, _)| pick);
        let current = memory.current;
        Finder { desk: self, turn, pages, asked, query, shown, current, pick, asks_attribute, is_other }
    }

    /// Whether a message asks for what a product has, and names nothing else; or the clause that names another kind of goods does: "how
    /// much ram, and is that enough for word?".
    fn asks_attribute(&self, turn: &Turn, pages: &Pages, text: &str, is_other: bool) -> bool {
        let is_attribute = |text: &str| {
            let Some(rest) = self.picks.without_attributes(text) else { return false };
            let names_nothing = |rest: &str| pages.names_nothing(&wish(turn, rest));
            // "Nó có bảo hành không?": without the word that points.
            names_nothing(&rest) || matches!(self.picks.pick(&rest), Some((Pick::It, rest)) if names_nothing(&rest))
        };
        let names_no_kind = |clause: &str| pages.categories(clause, turn.language()).is_empty();
        is_attribute(text) || (is_other && clauses(text).all(|clause| is_attribute(clause) || names_no_kind(clause)))
    }

    /// Returns the products that a message asks for and that are sold out.
    pub(super) fn sold_out(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<Chosen> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let finder = self.finder(turn, asked, memory);
        let again = || Some(memory.shown.as_ref()?.again(&pages, language));
        let of_shown = || memory.shown.as_ref().and_then(|shown| finder.of_shown(shown, true));
        let chosen = finder.named().or_else(of_shown).and_then(|goods| goods.chosen).or_else(again)?;
        let rows = pages.rows_of(&chosen.passages, language).into_iter();
        let passages: Vec<Passage> = rows.filter(|row| !row.in_stock).map(|row| row.passage).collect();
        (!passages.is_empty()).then_some(Chosen { passages, ..chosen })
    }
}

impl Finder<'_> {
    fn goods(&self) -> Option<Goods> {
        if let Some(goods) = self.computed() {
            return Some(goods);
        }
        if self.asked.is_set || self.is_answered_by_page() {
            return None;
        }
        let best = self.better_than_named().or_else(|| self.best_of_kind());
        let direct = best.or_else(|| self.named()).or_else(|| self.earlier());
        if direct.is_some() {
            return direct;
        }
        let Some(shown) = self.shown else { return self.wish() };
        if self.is_other { self.of_other_kind(shown) } else { self.of_this_kind(shown) }
    }

    /// Whether the message asks the rows for several things, of which they lack one that a page has: "how long is the warranty of the
    /// battery?".
    fn is_answered_by_page(&self) -> bool {
        let Some(shown) = self.shown.filter(|_| self.asked.mentions.is_empty()) else { return false };
        let rows = self.again(shown).passages;
        let lacks = |row: &Passage| says_all(&self.desk.picks, self.asked.text, &row.text) == Some(false);
        !rows.is_empty() && rows.iter().all(lacks) && self.has_advice()
    }

    /// Returns the products that the message names, if it asks for them.
    fn named(&self) -> Option<Goods> {
        let (asked, language) = (self.asked, self.query.language);
        let is_meant = |mention: &&Mention| mention.level > Level::Brand || asked.is_product;
        let mut rows: Vec<Row> = asked.mentions.iter().filter(is_meant).flat_map(|of| of.rows.clone()).collect();
        rows.extend(self.compared(&rows));
        let texts: String = rows.iter().map(Row::whole).collect();
        let is_explained = || !self.pages.names_more_than(asked.text, &texts, language);
        let asks_attribute = || self.desk.picks.without_attributes(asked.text).is_some();
        let asks = asked.is_product || (!asked.is_look_up && asks_attribute());
        if rows.is_empty() || !((asks && !asked.is_shop) || is_explained()) {
            return None;
        }
        // "Which has the longer warranty?": all, the best first.
        if let Some(Pick::Least(attribute) | Pick::Most(attribute)) = &self.pick
            && rows.len() > 1
        {
            let is_most = matches!(self.pick, Some(Pick::Most(_)));
            rows.sort_by(|a, b| {
                let order = a.value(attribute).unwrap_or_default().total_cmp(&b.value(attribute).unwrap_or_default());
                if is_most { order.reverse() } else { order }
            });
        }
        rows.truncate(CHOSEN);
        let is_sure = asked.mentions.iter().any(|mention| mention.level > Level::Brand);
        let shown = self.shown.cloned().unwrap_or_default();
        Some(Goods::asked(if is_sure { shown.about(rows) } else { shown.instead(rows) }))
    }

    /// Returns the products in talk, if the message compares them with one that it names: "so với con 9060 xt".
    fn compared(&self, named: &[Row]) -> Vec<Row> {
        let compares =
            named.len() == 1 && self.asked.mentions.len() == 1 && self.desk.picks.says(Sign::Versus, self.asked.text);
        let before = self.pages.rows(self.asked.before, self.query.language).into_iter().flatten();
        let is_other = |row: &Row| {
            let same = |of: &Row| of.passage.section == row.passage.section && of.passage.title != row.passage.title;
            compares && named.iter().all(same)
        };
        before.filter(is_other).collect()
    }

    /// Returns a product of the conversation of another kind than the shown ones, at which the message points: "the board".
    fn earlier(&self) -> Option<Goods> {
        let shown = self.shown.filter(|_| self.is_other && self.desk.picks.says(Sign::Kind, self.asked.text))?;
        let kinds = self.pages.categories(self.asked.text, self.query.language);
        let rows = shown.all(&self.pages, self.query.language);
        let row = rows.into_iter().find(|row| kinds.contains(&row.passage.section))?;
        Some(Goods::asked(shown.instead(vec![row])))
    }

    /// Returns the products of a message that names another kind than that of the shown ones.
    fn of_other_kind(&self, shown: &Shown) -> Option<Goods> {
        // "A keyboard to go with it": a new wish.
        let is_new = self.asked.is_product && self.desk.picks.says(Sign::Beside, self.asked.text);
        if let Some(goods) = is_new.then(|| self.wish()).flatten() {
            return Some(goods);
        }
        let points = matches!(self.pick, Some(Pick::It | Pick::All | Pick::Nth(_)));
        // "Which SSD does it have?"
        if (points || self.asks_attribute) && self.is_said(shown) {
            return Some(Goods::asked(self.again(shown)));
        }
        let of_clauses = || if self.is_about_else() { None } else { self.of_clauses(shown) };
        // "Can it charge my laptop?", after monitors, wishes for no laptop.
        if self.pick == Some(Pick::It) {
            return of_clauses().or_else(|| if self.is_about_else() { None } else { self.not_said(shown) });
        }
        let is_of_kind = self.current == Some(Current::Products) && !points;
        let having = if is_of_kind { self.having(shown) } else { None };
        having.or_else(of_clauses).or_else(|| self.wish())
    }

    /// Returns products of the shown kind that have what another kind is named after ("anything with USB?", after headsets), or those of
    /// the kind that a message of one word names ("and mice?").
    fn having(&self, shown: &Shown) -> Option<Goods> {
        let language = self.query.language;
        let category = shown.category(&self.pages, language)?;
        let of_kind = self.pages.rows_of_category(&category, "", language);
        let mut with = self.pages.rows_with(&of_kind, self.asked.wish, language);
        if !with.is_empty() && with.len() < of_kind.len() {
            with.sort_by_key(|row| !row.in_stock);
            with.truncate(self.query.limit);
            return Some(Goods::chosen(shown.instead(with)));
        }
        if self.pages.strong_words(&self.query) != 1 {
            return None;
        }
        let rows = self.pages.rows_wished(&self.query, Some(1));
        Goods::wished(rows.into_iter().take(self.query.limit).map(|row| row.passage).collect())
    }

    /// Returns the shown products, or others of their kind.
    fn of_this_kind(&self, shown: &Shown) -> Option<Goods> {
        // After another subject, a new wish begins.
        let points = matches!(self.pick, Some(Pick::It | Pick::All | Pick::Nth(_)));
        let is_new = !points && self.current != Some(Current::Products);
        if let Some(goods) = is_new.then(|| self.wish()).flatten() {
            return Some(goods);
        }
        if self.is_about_else() {
            return None;
        }
        self.of_shown(shown, self.is_current()).or_else(|| self.wish()).or_else(|| self.not_said(shown))
    }

    /// Returns those of the shown products, or others of their kind, that the message chooses.
    fn of_shown(&self, shown: &Shown, is_current: bool) -> Option<Goods> {
        let chosen = self.choose(shown, &self.query, is_current);
        chosen.map(|chosen| self.of_chosen(shown, chosen)).or_else(|| self.of_clauses(shown))
    }

    /// Returns the products that one clause points at: in "I take the cheap one. USB or jack?", what else is said does not matter.
    fn of_clauses(&self, shown: &Shown) -> Option<Goods> {
        let picks = &self.desk.picks;
        let asks = |clause: &&str| match picks.pick(clause) {
            Some((Pick::It, _)) => picks.without_attributes(clause).is_some(),
            Some((Pick::Least(_) | Pick::Most(_) | Pick::Nth(_) | Pick::Last, _)) => true,
            _ => false,
        };
        let choose = |clause: &str| self.choose(shown, &wish(self.turn, clause), true);
        let chosen = clauses(self.asked.wish).filter(asks).find_map(choose)?;
        Some(self.of_chosen(shown, chosen))
    }

    fn of_chosen(&self, shown: &Shown, chosen: Chosen) -> Goods {
        let asks_row = chosen.passages == self.again(shown).passages && self.pick != Some(Pick::All);
        Goods { asks_row, ..Goods::chosen(chosen) }
    }

    fn choose(&self, shown: &Shown, query: &Query, is_current: bool) -> Option<Chosen> {
        let is_current = is_current || self.asks_attribute;
        shown.choose(&self.pages, &self.desk.picks, query, is_current)
    }

    /// Returns the shown products for a message that asks for what their rows do not say: pages about something else would answer it worse.
    fn not_said(&self, shown: &Shown) -> Option<Goods> {
        let points = self.pick == Some(Pick::It);
        let is_current = self.current == Some(Current::Products);
        // "Timings, cl what?": few words after products ask about them.
        let is_follow_up = is_current && !self.is_other && words(self.asked.text).len() <= FEW;
        let is_asked = (self.asked.is_product || (points && self.is_other) || is_follow_up)
            && (is_current || points || self.asks_attribute);
        let is_short = words(self.asked.wish).len() <= SHORT || points;
        let is_plain = is_asked && is_short && self.pages.budget(self.asked.wish).is_none();
        let is_about = is_plain && (self.asks_attribute || self.is_said(shown) || !self.has_advice());
        is_about.then(|| Goods::asked(self.again(shown)))
    }

    /// Whether the shown products are what the message is about, if it says nothing else.
    fn is_current(&self) -> bool {
        self.asked.is_product || self.current == Some(Current::Products)
    }

    /// Whether the message is about the warranty that was looked up, or about the shop.
    fn is_about_else(&self) -> bool {
        // After a look-up, "how much is a new battery?" is no question about the product that the shop sells.
        let names_kind = || !self.pages.categories(self.asked.wish, self.query.language).is_empty();
        let is_of_record = self.current == Some(Current::Record)
            && !matches!(self.pick, Some(Pick::Similar | Pick::Cheaper))
            && !(self.asked.is_product && names_kind());
        is_of_record || (self.asked.is_shop && !self.asks_attribute)
    }

    fn again(&self, shown: &Shown) -> Chosen {
        shown.again(&self.pages, self.query.language)
    }

    /// Whether the row of a shown product has what the message asks for.
    fn is_said(&self, shown: &Shown) -> bool {
        let says = |row: &Passage| answer_first(&self.desk.picks, self.asked.text, &row.text).is_said == Some(true);
        self.again(shown).passages.iter().any(says)
    }
}

/// Returns the search among products. Polite words stay: "the first one" has some.
fn wish(turn: &Turn, text: &str) -> Query {
    Query { text: text.to_owned(), language: turn.language(), limit: CHOSEN, pages_only: false }
}

/// Splits a message at its punctuation.
pub(super) fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '?', '!']).flat_map(|part| part.split(". "))
}
