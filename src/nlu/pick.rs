//! What a customer means who points at something that was just shown: "the second one", "anything cheaper?".

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::Deserialize;

use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, match_mask};
use crate::persona::{PromptError, Prompts};

/// The part of a shown list that a message points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Its position, from 0.
    Nth(usize),
    Last,
    /// Several of them, to compare.
    All,
    /// The product that the message before was about.
    It,
    /// Others, for less money.
    Cheaper,
    /// Others of the same kind.
    Similar,
    /// The one with the least of an attribute: `price`, or a unit of the catalogue's rows, such as `kg`.
    Least(String),
    Most(String),
}

/// The patterns of `prompts/rules/pick.LANG.toml`.
#[derive(Debug)]
pub struct PickRules {
    lexicon: Lexicon,
    /// Words for what every product has: a price, a stock, a warranty.
    attributes: Vec<Pattern>,
    /// Asks for the sum of prices.
    total: Vec<Pattern>,
    /// The number of pieces: a number before these words.
    pieces: Vec<Pattern>,
    /// Compares products.
    compares: Vec<Pattern>,
    /// Stands between the products that are compared.
    between: Vec<Pattern>,
    /// In the order in which they are tried.
    patterns: Vec<(Pick, Vec<Pattern>)>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    classes: HashMap<String, Vec<String>>,
    first: Vec<String>,
    second: Vec<String>,
    third: Vec<String>,
    last: Vec<String>,
    all: Vec<String>,
    it: Vec<String>,
    cheaper: Vec<String>,
    similar: Vec<String>,
    attributes: Vec<String>,
    total: Vec<String>,
    pieces: Vec<String>,
    compares: Vec<String>,
    between: Vec<String>,
    least: BTreeMap<String, Vec<String>>,
    most: BTreeMap<String, Vec<String>>,
}

impl PickRules {
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.rules(&["common", "pick"], Self::new)
    }

    fn new(file: File) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(file.aliases, file.classes).with_plain_words(&file.plain_words);
        let least = file.least.into_iter().map(|(name, written)| (Pick::Least(name), written));
        let most = file.most.into_iter().map(|(name, written)| (Pick::Most(name), written));
        let fixed = [
            (Pick::Cheaper, file.cheaper),
            (Pick::Similar, file.similar),
            (Pick::Nth(0), file.first),
            (Pick::Nth(1), file.second),
            (Pick::Nth(2), file.third),
            (Pick::Last, file.last),
            (Pick::All, file.all),
            (Pick::It, file.it),
        ];
        let (attributes, total) = (lexicon.patterns(&file.attributes)?, lexicon.patterns(&file.total)?);
        let pieces = lexicon.patterns(&file.pieces)?;
        let (compares, between) = (lexicon.patterns(&file.compares)?, lexicon.patterns(&file.between)?);
        let mut patterns = Vec::new();
        for (pick, written) in least.chain(most).chain(fixed) {
            patterns.push((pick, lexicon.patterns(&written)?));
        }
        Ok(Self { lexicon, attributes, total, pieces, compares, between, patterns })
    }

    /// Returns the message without the words for what every product has, or `None` if it has no such words: "còn hàng không".
    pub fn without_attributes(&self, text: &str) -> Option<String> {
        let stream = self.lexicon.tokenize(text);
        let mask = match_mask(&self.attributes, &stream, &[]);
        let left = (0..mask.len()).filter(|at| !mask[*at]).map(|at| stream.source(at..at + 1));
        mask.contains(&true).then(|| left.collect::<Vec<_>>().join(" "))
    }

    /// Returns whether the message asks for the sum of prices.
    pub fn asks_total(&self, text: &str) -> bool {
        let stream = self.lexicon.tokenize(text);
        self.total.iter().any(|pattern| pattern.find(&stream, &[]).is_some())
    }

    /// Returns how many pieces the message wants: 12 of "12 con", "12 laptops".
    pub fn pieces(&self, text: &str) -> Option<u64> {
        let stream = self.lexicon.tokenize(text);
        let found = self.pieces.iter().find_map(|pattern| pattern.find(&stream, &[]))?;
        let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok();
        found.into_iter().find_map(|at| digits(stream.source(at..at + 1)))
    }

    /// Returns the sides of a comparison: "the NV3" and "the 990 PRO" of "the NV3 or the 990 PRO?". Empty if the message compares nothing.
    pub fn sides(&self, text: &str) -> Vec<String> {
        let stream = self.lexicon.tokenize(text);
        if !self.compares.iter().any(|pattern| pattern.find(&stream, &[]).is_some()) {
            return Vec::new();
        }
        let between = match_mask(&self.between, &stream, &[]);
        let mut sides = vec![String::new()];
        for (at, is_between) in between.into_iter().enumerate() {
            let word = stream.source(at..at + 1);
            match sides.last_mut() {
                Some(side) if !is_between => {
                    side.push_str(word);
                    side.push(' ');
                }
                _ => sides.push(String::new()),
            }
        }
        sides.retain(|side| !side.trim().is_empty());
        sides
    }

    /// Returns what the message points at, and the message without the words that point.
    pub fn pick(&self, text: &str) -> Option<(Pick, String)> {
        let stream = self.lexicon.tokenize(text);
        let found = |patterns: &[Pattern]| patterns.iter().find_map(|pattern| pattern.find(&stream, &[]));
        let (pick, words) = self.patterns.iter().find_map(|(pick, patterns)| Some((pick, found(patterns)?)))?;
        Some((pick.clone(), without(&stream, words)))
    }
}

