//! Formats a streamed message for a terminal: wraps lines at words and turns Markdown into styles.

use unicode_width::UnicodeWidthStr;

use super::screen::{BOLD, PLAIN};

/// The maximum length of a link in Markdown.
const LINK_MAX: usize = 300;

/// Formats the pieces of one message.
#[derive(Debug)]
pub(super) struct Typesetter {
    width: usize,
    /// The style of plain text.
    base: &'static str,
    /// The current, incomplete word.
    word: String,
    /// Whether a space precedes the next word.
    spaced: bool,
    column: usize,
    line: Line,
    bold: bool,
}

/// The kind of the current line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Begins,
    Text,
    Item,
    Heading,
}

impl Typesetter {
    /// Creates a typesetter. `column` is where the first line starts.
    pub fn new(width: usize, column: usize, base: &'static str) -> Self {
        let word = String::new();
        Self { width, base, word, spaced: column > 0, column, line: Line::Begins, bold: false }
    }

    /// Adds text. Returns the part that is ready to be shown.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '\n' => self.end_line(&mut out),
                c if c.is_whitespace() && !self.is_in_link() => {
                    self.end_word(&mut out);
                    self.spaced = self.column > 0;
                }
                c => self.word.push(c),
            }
        }
        out
    }

    /// Returns the rest after the last piece.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.end_word(&mut out);
        self.set_bold(false, &mut out);
        out
    }

    fn is_in_link(&self) -> bool {
        let begins = self.word.trim_start_matches(['*', '(', '"']).starts_with('[');
        begins && self.word.len() < LINK_MAX && link(&self.word).is_none()
    }

    fn end_line(&mut self, out: &mut String) {
        let is_fence = self.line == Line::Begins && self.word.starts_with("```");
        if is_fence {
            self.word.clear();
        } else {
            self.end_word(out);
            if self.line == Line::Heading {
                self.set_bold(false, out);
            }
            out.push('\n');
        }
        (self.line, self.column, self.spaced) = (Line::Begins, 0, false);
    }

    fn end_word(&mut self, out: &mut String) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        if self.line == Line::Begins {
            if word.len() <= 6 && word.chars().all(|c| c == '#') {
                self.line = Line::Heading;
                return self.set_bold(true, out);
            }
            let is_item = matches!(word.as_str(), "-" | "*" | "+" | "•");
            self.line = if is_item { Line::Item } else { Line::Text };
            if is_item {
                return self.place("•", out);
            }
        }
        let shown = match link(&word) {
            Some((before, label, url, after)) if label == url => format!("{before}{url}{after}"),
            Some((before, label, url, after)) => format!("{before}{label} ({url}){after}"),
            None => word,
        };
        // The words of a label can wrap.
        for part in shown.split(' ') {
            self.place(part, out);
            self.spaced = true;
        }
        self.spaced = false;
    }

    /// Prints a word on this line, or on the next one if it does not fit.
    fn place(&mut self, word: &str, out: &mut String) {
        // A word of stars only is not markup.
        let is_marked = word.contains("**") && word.chars().any(|c| c != '*');
        let bare = word.replace('`', "");
        let width = if is_marked { bare.replace("**", "") } else { bare.clone() }.width();
        let space = usize::from(self.spaced && self.column > 0);
        if space > 0 && self.column + space + width > self.width {
            let indent = if self.line == Line::Item { "  " } else { "" };
            out.push('\n');
            out.push_str(indent);
            self.column = indent.len();
        } else if space > 0 {
            out.push(' ');
            self.column += 1;
        }
        self.column += width;
        if !is_marked {
            return out.push_str(&bare);
        }
        for (at, part) in bare.split("**").enumerate() {
            if at > 0 && self.line != Line::Heading {
                self.set_bold(!self.bold, out);
            }
            out.push_str(part);
        }
    }

    fn set_bold(&mut self, bold: bool, out: &mut String) {
        if bold == self.bold {
            return;
        }
        self.bold = bold;
        out.push_str(if bold { BOLD } else { PLAIN });
        if !bold {
            out.push_str(self.base);
        }
    }
}

/// Splits a Markdown link into the text before it, its label, its URL and the text after it.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (before, rest) = text.split_once('[')?;
    let (label, rest) = rest.split_once("](")?;
    let (url, after) = rest.split_once(')')?;
    (!label.contains('[')).then_some((before, label, url, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the text at once and by character, which must give the same result.
    fn set(width: usize, text: &str) -> String {
        let whole = |pieces: &mut dyn Iterator<Item = String>| {
            let mut typesetter = Typesetter::new(width, 0, "");
            let mut out: String = pieces.map(|piece| typesetter.push(&piece)).collect();
            out.push_str(&typesetter.finish());
            out
        };
        let at_once = whole(&mut std::iter::once(text.to_owned()));
        assert_eq!(whole(&mut text.chars().map(String::from)), at_once);
        at_once
    }

    #[test]
    fn words_stay_whole_and_markup_becomes_styles() {
        for (text, expected) in [
            ("một hai ba bốn", "một hai ba\nbốn"),
            ("rất-dài-không-ngắt được", "rất-dài-không-ngắt\nđược"),
            ("a\n\nb", "a\n\nb"),
            ("## Giá\nx", &format!("{BOLD}Giá{PLAIN}\nx")),
            ("- một hai ba bốn", "• một hai\n  ba bốn"),
            ("**ABC-1 x** y", &format!("{BOLD}ABC-1 x{PLAIN} y")),
            ("2 ** 3 *", "2 ** 3 *"),
            ("`a` b", "a b"),
            ("```\nx\n```\ny", "x\ny"),
            ("[a b](/c).", "a b (/c)."),
            ("[a b", "[a b"),
        ] {
            assert_eq!(set(10, text), expected, "{text:?}");
        }
    }

    #[test]
    fn first_line_starts_at_given_column() {
        let mut typesetter = Typesetter::new(10, 5, "");
        assert_eq!(typesetter.push("chào bạn ") + &typesetter.finish(), " chào\nbạn");
    }
}
