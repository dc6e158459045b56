//! Products that a message names next to others: what they cost together, what one costs more, and which are better than one.

use super::{Asked, CHOSEN, Computed, Finder, Goods, wish};
use crate::desks::Turn;
use crate::desks::retail::Retail;
use crate::desks::retail::memory::Memory;
use crate::dialogue::attribute::says_all;
use crate::dialogue::shown::{Chosen, Shown};
use crate::nlu::pick::{Pick, Sign};
use crate::retrieval::mention::Level;
use crate::retrieval::rows::Row;

impl Finder<'_> {
    /// Returns the products that the message names without doubt, one for each name. A manufacturer names its product of the
    /// conversation.
    fn named_for_certain(&self) -> Vec<Row> {
        let in_talk = |row: &Row| {
            let shown = self.shown.into_iter();
            shown.flat_map(|shown| shown.products.iter().chain(&shown.taken)).any(|name| *name == row.passage.title)
        };
        let is_sure = |level: Level, row: &Row| level > Level::Brand || in_talk(row);
        let mut named: Vec<Row> = Vec::new();
        for mention in self.asked.mentions {
            if let [row] = mention.rows.as_slice()
                && is_sure(mention.level, row)
                && !named.contains(row)
            {
                named.push(row.clone());
            }
        }
        named
    }

    /// Returns the products that the message names, if it asks for the sum of several: "the 9700X and the board together". If it adds one
    /// ("and if I add the AOC, how much is that?"), those of the conversation count, too.
    pub(super) fn named_to_sum(&self) -> Option<Chosen> {
        let (picks, text) = (&self.desk.picks, self.asked.text);
        let shown = self.shown.filter(|_| picks.says(Sign::Total, text) && !picks.says(Sign::Fits, text))?;
        match self.named_for_certain().as_slice() {
            named @ [_, _, ..] => Some(shown.about(named.to_vec())),
            [one] if picks.says(Sign::Adds, text) => {
                let taken = self.pages.rows(&shown.taken, self.query.language).into_iter().flatten();
                let mut all: Vec<Row> = taken.filter(|row| row != one).collect();
                all.push(one.clone());
                Some(shown.about(all))
            }
            _ => None,
        }
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
