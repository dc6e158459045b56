//! The products that a conversation last showed, and messages about them: "the second one", "anything cheaper?", "is it heavy?".

use serde::{Deserialize, Serialize};

use crate::domain::Language;
use crate::domain::text::words;
use crate::nlu::pick::{Pick, PickRules, Sign};
use crate::retrieval::mention::{Level, Mention, Near};
use crate::retrieval::rows::Row;
use crate::retrieval::search::Pages;
use crate::retrieval::{Passage, Query};

mod sum;

/// A longer message names its subject.
const SHORT: usize = 8;

/// The products that were shown last, in the desk's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The question that they answered. Its budget holds for what follows.
    pub asked: String,
    /// Their names.
    pub products: Vec<String>,
    /// The position of the product that the last message was about.
    pub current: Option<usize>,
    /// The product of each category that the conversation came to, in their order.
    #[serde(default)]
    pub taken: Vec<String>,
    /// The last list of several products before this one: "the first one" is of that list where this one has only one product.
    #[serde(default)]
    pub before: Vec<String>,
}

/// The products that a message is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    pub passages: Vec<Passage>,
    pub shown: Shown,
}

impl Shown {
    /// Remembers the products of what was quoted: catalogue rows, or those that a page names. Without any, there is nothing to remember.
    pub fn of(pages: &Pages, asked: &Query, quoted: &[Passage]) -> Option<Self> {
        let rows = pages.rows_of(quoted, asked.language);
        let mut products: Vec<String> = rows.into_iter().map(|row| row.passage.title).collect();
        if products.is_empty()
            && let [page] = quoted
        {
            products = pages.products_named(page);
        }
        (!products.is_empty()).then(|| Self::list(&asked.text, products))
    }

    /// Remembers one product that the conversation came to, if the catalogue has it.
    pub fn only_product(pages: &Pages, name: &str, language: Language) -> Option<Self> {
        let rows = pages.rows(&[name.to_owned()], language);
        rows.first()?.as_ref().map(|row| Self::list("", vec![row.passage.title.clone()]))
    }

    /// Returns the products that a message names, given those of the conversation.
    pub fn named(shown: Option<&Self>, pages: &Pages, query: &Query) -> Vec<Mention> {
        let products = shown.map_or_else(Vec::new, |shown| [shown.products.clone(), shown.taken.clone()].concat());
        let category = shown.and_then(|shown| shown.category(pages, query.language));
        let near = Near { products: &products, category: category.as_deref() };
        pages.mentions(&query.text, near, query.language)
    }

    /// Makes products that a message names those of the conversation, whatever else it asks. A manufacturer alone does not.
    pub fn focused(earlier: Option<&Self>, mentions: &[Mention], pages: &Pages, query: &Query) -> Option<Self> {
        let named: Vec<&Mention> = mentions.iter().filter(|mention| mention.level > Level::Brand).collect();
        let rows: Vec<&Row> = named.iter().flat_map(|mention| &mention.rows).collect();
        let first = rows.first()?;
        let category = |of: &Self| of.category(pages, query.language);
        let same = earlier.filter(|earlier| category(earlier).as_ref() == Some(&first.passage.section));
        let mut shown = match same {
            Some(earlier) if rows.iter().all(|row| earlier.products.contains(&row.passage.title)) => earlier.clone(),
            _ => {
                let products = rows.iter().map(|row| row.passage.title.clone()).collect();
                Self::list(same.map_or(query.text.as_str(), |earlier| earlier.asked.as_str()), products)
            }
        };
        // A product of the customer's own that they name now may be bought.
        if shown.asked.is_empty() {
            shown.asked.clone_from(&query.text);
        }
        shown.current = None;
        shown.before = shown.list_before(earlier);
        shown.taken = earlier.map_or_else(Vec::new, |earlier| earlier.taken.clone());
        // Each that is named without doubt.
        for row in named.iter().filter(|mention| mention.rows.len() == 1).flat_map(|mention| &mention.rows) {
            let before = shown.clone();
            shown.current = shown.products.iter().position(|name| *name == row.passage.title);
            shown = shown.after(Some(&before), pages, query.language);
        }
        if rows.len() > 1 {
            shown.current = None;
        }
        Some(shown)
    }

    /// Returns the category of the products.
    pub fn category(&self, pages: &Pages, language: Language) -> Option<String> {
        let rows = pages.rows(&self.products, language);
        rows.into_iter().flatten().next().map(|row| row.passage.section)
    }

    /// Returns all products of the conversation, the latest first.
    pub fn all(&self, pages: &Pages, language: Language) -> Vec<Row> {
        let current = self.current.and_then(|n| self.products.get(n));
        let names: Vec<String> =
            current.into_iter().chain(&self.products).chain(self.taken.iter().rev()).cloned().collect();
        pages.rows(&names, language).into_iter().flatten().collect()
    }

