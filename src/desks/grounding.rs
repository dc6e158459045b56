//! What a language model says, held against what it was given, while it is being said.
//!
//! A reply goes through three filters, letter by letter, so that it does not matter where a model's packets are cut:
//!
//! - [`canary`]: the model does not read out its instructions,
//! - [`links`]: links lead to the shop's own hosts or nowhere,
//! - [`lock`]: a number stands in the sources, by value, or does not leave ([`crate::domain::facts`]).
//!
//! A desk needs a few lines: a [`Grounded`] for each reply over [`Turn::sources`](crate::desks::Turn::sources) and its own
//! passages, then `turn.show(kind, speech.push(&delta))` for each delta, and `turn.show(kind, speech.finish())`.

use crate::domain::facts::{Known, Lexicon};
use crate::domain::{GuardReason, LinkHost};

mod canary;
pub mod claims;
mod links;
mod lock;
#[cfg(test)]
mod tests;

pub use canary::Canary;
use canary::Watched;
use links::Links;
use lock::FactLock;

/// What all replies are held against.
#[derive(Clone, Debug)]
pub struct Grounding {
    lexicon: Lexicon,
    hosts: Vec<LinkHost>,
    canary: Canary,
}

/// The texts that one reply may stand on.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    /// The shop's own: passages, tools' results, the persona, instructions.
    pub shop: Vec<&'a str>,
    /// What the customer said: serials, numbers of orders and telephones, quantities, budgets may be repeated.
    pub customer: Vec<&'a str>,
    /// What earlier replies said.
    pub replies: Vec<&'a str>,
}

/// The words that stand in for what is held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandIns<'a> {
    /// For a number.
    pub number: &'a str,
    /// For the rest of a reply that began to read out its instructions.
    pub rest: &'a str,
}

/// Something was held back. What it was is for the shop's own eyes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    pub reason: GuardReason,
    /// What sort of value it was.
    pub kind: &'static str,
    /// The text as the model wrote it; nothing of a leak.
    pub text: String,
}

/// What comes out of the filters, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// May be shown; never empty.
    Text(String),
    /// Something was held back here.
    Guard(Guard),
}

impl Grounding {
    pub fn new(lexicon: Lexicon, hosts: Vec<LinkHost>, canary: Canary) -> Self {
        Self { lexicon, hosts, canary }
    }

    /// The line that belongs into every prompt.
    pub fn canary(&self) -> &Canary {
        &self.canary
    }
}

/// A reply while it is being said.
pub struct Grounded<'a> {
    canary: Watched<'a>,
    links: Links<'a>,
    lock: FactLock<'a>,
    rest: &'a str,
    pieces: Vec<Piece>,
    /// Whether text came out, and whether it ended in a space.
    said: Option<char>,
    closed: bool,
}

impl<'a> Grounded<'a> {
    pub fn new(grounding: &'a Grounding, stand_ins: &StandIns<'a>, sources: &Sources<'_>) -> Self {
        let lexicon = &grounding.lexicon;
        let mut known = Known::default();
        sources.shop.iter().for_each(|text| known.add(text, lexicon));
        sources.customer.iter().for_each(|text| known.add_customer(text, lexicon));
        sources.replies.iter().for_each(|text| known.add_reply(text, lexicon));
        let addresses = sources.shop.iter().chain(&sources.customer).flat_map(|text| links::addresses(text)).collect();
        Self {
            canary: Watched::new(&grounding.canary),
            links: Links::new(&grounding.hosts, addresses),
            lock: FactLock::new(lexicon, known, stand_ins.number),
            rest: stand_ins.rest,
            pieces: Vec::new(),
            said: None,
            closed: false,
        }
    }

    /// Takes what the model said next, and gives what may be shown by now.
    pub fn push(&mut self, delta: &str) -> Vec<Piece> {
        for c in delta.chars() {
            if self.closed {
                break;
            }
            match self.canary.push(c) {
                canary::Seen::Clear(text) => self.clear(&text),
                canary::Seen::Leak => self.close(),
            }
        }
        std::mem::take(&mut self.pieces)
    }

    /// The model has ended; gives what was waited with. May be called when it broke off, too.
    pub fn finish(&mut self) -> Vec<Piece> {
        if !self.closed {
            match self.canary.finish() {
                canary::Seen::Clear(text) => {
                    self.clear(&text);
                    self.flush();
                }
                canary::Seen::Leak => self.close(),
            }
            self.closed = true;
        }
        std::mem::take(&mut self.pieces)
    }

    /// Whether nothing more will come out, so that the model need not go on.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    fn clear(&mut self, text: &str) {
        for c in text.chars() {
            let parts = self.links.push(c);
            self.pass(parts);
        }
    }

    fn flush(&mut self) {
        let parts = self.links.finish();
        self.pass(parts);
        let pieces = self.lock.finish();
        self.take(pieces);
    }

    fn close(&mut self) {
        self.flush();
        self.take(vec![Piece::Guard(Guard { reason: GuardReason::PromptLeak, kind: "canary", text: String::new() })]);
        let space = if self.said.is_some_and(|last| !last.is_whitespace()) { " " } else { "" };
        self.take(vec![Piece::Text(format!("{space}{}", self.rest))]);
        self.closed = true;
    }

    fn pass(&mut self, parts: Vec<links::Part>) {
        for part in parts {
            let pieces = match part {
                links::Part::Text(text) => text.chars().flat_map(|c| self.lock.push(c)).collect(),
                links::Part::Kept(text) => self.lock.keep(&text),
                links::Part::Dropped(text) => {
                    vec![Piece::Guard(Guard { reason: GuardReason::Link, kind: "link", text })]
                }
            };
            self.take(pieces);
        }
    }

    fn take(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            if let Piece::Text(text) = &piece {
                self.said = text.chars().next_back().or(self.said);
            }
            add(&mut self.pieces, piece);
        }
    }
}

/// The same pieces, texts in a row as one: for what is said at once.
pub fn joined(pieces: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
    let mut all = Vec::new();
    pieces.into_iter().for_each(|piece| add(&mut all, piece));
    all
}

fn add(pieces: &mut Vec<Piece>, piece: Piece) {
    match (piece, pieces.last_mut()) {
        (Piece::Text(text), Some(Piece::Text(last))) => last.push_str(&text),
        (Piece::Text(text), _) if text.is_empty() => {}
        (piece, _) => pieces.push(piece),
    }
}
