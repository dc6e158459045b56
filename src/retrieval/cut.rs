//! Splits a long text into parts at the best places.
//!
//! From best to worst, a text is split between paragraphs, before a list item, at the end of a line, at the end of a
//! sentence, at a space, and inside a word. Headings are not considered, because each section is split separately.
//!
//! The crate `text-splitter` (0.30, tried in November 2026) adds 54 crates and splits at Unicode or Markdown levels,
//! not at custom places such as the start of a list item.

use std::ops::Range;

use super::tokens::cost;

/// How good a place is to split at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    InsideWord,
    Space,
    Sentence,
    Line,
    Item,
    Paragraph,
}

/// A word with the white space after it, or a part of a very long word.
struct Atom {
    range: Range<usize>,
    /// In hundredths of a token.
    cost: u64,
    /// The place after it.
    place: Place,
}

/// Splits the text into parts of at most `size` tokens that overlap by at most `overlap` tokens and half of `size`.
///
/// Together the parts cover the whole text in order. A part ends at the best place in its second half. The next one
/// starts at the first sentence, line, item or paragraph in the overlap, else at its first word.
pub fn cut(text: &str, size: usize, overlap: usize) -> Vec<Range<usize>> {
    let (size, overlap) = (size.max(1) as u64 * 100, overlap.min(size / 2) as u64 * 100);
    let atoms = atoms(text, size / 4);
    let mut parts = Vec::new();
    let (mut start, mut end) = (0, 0);
    while start < atoms.len() {
        end = end_of(&atoms, start, end, size);
        parts.push(atoms[start].range.start..atoms[end - 1].range.end);
        if end == atoms.len() {
            break;
        }
        start = next_start(&atoms, start, end, overlap);
    }
    parts
}

/// Returns the end of the part that starts at `start`. It is after `last`, the end of the previous part; there is room for
/// that, because the two parts share at most half a part.
fn end_of(atoms: &[Atom], start: usize, last: usize, size: u64) -> usize {
    let mut total = 0;
    let mut best: Option<usize> = None;
    for (n, atom) in atoms.iter().enumerate().skip(start) {
        total += atom.cost;
        if total > size && n > start {
            return best.unwrap_or(n);
        }
        if 2 * total >= size && n >= last && best.is_none_or(|best| atoms[best - 1].place <= atom.place) {
            best = Some(n + 1);
        }
    }
    atoms.len()
}

fn next_start(atoms: &[Atom], start: usize, end: usize, overlap: u64) -> usize {
    let mut shared = 0;
    let first = (start + 1..end).rev().take_while(|n| {
        shared += atoms[*n].cost;
        shared <= overlap
    });
    let window = first.last().unwrap_or(end)..end;
    window.clone().find(|n| atoms[n - 1].place >= Place::Sentence).unwrap_or(window.start)
}

fn atoms(text: &str, longest: u64) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let begin = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        let word = rest[begin..].find(char::is_whitespace).map_or(rest.len(), |end| begin + end);
        let end = rest[word..].find(|c: char| !c.is_whitespace()).map_or(rest.len(), |end| word + end);
        let place = place(&rest[begin..word], &rest[word..end], &rest[end..]);
        for part in parts_of_word(&rest[..word], longest) {
            let range = at + part.start..at + part.end;
            atoms.push(Atom { cost: cost(&text[range.clone()]), range, place: Place::InsideWord });
        }
        if let Some(last) = atoms.last_mut() {
            last.range.end = at + end;
            last.place = place;
        }
        at += end;
    }
    atoms
}

fn place(word: &str, space: &str, next: &str) -> Place {
    let lines = space.matches('\n').count();
    if lines > 1 {
        Place::Paragraph
    } else if lines == 1 {
        if begins_item(next) { Place::Item } else { Place::Line }
    } else if word.ends_with(['.', '!', '?', '…', ';']) {
        Place::Sentence
    } else {
        Place::Space
    }
}

