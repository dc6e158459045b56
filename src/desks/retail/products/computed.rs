//! What is computed of products: sums, monthly amounts, and whether two fit together.

use super::{CHOSEN, Computed, Finder, FitTogether, Goods, Retail, wish};
use crate::desks::Turn;
use crate::dialogue::attribute::says_all;
use crate::dialogue::shown::{Chosen, Shown};
use crate::domain::Sender;
use crate::nlu::pick::Sign;
use crate::retrieval::Passage;
use crate::retrieval::mention::Level;
use crate::retrieval::rows::Row;

/// The number of earlier messages that may give the quantity.
const EARLIER: usize = 3;
/// A larger number of pieces is probably a model.
const MOST_PIECES: u64 = 999;

impl Finder<'_> {
    pub(super) fn computed(&self) -> Option<Goods> {
        // "How much a month for 12 months?": no 12 pieces.
        let plans = self.per_month();
        if plans.is_some() {
            return plans;
        }
        let changed = self.dropped().or_else(|| self.recounted());
        if changed.is_some() {
            return changed;
        }
        let pieces = self.pieces();
        let names_one = || self.asks_sum() && self.asked.mentions.iter().any(|of| of.level > Level::Brand);
        let is_about_goods = || self.is_current() || self.asked.mentions.len() > 1 || self.adds_fee() || names_one();
        if let Some(chosen) = self.to_sum(pieces).filter(|_| is_about_goods()) {
            // A number of pieces that is of none of the products for certain gives no sum.
            let counts = self.counts(&chosen.passages, pieces);
            let (computed, counts) = (counts.is_some().then_some(Computed::Total), counts.unwrap_or_default());
            return Some(Goods { computed, pieces, counts, ..Goods::chosen(chosen) });
        }
        self.difference().or_else(|| self.each(pieces?)).or_else(|| self.fitting())
    }

    /// Returns the shown products, if the message asks for the price of several pieces and may mean any of them: "how much are 5?".
    fn each(&self, pieces: u64) -> Option<Goods> {
        let shown = self.shown.filter(|shown| shown.current.is_none() && self.asked.mentions.is_empty())?;
        let chosen = self.again(shown);
        let is_said = says_all(&self.desk.picks, self.asked.text, &chosen.passages.first()?.text) == Some(true);
        let is_meant = is_said && self.is_current() && !self.is_other && (2..=MOST_PIECES).contains(&pieces);
        (is_meant && chosen.passages.len() <= CHOSEN)
            .then(|| Goods { computed: Some(Computed::Each(pieces)), ..Goods::chosen(chosen) })
    }

    /// Returns how many pieces the message wants. One that only asks for the sum means those of an earlier message about the product:
    /// "what is the total?" after "we need 3 of them".
    fn pieces(&self) -> Option<u64> {
        let (picks, text) = (&self.desk.picks, self.asked.text);
        let earlier = || {
            let shown = self.shown.filter(|_| picks.says(Sign::Total, text) && picks.things(text).is_none())?;
            let one = shown.current.and_then(|n| shown.products.get(n))?;
            let messages = self.turn.history.iter().rev().filter(|message| message.sender == Sender::User);
            let is_about = |text: &str| {
                let query = wish(self.turn, text);
                let named = Shown::named(Some(shown), &self.pages, &query);
                named.iter().any(|of| of.rows.iter().any(|row| row.passage.title == *one))
            };
            let about = messages.take(EARLIER).take_while(|message| is_about(&message.text));
            about.filter_map(|message| picks.pieces(&message.text)).next()
        };
        picks.pieces(text).or_else(earlier)
    }

    /// Returns the other products of the conversation, if the message takes some of them back: "without the mouse then".
    fn dropped(&self) -> Option<Goods> {
        let shown = self.shown.filter(|_| self.desk.picks.says(Sign::Drop, self.asked.text))?;
        let kinds = self.pages.categories(self.asked.text, self.query.language);
        let named = |row: &Row| self.asked.mentions.iter().any(|of| of.rows.iter().any(|named| named == row));
        let taken = self.pages.rows(&shown.taken, self.query.language).into_iter().flatten();
        let (gone, kept): (Vec<Row>, Vec<Row>) =
            taken.partition(|row| named(row) || kinds.contains(&row.passage.section));
        if gone.is_empty() || kept.is_empty() {
            return None;
        }
        let taken: Vec<String> = kept.iter().map(|row| row.passage.title.clone()).collect();
        let products: Vec<String> = taken.last().cloned().into_iter().collect();
        let chosen = Shown { products, current: Some(0), taken, ..shown.clone() }.about(kept);
        Some(Goods { computed: Some(Computed::Total), ..Goods::chosen(chosen) })
    }

    /// Returns the products of the conversation with another number of pieces of one kind: "make it two mice".
    fn recounted(&self) -> Option<Goods> {
        let (shown, count) = (self.shown?, self.desk.picks.recount(self.asked.text)?);
        let kinds = self.pages.categories(self.asked.text, self.query.language);
        let taken = self.pages.rows(&shown.taken, self.query.language).into_iter();
        let taken: Vec<Row> = taken.flatten().collect();
        let row = taken
            .iter()
            .find(|row| kinds.contains(&row.passage.section))
            .filter(|_| taken.len() > 1 && kinds.len() == 1)?;
        let counts = vec![(row.passage.title.clone(), count)];
        Some(Goods { computed: Some(Computed::Total), counts, ..Goods::chosen(shown.about(taken.clone())) })
    }

    /// Returns how many pieces of each product the message names: "2 of the mice and a keyboard". `None` if it names a number and not for
    /// certain of which, unless it is the number of the products.
    fn counts(&self, products: &[Passage], pieces: Option<u64>) -> Option<Vec<(String, u64)>> {
        if let [product] = products {
            // The 2 of "I take 2" may be that of "Superlight 2".
            if pieces.is_some_and(|pieces| product.title.split(' ').any(|word| word == pieces.to_string())) {
                return None;
            }
            let pieces = pieces.filter(|pieces| *pieces <= MOST_PIECES);
            return Some(pieces.map(|pieces| (product.title.clone(), pieces)).into_iter().collect());
        }
        let mut counts = Vec::new();
        for part in self.desk.picks.wishes_of(self.asked.text) {
            let Some(count) = self.desk.picks.count_of(&part) else { continue };
            let kinds = self.pages.categories(&part, self.query.language);
            let mentions = Shown::named(self.shown, &self.pages, &wish(self.turn, &part));
            let is_named = |product: &&Passage| {
                let is_it = |row: &Row| row.passage.title == product.title;
                kinds.contains(&product.section) || mentions.iter().any(|mention| mention.rows.iter().any(is_it))
            };
            let named: Vec<&Passage> = products.iter().filter(is_named).collect();
            // "Vivobook 15" counts nothing.
            let is_name = products.iter().any(|of| of.title.split(' ').any(|word| word == count.to_string()));
            match named.as_slice() {
                _ if is_name => {}
                [product] => counts.push((product.title.clone(), count)),
                _ if count > 1 && usize::try_from(count) != Ok(products.len()) => return None,
                _ => {}
            }
        }
        Some(counts)
    }

    /// Whether the message asks for the sum after the fee of a service was named.
    fn adds_fee(&self) -> bool {
        self.desk.picks.says(Sign::Total, self.asked.text) && self.desk.fee_before(self.turn).is_some()
    }

    /// Returns the products whose prices the message adds up.
    fn to_sum(&self, pieces: Option<u64>) -> Option<Chosen> {
        let (picks, text) = (&self.desk.picks, self.asked.text);
        let asks = self.asks_sum() || picks.pieces(text).is_some_and(|pieces| pieces > 1);
        let shown = self.shown.filter(|_| asks)?;
        // What the customer owns is not bought again: "how much is that in total", after a look-up and a repair.
        if shown.asked.is_empty() && self.asked.mentions.is_empty() {
            return None;
        }
        let sure: Vec<&Row> =
            self.asked.mentions.iter().filter(|of| of.level > Level::Brand).flat_map(|of| &of.rows).collect();
        if let Some(named) = self.named_to_sum().filter(|_| pieces.is_none()) {
            return Some(named);
        }
        // "One of those and the G304, how much is it together?": not the G304 alone.
        let joins = picks.says(Sign::Total, text) && picks.wishes_of(text).len() > 1 && shown.taken.len() > 1;
        if let ([row], Some(_), false) = (sure.as_slice(), pieces, joins) {
            return Some(shown.about(vec![(*row).clone()]));
        }
        let pieces = pieces.filter(|_| !joins || sure.is_empty());
        shown.to_sum(&self.pages, picks, &self.query, pieces)
    }

    /// Returns the product of the conversation, with what it costs each month, if the message asks for it or names other months after
    /// a message that asked.
    fn per_month(&self) -> Option<Goods> {
        let (instalments, text) = (&self.desk.instalments, self.asked.text);
        let earlier = || self.turn.history.iter().rev().filter(|message| message.sender == Sender::User);
        let asked_before = |within| earlier().take(within).any(|message| instalments.asks(&message.text));
        let asks = instalments.asks(text)
            || (instalments.names_months(text) && (asked_before(1) || instalments.names_down(text)))
            || (instalments.asks_interest(text) && asked_before(2));
        let shown = self.shown.filter(|_| asks)?;
        // "The lighter one over 12 months": one of those shown.
        let is_shown = |chosen: &Chosen| match chosen.passages.as_slice() {
            [row] => shown.products.contains(&row.title),
            _ => false,
        };
        let again = self.again(shown);
        let of_shown = || self.choose(shown, &self.query, true).filter(is_shown);
        let chosen = if again.passages.len() == 1 { again } else { of_shown()? };
        let names: Vec<String> = chosen.passages.iter().map(|row| row.title.clone()).collect();
        let [_] = names.as_slice() else { return None };
        let shown = &chosen.shown;
        let row = self.pages.rows(&names, self.query.language).into_iter().flatten().next()?;
        let plans = instalments.plans(text, earlier().map(|message| message.text.as_str()), row.price?);
        let chosen = Goods::chosen(shown.about(vec![row]));
        (!plans.is_empty()).then_some(Goods { computed: Some(Computed::Plans(plans)), ..chosen })
    }

    /// Returns whether two products fit together.
    pub(super) fn fit(&self, one: &Row, other: &Row) -> Option<(bool, String, String)> {
        self.desk.fit(self.turn, one, other)
    }

    /// Returns two products of which the message asks whether they fit together, or those of a kind that fit one of the conversation.
    fn fitting(&self) -> Option<Goods> {
        let picks = &self.desk.picks;
        let shown = self.shown.filter(|_| picks.says(Sign::Fits, self.asked.text))?;
        let others = shown.all(&self.pages, self.query.language);
        let tells = |one: &Row| others.iter().find_map(|other| Some((other.clone(), self.fit(one, other)?)));
        let named: Vec<&Row> = self.asked.mentions.iter().filter_map(|mention| mention.rows.first()).collect();
        if let Some((one, (other, (fits, value, of_other)))) =
            named.into_iter().find_map(|one| Some((one, tells(one)?)))
        {
            let names = [one, &other].map(|row| row.passage.title.clone());
            let together = FitTogether { fits, names, values: [value, of_other] };
            let chosen = Goods::chosen(shown.about(vec![one.clone(), other]));
            return Some(Goods { computed: Some(Computed::Fit(together)), ..chosen });
        }
        let rows = self.pages.rows_wished(&self.query, Some(1)).into_iter();
        let fitting = rows.filter(|row| tells(row).is_some_and(|(_, (fits, ..))| fits));
        let wished: Vec<Passage> = fitting.take(self.query.limit).map(|row| row.passage).collect();
        Goods::wished(wished)
    }
}

