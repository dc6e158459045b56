//! Removes a model's thinking from its text.

use std::borrow::Cow;

use crate::domain::text::clean;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Removes leading white space, and thinking that some models and older servers write into the text as `<think>…</think>`.
///
/// After the first word, text passes unchanged.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    state: State,
    /// Text that may turn out to be a tag.
    held: String,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Before,
    Thinking,
    Speaking,
}

impl Spoken {
    /// Adds a piece. Returns the text that can be shown now, which is often empty at the start.
    pub(super) fn push(&mut self, piece: String) -> String {
        let piece = match clean(&piece) {
            Cow::Borrowed(_) => piece,
            Cow::Owned(cleaned) => cleaned,
        };
        if matches!(self.state, State::Speaking) {
            return piece;
        }
        self.held.push_str(&piece);
        loop {
            match self.state {
                State::Speaking => return std::mem::take(&mut self.held),
                State::Before => {
                    let text = self.held.trim_start();
                    if let Some(thought) = text.strip_prefix(OPEN) {
                        self.held = thought.to_owned();
                        self.state = State::Thinking;
                    } else if OPEN.starts_with(text) {
                        self.held = text.to_owned();
                        return String::new();
                    } else {
                        self.held = text.to_owned();
                        self.state = State::Speaking;
                    }
                }
                State::Thinking => match self.held.split_once(CLOSE) {
                    Some((_, rest)) => {
                        self.held = rest.to_owned();
                        self.state = State::Before;
                    }
                    None => {
                        // Keep only a possible start of the closing tag.
                        let keep = self.held.char_indices().rev().nth(CLOSE.len() - 1).map_or(0, |(at, _)| at);
                        self.held.drain(..keep);
                        return String::new();
                    }
                },
            }
        }
    }

    /// Ends the answer. Returns held text that did not become a tag.
    pub(super) fn finish(&mut self) -> String {
        match self.state {
            State::Thinking => String::new(),
            State::Before | State::Speaking => std::mem::take(&mut self.held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes the text in pieces of `size` characters.
    fn shown(text: &str, size: usize) -> String {
        let mut spoken = Spoken::default();
        let letters: Vec<char> = text.chars().collect();
        let mut all: String = letters.chunks(size).map(|piece| spoken.push(piece.iter().collect())).collect();
        all.push_str(&spoken.finish());
        all
    }

    #[test]
    fn leading_thinking_is_removed_across_pieces() {
        let table = [
            ("Dạ vâng ạ. \n", "Dạ vâng ạ. \n"),
            ("\n\n  Dạ", "Dạ"),
            (" \n ", ""),
            ("<think>khách hỏi giá</think>\n\nDạ, em đây", "Dạ, em đây"),
            (" <think>a < b, </thin </think><think></think>Dạ", "Dạ"),
            ("<think>không bao giờ nói", ""),
            ("<think></think>", ""),
            ("<thi", "<thi"),
            ("<b>Dạ</b>", "<b>Dạ</b>"),
            ("Dạ <think>x</think>", "Dạ <think>x</think>"),
        ];
        for (text, expected) in table {
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(shown(text, size), expected, "{text:?} by {size}");
            }
        }
    }
}
