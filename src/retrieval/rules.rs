//! The shop's words for the search, from `prompts/rules/search.toml` and `prompts/rules/search.LANG.toml`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

use serde::Deserialize;

use super::terms::{Analyzer, Token};
use crate::domain::Language;
use crate::domain::commerce::in_thousands;
use crate::domain::language::LanguageProfile;
use crate::domain::text::fold;
use crate::persona::{PromptError, Prompts};

/// The parsed rules.
#[derive(Clone, Debug)]
pub struct SearchRules {
    /// At least one group of languages, that of the main language first.
    groups: Vec<Arc<Words>>,
    /// The languages of the shop, the main one first.
    pub(super) languages: Vec<LanguageProfile>,
    pub(super) columns: Vec<Column>,
    thousands_separator: String,
    /// The text of the files that they were read from. Rules with equal texts are equal.
    pub(super) source: Arc<str>,
}

/// The words of the languages that share a stemmer: stop words, synonyms, units and words about money.
///
/// Another stemmer makes other roots, so words of languages with different stemmers cannot be in one list. A language without a
/// stemmer is in the first group, since its customers use English words.
#[derive(Clone, Debug)]
pub(super) struct Words {
    languages: Vec<Language>,
    pub stop: Lexicon,
    pub weak: Lexicon,
    /// Polite words, which do not change the meaning of a question.
    filler: Lexicon,
    /// Words that join two questions: "and".
    pub joins: Lexicon,
    /// Phrases, each with the number of its synonym group. All groups of languages share the numbers.
    pub meanings: Lexicon,
    pub analyzer: Analyzer,
    pub money: Money,
}

/// Phrases about money.
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

/// The purpose of a catalogue column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// The product's name. It becomes the passage's title.
    Name,
    /// The product's category. It becomes the passage's section.
    Category,
    /// In whole amounts of the shop's currency.
    Price,
    /// The number of pieces in stock.
    Stock,
    Months,
    #[default]
    Text,
    /// Not shown and not searched.
    Hidden,
}

/// How a catalogue column is recognized and written as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its names in the file's first line, in lower case.
    pub headers: Vec<String>,
    #[serde(default)]
    pub kind: ColumnKind,
    /// The text before the value. A missing language uses the header.
    #[serde(default)]
    pub labels: BTreeMap<Language, String>,
    /// The text after the value.
    #[serde(default)]
    pub unit: BTreeMap<Language, String>,
    /// The text for an empty stock.
    #[serde(default)]
    pub none: BTreeMap<Language, String>,
}

/// Phrases, each with a number. They match with or without diacritics.
#[derive(Clone, Debug, Default)]
pub(super) struct Lexicon {
    /// The phrases by their first word without diacritics, longest first.
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

    /// Returns the phrases that `words` start with, longest first: the number of words, and the phrase's number.
    pub fn all_at(&self, words: &[Token]) -> impl Iterator<Item = (usize, u32)> {
        let candidates = words.first().and_then(|first| self.phrases.get(&first.root)).into_iter().flatten();
        candidates.filter(|(phrase, _)| begins_with(words, phrase)).map(|(phrase, number)| (phrase.len(), *number))
    }

    /// Returns the longest phrase that `words` start with: the number of words, and the phrase's numbers. No phrase has
    /// 0 words.
    pub fn longest_at(&self, words: &[Token]) -> (usize, Vec<u32>) {
        let longest = self.starts(words);
        let mut numbers: Vec<u32> =
            self.all_at(words).take_while(|(length, _)| *length == longest).map(|(_, number)| number).collect();
        numbers.dedup();
        (longest, numbers)
    }

    /// Returns the number of words of the longest phrase that `words` start with, or 0.
    pub fn starts(&self, words: &[Token]) -> usize {
        self.all_at(words).next().map_or(0, |(length, _)| length)
    }
}

