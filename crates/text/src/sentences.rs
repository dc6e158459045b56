//! Sentences and lists of a text.

/// Letters of a word that may be an abbreviation if a period and a number follow.
const ABBREVIATION: usize = 3;

/// Returns the text up to this many sentences. Items of lists are not counted; a line without a period is a sentence.
pub fn first_sentences(text: &str, most: usize) -> String {
    let mut left = most;
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.trim().is_empty() || is_list_item(line) {
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

/// Returns the sentences of a text. An item of a list is at least one.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        let is_number = |part: &str| after_number(part.trim_start()).is_some_and(str::is_empty);
        for end in ends_of_sentences(line).into_iter().filter(|end| !is_number(&line[..*end])) {
            sentences.push(line[start..end].trim());
            start = end;
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Returns the text without lists and their headings.
pub fn without_lists(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if !is_list_item(line) {
            lines.push(line);
        } else if lines.last().is_some_and(|last| last.trim_end().ends_with(':')) {
            lines.pop();
        }
    }
    lines.join("\n").trim().to_owned()
}

/// Returns what follows a number such as "2." or "2)" at the beginning of a line.
pub fn after_number(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(['.', ')']).filter(|_| rest.len() < line.len())
}

/// Whether a line is an item of a list: it begins with a list mark or a number.
pub fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let is_marked = ["- ", "* ", "• ", "– ", "— "].iter().any(|mark| line.starts_with(mark));
    is_marked || after_number(line).is_some_and(|rest| rest.starts_with(' '))
}

/// Returns the byte after each sentence of a line; the last one is the end of the line.
fn ends_of_sentences(line: &str) -> Vec<usize> {
    let marks = line.char_indices().filter(|(_, c)| ".!?…".contains(*c));
    let ends = marks.map(|(at, c)| at + c.len_utf8());
    let mut ends: Vec<usize> = ends.filter(|end| ends_sentence(&line[..*end], &line[*end..])).collect();
    if ends.last().is_none_or(|end| !line[*end..].trim().is_empty()) {
        ends.push(line.len());
    }
    ends
}

/// Whether a sentence ends between the two parts of a line: not after an abbreviation ("np. w domu", "nr. 5").
fn ends_sentence(before: &str, after: &str) -> bool {
    if !after.is_empty() && !after.starts_with(char::is_whitespace) {
        return false;
    }
    let word = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    let word = word.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let is_abbreviation = before.ends_with('.') && word.chars().count() <= ABBREVIATION;
    let next = after.chars().find(|c| c.is_alphanumeric());
    next.is_none_or(|next| next.is_uppercase() || (next.is_numeric() && !is_abbreviation))
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
            ("Turn it off, e.g. at night. Then wait.", 1, "Turn it off, e.g. at night."),
            ("To faktura nr. 5 z planu M, np. za maj. Zapłać ją.", 1, "To faktura nr. 5 z planu M, np. za maj."),
            ("Really? Certainly. 14 days.", 2, "Really? Certainly."),
            ("Your plan is active. 30 days remain.", 1, "Your plan is active."),
            ("", 6, ""),
        ] {
            assert_eq!(first_sentences(text, most), expected, "{text:?}");
        }
    }

    #[test]
    fn text_is_split_into_sentences() {
        let text = "Check this, e.g. at night:\n\n1. Unplug it. Wait.\n2. Call us.";
        assert_eq!(sentences(text), ["Check this, e.g. at night:", "1. Unplug it.", "Wait.", "2. Call us."]);
    }

    #[test]
    fn lists_are_removed_with_their_headings() {
        let text = "Opened R10001.\nNext steps:\n1. We check.\n2) We pay.\n* Done\nBye.";
        assert_eq!(without_lists(text), "Opened R10001.\nBye.");
    }
}
