//! Checks the reply of a language model against its sources while it streams.
//!
//! A reply passes these filters character by character, so the result does not depend on how the model splits it into packets:
//!
//! - [`canary`] and [`leak`] stop a reply that quotes its instructions,
//! - [`claims`] stops claims and promises that neither the desk nor the documents support,
//! - [`links`] removes links to hosts that are not allowed,
//! - [`lock`] replaces numbers whose value is not in the sources ([`crate::nlu::facts`]).
//!
//! A desk makes a [`Grounded`] for each reply, from [`Turn::sources`](crate::desks::Turn::sources) and its passages, then calls
//! `turn.show(kind, grounded.push(&delta))` for each delta and `turn.show(kind, grounded.finish())` at the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::domain::commerce::Currency;
use crate::domain::{GuardReason, LinkHost};
use crate::nlu::facts::{Known, Lexicon};
use crate::persona::{PromptError, Prompts};

mod canary;
pub mod claims;
mod leak;
mod links;
mod lock;
mod reading;
mod replaced;
mod sources;
#[cfg(test)]
pub(super) mod tests;

pub use canary::Canary;
use canary::{Seen, Watched};
use claims::{Claim, ClaimCheck, ClaimRules, ClaimWatch, Quoted};
use leak::LeakWatch;
use links::{KnownAddresses, LinkWords, Links, Part};
use lock::FactLock;
use reading::Readings;
use replaced::Replaced;
pub use sources::{Placeholders, Sources};

/// The words that the checks know: `rules/facts*`, `rules/claims*` and `rules/links*`.
#[derive(Clone, Debug)]
pub struct GroundingRules {
    facts: Lexicon,
    claims: Arc<ClaimRules>,
    links: LinkWords,
}

impl GroundingRules {
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        let claims = ClaimRules::read(prompts)?;
        Ok(Self { facts: Lexicon::read(prompts)?, claims, links: LinkWords::read(prompts)? })
    }

    /// Returns the rules for a shop with this currency.
    #[must_use]
    pub fn in_currency(self, currency: Currency) -> Self {
        Self { facts: self.facts.in_currency(currency), ..self }
    }
}

/// The checks that all replies share.
#[derive(Clone, Debug)]
pub struct Grounding {
    rules: GroundingRules,
    hosts: Vec<LinkHost>,
    canary: Canary,
    readings: Arc<Readings>,
}

/// What a check removed. Only the shop sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    pub reason: GuardReason,
    /// What sort of value it was.
    pub kind: &'static str,
    /// The text as the model wrote it; nothing of a leak.
    pub text: String,
}

/// A part of the checked reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// May be shown; never empty.
    Text(String),
    /// Something was held back here.
    Guard(Guard),
}

impl Grounding {
    pub fn new(rules: GroundingRules, hosts: Vec<LinkHost>, canary: Canary) -> Self {
        Self { rules, hosts, canary, readings: Arc::default() }
    }

    /// The canary. Its line is part of every prompt.
    pub fn canary(&self) -> &Canary {
        &self.canary
    }

    /// Checks a whole reply. Returns what may be shown, and whether the checks ended it early.
    pub fn check(&self, text: &str, placeholders: &Placeholders<'_>, sources: &Sources<'_>) -> (Vec<Piece>, bool) {
        let mut reply = Grounded::new(self, placeholders, sources);
        let mut pieces = reply.push(text);
        pieces.extend(reply.finish());
        (pieces, reply.stopped().is_some())
    }
}

/// Checks one reply while it streams.
pub struct Grounded<'a> {
    canary: Watched<'a>,
    leak: LeakWatch,
    claims: ClaimWatch<'a>,
    links: Links<'a>,
    lock: FactLock<'a>,
    placeholders: Placeholders<'a>,
    pieces: Vec<Piece>,
    /// The last character that came out, and the last one other than a space.
    said: Option<char>,
    said_sign: Option<char>,
    /// Whether any word came out.
    has_words: bool,
    /// The text without words since an address that was removed before the first word.
    text_after_link: Option<String>,
    replaced: Replaced,
    closed: bool,
    /// Why the reply ended before the model did.
    stopped: Option<GuardReason>,
}

