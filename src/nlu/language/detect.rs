//! Telling the language of a message.

use std::collections::HashMap;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use whatlang::{Detector as Whatlang, Lang};

use super::{LanguageWords, Prose};
use crate::domain::Language;
use crate::domain::language::LanguageProfile;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, Token, TokenStream};

/// Below this, `whatlang` is wrong as often as right on a chat message.
const SURE: f64 = 0.5;
/// By so much a language must lead to be believed: the conversation's own language is the better guess else.
const LEAD: usize = 2;
/// One known word among so many shows no language: "i" is a word in English and in Polish.
const SPARSE: usize = 8;
const SHORTEST: usize = 4;
/// The points of a word with a language's own letters, and of one that may be a name: "Gdańsk" says little in an English message.
const OWN_LETTERS: usize = 4;
const OF_NAME: usize = 2;
/// The fewest letters of prose that show its language.
const PROSE: usize = 30;

#[derive(Debug)]
pub(super) struct Detector {
    languages: Vec<Markers>,
}

#[derive(Debug)]
struct Markers {
    language: Language,
    whatlang: Option<Lang>,
    letters: String,
    shared_letters: String,
    words: Vec<Pattern>,
    weak: Vec<Pattern>,
    /// What its words look like without marks, where that tells them from others.
    syllable: Option<Regex>,
}

/// What speaks for a language in one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    points: usize,
    language: Language,
}

/// Why the language rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidLanguageRules {
    #[error("whatlang {1:?} of the language {0} is unknown: write three letters, such as eng, or remove the line")]
    Whatlang(Language, String),
    #[error("syllable of the language {0} is not a regular expression: {1}")]
    Syllable(Language, regex::Error),
    #[error("[languages.{0}] is missing: list its `words` and `weak` words")]
    Words(Language),
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
}

impl Detector {
    pub(super) fn new(
        profiles: &[LanguageProfile],
        words: &HashMap<Language, LanguageWords>,
    ) -> Result<Self, InvalidLanguageRules> {
        let lexicon = Lexicon::default();
        let mut languages = Vec::new();
        for profile in profiles {
            let code = profile.code;
            let words = words.get(&code).ok_or(InvalidLanguageRules::Words(code))?;
            languages.push(Markers {
                language: code,
                whatlang: profile
                    .whatlang
                    .as_ref()
                    .map(|of| Lang::from_code(of).ok_or_else(|| InvalidLanguageRules::Whatlang(code, of.clone())))
                    .transpose()?,
                letters: profile.letters.nfc().collect(),
                shared_letters: profile.shared_letters.nfc().collect(),
                words: lexicon.patterns(&words.words)?,
                weak: lexicon.patterns(&words.weak)?,
                syllable: profile
                    .syllable
                    .as_deref()
                    .map(|syllable| Regex::new(syllable).map_err(|cause| InvalidLanguageRules::Syllable(code, cause)))
                    .transpose()?,
            });
        }
        languages.sort_by_key(|markers| markers.language);
        Ok(Self { languages })
    }

    pub(super) fn detect(&self, stream: &TokenStream<'_>, allowed: &[Language]) -> Option<Language> {
        let known = || self.languages.iter().filter(|markers| allowed.contains(&markers.language));
        let text: String = stream.text().nfc().collect();
        let syllables: Vec<&Regex> = known().filter_map(|markers| markers.syllable.as_ref()).collect();
        let mut scores: Vec<Score> = known().map(|markers| markers.score(stream, &text, &syllables)).collect();
        scores.sort_by(|a, b| b.cmp(a));
        let second = scores.get(1).map_or(0, |score| score.points);
        let is_sparse = |best: &Score| best.points * SPARSE < LEAD * stream.tokens().len();
        let is_known = |best: &&Score| best.points > 0 && !is_sparse(best);
        if let Some(best) = scores.first().filter(|best| best.points >= second + LEAD).filter(is_known) {
            return Some(best.language);
        }
        // Where the words do not tell, the letters do.
        if let Some(markers) = known().find(|markers| markers.has_own_letters(&text)) {
            return Some(markers.language);
        }
        match scores.first() {
            // Both have words in it: no letters that it is made of will tell more.
            Some(best) if is_known(&best) => None,
            _ => guess(stream.text(), known().map(|markers| markers.whatlang))
                .and_then(|lang| known().find(|markers| markers.whatlang == Some(lang)))
                .map(|markers| markers.language),
        }
    }

