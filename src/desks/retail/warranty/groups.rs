//! Serial numbers that a customer writes in groups: "S6Z1 NS0T 0923 35X".

use std::cmp::Reverse;

use crate::domain::Serial;

/// The groups of a serial number at most.
const GROUPS: usize = 8;
const SHORTEST: usize = 8;

/// A serial number that neighbouring words may make.
#[derive(Debug, PartialEq)]
pub(super) struct Joined<'a> {
    /// As one word, with hyphens between the groups, and without any hyphen.
    pub spellings: Vec<String>,
    pub groups: &'a [&'a str],
}

/// Splits a text into words, without the punctuation around them.
pub(super) fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric())).collect()
}

/// Returns the serial numbers that neighbouring groups of letters and digits can make, the longest first: its parts are no serial
/// numbers.
pub(super) fn joined<'a>(words: &'a [&'a str]) -> Vec<Joined<'a>> {
    let is_group = |word: &str| {
        let is_code = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let is_upper = !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
        is_code && (is_upper || word.bytes().any(|b| b.is_ascii_digit()))
    };
    let length = |groups: &[&str]| groups.iter().map(|group| group.len()).sum::<usize>();
    let mut all = Vec::new();
    for run in words.split(|word| !is_group(word)) {
        for from in 0..run.len() {
            for to in from + 1..=run.len().min(from + GROUPS) {
                let groups = &run[from..to];
                // A single group without hyphens is no other serial number.
                if matches!(groups, [group] if !group.contains('-')) {
                    continue;
                }
                if length(groups) > Serial::MAX_LENGTH {
                    break;
                }
                let plain = groups.concat().replace('-', "");
                if plain.len() >= SHORTEST && plain.bytes().any(|b| b.is_ascii_digit()) {
                    let mut spellings = vec![groups.concat(), groups.join("-"), plain];
                    spellings.dedup();
                    spellings.retain(|spelling| spelling.len() <= Serial::MAX_LENGTH);
                    all.push(Joined { spellings, groups });
                }
            }
        }
    }
    all.sort_by_key(|joined| Reverse(length(joined.groups)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(text: &str) -> Vec<String> {
        joined(&words(text)).into_iter().flat_map(|joined| joined.spellings).collect()
    }

    #[test]
    fn groups_are_joined_with_and_without_hyphens() {
        let written = spellings("bảo hành AB12 CD34 EF, cảm ơn");
        for serial in ["AB12CD34EF", "AB12-CD34-EF", "AB12CD34"] {
            assert!(written.iter().any(|other| other == serial), "{serial}: {written:?}");
        }
        for text in ["kiểm tra bảo hành máy này", "mua 2 cái 5 triệu", "bảo hành R2293AE20064523"] {
            assert!(spellings(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn many_groups_make_few_serial_numbers() {
        let text = "1 ".repeat(2_000);
        assert!(spellings(&text).len() <= 2_000 * GROUPS * 3);
    }
}