fn begins_with(words: &[Token], phrase: &[Token]) -> bool {
    phrase.len() <= words.len() && words.iter().zip(phrase).all(|(word, phrase)| word.may_be(phrase))
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    stop: Vec<String>,
    weak: Vec<String>,
    filler: Vec<String>,
    joins: Vec<String>,
    units: Vec<String>,
    /// Other spellings of units, and the unit that each stands for.
    unit_spellings: BTreeMap<String, String>,
    /// Words that mean the same, by a name that the files share.
    synonyms: BTreeMap<String, Vec<String>>,
    money: MoneyWords,
    columns: BTreeMap<String, Column>,
    thousands_separator: String,
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
    /// Reads `rules/languages.toml`, `rules/search.toml` and `rules/search.LANG.toml`.
    ///
    /// # Errors
    /// A file is missing or malformed.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        let files = prompts.files_of_rules(&["search"])?;
        let rules = prompts.shared(&files, || {
            let languages = prompts.languages()?;
            let all: File = prompts.rules(&["search"], Ok::<_, Infallible>)?;
            let mut groups = Vec::new();
            for group in groups_of(&languages) {
                let codes: Vec<Language> = group.iter().map(|language| language.code).collect();
                groups.push(prompts.rules_in(&["search"], &codes, |own| Words::new(&own, &all, &group))?);
            }
            let texts = files.iter().map(|file| prompts.text(file)).collect::<Result<Vec<_>, _>>()?;
            Ok(Self { source: texts.join("\n").into(), ..Self::of(groups, &all, languages) })
        })?;
        Ok(Self::clone(&rules))
    }

    /// Parses rules for a shop without languages. What the text leaves out is empty.
    ///
    /// # Errors
    /// The text is not valid TOML, or has an unknown key or value. The error names the line.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let rules = Self::new(&toml::from_str(text)?, Vec::new()).map_err(serde::de::Error::custom)?;
        Ok(Self { source: text.into(), ..rules })
    }

    pub(super) fn new(file: &File, languages: Vec<LanguageProfile>) -> Result<Self, regex::Error> {
        let groups =
            groups_of(&languages).iter().map(|group| Words::new(file, file, group)).collect::<Result<_, _>>()?;
        Ok(Self::of(groups, file, languages))
    }

    fn of(groups: Vec<Words>, file: &File, languages: Vec<LanguageProfile>) -> Self {
        let groups = groups.into_iter().map(Arc::new).collect();
        Self {
            groups,
            columns: file.columns.values().cloned().collect(),
            thousands_separator: file.thousands_separator.clone(),
            languages,
            source: Arc::default(),
        }
    }

    /// Formats an amount as a price of the catalogue: `1.890.000 đ`.
    pub(super) fn price(&self, amount: u64, language: Language) -> String {
        let column = self.columns.iter().find(|column| column.kind == ColumnKind::Price);
        // Where a language has no labels, its customers read the rows in another one.
        let languages = std::iter::once(language).chain(self.languages.iter().map(|profile| profile.code));
        let unit = column.and_then(|column| languages.into_iter().find_map(|language| column.unit.get(&language)));
        format!("{} {}", self.grouped(amount), unit.map_or("", String::as_str)).trim_end().to_owned()
    }

    pub(super) fn grouped(&self, amount: u64) -> String {
        in_thousands(&amount.to_string(), &self.thousands_separator)
    }

    /// Returns the words for texts in this language, or for texts in an unknown one.
    pub(super) fn words(&self, language: Option<Language>) -> &Words {
        let own = self.groups.iter().find(|words| language.is_some_and(|language| words.languages.contains(&language)));
        // There is at least one group by construction.
        own.unwrap_or(&self.groups[0])
    }

    /// Whether the words of this language are written as separate syllables.
    pub(super) fn is_syllabic(&self, language: Language) -> bool {
        self.languages.iter().any(|profile| profile.code == language && profile.syllable.is_some())
    }

    /// Returns the question without case, diacritics, punctuation, endings and polite words, to recognize the same question
    /// in other words. Empty only if the text has no words.
    pub fn gist(&self, text: &str, language: Language) -> String {
        let rules = self.words(Some(language));
        // Fold first: otherwise "bạn" would be a polite word and "bán" would not, although both become "ban".
        let words = rules.analyzer.tokens(&fold(text));
        let mut kept: Vec<&str> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let filler = rules.filler.starts(&words[at..]);
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

/// Groups languages by stemmer. There is at least one group.
fn groups_of(languages: &[LanguageProfile]) -> Vec<Vec<LanguageProfile>> {
    let first = languages.iter().find_map(|language| language.stemmer);
    let mut groups = vec![(first, Vec::new())];
    for language in languages {
        let stemmer = language.stemmer.or(first);
        match groups.iter_mut().find(|(of, _)| *of == stemmer) {
            Some((_, group)) => group.push(language.clone()),
            None => groups.push((stemmer, vec![language.clone()])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

impl Words {
    /// `file` has the words of the group, `all` those of every language.
    fn new(file: &File, all: &File, group: &[LanguageProfile]) -> Result<Self, regex::Error> {
        let analyzer = Analyzer::new(&all.units, group)?.with_unit_spellings(all.unit_spellings.clone());
        let list = |words: &[String]| Lexicon::of(words.iter().map(|word| (word.as_str(), 0)), &analyzer);
        let numbers: HashMap<&str, u32> = all.synonyms.keys().map(String::as_str).zip(0..).collect();
        let numbered = file.synonyms.iter().flat_map(|(name, words)| {
            let number = numbers.get(name.as_str()).copied();
            words.iter().filter_map(move |word| Some((word.as_str(), number?)))
        });
        Ok(Self {
            languages: group.iter().map(|language| language.code).collect(),
            stop: list(&file.stop),
            weak: list(&file.weak),
            filler: list(&file.filler),
            joins: list(&file.joins),
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
            analyzer,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_question_has_the_same_gist() {
        let rules = "filler = [\"shop\", \"ơi\", \"cho mình hỏi\", \"ạ\", \"có\", \"không\", \"ko\", \"please\"]\nunits = [\"tb\"]";
        let rules = SearchRules::new(&toml::from_str(rules).unwrap(), Prompts::shipped().languages().unwrap()).unwrap();
        for (a, b) in [
            ("Shop ơi, có sửa máy in không ạ?", "sua may in"),
            ("CHO MÌNH HỎI: sửa máy in", "có sửa máy in ko"),
            ("Do you repair printers, please?", "do you repair printer"),
            ("Ổ cứng 2 TB!!!", "o cung 2TB"),
        ] {
            assert_eq!(rules.gist(a, Language::VI), rules.gist(b, Language::VI), "{a} and {b}");
        }
        assert_ne!(rules.gist("giao hàng bao lâu", Language::VI), rules.gist("giao hàng bao nhiêu", Language::VI));
        assert_eq!(
            (rules.gist("Shop ơi?", Language::VI), rules.gist("?!", Language::VI)),
            ("shop oi".to_owned(), String::new())
        );
    }

    #[test]
    fn unknown_key_is_reported_with_its_line() {
        let error = SearchRules::from_toml("stop = []\nsynonym = []\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("synonym"), "{error}");
    }

    #[test]
    fn diacritics_matter_only_if_typed() {
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