    /// Whether a message names another category of the catalogue than that of the shown products.
    pub fn is_other_kind(&self, pages: &Pages, query: &Query) -> bool {
        let category = self.category(pages, query.language);
        category.is_some_and(|category| pages.names_other_category(&query.text, &category, query.language))
    }

    /// Returns the names of the product of the last message, or of all that were shown.
    pub fn in_talk(&self) -> Vec<String> {
        self.current.and_then(|n| self.products.get(n)).map_or_else(|| self.products.clone(), |one| vec![one.clone()])
    }

    /// Returns the product of the last message, or all that were shown.
    pub fn again(&self, pages: &Pages, language: Language) -> Chosen {
        let shown = pages.rows(&self.products, language);
        self.about(self.meant(&shown).unwrap_or_default())
    }

    /// Returns the products that a message is about, or `None` if it is about something else. With `is_current` the
    /// conversation is about them, so that "it" means one of them.
    pub fn choose(&self, pages: &Pages, rules: &PickRules, query: &Query, is_current: bool) -> Option<Chosen> {
        // A position counts in the list that the customer saw, also where a product has left the catalogue.
        let shown = pages.rows(&self.products, query.language);
        let rows: Vec<Row> = shown.iter().flatten().cloned().collect();
        let category = rows.first()?.passage.section.clone();
        if pages.names_other_category(&query.text, &category, query.language) {
            return None;
        }
        // "About 25 million": the same wish with another budget.
        let budget = pages.budget(&query.text);
        if is_current && pages.names_nothing(query) && (budget.most.is_some() || budget.least.is_some()) {
            let mut rows = pages.rows_of_category(&category, &query.text, query.language);
            rows.sort_by_key(|row| std::cmp::Reverse(row.price));
            return (!rows.is_empty())
                .then(|| Self { asked: query.text.clone(), ..self.clone() }.instead_first(rows, query.limit));
        }
        let of_kind = || pages.rows_of_category(&category, &self.asked, query.language);
        let pick = rules.pick(&query.text);
        let is_short = words(&query.text).len() <= SHORT;
        let with = |rest: &str| pages.rows_with(&of_kind(), rest, query.language);
        // Those that the words tell apart from others: "which works with AM5?".
        let told = |of: &[Row], rest: &str| pages.rows_told(of, rest, query.language);
        let some = |rows: Vec<Row>| Some(rows).filter(|rows| !rows.is_empty());
        // "The cheapest with 16 GB": those that have the rest of the words, if any has. "The cheapest": of those that were shown.
        let fitting = |rest: &str| {
            // "Is the cheapest one in stock?"
            let rest = rules.without_attributes(rest).unwrap_or_else(|| rest.to_owned());
            let rest = rest.as_str();
            let is_of_shown = rows.len() > 1
                && (rules.says(Sign::Among, &query.text)
                    || pages.names_nothing(&Query { text: rest.to_owned(), ..query.clone() }));
            match is_of_shown {
                true => some(told(&rows, rest)).unwrap_or_else(|| rows.clone()),
                false => some(with(rest)).or_else(|| some(told(&of_kind(), rest))).unwrap_or_else(of_kind),
            }
        };
        let Some((pick, rest)) = pick else {
            // "How many are left?": not the mice for left hands.
            let text = rules.without_attributes_of_all(&query.text).unwrap_or_else(|| query.text.clone());
            let text = text.as_str();
            let with = if is_short { with(text) } else { Vec::new() };
            let with = if with.is_empty() && is_short && has_code(text) { told(&of_kind(), text) } else { with };
            return is_current.then(|| self.implied(pages, rules, query, &shown, with))?;
        };
        match pick {
            // "The first one", after a list and then one product.
            Pick::Nth(n) if shown.len() == 1 && n < self.before.len() => {
                let before = Self { products: self.before.clone(), ..self.clone() };
                let row = pages.rows(&before.products, query.language).into_iter().nth(n)??;
                Some(before.only(&row))
            }
            // "What is covered in the first year?"
            Pick::Nth(_) | Pick::Last
                if !is_current && !pages.names_nothing(&Query { text: rest.clone(), ..query.clone() }) =>
            {
                None
            }
            Pick::Nth(n) => Some(self.only(shown.get(n)?.as_ref()?)),
            Pick::Last => Some(self.only(shown.last()?.as_ref()?)),
            Pick::All => {
                let all = Self { current: None, ..self.clone() };
                // "Which one with an RTX 4050 is in stock?"
                let rest = rules.without_attributes(&rest).unwrap_or(rest);
                let of_code = || if has_code(&rest) { told(&of_kind(), &rest) } else { Vec::new() };
                let fit = some(with(&rest)).or_else(|| some(told(&rows, &rest))).unwrap_or_else(of_code);
                let mut of_shown: Vec<Row> = rows.iter().filter(|row| fit.contains(row)).cloned().collect();
                // "Which one instead?", after a product that is sold out.
                if fit.iter().any(|row| row.in_stock) && of_shown.iter().all(|row| !row.in_stock) {
                    of_shown.clear();
                }
                if let ([row], 2..) = (of_shown.as_slice(), rows.len()) {
                    return Some(self.only(row));
                }
                match (of_shown.is_empty(), fit.is_empty()) {
                    (false, _) => Some(all.about(of_shown)),
                    (true, false) => Some(self.instead_first(fit, query.limit)),
                    (true, true) => Some(all.about(rows)),
                }
            }
            Pick::It | Pick::Cheaper | Pick::Similar | Pick::Least(_) | Pick::Most(_) if !is_current => None,
            Pick::It => {
                let meant = self.meant(&shown)?;
                let rest = rules.without_attributes(&rest).unwrap_or(rest);
                if pages.is_covered_by(&rest, &joined(&meant), query.language) {
                    return Some(self.about(meant));
                }
                let others = with(&rest);
                (!others.is_empty()).then(|| self.instead_first(others, query.limit))
            }
            Pick::Cheaper => {
                let current = self.current.and_then(|n| shown.get(n)?.as_ref());
                let least = match current {
                    Some(row) => row.price?,
                    None => rows.iter().filter_map(|row| row.price).min()?,
                };
                // "Too expensive, a wired one below 500k would do": another budget counts, and the most of the other words.
                let is_limited = budget.most.is_some() || budget.least.is_some();
                let wish = Query { text: rest, ..query.clone() };
                let mut cheaper = pages.rows_wished_of(&wish, &category, Some(1));
                if cheaper.is_empty() {
                    cheaper = if is_limited { Vec::new() } else { of_kind() };
                }
                cheaper.retain(|row| row.in_stock && row.price.is_some_and(|price| is_limited || price < least));
                cheaper.sort_by_key(|row| std::cmp::Reverse(row.price));
                (!cheaper.is_empty()).then(|| self.instead_first(cheaper, query.limit))
            }
            Pick::Similar => {
                let price = self.meant(&shown)?.first()?.price?;
                let mut others = Some(with(&rest)).filter(|rows| !rows.is_empty()).unwrap_or_else(of_kind);
                others.retain(|row| row.in_stock && !self.products.contains(&row.passage.title));
                others.sort_by_key(|row| row.price.unwrap_or_default().abs_diff(price));
                (!others.is_empty()).then(|| self.instead_first(others, query.limit))
            }
            Pick::Least(attribute) => self.best(sorted(fitting(&rest), &attribute, 1.0), &attribute),
            Pick::Most(attribute) => self.best(sorted(fitting(&rest), &attribute, -1.0), &attribute),
        }
    }