/// Whether a list item starts here: `- x`, `* x`, `1) x`, `1. x`.
fn begins_item(text: &str) -> bool {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let marks: &[char] = if digits > 0 { &[')', '.'] } else { &['-', '*', '+'] };
    let mut rest = text[digits..].chars();
    rest.next().is_some_and(|c| marks.contains(&c)) && rest.next() == Some(' ')
}

/// Splits a word into parts that cost at most `longest`, unless a single letter costs more.
fn parts_of_word(word: &str, longest: u64) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    if cost(word) <= longest {
        parts.push(start..word.len());
        return parts;
    }
    for (at, c) in word.char_indices() {
        if at > start && cost(&word[start..at + c.len_utf8()]) > longest {
            parts.push(start..at);
            start = at;
        }
    }
    parts.push(start..word.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::super::tokens::estimate;
    use super::*;

    fn parts(text: &str, size: usize, overlap: usize) -> Vec<&str> {
        cut(text, size, overlap).into_iter().map(|part| text[part].trim()).collect()
    }

    #[test]
    fn text_is_split_at_the_best_place() {
        assert_eq!(parts("", 10, 2), [""; 0]);
        assert_eq!(parts("đây là\n\nhai", 10, 2), ["đây là\n\nhai"]);
        let a = "one two three\n\nfour five six seven";
        assert_eq!(parts(a, 6, 0), ["one two three", "four five six seven"]);
        let list = "Intro line:\n- one two\n- three\n  four\n- five six";
        assert_eq!(parts(list, 12, 0), ["Intro line:\n- one two\n- three\n  four", "- five six"]);
        assert_eq!(parts("One two. Three four five six seven.", 7, 0), ["One two. Three four five", "six seven."]);
        assert_eq!(parts("One two three. Four five six seven.", 8, 0), ["One two three.", "Four five six seven."]);
        assert_eq!(parts(&"đ".repeat(60), 4, 0).concat(), "đ".repeat(60));
    }

    #[test]
    fn overlap_starts_at_a_sentence() {
        let text = "a b c d e f. g h i j k l";
        assert_eq!(parts(text, 10, 5), ["a b c d e f.", "d e f. g h i j", "g h i j k l"]);
        let text = "a b c. d e. f g h i j k l";
        assert_eq!(parts(text, 10, 4), ["a b c. d e.", "d e. f g h i j", "h i j k l"]);
    }

    proptest::proptest! {
        #[test]
        fn parts_cover_the_text_within_their_limits(
            text in "([a-zđế]{1,9}|[0-9.]{1,7}|[a-z]{40,90}|- x|[A-Z][a-z]+\\.)(( |\n|\n\n)([a-zđế]{1,9}|[0-9.]{1,7}|- x|[a-z]+\\.)){0,80}",
            size in 8usize..60,
            overlap in 0usize..20,
        ) {
            let parts = cut(&text, size, overlap);
            proptest::prop_assert_eq!(parts.first().map(|part| part.start), Some(0));
            proptest::prop_assert_eq!(parts.last().map(|part| part.end), Some(text.len()));
            for part in &parts {
                proptest::prop_assert!(estimate(&text[part.clone()]) <= size);
            }
            for pair in parts.windows(2) {
                proptest::prop_assert!(pair[0].start < pair[1].start && pair[1].start <= pair[0].end && pair[0].end < pair[1].end);
                let shared = estimate(&text[pair[1].start..pair[0].end]);
                proptest::prop_assert!(shared <= overlap.min(size / 2));
            }
        }

        #[test]
        fn parts_of_short_words_overlap_whenever_they_may(words in proptest::collection::vec("[a-z]{1,5}", 30..90), size in 12usize..25) {
            let text = words.join(" ");
            for pair in cut(&text, size, 5).windows(2) {
                proptest::prop_assert!(pair[1].start < pair[0].end);
            }
        }
    }
}
