//! The shop's words for the search: `prompts/rules/search.toml`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::terms::{Analyzer, Token};
use crate::domain::Language;
use crate::domain::language::LanguageProfile;
use crate::domain::text::fold;
use crate::persona::{PromptError, Prompts};

/// Stop words, synonyms, units, words of money and catalogue columns, ready for use.
#[derive(Clone, Debug)]
pub struct SearchRules {
    pub(super) stop: Lexicon,
    pub(super) weak: Lexicon,
    /// Words of politeness and address, which two ways to ask one thing may differ in.
    filler: Lexicon,
    /// The meanings: each phrase with the number of its synonym group.
    pub(super) meanings: Lexicon,
    pub(super) analyzer: Analyzer,
    /// The languages of the shop, its own first.
    pub(super) languages: Vec<LanguageProfile>,
    pub(super) money: Money,
    pub(super) columns: Vec<Column>,
}

/// Words of money, as phrases.
#[derive(Clone, Debug)]
pub(super) struct Money {
    pub below: Lexicon,
    pub above: Lexicon,
    pub cheapest: Lexicon,
    pub dearest: Lexicon,
    pub millions: Lexicon,
    pub thousands: Lexicon,
    pub currency: Lexicon,
    pub asked: Lexicon,
    pub to: Lexicon,
}

/// What a catalogue column is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// The product's name: the passage's title.
    Name,
    /// What sort of product it is: the passage's section.
    Category,
    /// In đồng.
    Price,
    /// Pieces on the shelf.
    Stock,
    Months,
    #[default]
    Text,
    /// Neither shown nor searched.
    Hidden,
}

/// How a catalogue column is recognised and read out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Lower case, as in the file's first line.
    pub headers: Vec<String>,
    #[serde(default)]
    pub kind: ColumnKind,
    /// What people read before the value; a language that is missing reads the header itself.
    #[serde(default)]
    pub labels: BTreeMap<Language, String>,
    /// What people read after the value.
    #[serde(default)]
    pub unit: BTreeMap<Language, String>,
    /// What people read when there is none in stock.
    #[serde(default)]
    pub none: BTreeMap<Language, String>,
}

/// Phrases, each with a number, found by their words with or without diacritics.
#[derive(Clone, Debug, Default)]
pub(super) struct Lexicon {
    /// By the first word without its diacritics; the longest phrases first.
    phrases: HashMap<String, Vec<(Vec<Token>, u32)>>,
}

impl Lexicon {
    pub fn of<'a>(phrases: impl IntoIterator<Item = (&'a str, u32)>, analyzer: &Analyzer) -> Self {
        let mut lexicon = Self::default();
        for (phrase, number) in phrases {
            let words = analyzer.tokens(phrase);
            if let Some(first) = words.first() {
                lexicon.phrases.entry(first.root.clone()).or_default().push((words, number));
            }
        }
        for phrases in lexicon.phrases.values_mut() {
            phrases.sort_by_key(|(words, number)| (Reverse(words.len()), *number));
        }
        lexicon
    }

    /// The phrases that `words` begin with, the longest first: how many words each has and its number.
    pub fn all_at(&self, words: &[Token]) -> impl Iterator<Item = (usize, u32)> {
        let candidates = words.first().and_then(|first| self.phrases.get(&first.root)).into_iter().flatten();
        candidates.filter(|(phrase, _)| begins_with(words, phrase)).map(|(phrase, number)| (phrase.len(), *number))
    }

    /// The longest phrase that `words` begin with: how many words it has and the numbers it stands for (0: no phrase).
    pub fn longest_at(&self, words: &[Token]) -> (usize, Vec<u32>) {
        let longest = self.starts(words);
        let mut numbers: Vec<u32> =
            self.all_at(words).take_while(|(length, _)| *length == longest).map(|(_, number)| number).collect();
        numbers.dedup();
        (longest, numbers)
    }

    /// How many words the longest phrase has that `words` begin with; 0: there is none.
    pub fn starts(&self, words: &[Token]) -> usize {
        self.all_at(words).next().map_or(0, |(length, _)| length)
    }
}

