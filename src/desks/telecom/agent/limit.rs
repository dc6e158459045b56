//! How long a reply may be.

/// Marks with which an item of a list begins.
const BULLETS: [&str; 4] = ["- ", "* ", "• ", "– "];

/// Returns the text up to this many sentences. Items of lists are not counted; a line without a full stop is a sentence.
pub(super) fn first_sentences(text: &str, most: usize) -> String {
    let mut left = most;
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.trim().is_empty() || is_item(line) {
            lines.push(line);
            continue;
        }
        if left == 0 {
            break;
        }
        let ends = ends_of_sentences(line);
        let cut = ends.get(left - 1).copied().unwrap_or(line.len());
        lines.push(&line[..cut]);
        left = left.saturating_sub(ends.len());
    }
    lines.join("\n").trim().to_owned()
}

/// Returns the text without lists and their headings.
pub(super) fn without_lists(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if !is_item(line) {
            lines.push(line);
        } else if lines.last().is_some_and(|last| last.trim_end().ends_with(':')) {
            lines.pop();
        }
    }
    lines.join("\n").trim().to_owned()
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "));
    is_numbered || BULLETS.iter().any(|bullet| line.starts_with(bullet))
}

/// Returns the byte after each sentence of a line; the last one is the end of the line.
fn ends_of_sentences(line: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_over = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if ".!?…".contains(c) && is_over {
            ends.push(at + c.len_utf8());
        }
    }
    if ends.last().is_none_or(|end| !line[*end..].trim().is_empty()) {
        ends.push(line.len());
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_beyond_the_limit_are_cut() {
        for (text, most, expected) in [
            ("One. Two! Three? Four.", 3, "One. Two! Three?"),
            ("It costs 45.00 zł. Since 2025.08.15 it is active.", 1, "It costs 45.00 zł."),
            (
                "One. Two.\n- first step.\n- second. And more.\nThree.",
                2,
                "One. Two.\n- first step.\n- second. And more.",
            ),
            ("Heading\nOne. Two.", 2, "Heading\nOne."),
            ("No end", 1, "No end"),
            ("", 6, ""),
        ] {
            assert_eq!(first_sentences(text, most), expected, "{text:?}");
        }
    }

    #[test]
    fn lists_are_removed_with_their_headings() {
        let text = "Opened R10001.\nNext steps:\n1. We check.\n2) We pay.\n* Done\nBye.";
        assert_eq!(without_lists(text), "Opened R10001.\nBye.");
    }
}
