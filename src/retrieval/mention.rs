//! Finds the products that a message names: "the tuf a15 with the 4060", "nv3 1tb or sn850x", "the sony".
//!
//! A product is named by words of its title that few titles have. What is only in its specification supports a name, but names nothing:
//! the laptop with a graphics card is not the card.

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::Query;
use super::budget::take_budget;
use super::chunk::Chunk;
use super::rows::Row;
use super::rules::{SearchRules, Words};
use super::search::Pages;
use super::terms::{Token, is_plain_number};
use crate::domain::Language;

/// How surely a word names a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A word of many titles: a manufacturer.
    Brand,
    /// A word of few titles that no page has, or a manufacturer of a product that the conversation is about.
    Rare,
    /// The number of a model, or two words that are next to each other in few titles.
    Model,
}

/// Products that a part of a message names equally well.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    pub rows: Vec<Row>,
    pub level: Level,
    /// The place of its first word.
    at: usize,
}

/// What a message is about before it names anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Near<'a> {
    /// The products of the conversation.
    pub products: &'a [String],
    /// Their category: a manufacturer names its products of that category.
    pub category: Option<&'a str>,
}

/// A model's number has at least so many letters and digits. Of digits alone it has one more: 500 is also a capacity.
const MODEL: usize = 3;
/// A word or a pair of words that is in more titles names no product.
const FEW: usize = 3;
/// The same for a word without a digit, and for two words.
const FEWER: usize = 2;
/// Products that one message names at most, and the words that are read.
const MENTIONS: usize = 4;
const WORDS: usize = 150;
/// The weight of a word of the specification, and of a quantity in a title.
const SPECIFIED: f64 = 0.3;
/// How much more likely a product of the conversation is, and one of a category that the message names.
const CLOSER: f64 = 3.0;

/// How much more likely a title is by two words that are next to each other in both.
const TOGETHER: f64 = 2.0;
/// A quantity belongs to a name that is at most so many words away.
const APART: usize = 2;

/// The words of the titles of a catalogue's products.
pub(super) struct Titles {
    rules: SearchRules,
    titles: Vec<Title>,
    /// The titles that have a word, or a quantity with this number.
    having: HashMap<String, Vec<usize>>,
    /// In how many titles a word is, and in how many two words are next to each other.
    counts: HashMap<String, usize>,
    pairs: HashMap<(String, String), usize>,
    /// The words of pages, without the names of products.
    of_pages: HashSet<String>,
}

struct Title {
    piece: usize,
    words: Vec<String>,
    /// The number of each word that is a quantity: 500 of "500gb".
    numbers: Vec<Option<String>>,
    /// The place of the first word that can be a name: the manufacturer.
    brand: Option<usize>,
    /// The words of the whole row, in every language.
    of_row: HashSet<String>,
}

/// A word of a message.
struct Said {
    token: Token,
    is_free: bool,
    /// Whether it can be part of a name.
    is_name: bool,
}

/// How well a title has the free words of a message.
struct Fit {
    score: f64,
    level: Level,
    places: Vec<usize>,
}

