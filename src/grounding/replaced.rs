//! Counts the numbers that were replaced in a reply.

/// The most numbers that are replaced in one reply. A reply with more would be unreadable, so it ends.
const MOST: usize = 2;
/// The same for one of its sentences.
const MOST_IN_SENTENCE: usize = 1;

#[derive(Debug, Default)]
pub(super) struct Replaced {
    in_reply: usize,
    in_sentence: usize,
    /// The sentence has ended if a space follows.
    may_end: bool,
}

impl Replaced {
    /// Counts one more number.
    pub(super) fn add(&mut self) {
        self.in_reply += 1;
        self.in_sentence += 1;
        self.may_end = false;
    }

    /// Reads a text of the reply, for the ends of its sentences.
    pub(super) fn pass(&mut self, text: &str) {
        for c in text.chars() {
            if c == '\n' || (self.may_end && c.is_whitespace()) {
                self.in_sentence = 0;
            }
            // Signs that close emphasis or a quotation may stand between.
            self.may_end = ".!?…".contains(c) || (self.may_end && "*_)]\"”’»".contains(c));
        }
    }

    pub(super) fn are_too_many(&self) -> bool {
        self.in_reply > MOST || self.in_sentence > MOST_IN_SENTENCE
    }
}
