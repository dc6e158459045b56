//! Serial numbers that a customer writes in groups: "S6Z1 NS0T 0923 35X".

use crate::domain::Serial;

/// Returns the serial numbers that neighbouring groups of letters and digits can make, with and without hyphens between them.
pub(super) fn serials_in_groups(text: &str) -> Vec<String> {
    const SHORTEST: usize = 8;
    let is_group = |word: &str| {
        let is_code = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let is_upper = !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
        is_code && (is_upper || word.bytes().any(|b| b.is_ascii_digit()))
    };
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric())).collect();
    let mut written = Vec::new();
    for groups in words.split(|word| !is_group(word)) {
        for from in 0..groups.len() {
            for to in from + 1..=groups.len() {
                let plain = groups[from..to].concat().replace('-', "");
                let is_possible = plain.len() >= SHORTEST && plain.len() <= Serial::MAX_LENGTH;
                if is_possible && plain.bytes().any(|b| b.is_ascii_digit()) {
                    written.extend([groups[from..to].concat(), groups[from..to].join("-"), plain]);
                }
            }
        }
    }
    // The longest first: its parts are no serial numbers.
    written.sort_by_key(|serial| std::cmp::Reverse(serial.len()));
    written.dedup();
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_joined_with_and_without_hyphens() {
        let joined = serials_in_groups("bảo hành AB12 CD34 EF, cảm ơn");
        for serial in ["AB12CD34EF", "AB12-CD34-EF", "AB12CD34"] {
            assert!(joined.iter().any(|other| other == serial), "{serial}: {joined:?}");
        }
        assert!(serials_in_groups("kiểm tra bảo hành máy này").is_empty());
        assert!(serials_in_groups("mua 2 cái 5 triệu").is_empty());
    }
}