impl<'a> Grounded<'a> {
    pub fn new(grounding: &'a Grounding, placeholders: &Placeholders<'a>, sources: &Sources<'_>) -> Self {
        let GroundingRules { facts: lexicon, claims, links } = &grounding.rules;
        let (mut known, mut addresses, mut quoted) = (Known::default(), KnownAddresses::default(), Quoted::default());
        let mut quotable = Vec::new();
        for text in &sources.shop {
            let reading = grounding.readings.of(text, &grounding.rules);
            known.add(reading.values.clone());
            addresses.extend(&reading.addresses);
            if !sources.instructions.contains(text) {
                quoted.extend(&reading.quoted);
                quotable.push(reading.words.clone());
            }
        }
        // A customer may have written the same several times.
        for text in sources.customer.iter().collect::<BTreeSet<_>>() {
            let reading = grounding.readings.of_customer(text, &grounding.rules);
            known.add_customer(reading.values.clone());
            addresses.extend(&reading.addresses);
            quotable.push(reading.words.clone());
        }
        for text in &sources.replies {
            known.add_reply(text, &grounding.readings.of_reply(text, &grounding.rules), lexicon);
        }
        let instructions =
            sources.instructions.iter().map(|text| grounding.readings.of(text, &grounding.rules).words.clone());
        Self {
            canary: Watched::new(&grounding.canary),
            leak: LeakWatch::new(instructions, quotable),
            claims: ClaimWatch::new(claims, sources.claims, quoted),
            links: Links::new(links, &grounding.hosts, addresses),
            lock: FactLock::new(lexicon, known, placeholders.number),
            placeholders: placeholders.clone(),
            pieces: Vec::new(),
            said: None,
            said_sign: None,
            has_words: false,
            text_after_link: None,
            replaced: Replaced::default(),
            closed: false,
            stopped: None,
        }
    }

    /// Takes what the model said next, and gives what may be shown by now.
    pub fn push(&mut self, delta: &str) -> Vec<Piece> {
        for c in delta.chars() {
            if self.closed {
                break;
            }
            match self.canary.push(c) {
                Seen::Clear(text) => self.check_instructions(&text),
                Seen::Leak => self.stop_leak("canary"),
            }
        }
        std::mem::take(&mut self.pieces)
    }

    /// The model has ended; gives what was waited with. May be called when it broke off, too.
    pub fn finish(&mut self) -> Vec<Piece> {
        if !self.closed {
            match self.canary.finish() {
                Seen::Clear(text) => self.check_instructions(&text),
                Seen::Leak => self.stop_leak("canary"),
            }
        }
        if !self.closed {
            match self.leak.finish() {
                Seen::Clear(text) => self.check_claims(&text),
                Seen::Leak => self.stop_leak("instructions"),
            }
        }
        if !self.closed {
            let check = self.claims.finish();
            self.take_check(check);
        }
        if !self.closed {
            self.flush();
            self.closed = true;
        }
        std::mem::take(&mut self.pieces)
    }

    /// Whether the reply has ended, so the model can be stopped.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Why the reply was ended before the model ended it.
    pub fn stopped(&self) -> Option<GuardReason> {
        self.stopped
    }

    fn check_instructions(&mut self, text: &str) {
        for c in text.chars() {
            match self.leak.push(c) {
                Seen::Clear(text) => self.check_claims(&text),
                Seen::Leak => self.stop_leak("instructions"),
            }
            if self.closed {
                break;
            }
        }
    }

    fn check_claims(&mut self, text: &str) {
        for c in text.chars() {
            let check = self.claims.push(c);
            self.take_check(check);
            if self.closed {
                break;
            }
        }
    }