impl Titles {
    pub(super) fn new(chunks: &[Arc<Chunk>], rules: &SearchRules) -> Self {
        let words = rules.words(None);
        let tokens = |text: &str| words.analyzer.tokens(text);
        let roots = |text: &str| -> Vec<String> { tokens(text).into_iter().map(|token| token.root).collect() };
        let mut titles = Vec::new();
        let mut having: HashMap<String, Vec<usize>> = HashMap::new();
        let (mut counts, mut pairs): (HashMap<String, usize>, HashMap<(String, String), usize>) = Default::default();
        let is_named = |chunk: &Chunk| chunk.product.is_some() && !chunk.title.trim().is_empty();
        let products: Vec<(usize, &Arc<Chunk>)> =
            chunks.iter().enumerate().filter(|(_, chunk)| is_named(chunk)).collect();
        for (piece, chunk) in products.iter().copied() {
            let of_title = roots(&chunk.title);
            let distinct: HashSet<&String> = of_title.iter().collect();
            distinct.into_iter().for_each(|word| *counts.entry(word.clone()).or_default() += 1);
            let next: HashSet<(String, String)> =
                of_title.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
            next.into_iter().for_each(|pair| *pairs.entry(pair).or_default() += 1);
            let texts = chunk.translated.iter().map(|(_, text)| text.as_str()).chain([chunk.text.as_str()]);
            let of_row = texts.flat_map(&roots).collect();
            let brand = tokens(&chunk.title).iter().position(|token| is_name(token, words));
            let number = |word: &String| words.analyzer.bare_number(word).map(str::to_owned);
            let numbers: Vec<Option<String>> = of_title.iter().map(number).collect();
            for word in of_title.iter().chain(numbers.iter().flatten()) {
                having.entry(word.clone()).or_default().push(titles.len());
            }
            titles.push(Title { piece, words: of_title, numbers, brand, of_row });
        }
        let mut of_pages = HashSet::new();
        for page in chunks.iter().filter(|chunk| chunk.product.is_none()) {
            let text = products.iter().fold(page.text.clone(), |text, (_, product)| text.replace(&product.title, " "));
            of_pages.extend(roots(&text));
        }
        Self { rules: rules.clone(), titles, having, counts, pairs, of_pages }
    }

    /// Returns the products that a text names: the place of the first word, the level, and the rows. `named` are the categories that
    /// the text names.
    fn mentions(
        &self,
        text: &str,
        named: &[String],
        near: Near<'_>,
        chunks: &[Arc<Chunk>],
    ) -> Vec<(usize, Level, Vec<usize>)> {
        let rules = self.rules.words(None);
        let (_, tokens) = take_budget(text, rules);
        let said = |token: Token| Said { is_name: is_name(&token, rules), token, is_free: true };
        let mut said: Vec<Said> = tokens.into_iter().take(WORDS).map(said).collect();
        let mut found: Vec<(usize, Level, Vec<usize>)> = Vec::new();
        while found.len() < MENTIONS {
            let is_same = |one: &Said, other: &Said| one.is_free && one.token.root == other.token.root;
            let is_repeated = |place: usize| said[..place].iter().any(|earlier| is_same(earlier, &said[place]));
            let places = (0..said.len()).filter(|place| said[*place].is_free && !is_repeated(*place));
            let places: Vec<usize> = places.collect();
            let is_new = |title: &&Title| !found.iter().any(|(_, _, pieces)| pieces.contains(&title.piece));
            let having = |place: &usize| self.having.get(&said[*place].token.root);
            let titles: BTreeSet<usize> = places.iter().filter_map(having).flatten().copied().collect();
            let titles = titles.into_iter().map(|title| &self.titles[title]);
            let fits = titles.filter(is_new).filter_map(|title| {
                let chunk = &chunks[title.piece];
                let section = chunk.section();
                let is_named = named.iter().any(|named| *named == section);
                let is_near = near.products.contains(&chunk.title) && (named.is_empty() || is_named);
                let mut fit = self.fit(title, &said, &places)?;
                if is_near {
                    fit.level = fit.level.max(Level::Rare);
                    fit.score += CLOSER;
                }
                let is_of_kind = near.category == Some(&*section) || !found.is_empty();
                if fit.level == Level::Brand && !is_of_kind {
                    return None;
                }
                if is_named {
                    fit.score += CLOSER;
                }
                Some((title, fit))
            });
            let fits: Vec<(&Title, Fit)> = fits.collect();
            let Some(level) = fits.iter().map(|(_, fit)| fit.level).max() else { break };
            let of_level = || fits.iter().filter(|(_, fit)| fit.level == level);
            let best = of_level().map(|(_, fit)| fit.score).fold(0.0, f64::max);
            let best: Vec<&(&Title, Fit)> = of_level().filter(|(_, fit)| fit.score > best - 1e-6).collect();
            let Some((first, fit)) = best.first() else { break };
            let at = fit.places.iter().copied().min().unwrap_or_default();
            fit.places.iter().for_each(|place| said[*place].is_free = false);
            // The words of its specification name nothing else.
            said.iter_mut().for_each(|word| word.is_free &= !first.of_row.contains(&word.token.root));
            found.push((at, level, best.iter().map(|(title, _)| title.piece).collect()));
        }
        found.sort_by_key(|(at, ..)| *at);
        found
    }

