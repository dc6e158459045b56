//! The fact lock: a number of a reply passes if it is in its sources.

use super::{Guard, Piece};
use crate::domain::GuardReason;
use crate::nlu::facts::{Known, Lexicon, Place, only_joins, place_of, read};

/// How many characters before a number are parsed with it: enough for "với ngân sách tầm …" and "ngày 31 tháng …".
const CONTEXT_CHARS: usize = 120;

/// Holds text from a number on until the number has ended; other text is held to the end of its word.
pub(super) struct FactLock<'a> {
    lexicon: &'a Lexicon,
    known: Known,
    placeholder: &'a str,
    /// The text of this line so far.
    context: String,
    /// The held text: whole words from a number on, and the current word.
    held: String,
    /// Where the current word begins in `held`.
    word: usize,
    in_number: bool,
    /// Nothing was said since the placeholder.
    after_placeholder: bool,
}

impl<'a> FactLock<'a> {
    pub(super) fn new(lexicon: &'a Lexicon, known: Known, placeholder: &'a str) -> Self {
        Self {
            lexicon,
            known,
            placeholder,
            context: String::new(),
            held: String::new(),
            word: 0,
            in_number: false,
            after_placeholder: false,
        }
    }

    pub(super) fn push(&mut self, c: char) -> Vec<Piece> {
        self.held.push(c);
        if !c.is_whitespace() {
            return Vec::new();
        }
        let word = self.held[self.word..].trim();
        if !word.is_empty() {
            let (continues, ends) = match place_of(word, self.lexicon) {
                Place::Number { ends } => (true, ends),
                Place::Joining { ends } => (self.in_number, ends),
                Place::Outside => (false, true),
            };
            self.in_number = continues && !ends;
        }
        self.word = self.held.len();
        if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}') {
            let pieces = self.settle();
            self.context.clear();
            return pieces;
        }
        if self.in_number { Vec::new() } else { self.settle() }
    }

    /// Passes a text without a check.
    pub(super) fn keep(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = self.settle();
        self.remember(text);
        self.after_placeholder = false;
        pieces.push(Piece::Text(text.to_owned()));
        pieces
    }

    pub(super) fn finish(&mut self) -> Vec<Piece> {
        self.settle()
    }

    /// Checks the held text and releases it.
    fn settle(&mut self) -> Vec<Piece> {
        let held = std::mem::take(&mut self.held);
        self.word = 0;
        self.in_number = false;
        let mut pieces = Vec::new();
        // Most words. They need no context.
        let is_number = |word| matches!(place_of(word, self.lexicon), Place::Number { .. });
        if !held.split_whitespace().any(is_number) {
            self.say(&held, &mut pieces);
            self.remember(&held);
            return pieces;
        }
        let before = self.context.len();
        let text = format!("{}{held}", self.context);
        let mut at = before;
        for block in self.blocks(&text, before) {
            self.say(&text[at..block.start], &mut pieces);
            if !self.after_placeholder {
                pieces.push(Piece::Text(self.placeholder.to_owned()));
            }
            self.after_placeholder = true;
            pieces.push(Piece::Guard(Guard {
                reason: GuardReason::UnsupportedFact,
                kind: block.kind,
                text: text[block.start..block.end].to_owned(),
            }));
            at = block.end;
        }
        self.say(&text[at..], &mut pieces);
        self.remember(&held);
        pieces
    }

    /// Returns the unsupported numbers in order. Words that only join two of them are removed as well.
    fn blocks(&self, text: &str, before: usize) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for fact in read(text, self.lexicon) {
            if fact.range.end <= before || self.known.supports(&fact) {
                continue;
            }
            let start = fact.range.start.max(before);
            match blocks.last_mut() {
                Some(last) if only_joins(&text[last.end..start], self.lexicon) => last.end = fact.range.end,
                _ => blocks.push(Block { start, end: fact.range.end, kind: fact.value.kind() }),
            }
        }
        blocks
    }

    fn say(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        if text.chars().any(char::is_alphanumeric) {
            self.after_placeholder = false;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text.to_owned()));
        }
    }

    /// Keeps the end of what the model said on this line, from the beginning of a word on.
    fn remember(&mut self, text: &str) {
        self.context.push_str(text);
        let Some((cut, _)) = self.context.char_indices().rev().nth(CONTEXT_CHARS) else { return };
        if let Some(space) = self.context[cut..].find(char::is_whitespace) {
            self.context.drain(..cut + space);
        }
    }
}

struct Block {
    start: usize,
    end: usize,
    kind: &'static str,
}