fn begins_with(words: &[Token], phrase: &[Token]) -> bool {
    phrase.len() <= words.len() && words.iter().zip(phrase).all(|(word, phrase)| word.may_be(phrase))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    stop: Vec<String>,
    #[serde(default)]
    weak: Vec<String>,
    #[serde(default)]
    filler: Vec<String>,
    #[serde(default)]
    units: Vec<String>,
    #[serde(default)]
    synonyms: Vec<Synonyms>,
    #[serde(default)]
    money: MoneyWords,
    #[serde(default)]
    columns: Vec<Column>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Synonyms {
    words: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MoneyWords {
    below: Vec<String>,
    above: Vec<String>,
    cheapest: Vec<String>,
    dearest: Vec<String>,
    millions: Vec<String>,
    thousands: Vec<String>,
    currency: Vec<String>,
    asked: Vec<String>,
    to: Vec<String>,
}

impl SearchRules {
    /// Reads the rules. What is left out is empty: no synonyms, no stop words, every column under its own name.
    ///
    /// # Errors
    /// A file is missing or malformed; the error names the line.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        let languages = prompts.languages()?;
        prompts.toml_with("rules/search.toml", |text| Self::new(text, languages))
    }

    /// The rules of a text, for a shop without languages. What the text leaves out is empty.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        Self::new(text, Vec::new())
    }

    pub(super) fn new(text: &str, languages: Vec<LanguageProfile>) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(text)?;
        let analyzer = Analyzer::new(&file.units, &languages).map_err(serde::de::Error::custom)?;
        let list = |words: &[String]| Lexicon::of(words.iter().map(|word| (word.as_str(), 0)), &analyzer);
        let numbered =
            (0..).zip(&file.synonyms).flat_map(|(n, group)| group.words.iter().map(move |word| (word.as_str(), n)));
        Ok(Self {
            stop: list(&file.stop),
            weak: list(&file.weak),
            filler: list(&file.filler),
            meanings: Lexicon::of(numbered, &analyzer),
            money: Money {
                below: list(&file.money.below),
                above: list(&file.money.above),
                cheapest: list(&file.money.cheapest),
                dearest: list(&file.money.dearest),
                millions: list(&file.money.millions),
                thousands: list(&file.money.thousands),
                currency: list(&file.money.currency),
                asked: list(&file.money.asked),
                to: list(&file.money.to),
            },
            columns: file.columns,
            languages,
            analyzer,
        })
    }

    /// Whether the words of this language are written as separate syllables.
    pub(super) fn is_syllabic(&self, language: Language) -> bool {
        self.languages.iter().any(|profile| profile.code == language && profile.syllable.is_some())
    }

    /// What is left of a question without case, diacritics, punctuation, endings of English words and filler: equal for
    /// two ways to ask the same. Never empty unless the text has no words.
    pub fn gist(&self, text: &str) -> String {
        // Before anything is compared: else "bạn" is filler and "bán" is not, while "ban" is.
        let words = self.analyzer.tokens(&fold(text));
        let mut kept: Vec<&str> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let filler = self.filler.starts(&words[at..]);
            if filler == 0 {
                kept.push(&words[at].root);
            }
            at += filler.max(1);
        }
        if kept.is_empty() {
            kept = words.iter().map(|word| word.root.as_str()).collect();
        }
        kept.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_leave_everything_out_are_rules() {
        assert!(SearchRules::from_toml("").is_ok());
    }

    #[test]
    fn ways_to_ask_one_thing_have_one_gist() {
        let rules = "filler = [\"shop\", \"ơi\", \"cho mình hỏi\", \"ạ\", \"có\", \"không\", \"ko\", \"please\"]\nunits = [\"tb\"]";
        let rules = SearchRules::new(rules, Prompts::shipped().languages().unwrap()).unwrap();
        for (a, b) in [
            ("Shop ơi, có sửa máy in không ạ?", "sua may in"),
            ("CHO MÌNH HỎI: sửa máy in", "có sửa máy in ko"),
            ("Do you repair printers, please?", "do you repair printer"),
            ("Ổ cứng 2 TB!!!", "o cung 2TB"),
        ] {
            assert_eq!(rules.gist(a), rules.gist(b), "{a} and {b}");
        }
        assert_ne!(rules.gist("giao hàng bao lâu"), rules.gist("giao hàng bao nhiêu"));
        assert_eq!((rules.gist("Shop ơi?"), rules.gist("?!")), ("shop oi".to_owned(), String::new()));
    }

    #[test]
    fn an_unknown_key_is_told_with_its_line() {
        let error = SearchRules::from_toml("stop = []\nsynonym = []\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("synonym"), "{error}");
    }

    #[test]
    fn diacritics_bind_only_whoever_types_them() {
        let lexicon = Lexicon::of([("bạn", 0), ("bàn phím", 1), ("ship", 2)], &Analyzer::default());
        let longest = |text: &str| lexicon.longest_at(&Analyzer::default().tokens(text));
        assert_eq!(longest("bạn ơi"), (1, vec![0]));
        assert_eq!(longest("bàn ghế"), (0, vec![]));
        assert_eq!(longest("ban phim co"), (2, vec![1]));
        assert_eq!(longest("Bàn phím"), (2, vec![1]));
        assert_eq!(longest("ban oi"), (1, vec![0]));
        assert_eq!(longest("SHIP"), (1, vec![2]));
    }
}
