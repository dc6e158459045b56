//! Shortens text at sentence and word boundaries.

/// Returns at most the first `max_chars` characters of `text`, cut after a sentence if possible, else after a word, else after a
/// letter with its combining marks.
pub fn cut_at_sentence(text: &str, max_chars: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(max_chars) else { return text };
    let head = &text[..limit];
    let sentence = head
        .char_indices()
        .filter(|(at, c)| {
            *c == '\n'
                || (matches!(c, '.' | '!' | '?' | '…')
                    && text[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace))
        })
        .map(|(at, c)| at + c.len_utf8())
        .next_back();
    // A sentence that ends in the first half would cut too much.
    if let Some(end) = sentence.filter(|end| *end * 2 >= head.len()) {
        return head[..end].trim_end();
    }
    if let Some(end) = head.rfind(char::is_whitespace) {
        return head[..end].trim_end();
    }
    let mut end = limit;
    while text[end..].chars().next().is_some_and(unicode_normalization::char::is_combining_mark) {
        let Some((at, _)) = text[..end].char_indices().next_back() else { break };
        end = at;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::cut_at_sentence;

    #[test]
    fn text_is_cut_after_sentence_word_or_letter() {
        for (text, max, expected) in [
            ("Ngắn.", 10, "Ngắn."),
            ("Một câu. Hai câu. Ba", 18, "Một câu. Hai câu."),
            ("Giá 1.5 triệu đồng một chiếc", 12, "Giá 1.5"),
            ("Rất dài không có dấu chấm", 12, "Rất dài"),
            ("ABCDEFGH", 3, "ABC"),
            ("AE\u{302}\u{301}B", 2, "A"),
            ("dòng một\ndòng hai dài", 12, "dòng một"),
            ("", 0, ""),
            ("á", 0, ""),
        ] {
            assert_eq!(cut_at_sentence(text, max), expected, "{text:?} at {max}");
        }
    }
}