    /// Returns how well a title has the free words of a message, which are at these places, or `None` if none of them names it.
    fn fit(&self, title: &Title, said: &[Said], places: &[usize]) -> Option<Fit> {
        let mut fit = Fit { score: 0.0, level: Level::Brand, places: Vec::new() };
        let mut names: Vec<usize> = Vec::new();
        let mut others: Vec<(usize, f64)> = Vec::new();
        for place in places.iter().copied() {
            let (word, token) = (&said[place], &said[place].token);
            let Some(at) = title.place_of(&token.root) else {
                if title.of_row.contains(&token.root) && !token.syllable {
                    fit.score += SPECIFIED * self.weight(&token.root);
                }
                continue;
            };
            let next = said.get(place + 1).filter(|next| next.is_free);
            let next = next.filter(|next| title.words.get(at + 1) == Some(&next.token.root));
            // "Vivobook 15": the words of a name stand together.
            fit.score += if next.is_some() { TOGETHER } else { 0.0 };
            if !word.is_name {
                others.push((place, SPECIFIED * self.weight(&title.words[at])));
                continue;
            }
            let level = match next.filter(|next| self.is_pair(word, next)) {
                Some(_) => Some(Level::Model),
                None => self.level(token, title.brand == Some(at)),
            };
            fit.score += self.weight(&token.root);
            fit.places.push(place);
            if let Some(level) = level {
                names.push(place);
                fit.level = fit.level.max(level);
            }
        }
        // The "1tb" of "sn850x or nv3 1tb" is of the second.
        others.retain(|(place, _)| fit.places.iter().any(|name| name.abs_diff(*place) <= APART));
        fit.score += others.iter().map(|(_, weight)| weight).sum::<f64>();
        fit.places.extend(others.iter().map(|(place, _)| place));
        (!names.is_empty()).then_some(fit)
    }

    /// Whether two words that are next to each other name a product together.
    fn is_pair(&self, one: &Said, next: &Said) -> bool {
        let are_names = one.is_name && next.is_name;
        let (one, next) = (&one.token, &next.token);
        let is_long = |token: &Token| has_digit(token) && token.root.len() >= MODEL;
        let are_words = !has_digit(one) && !has_digit(next) && one.root.len() > 1 && next.root.len() > 1;
        let count = self.pairs.get(&(one.root.clone(), next.root.clone())).copied().unwrap_or(usize::MAX);
        // "Keychron K2", "Cloud 3": a short code, if only one product has it after this word.
        let is_only = has_digit(next) && !has_digit(one) && count == 1;
        are_names && (((are_words || is_long(one) || is_long(next)) && count <= FEW) || is_only)
    }

    fn level(&self, token: &Token, is_brand: bool) -> Option<Level> {
        let (word, count) = (token.root.as_str(), self.counts.get(&token.root).copied().unwrap_or(usize::MAX));
        if has_digit(token) {
            let least = if is_plain_number(word) { MODEL + 1 } else { MODEL };
            return (word.len() >= least && count <= FEW).then_some(Level::Model);
        }
        match word.len() {
            0 | 1 => None,
            3.. if count <= FEWER && !self.of_pages.contains(word) => Some(Level::Rare),
            _ => is_brand.then_some(Level::Brand),
        }
    }

    fn weight(&self, word: &str) -> f64 {
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        (1.0 + count(self.titles.len()) / count(self.counts.get(word).copied().unwrap_or(1))).ln()
    }
}

