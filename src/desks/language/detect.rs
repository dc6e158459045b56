//! Telling the language of a message.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use whatlang::{Detector as Whatlang, Lang};

use super::LanguageFile;
use crate::desks::wording::{InvalidPattern, Lexicon, Pattern, Wording};
use crate::domain::Language;

/// Below this, `whatlang` is wrong as often as right on a chat message.
const SURE: f64 = 0.5;

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
}

#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidMarkers {
    #[error("languages.{0}.whatlang: {1:?} is no language that whatlang knows; it wants three letters, such as eng")]
    Whatlang(Language, String),
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
        let mut scores: Vec<(usize, Language)> =
            known().map(|markers| (markers.score(wording, &lower), markers.language)).collect();
        scores.sort_by(|a, b| b.cmp(a));
        match scores.as_slice() {
            [(best, language), rest @ ..] if *best > rest.first().map_or(0, |(second, _)| *second) => Some(*language),
            _ => guess(wording.text(), known().map(|markers| markers.whatlang).collect())
                .and_then(|lang| known().find(|markers| markers.whatlang == lang))
                .map(|markers| markers.language),
        }
    }
}

impl Markers {
    fn score(&self, wording: &Wording<'_>, lower: &str) -> usize {
        let count = |patterns: &[Pattern]| -> usize {
            patterns.iter().map(|pattern| pattern.find_all(wording, &[]).len()).sum()
        };
        let shared = lower.chars().filter(|c| self.shared_letters.contains(*c)).count();
        2 * count(&self.words) + count(&self.weak) + 2 * shared
    }
}

fn guess(text: &str, among: Vec<Lang>) -> Option<Lang> {
    let info = Whatlang::with_allowlist(among).detect(text)?;
    (info.confidence() >= SURE).then(|| info.lang())
}