fn without(stream: &TokenStream<'_>, words: Range<usize>) -> String {
    let before = stream.source(0..words.start);
    let after = stream.source(words.end..stream.tokens().len());
    format!("{before} {after}").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_products_are_pointed_at() {
        let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
        let least = |name: &str| Some(Pick::Least(name.to_owned()));
        for (text, pick) in [
            ("cái đầu tiên có đèn không", Some(Pick::Nth(0))),
            ("cai dau tien co den ko", Some(Pick::Nth(0))),
            ("the second one please", Some(Pick::Nth(1))),
            ("con do bao hanh bao lau", Some(Pick::It)),
            ("does it have wifi", Some(Pick::It)),
            ("2 con đó khác gì nhau, nên lấy con nào", Some(Pick::All)),
            ("which is better value?", Some(Pick::All)),
            ("anything cheaper?", Some(Pick::Cheaper)),
            ("re hon nua co ko", Some(Pick::Cheaper)),
            ("con nao nhe nhat", least("kg|g")),
            ("the cheapest of them", least("price")),
            ("laptop dưới 15 triệu", None),
            ("phí giao hàng về cần thơ", None),
        ] {
            assert_eq!(rules.pick(text).map(|(pick, _)| pick), pick, "{text}");
        }
    }

    #[test]
    fn pointing_words_are_removed() {
        let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
        let rest = |text: &str| rules.pick(text).map(|(_, rest)| rest);
        assert_eq!(rest("cái đầu tiên có đèn không").as_deref(), Some("có đèn không"));
        assert_eq!(rest("how heavy is the second one").as_deref(), Some("how heavy is the one"));
    }

    #[test]
    fn comparison_has_sides() {
        let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
        let sides = |text: &str| rules.sides(text).iter().map(|side| side.trim().to_owned()).collect::<Vec<_>>();
        assert_eq!(sides("rtx 4060 vs rx 7600"), ["rtx 4060", "rx 7600"]);
        assert_eq!(sides("card 4060 với 7600 con nào ngon").len(), 2);
        assert_eq!(sides("a mouse and a keyboard"), [""; 0], "both are wanted");
    }

    #[test]
    fn other_products_are_asked_for() {
        let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
        for text in ["what else would you suggest", "có con nào tương tự không"] {
            assert_eq!(rules.pick(text).map(|(pick, _)| pick), Some(Pick::Similar), "{text}");
        }
    }
}
