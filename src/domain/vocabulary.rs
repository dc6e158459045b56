//! The words of a shop's documents, and which of them name its goods.

use std::collections::HashSet;

use super::serial::find_serials;
use super::text::words;

/// The words of the shop's pages and catalogues.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The words of the pages, folded.
    pages: HashSet<String>,
    /// The words of the catalogue rows, folded.
    rows: HashSet<String>,
    /// The words of the goods' names, folded.
    names: HashSet<String>,
    /// Neighboring words of a name or of one number, folded.
    pairs: HashSet<(String, String)>,
    /// What looks like a serial number in a catalogue row, as [`plain`] writes it.
    codes: HashSet<String>,
}

/// A word of fewer letters is in too many names to mean goods by itself: "HP", "Go".
const NAME_LETTERS: usize = 3;
/// A part of a hyphenated code that is known by itself: the "27GS75Q" of "27GS75Q-B".
const CODE_PART: usize = 4;

impl Vocabulary {
    /// Adds a part of a page.
    pub fn add_page(&mut self, text: &str) {
        self.pages.extend(words(text));
    }

    /// Adds a row of a catalogue: the name of the goods, and the other cells.
    pub fn add_goods(&mut self, name: &str, rest: &str) {
        let said = words(name);
        for (left, right) in neighbours(&said) {
            // "990 PRO" is written "990pro" as well.
            self.codes.extend(find_serials(&format!("{left}{right}")).into_iter().map(plain));
            self.pairs.insert((left.clone(), right.clone()));
        }
        // A number of the shop's own that has no digit: "MOU-DAE".
        for code in rest.split_whitespace().filter(|word| word.contains('-')) {
            self.pairs.extend(neighbours(&words(code)).map(|(left, right)| (left.clone(), right.clone())));
        }
        for run in find_serials(name).into_iter().chain(find_serials(rest)) {
            let mixes = |part: &&str| part.len() >= CODE_PART && mixes_letters_and_digits(part);
            self.codes.extend(run.split('-').filter(mixes).map(plain));
            self.codes.insert(plain(run));
        }
        self.rows.extend(words(rest));
        self.rows.extend(said.iter().cloned());
        self.names.extend(said);
    }

    /// Whether any document has the folded word.
    pub fn has(&self, word: &str) -> bool {
        self.pages.contains(word) || self.rows.contains(word)
    }

    /// Whether the run, which looks like a serial number, is the name or the number of goods, with hyphens or without.
    pub fn is_code(&self, run: &str) -> bool {
        self.codes.contains(&plain(run))
    }

    /// Whether the folded word is of a product's name and of nothing that the pages say: "Keychron", not "gaming".
    pub fn names_goods(&self, word: &str) -> bool {
        let tells = word.chars().count() >= NAME_LETTERS || mixes_letters_and_digits(word);
        tells && self.names.contains(word) && !self.pages.contains(word) && !word.bytes().all(|b| b.is_ascii_digit())
    }

    /// Whether the folded words are neighbors in a product's name: "LG gram".
    pub fn names_goods_together(&self, left: &str, right: &str) -> bool {
        self.pairs.contains(&(left.to_owned(), right.to_owned()))
    }
}

fn neighbours(words: &[String]) -> impl Iterator<Item = (&String, &String)> {
    words.iter().zip(words.iter().skip(1))
}

fn mixes_letters_and_digits(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// In upper case and without hyphens: "NHD15" is "NH-D15".
fn plain(run: &str) -> String {
    run.to_ascii_uppercase().replace('-', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        vocabulary.add_page("Bàn phím gaming nào êm? Thử gõ tại cửa hàng.");
        vocabulary.add_goods("Bàn phím gaming Keychron K2", "KEY-K2. Hãng Keychron. Pin 4000mAh");
        vocabulary.add_goods("Màn hình LG 27GS75Q-B", "MON-LG-27GS");
        vocabulary.add_goods("SSD Samsung 990 PRO 2TB", "SSD-990PRO-2T");
        vocabulary
    }

    #[test]
    fn codes_are_known_however_they_are_hyphenated() {
        for (run, known) in [
            ("27gs75q-b", true),
            ("27GS75QB", true),
            ("27GS75Q", true),
            ("990pro", true),
            ("SSD990PRO2T", true),
            ("KEY-K2", true),
            ("ABC123", false),
            ("27GS75Q-C", false),
        ] {
            assert_eq!(vocabulary().is_code(run), known, "{run}");
        }
    }

    #[test]
    fn goods_match_unique_or_adjacent_words() {
        let vocabulary = vocabulary();
        for (word, names) in [("keychron", true), ("k2", true), ("gaming", false), ("lg", false), ("990", false)] {
            assert_eq!(vocabulary.names_goods(word), names, "{word}");
        }
        assert!(
            vocabulary.names_goods_together("990", "pro")
                && vocabulary.names_goods_together("key", "k2")
                && !vocabulary.names_goods_together("pro", "990")
        );
        assert!(vocabulary.has("4000mah") && vocabulary.has("thu") && !vocabulary.has("zzz"));
    }
}
