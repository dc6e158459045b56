//! Cuts a text into parts that a channel accepts.

/// The ends of paragraphs, lines, sentences and words, best first.
const ENDS: [&[&str]; 4] = [&["\n\n"], &["\n"], &[". ", "! ", "? ", "… ", ".\n", "!\n", "?\n"], &[" "]];

/// Cuts the text into parts of at most `most` UTF-16 units, at the end of a paragraph if possible, else of a line, a sentence or a word.
pub fn split(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let limit = prefix(rest, most);
        let end = if limit == rest.len() { limit } else { cut(rest, limit) };
        let part = rest[..end].trim_end();
        if !part.is_empty() {
            parts.push(part);
        }
        rest = rest[end..].trim_start();
    }
    parts
}

/// Returns the length in bytes of the longest beginning with at most `most` UTF-16 units, but of at least one character.
fn prefix(text: &str, most: usize) -> usize {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > most && at > 0 {
            return at;
        }
    }
    text.len()
}

/// Returns where to cut the text, at `limit` at the latest. A boundary in the first half would waste too much.
fn cut(text: &str, limit: usize) -> usize {
    let head = &text[..limit];
    let last = |ends: &[&str]| {
        let found = ends.iter().filter_map(|end| head.rfind(end).map(|at| at + end.trim_end().len()));
        found.max().filter(|at| at * 2 >= limit)
    };
    ENDS.iter().find_map(|ends| last(ends)).or_else(|| head.rfind(' ')).filter(|at| *at > 0).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_cut_at_the_best_boundary() {
        for (text, most, parts) in [
            ("short", 10, vec!["short"]),
            ("first part\n\nsecond part", 18, vec!["first part", "second part"]),
            ("line one here\nline two", 18, vec!["line one here", "line two"]),
            ("One is done. Two is long", 18, vec!["One is done.", "Two is long"]),
            ("some words only here", 12, vec!["some words", "only here"]),
            ("abcdefghij", 4, vec!["abcd", "efgh", "ij"]),
            ("😀😀😀", 4, vec!["😀😀", "😀"]),
            (" \n ", 4, vec![]),
        ] {
            assert_eq!(split(text, most), parts, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_short_and_lose_no_word(text in "[a-z .!?\n😀é]{0,300}", most in 2_usize..60) {
            let parts = split(&text, most);
            for part in &parts {
                prop_assert!(!part.is_empty() && part.encode_utf16().count() <= most, "{:?}", part);
            }
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(bare(&parts.concat()), bare(&text));
        }
    }
}
