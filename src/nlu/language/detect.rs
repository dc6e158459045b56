//! Telling the language of a message.

use std::collections::HashMap;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use whatlang::{Detector as Whatlang, Lang};

use super::LanguageFile;
use crate::domain::Language;
use crate::nlu::wording::{InvalidPattern, Lexicon, Pattern, Token, Wording};

/// Below this, `whatlang` is wrong as often as right on a chat message.
const SURE: f64 = 0.5;
/// By so much a language must lead to be believed: the conversation's own language is the better guess else.
const LEAD: usize = 2;
const SHORTEST: usize = 4;

#[derive(Debug)]
pub(super) struct Detector {
    languages: Vec<Markers>,
}

#[derive(Debug)]
struct Markers {
    language: Language,
    whatlang: Lang,
    letters: String,
    shared_letters: String,
    words: Vec<Pattern>,
    weak: Vec<Pattern>,
    /// What its words look like without marks, where that tells them from others.
    shape: Option<Regex>,
}

/// What speaks for a language in one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    points: usize,
    language: Language,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidMarkers {
    #[error("languages.{0}.whatlang: {1:?} is no language that whatlang knows; it wants three letters, such as eng")]
    Whatlang(Language, String),
    #[error("languages.{0}.shape: {1}")]
    Shape(Language, regex::Error),
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
}

impl Detector {
    pub(super) fn new(files: &HashMap<Language, LanguageFile>) -> Result<Self, InvalidMarkers> {
        let lexicon = Lexicon::default();
        let mut languages = Vec::new();
        for (language, file) in files {
            languages.push(Markers {
                language: *language,
                whatlang: Lang::from_code(&file.whatlang)
                    .ok_or_else(|| InvalidMarkers::Whatlang(*language, file.whatlang.clone()))?,
                letters: file.letters.nfc().collect(),
                shared_letters: file.shared_letters.nfc().collect(),
                words: lexicon.patterns(&file.words)?,
                weak: lexicon.patterns(&file.weak)?,
                shape: file
                    .shape
                    .as_deref()
                    .map(|shape| Regex::new(shape).map_err(|cause| InvalidMarkers::Shape(*language, cause)))
                    .transpose()?,
            });
        }
        languages.sort_by_key(|markers| markers.language);
        Ok(Self { languages })
    }

    pub(super) fn detect(&self, wording: &Wording<'_>, allowed: &[Language]) -> Option<Language> {
        let known = || self.languages.iter().filter(|markers| allowed.contains(&markers.language));
        let lower: String = wording.text().nfc().flat_map(char::to_lowercase).nfc().collect();
        if let Some(markers) = known().find(|markers| lower.chars().any(|c| markers.letters.contains(c))) {
            return Some(markers.language);
        }
        let shapes: Vec<&Regex> = known().filter_map(|markers| markers.shape.as_ref()).collect();
        let mut scores: Vec<Score> = known().map(|markers| markers.score(wording, &lower, &shapes)).collect();
        scores.sort_by(|a, b| b.cmp(a));
        let second = scores.get(1).map_or(0, |score| score.points);
        match scores.first() {
            Some(best) if best.points >= second + LEAD => Some(best.language),
            // Both have words in it: no letters that it is made of will tell more.
            Some(best) if best.points > 0 => None,
            _ => guess(wording.text(), known().map(|markers| markers.whatlang).collect())
                .and_then(|lang| known().find(|markers| markers.whatlang == lang))
                .map(|markers| markers.language),
        }
    }
}

impl Markers {
    /// `shapes`: those of the languages that may be meant.
    fn score(&self, wording: &Wording<'_>, lower: &str, shapes: &[&Regex]) -> Score {
        let count = |patterns: &[Pattern]| -> usize {
            patterns.iter().map(|pattern| pattern.find_all(wording, &[]).len()).sum()
        };
        let shared = lower.chars().filter(|c| self.shared_letters.contains(*c)).count();
        let own = count(&self.words);
        let strange = if self.shape.is_none() && own > 0 { strangers(wording, shapes) } else { 0 };
        Score { points: 2 * own + count(&self.weak) + 2 * shared + strange, language: self.language }
    }
}

/// The words that no language with a shape can have. Shorter ones are as often abbreviations.
fn strangers(wording: &Wording<'_>, shapes: &[&Regex]) -> usize {
    let words = wording.tokens().iter().map(Token::folded);
    let words = words.filter(|word| word.len() >= SHORTEST && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    words.filter(|word| !shapes.is_empty() && !shapes.iter().any(|shape| shape.is_match(word))).count()
}

fn guess(text: &str, among: Vec<Lang>) -> Option<Lang> {
    let info = Whatlang::with_allowlist(among).detect(text)?;
    (info.confidence() >= SURE).then(|| info.lang())
}
