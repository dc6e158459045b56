//! Products that a message names next to others: what they cost together, what one costs more, and which are better than one.

use super::{Asked, CHOSEN, Computed, Finder, Goods, wish};
use crate::desks::Turn;
use crate::desks::retail::Retail;
use crate::desks::retail::memory::Memory;
use crate::desks::retail::reply::last_reply;
use crate::dialogue::attribute::says_all;
use crate::dialogue::shown::{Chosen, Shown, sorted};
use crate::nlu::pick::{Pick, Sign};
use crate::retrieval::mention::{Level, Mention};
use crate::retrieval::rows::Row;

/// Joins goods whose prices are added up.
const PLUS: char = '+';
/// Parts of a message that are read for it.
const PARTS: usize = 12;

impl Finder<'_> {
    /// Returns the products that the message names without doubt, one for each name. A manufacturer names its product of the
    /// conversation.
    fn named_for_certain(&self) -> Vec<Row> {
        self.certain_among(self.asked.mentions)
    }

    fn certain_among(&self, mentions: &[Mention]) -> Vec<Row> {
        let known = || self.shown.into_iter().flat_map(|shown| shown.taken.iter()).chain(self.asked.before);
        let in_talk = |row: &Row| known().any(|name| *name == row.passage.title);
        let is_sure = |level: Level, row: &Row| level > Level::Brand || in_talk(row);
        let mut named: Vec<Row> = Vec::new();
        for mention in mentions {
            let row = match mention.rows.as_slice() {
                [row] => Some(row).filter(|row| is_sure(mention.level, row)),
                // "The 5060": of several, the one of the conversation.
                rows => {
                    let mut known = rows.iter().filter(|row| in_talk(row));
                    known.next().filter(|_| known.next().is_none())
                }
            };
            if let Some(row) = row.filter(|row| !named.contains(row)) {
                named.push(row.clone());
            }
        }
        named
    }

    /// Returns the products that the message names, if it asks for the sum of several: "the 9700X and the board together". If it adds one
    /// ("and if I add the AOC, how much is that?"), those of the conversation count, too.
    pub(super) fn named_to_sum(&self) -> Option<Chosen> {
        let (picks, text) = (&self.desk.picks, self.asked.text);
        let shown = self.shown.filter(|_| self.asks_sum() && !picks.says(Sign::Fits, text))?;
        let joined = self.joined();
        let mut named = if joined.len() > 1 { joined } else { self.named_for_certain() };
        if picks.says(Sign::Adds, text) && !named.is_empty() {
            let taken = self.pages.rows(&shown.taken, self.query.language).into_iter().flatten();
            let mut all: Vec<Row> = taken.filter(|row| !named.contains(row)).collect();
            all.append(&mut named);
            return Some(shown.coming_to(all));
        }
        (named.len() > 1).then(|| shown.coming_to(named))
    }

    /// Whether the message asks for the sum of prices: in words, with a plus, or once more after a sum.
    pub(super) fn asks_sum(&self) -> bool {
        let picks = &self.desk.picks;
        let is_after_sum = || last_reply(self.turn).is_some_and(|reply| picks.says(Sign::Total, &reply.text));
        picks.says(Sign::Total, self.asked.text)
            || (self.asked.text.contains(PLUS) || is_after_sum()) && self.joined().len() > 1
    }

    /// Returns the products of a message that joins goods with "and" or "+".
    fn joined(&self) -> Vec<Row> {
        let mut joined: Vec<Row> = Vec::new();
        let parts = self.asked.text.split(PLUS).flat_map(|part| self.desk.picks.wishes_of(part));
        for part in parts.take(PARTS) {
            let rows = self.of_part(&part).into_iter();
            joined.extend(rows.filter(|row| !joined.contains(row)).collect::<Vec<_>>());
        }
        joined
    }

    /// Returns the products of a part of a message that joins goods: those that it names, the best of a kind ("the cheapest mouse"), the
    /// one of a kind that the conversation came to ("that case"), or the last one ("that").
    fn of_part(&self, part: &str) -> Vec<Row> {
        let (language, picks) = (self.query.language, &self.desk.picks);
        let kinds = self.pages.categories(part, language);
        let is_of_kind = |row: &Row| kinds.contains(&row.passage.section);
        let in_talk = || {
            let rows = self.shown.map_or_else(Vec::new, |shown| shown.all(&self.pages, language));
            rows.into_iter().find(is_of_kind)
        };
        if let Some(row) = in_talk().filter(|_| picks.says(Sign::Kind, part)) {
            return vec![row];
        }
        let mut named = self.certain_among(&Shown::named(self.shown, &self.pages, &wish(self.turn, part)));
        named.retain(|row| kinds.is_empty() || is_of_kind(row));
        if !named.is_empty() {
            return named;
        }
        let best = |kind: &str, of: &str, sign| {
            sorted(self.pages.rows_of_category(kind, part, language), of, sign).into_iter().next()
        };
        let row = match (kinds.first(), picks.pick(part).map(|(pick, _)| pick)) {
            (Some(kind), Some(Pick::Least(of))) => best(kind, &of, 1.0),
            (Some(kind), Some(Pick::Most(of))) => best(kind, &of, -1.0),
            (Some(kind), _) => {
                // "The MSI 650 power supply", though a card of MSI is in talk.
                let told = self.pages.rows_told(&self.pages.rows_of_category(kind, "", language), part, language);
                let known = in_talk().filter(|row| told.is_empty() || told.contains(row));
                known.or_else(|| told.first().cloned())
            }
            // "How much is that?" asks about the sum.
            (None, Some(Pick::It)) if picks.without_attributes(part).is_none() && self.asked.before.len() == 1 => {
                self.pages.rows(self.asked.before, language).into_iter().flatten().next()
            }
            (None, _) => None,
        };
        row.into_iter().collect()
    }

    /// Returns two products of which the message asks how much more one costs: both are named, or one and the current product is the
    /// other, or none after a list of two.
    pub(super) fn difference(&self) -> Option<Goods> {
        let mut rows = self.named_for_certain();
        // "How much extra is shipping?" asks about the shop.
        let is_of_goods = !self.asked.is_shop || rows.len() > 1;
        let asks = is_of_goods && self.desk.picks.says(Sign::Difference, self.asked.text);
        let shown = self.shown.filter(|_| asks)?;
        let others = match rows.as_slice() {
            [_] => self.asked.before,
            [] if self.asked.mentions.is_empty() && self.is_current() => &shown.products,
            _ => &[],
        };
        let others = self.pages.rows(others, self.query.language).into_iter().flatten();
        rows.extend(
            others.filter(|row| !self.asked.mentions.iter().any(|of| of.rows.contains(row))).collect::<Vec<_>>(),
        );
        let [one, other] = rows.as_slice() else { return None };
        if one.passage.section != other.passage.section || one.price? == other.price? {
            return None;
        }
        let (more, less) = if one.price? > other.price? { (one, other) } else { (other, one) };
        let names = [more, less].map(|row| row.passage.title.clone());
        let computed = Computed::Difference(more.price? - less.price?, names);
        Some(Goods { computed: Some(computed), ..Goods::chosen(shown.about(rows.clone())) })
    }

    /// Returns products of the kind of the one that the message names which have less, or more, of something: "is there a lighter one
    /// than the G304?".
    pub(super) fn better_than_named(&self) -> Option<Goods> {
        let (picks, text) = (&self.desk.picks, self.asked.wish);
        let named = self.named_for_certain();
        let [row] = named.as_slice() else { return None };
        let is_about_it = self.asked.before.iter().all(|name| *name == row.passage.title);
        let than = wish(self.turn, picks.after(Sign::Than, text)?);
        let is_limit = Shown::named(self.shown, &self.pages, &than).iter().any(|of| of.rows.contains(row));
        if !is_about_it || !is_limit {
            return None;
        }
        let (attribute, sign) = match picks.pick(text)?.0 {
            Pick::Least(attribute) => (attribute, 1.0),
            Pick::Most(attribute) => (attribute, -1.0),
            Pick::Cheaper => ("price".to_owned(), 1.0),
            _ => return None,
        };
        let value = |row: &Row| row.value(&attribute).map(|value| value * sign);
        let limit = value(row)?;
        let mut better = self.pages.rows_of_category(&row.passage.section, "", self.query.language);
        better.retain(|other| value(other).is_some_and(|value| value < limit));
        // Those that differ least come first, and those in stock before the others.
        better.sort_by(|a, b| value(b).unwrap_or_default().total_cmp(&value(a).unwrap_or_default()));
        better.sort_by_key(|row| !row.in_stock);
        better.truncate(CHOSEN);
        let shown = self.shown.cloned().unwrap_or_default();
        (!better.is_empty()).then(|| Goods::chosen(shown.instead(better)))
    }
}

impl Retail {
    /// Returns the product that a question about the shop names and also asks something of: "how much is the Sony, and what does it cost to
    /// send it to Hanoi?".
    pub(in crate::desks::retail) fn goods_besides_shop(
        &self,
        turn: &Turn,
        asked: &Asked<'_>,
        memory: &Memory,
    ) -> Option<Goods> {
        if !asked.is_shop || asked.is_look_up || asked.is_set {
            return None;
        }
        let finder = self.finder(turn, asked, memory);
        let named = finder.named_for_certain();
        let [row] = named.as_slice() else { return None };
        if finder.computed().is_some() {
            return None;
        }
        let is_said = says_all(&self.picks, asked.text, &row.passage.text) == Some(true);
        let shown = memory.shown.clone().unwrap_or_default();
        is_said.then(|| Goods::asked(shown.about(vec![row.clone()])))
    }
}
