//! Words that tell of damage (seed 001, step 4), in English and Vietnamese, inflected and without marks.
//!
//! The words are the shop's (`prompts/rules/orders.toml`) and come in as data. A word too many costs a person a look; one
//! too few sends damaged goods on their way, so what is not clear counts as damage.

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;

use crate::domain::text::fold;

/// The words, ready to be looked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Lists")]
pub struct DamageWords {
    words: Vec<Vec<Pattern>>,
    negations: Vec<Vec<Pattern>>,
}

/// As the file has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    words: Vec<String>,
    negations: Vec<String>,
}

impl From<Lists> for DamageWords {
    fn from(lists: Lists) -> Self {
        Self::new(&lists.words, &lists.negations)
    }
}

/// One word of a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    exact: String,
    folded: String,
    /// Written `damag*`: the word may go on.
    goes_on: bool,
    /// Written `vỡ!`: the word counts only with its marks.
    marked: bool,
}

/// One word of a message.
struct Word {
    exact: String,
    folded: String,
    /// Words of one clause have the same; no word takes back what stands in another clause.
    clause: usize,
}

/// What ends a clause.
const CLAUSE_ENDS: &str = ".,;:!?…()–—\n。，！？；：";

impl DamageWords {
    /// Phrases of damage, and phrases that take it back when they stand directly before one.
    pub fn new(words: &[impl AsRef<str>], negations: &[impl AsRef<str>]) -> Self {
        Self {
            words: words.iter().map(|phrase| patterns(phrase.as_ref())).collect(),
            negations: negations.iter().map(|phrase| patterns(phrase.as_ref())).collect(),
        }
    }

    /// Whether the text tells of damage.
    pub fn is_told_in(&self, text: &str) -> bool {
        let words = words_of(text);
        (0..words.len()).any(|at| {
            let told = self.words.iter().any(|phrase| matches_at(phrase, &words[at..]));
            let clause = words[..at].iter().rposition(|word| word.clause != words[at].clause).map_or(0, |at| at + 1);
            told && !self.is_taken_back(&words[clause..at])
        })
    }

    /// `before`: what stands before the damage in its clause.
    fn is_taken_back(&self, before: &[Word]) -> bool {
        self.negations.iter().any(|phrase| {
            let start = before.len().checked_sub(phrase.len());
            start.is_some_and(|start| matches_at(phrase, &before[start..]))
        })
    }
}

fn patterns(phrase: &str) -> Vec<Pattern> {
    let pattern = |written: &str| {
        let (word, goes_on) = written.strip_suffix('*').map_or((written, false), |word| (word, true));
        let (word, marked) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
        Pattern { exact: word.nfc().collect::<String>().to_lowercase(), folded: fold(word), goes_on, marked }
    };
    phrase.split_whitespace().map(pattern).collect()
}

fn words_of(text: &str) -> Vec<Word> {
    // A hyphen between spaces is a dash.
    let text = text.nfc().collect::<String>().to_lowercase().replace(" - ", "\n");
    let clauses = text.split(|c| CLAUSE_ENDS.contains(c)).enumerate();
    let words = clauses.flat_map(|(clause, text)| {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(move |word| Word { exact: word.to_owned(), folded: fold(word), clause })
    });
    words.collect()
}

fn matches_at(phrase: &[Pattern], words: &[Word]) -> bool {
    !phrase.is_empty()
        && phrase.len() <= words.len()
        && phrase.iter().zip(words).all(|(pattern, word)| pattern.matches(word))
}

impl Pattern {
    fn matches(&self, word: &Word) -> bool {
        // A word typed with marks must carry the pattern's own: "vô" is not "vỡ". One without any may be any of them.
        let is_bare = word.exact == word.folded && !self.marked;
        self.compare(&word.exact, &self.exact) || (is_bare && self.compare(&word.folded, &self.folded))
    }

    fn compare(&self, word: &str, pattern: &str) -> bool {
        if self.goes_on { word.starts_with(pattern) } else { word == pattern }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::LazyLock;

    use super::*;

    /// The words of the shop.
    pub fn shop_words() -> DamageWords {
        #[derive(Deserialize)]
        struct Orders {
            damage: DamageWords,
        }
        static WORDS: LazyLock<DamageWords> = LazyLock::new(|| {
            toml::from_str::<Orders>(include_str!("../../../prompts/rules/orders.toml")).unwrap().damage
        });
        WORDS.clone()
    }

    #[test]
    fn damage_is_heard_in_both_languages_inflected_and_without_marks() {
        let words = shop_words();
        for text in [
            "damaged",
            "It arrived DAMAGED!",
            "there is damage on the box",
            "defective zipper",
            "a defect",
            "broken heel",
            "it broke after a day",
            "Actually, the boots are shattered.",
            "the glass shattered",
            "torn sole",
            "there's a tear in the sleeve",
            "cracked screen",
            "it doesn't work",
            "it doesn\u{2019}t work",
            "not working at all",
            "not only broken but late",
            "hàng bị hư",
            "giày bị rách",
            "vỡ màn hình rồi shop ơi",
            "bể",
            "hang bi hu hong",
            "giay bi rach",
            "man hinh bi vo",
            "bi loi",
            "hàng lỗi",
            "sa\u{309}n pha\u{302}\u{309}m bi\u{323} ho\u{309}ng",
            "khong len nguon",
            "đổi được không, bị vỡ rồi",
            "không, bị vỡ",
            "không\nbị vỡ",
            "không - bị vỡ",
            "No, damaged.",
            "No. Damaged",
            "is that all you have to say, no? broken",
            "fell apart",
            "it does not, work",
        ] {
            assert!(words.is_told_in(text), "{text:?}");
        }
    }

    #[test]
    fn what_tells_of_no_damage_is_not_taken_for_it() {
        let words = shop_words();
        for text in [
            "too small",
            "They're too small, not damaged.",
            "it's not broken, I just changed my mind",
            "không bị hỏng, chỉ là chật quá",
            "khong bi hong gi ca",
            "chưa bị rách",
            "I'd be happy to send it back",
            "vô cùng hài lòng nhưng chật",
            "xin lỗi shop, mình đổi ý",
            "xin loi shop minh doi y",
            "lời khuyên",
            "a break in my budget",
            "undamaged",
            "the dentist",
            "",
        ] {
            assert!(!words.is_told_in(text), "{text:?}");
        }
    }
}