/// Whether a word can be part of a name: no kind of goods, quantity, or word of the language.
fn is_name(token: &Token, rules: &Words) -> bool {
    let one = std::slice::from_ref(token);
    let is_common = [&rules.meanings, &rules.stop, &rules.weak].iter().any(|lexicon| lexicon.starts(one) > 0);
    let is_word = token.marked || (token.syllable && !has_digit(token));
    !is_common && !is_word && rules.analyzer.bare_number(&token.exact).is_none()
}

impl Title {
    /// Returns the place of a message's word. "500" is also "500gb".
    fn place_of(&self, root: &str) -> Option<usize> {
        let is_same = |(word, number): (&String, &Option<String>)| word == root || number.as_deref() == Some(root);
        self.words.iter().zip(&self.numbers).position(is_same)
    }
}

fn has_digit(token: &Token) -> bool {
    token.root.contains(|c: char| c.is_ascii_digit())
}

impl Pages {
    /// Returns the products that a message names, in the order in which it names them. A manufacturer alone names products of the
    /// conversation, those of their category, or others that are compared with a product that the message names.
    pub fn mentions(&self, text: &str, near: Near<'_>, language: Language) -> Vec<Mention> {
        let Some(view) = self.view() else { return Vec::new() };
        let (chunks, named) = (view.index.chunks(), view.index.categories(text, language));
        let found = view.titles.mentions(text, &named, near, chunks).into_iter();
        let mention = |(at, level, pieces): (usize, Level, Vec<usize>)| {
            let rows = pieces.into_iter().filter_map(|piece| Row::of(&chunks[piece], language)).collect();
            Mention { rows, level, at }
        };
        let mut mentions = found.map(mention).collect::<Vec<_>>();
        // "The proart and the dell": of the category of the others.
        let sure = mentions.iter().filter(|mention| mention.level > Level::Brand);
        let sections: HashSet<String> =
            sure.flat_map(|mention| &mention.rows).map(|row| row.passage.section.clone()).collect();
        if !sections.is_empty() {
            let weak = mentions.iter_mut().filter(|mention| mention.level == Level::Brand);
            weak.for_each(|mention| mention.rows.retain(|row| sections.contains(&row.passage.section)));
        }
        mentions.retain(|mention| !mention.rows.is_empty() && mention.rows.len() <= FEW + 1);
        mentions.sort_by_key(|mention| mention.at);
        mentions
    }

    /// Removes products that a message names only as a part of the goods that it wishes for: the graphics card in "a laptop with an RTX
    /// 4060". A product of the category that it names has more of its words.
    pub fn without_parts(&self, mentions: &mut Vec<Mention>, query: &Query) {
        if mentions.is_empty() {
            return;
        }
        let named = self.categories(&query.text, query.language);
        let Some(category) = named.first() else { return };
        let met = |row: &Row| self.words_met(&query.text, &row.whole(), query.language);
        let rows = self.rows_of_category(category, "", query.language);
        let most = rows.iter().map(met).max().unwrap_or_default();
        let is_of_kind = |row: &Row| named.contains(&row.passage.section) || met(row) >= most;
        mentions.retain(|mention| mention.rows.iter().any(is_of_kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::chunk::Product;

    #[test]
    fn nameless_product_leaves_pages_as_they_are() {
        let rules = SearchRules::read(&crate::persona::Prompts::shipped()).unwrap();
        let product = Some(Product { price: None, in_stock: true });
        let page = Chunk { text: "guarantee".to_owned(), ..Chunk::default() };
        let titles = Titles::new(&[Arc::new(Chunk { product, ..Chunk::default() }), Arc::new(page)], &rules);
        let word = &rules.words(None).analyzer.tokens("guarantee")[0].root;
        assert!(titles.titles.is_empty() && titles.of_pages.contains(word), "{:?}", titles.of_pages);
    }
}