    /// Returns the products of a message that does not point at any: a question about what every product has ("còn hàng không") is
    /// about those of the last message, other words choose among their kind ("bluetooth one?").
    fn implied(
        &self,
        pages: &Pages,
        rules: &PickRules,
        query: &Query,
        shown: &[Option<Row>],
        with: Vec<Row>,
    ) -> Option<Chosen> {
        let meant = self.meant(shown)?;
        let of_meant: Vec<Row> = meant.iter().filter(|row| with.contains(row)).cloned().collect();
        if let Some(rest) = rules.without_attributes(&query.text)
            && !pages.names_more_than(&rest, &joined(&meant), query.language)
        {
            // "Has one of them lights?"
            return Some(match (meant.len(), of_meant.is_empty(), with.is_empty()) {
                (2.., false, _) => self.about(of_meant),
                (2.., true, false) => self.instead_first(with, query.limit),
                _ => self.about(meant),
            });
        }
        let of_shown: Vec<Row> = shown.iter().flatten().filter(|row| with.contains(row)).cloned().collect();
        match of_shown.as_slice() {
            // "And the 1 TB?", after two products.
            [row] if shown.len() > 1 => Some(self.only(row)),
            [_, ..] if of_shown.len() < shown.len() => Some(Self { current: None, ..self.clone() }.about(of_shown)),
            _ => (!with.is_empty()).then(|| self.instead_first(with, query.limit)),
        }
    }

    /// Returns the product of the last message, or all that were shown.
    fn meant(&self, shown: &[Option<Row>]) -> Option<Vec<Row>> {
        let Some(n) = self.current else { return Some(shown.iter().flatten().cloned().collect()) };
        Some(vec![shown.get(n)?.clone()?])
    }

