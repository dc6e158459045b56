//! Corrects a misspelled word by the words that a text can have.

use crate::domain::WordSet;

/// Shorter words are too like each other.
const SHORTEST: usize = 4;
/// Letters from which two mistakes are corrected.
const LONG: usize = 7;

/// Returns the known word that a misspelled one most likely means: with the fewest letters left out, added, changed or swapped. A word
/// that is known, or the beginning of a known one, is spelled right.
pub fn nearest<'a>(word: &str, known: &'a WordSet) -> Option<&'a str> {
    if word.len() < SHORTEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) || known.has_prefix(word) {
        return None;
    }
    let allowed = if word.len() >= LONG { 2 } else { 1 };
    let first = &word[..1];
    let near = known.starting_at(first).take_while(|other| other.starts_with(first));
    let near = near.filter(|other| other.len() >= SHORTEST && other.len().abs_diff(word.len()) <= allowed);
    let near = near.map(|other| (strsim::osa_distance(word, other), other));
    near.filter(|(mistakes, _)| *mistakes <= allowed).min().map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_corrected() {
        let known = ["canvas", "sandals", "sandal", "shoes", "running", "red"].into_iter().collect();
        for (word, expected) in [
            ("sandels", Some("sandals")),
            ("canvsa", Some("canvas")),
            ("canvass", Some("canvas")),
            ("runing", Some("running")),
            ("runnning", Some("running")),
            ("canvas", None),
            ("run", None),
            ("shose", Some("shoes")),
            ("rd", None),
            ("laptop", None),
            ("handbag", None),
        ] {
            assert_eq!(nearest(word, &known), expected, "{word}");
        }
    }
}
