//! Corrects a misspelled word by the words that a text can have.

use std::collections::BTreeSet;

/// Shorter words are too like each other.
const SHORTEST: usize = 4;
/// Letters from which two mistakes are corrected.
const LONG: usize = 7;

/// Returns the known word that a misspelled one most likely means: with the fewest letters left out, added, changed or swapped. A word
/// that is known, or the beginning of a known one, is spelled right.
pub fn nearest<'a>(word: &str, known: &'a BTreeSet<String>) -> Option<&'a str> {
    let is_right = known.range(word.to_owned()..).next().is_some_and(|next| next.starts_with(word));
    if word.len() < SHORTEST || is_right || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let allowed = if word.len() >= LONG { 2 } else { 1 };
    let near = known.iter().filter(|other| {
        other.len() >= SHORTEST
            && other.len().abs_diff(word.len()) <= allowed
            && other.as_bytes()[0] == word.as_bytes()[0]
    });
    let near = near.map(|other| (strsim::osa_distance(word, other), other));
    near.filter(|(mistakes, _)| *mistakes <= allowed).min().map(|(_, other)| other.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_corrected() {
        let known = ["canvas", "sandals", "sandal", "shoes", "running", "red"].map(str::to_owned).into();
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