    /// Chooses the first of some rows, those in stock before the others.
    fn instead_first(&self, mut rows: Vec<Row>, limit: usize) -> Chosen {
        rows.sort_by_key(|row| !row.in_stock);
        rows.truncate(limit);
        self.instead(rows)
    }

    fn list(asked: &str, products: Vec<String>) -> Self {
        let current = (products.len() == 1).then_some(0);
        Self { asked: asked.to_owned(), products, current, ..Self::default() }
    }

    /// Takes over what the conversation came to before, and adds the product that it is about now.
    #[must_use]
    pub fn after(mut self, earlier: Option<&Self>, pages: &Pages, language: Language) -> Self {
        let mut taken = earlier.map_or_else(Vec::new, |earlier| earlier.taken.clone());
        if let Some(current) = self.current.and_then(|n| self.products.get(n)) {
            taken.push(current.clone());
            let rows = pages.rows(&taken, language);
            let category = |n: usize| rows.get(n)?.as_ref().map(|row| row.passage.section.clone());
            let last = category(taken.len() - 1);
            let keeps: Vec<bool> = (0..taken.len()).map(|n| n + 1 == taken.len() || category(n) != last).collect();
            let mut keeps = keeps.into_iter();
            taken.retain(|_| keeps.next().unwrap_or_default());
        }
        self.taken = taken;
        self.before = self.list_before(earlier);
        self
    }

    /// Returns the last list of several products before this one, given what was shown earlier.
    fn list_before(&self, earlier: Option<&Self>) -> Vec<String> {
        match earlier {
            Some(earlier) if earlier.products.len() > 1 && earlier.products != self.products => {
                earlier.products.clone()
            }
            Some(earlier) if !earlier.before.is_empty() => earlier.before.clone(),
            _ => self.before.clone(),
        }
    }

    /// Chooses rows, and keeps the list.
    pub fn about(&self, rows: Vec<Row>) -> Chosen {
        Chosen { passages: rows.into_iter().map(|row| row.passage).collect(), shown: self.clone() }
    }

    /// Chooses rows of different categories, to which the conversation came. The list stays.
    pub fn coming_to(&self, rows: Vec<Row>) -> Chosen {
        let taken = rows.iter().map(|row| row.passage.title.clone()).collect();
        Self { taken, ..self.clone() }.about(rows)
    }

    /// Chooses one row. It joins the list if it was not on it.
    fn only(&self, row: &Row) -> Chosen {
        let mut shown = self.clone();
        let at = shown.products.iter().position(|name| *name == row.passage.title).unwrap_or(shown.products.len());
        if at == shown.products.len() {
            shown.products.push(row.passage.title.clone());
        }
        Self { current: Some(at), ..shown }.about(vec![row.clone()])
    }

    /// Chooses the first of sorted rows, and the shown ones with the same value: "which has the longer warranty?".
    fn best(&self, rows: Vec<Row>, attribute: &str) -> Option<Chosen> {
        let first = rows.first()?;
        let is_as_good =
            |row: &&Row| row.value(attribute) == first.value(attribute) && self.products.contains(&row.passage.title);
        let equal: Vec<Row> = rows.iter().filter(is_as_good).cloned().collect();
        Some(if equal.len() > 1 { Self { current: None, ..self.clone() }.about(equal) } else { self.only(first) })
    }

    /// Chooses rows that replace the list.
    pub fn instead(&self, rows: Vec<Row>) -> Chosen {
        let products = rows.iter().map(|row| row.passage.title.clone()).collect();
        let shown = Self { taken: self.taken.clone(), ..Self::list(&self.asked, products) };
        Self { before: shown.list_before(Some(self)), ..shown }.about(rows)
    }
}

/// Whether a text has a number with its unit, or a code: "500gb", "am5".
fn has_code(text: &str) -> bool {
    let is_code = |word: &str| word.contains(|c: char| c.is_ascii_digit()) && word.contains(char::is_alphabetic);
    text.split_whitespace().any(is_code)
}

fn joined(rows: &[Row]) -> String {
    rows.iter().map(|row| format!("{}\n{}\n", row.passage.title, row.passage.text)).collect()
}

/// Sorts rows in stock by an attribute. Rows without it are left out.
pub fn sorted(rows: Vec<Row>, attribute: &str, sign: f64) -> Vec<Row> {
    let mut rows: Vec<(f64, Row)> = rows
        .into_iter()
        .filter(|row| row.in_stock)
        .filter_map(|row| Some((row.value(attribute)? * sign, row)))
        .collect();
    rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    rows.into_iter().map(|(_, row)| row).collect()
}