    fn take_check(&mut self, check: ClaimCheck) {
        match check {
            ClaimCheck::Clear(text) => self.clear(&text),
            ClaimCheck::Unsupported(claim, text) => {
                self.flush();
                if !self.closed {
                    let rest = match claim {
                        Claim::IsHuman => self.placeholders.human,
                        _ => self.placeholders.claim,
                    };
                    let guard = Guard { reason: GuardReason::UnsupportedClaim, kind: claim.as_str(), text };
                    self.stop(guard, Some(rest));
                }
            }
        }
    }

    fn clear(&mut self, text: &str) {
        for c in text.chars() {
            let parts = self.links.push(c);
            self.pass(parts);
            if self.closed {
                break;
            }
        }
    }

    fn flush(&mut self) {
        let parts = self.links.finish();
        self.pass(parts);
        if !self.closed {
            let pieces = self.lock.finish();
            self.take(pieces);
        }
    }

    fn stop_leak(&mut self, kind: &'static str) {
        self.flush();
        if !self.closed {
            let guard = Guard { reason: GuardReason::PromptLeak, kind, text: String::new() };
            self.stop(guard, Some(self.placeholders.rest));
        }
    }

    /// Ends the reply here, with words for its rest if the desk has no others.
    fn stop(&mut self, guard: Guard, rest: Option<&str>) {
        self.stopped = Some(guard.reason);
        add(&mut self.pieces, Piece::Guard(guard));
        let mut end = String::new();
        // A sentence that was begun is seen to break off.
        if self.said_sign.is_some_and(|last| !".!?…:".contains(last)) {
            end.push('…');
        }
        if let Some(rest) = rest {
            let last = end.chars().next_back().or(self.said);
            end.push_str(if last.is_some_and(|last| !last.is_whitespace()) { " " } else { "" });
            end.push_str(rest);
        }
        add(&mut self.pieces, Piece::Text(end));
        self.closed = true;
    }

    fn pass(&mut self, parts: Vec<Part>) {
        for part in parts {
            if self.closed {
                break;
            }
            let link = |text| Piece::Guard(Guard { reason: GuardReason::Link, kind: "link", text });
            match part {
                Part::Text(text) => {
                    for c in text.chars() {
                        let pieces = self.lock.push(c);
                        self.take(pieces);
                    }
                }
                Part::Kept(text) => {
                    let pieces = self.lock.keep(&text);
                    self.take(pieces);
                }
                Part::Unlinked(text) => self.take(vec![link(text)]),
                Part::Dropped(text) => {
                    let pieces = self.lock.finish();
                    self.take(pieces);
                    // A reply that is nothing but an address is none.
                    if self.has_words {
                        let pieces = self.lock.keep(self.placeholders.link);
                        self.take(pieces);
                    } else {
                        self.text_after_link.get_or_insert_default();
                    }
                    self.take(vec![link(text)]);
                }
            }
        }
    }

    fn take(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            if self.closed {
                break;
            }
            match piece {
                Piece::Text(text) if text == self.placeholders.number => {
                    self.replaced.add();
                    if !self.replaced.are_too_many() {
                        self.say(text);
                    }
                }
                Piece::Text(text) => {
                    self.replaced.pass(&text);
                    self.say(text);
                }
                Piece::Guard(guard) if self.replaced.are_too_many() => self.stop(guard, None),
                guard @ Piece::Guard(_) => add(&mut self.pieces, guard),
            }
        }
    }

    fn say(&mut self, text: String) {
        let has_words = text.chars().any(char::is_alphanumeric);
        let text = match self.text_after_link.take() {
            Some(since) if !has_words => {
                self.text_after_link = Some(since + &text);
                return;
            }
            Some(since) => format!("{}{since}{text}", self.placeholders.link),
            None => text,
        };
        self.has_words |= has_words;
        self.said = text.chars().next_back().or(self.said);
        self.said_sign = text.trim_end().chars().next_back().or(self.said_sign);
        add(&mut self.pieces, Piece::Text(text));
    }
}

/// Joins neighboring texts, for a reply that is not streamed.
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