impl Retail {
    /// Returns whether two products of different kinds fit together, and by which values: a socket, the power that one recommends for
    /// the kind of the other, or a height.
    pub(in super::super) fn fit(&self, turn: &Turn, one: &Row, other: &Row) -> Option<(bool, String, String)> {
        if one.passage.section == other.passage.section {
            return None;
        }
        let (pages, language) = (self.services.pages(turn), turn.language());
        let needs = |one: &Row, other: &Row| {
            let named = pages.categories(&one.passage.text, language);
            if !named.contains(&other.passage.section) {
                return None;
            }
            self.picks.fit_units().iter().find_map(|unit| {
                let (needed, given) = (one.amount(unit)?, other.amount(unit)?);
                let said = |amount: f64| format!("{amount} {}", unit.to_uppercase());
                Some((given >= needed, said(needed), said(given)))
            })
        };
        let turned = |(fits, given, needed): (bool, String, String)| (fits, needed, given);
        let by_power = || needs(one, other).or_else(|| needs(other, one).map(turned));
        let by_height = || {
            let (fits, of_one, of_other) = self.picks.fit_height(&one.passage.text, &other.passage.text)?;
            Some((fits, format!("{of_one} mm"), format!("{of_other} mm")))
        };
        self.picks.fit(&one.whole(), &other.whole()).or_else(by_power).or_else(by_height)
    }
}