    /// Returns the language whose words a message has most of, and how surely it is that one: the share of its points among all,
    /// where a single word is no proof.
    pub(super) fn judge(&self, stream: &TokenStream<'_>, allowed: &[Language]) -> Option<(Language, f64)> {
        let text: String = stream.text().nfc().collect();
        let known = self.languages.iter().filter(|markers| allowed.contains(&markers.language));
        let mut scores: Vec<Score> = known.map(|markers| markers.score(stream, &text, &[])).collect();
        scores.sort_by(|a, b| b.cmp(a));
        let (best, all) = (scores.first()?, scores.iter().map(|score| score.points).sum::<usize>());
        #[expect(clippy::cast_precision_loss, reason = "a message has few words")]
        let confidence = best.points as f64 / (all + 1) as f64;
        (best.points > 0).then_some((best.language, confidence))
    }

    /// Looks at the words that are neither names nor numbers: by their script, then by `whatlang` among the allowed languages.
    pub(super) fn look_at_prose(&self, text: &str, own: Language, allowed: &[Language]) -> Prose {
        let Some(expected) = self.languages.iter().find(|markers| markers.language == own).and_then(|own| own.whatlang)
        else {
            return Prose::Unclear;
        };
        // One letter is a unit or a currency.
        let is_word = |word: &&str| word.chars().all(|c| !c.is_uppercase() && !c.is_numeric()) && has_two_letters(word);
        let prose: Vec<&str> = text.split_whitespace().filter(is_word).collect();
        let prose = prose.join(" ");
        if prose.chars().filter(|c| c.is_alphabetic()).count() < PROSE {
            return Prose::Unclear;
        }
        if whatlang::detect_script(&prose).is_some_and(|script| !script.langs().contains(&expected)) {
            return Prose::Foreign;
        }
        let known = self.languages.iter().filter(|markers| allowed.contains(&markers.language));
        match guess(&prose, known.map(|markers| markers.whatlang)) {
            Some(lang) if lang == expected => Prose::Own,
            Some(_) => Prose::Foreign,
            None => Prose::Unclear,
        }
    }
}

impl Markers {
    /// `syllables`: those of the languages that may be meant.
    fn score(&self, stream: &TokenStream<'_>, text: &str, syllables: &[&Regex]) -> Score {
        let count = |patterns: &[Pattern]| -> usize {
            patterns.iter().map(|pattern| pattern.find_all(stream, &[]).len()).sum()
        };
        let own = count(&self.words);
        let strange = if self.syllable.is_none() && own > 0 { strangers(stream, syllables) } else { 0 };
        Score { points: 2 * own + count(&self.weak) + self.letter_points(text) + strange, language: self.language }
    }

    fn has_own_letters(&self, text: &str) -> bool {
        text.chars().flat_map(char::to_lowercase).any(|c| self.letters.contains(c))
    }

    /// Returns what the letters of a text's words count: those of this language alone, and those that others have as well.
    fn letter_points(&self, text: &str) -> usize {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let points = words.enumerate().map(|(n, word)| {
            let shared =
                || word.chars().flat_map(char::to_lowercase).filter(|c| self.shared_letters.contains(*c)).count();
            let mut letters = word.chars();
            let is_name = n > 0 && letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase);
            match self.has_own_letters(word) {
                // A number with its currency: "100zł".
                true if word.contains(|c: char| c.is_ascii_digit()) => 0,
                true if is_name => OF_NAME,
                true => OWN_LETTERS,
                false => 2 * shared(),
            }
        });
        points.sum()
    }
}

/// The words that no language with a shape can have. Shorter ones are as often abbreviations.
fn strangers(stream: &TokenStream<'_>, syllables: &[&Regex]) -> usize {
    let words = stream.tokens().iter().map(Token::folded);
    let words = words.filter(|word| word.len() >= SHORTEST && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    words.filter(|word| !syllables.is_empty() && !syllables.iter().any(|syllable| syllable.is_match(word))).count()
}

fn has_two_letters(word: &str) -> bool {
    word.chars().filter(|c| c.is_alphabetic()).nth(1).is_some()
}

/// `None` if `whatlang` is unsure, or does not know one of the languages: it would take that one for another.
fn guess(text: &str, among: impl Iterator<Item = Option<Lang>>) -> Option<Lang> {
    let among: Vec<Lang> = among.collect::<Option<_>>()?;
    let info = Whatlang::with_allowlist(among).detect(text)?;
    (info.confidence() >= SURE).then(|| info.lang())
}
