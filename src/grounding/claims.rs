//! Finds claims of a language model that only an action of the desk can make true. The words are data:
//! `prompts/rules/claims.LANG.toml`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use crate::domain::string_enum;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, Token, TokenStream};
use crate::persona::{PromptError, Prompts};

string_enum! {
    /// A statement that a model must not make unless it is true.
    pub enum Claim {
        /// A return, a refund or a ticket was made.
        Made = "made",
        /// The money was paid.
        Refunded = "refunded",
        Mailed = "mailed",
        /// A person of the shop knows.
        HandedOver = "handed_over",
        /// It may come back.
        Eligible = "eligible",
        /// It may not.
        Refused = "refused",
        /// The order was called off.
        Cancelled = "cancelled",
        /// Something else was done: an order placed, goods reserved, a warranty extended.
        Acted = "acted",
        /// Money will be paid.
        Promised = "promised",
        /// A discount, a gift, something for nothing.
        Offered = "offered",
        /// Asks the customer for a password, a one-time code or the data of a card. Never supported.
        AsksSecret = "asks_secret",
        /// Says that the assistant is a person, or no machine. Never supported.
        IsHuman = "is_human",
    }
}

impl Claim {
    /// Whether documents can support it: they describe the shop's services, not what was done in a conversation.
    fn may_be_quoted(self) -> bool {
        matches!(self, Self::Mailed | Self::HandedOver | Self::Promised | Self::Offered)
    }
}

/// The claims that are true in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub made: bool,
    pub refunded: bool,
    pub handed_over: bool,
    pub eligible: bool,
    pub refused: bool,
    pub offered: bool,
}

impl Facts {
    /// For a desk that only answers from documents, which describe what may come back.
    pub const OF_DOCUMENTS: Self =
        Self { made: false, refunded: false, handed_over: false, eligible: true, refused: true, offered: false };

    fn supports(&self, claim: Claim) -> bool {
        match claim {
            Claim::Made | Claim::Acted | Claim::Promised => self.made,
            Claim::Refunded => self.refunded,
            Claim::HandedOver => self.handed_over,
            Claim::Eligible => self.eligible,
            Claim::Refused => self.refused,
            Claim::Offered => self.offered,
            Claim::Mailed | Claim::Cancelled | Claim::AsksSecret | Claim::IsHuman => false,
        }
    }
}

/// The words of claims.
#[derive(Debug)]
pub struct ClaimRules {
    lexicon: Lexicon,
    suppositions: Vec<Pattern>,
    negations: Vec<Pattern>,
    claims: Vec<(Claim, Pattern)>,
    /// The places in `claims` by the words that they can begin with.
    by_first_word: HashMap<String, Vec<usize>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RuleFile {
    plain_words: Vec<String>,
    suppositions: Vec<String>,
    negations: Vec<String>,
    #[serde(flatten)]
    claims: BTreeMap<Claim, Vec<String>>,
}

impl ClaimRules {
    /// Reads `rules/claims.*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Arc<Self>, PromptError> {
        prompts.shared(&prompts.files_of_rules(&["claims"])?, || prompts.rules(&["claims"], Self::new))
    }

    fn new(file: RuleFile) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(HashMap::new(), HashMap::new()).with_plain_words(&file.plain_words);
        let mut claims = Vec::new();
        let mut by_first_word: HashMap<String, Vec<usize>> = HashMap::new();
        for (claim, written) in file.claims {
            for pattern in lexicon.patterns(&written)? {
                let Some(first_words) = pattern.first_words() else {
                    return Err(InvalidPattern::Empty(format!("{} begins with any word", claim.as_str())));
                };
                for opening in first_words {
                    by_first_word.entry(opening.to_owned()).or_default().push(claims.len());
                }
                claims.push((claim, pattern));
            }
        }
        let (suppositions, negations) = (lexicon.patterns(&file.suppositions)?, lexicon.patterns(&file.negations)?);
        Ok(Self { lexicon, suppositions, negations, claims, by_first_word })
    }

    /// The patterns that may begin at these words, each once, those of the first claims first.
    fn candidates(&self, words: &[Token]) -> impl Iterator<Item = &(Claim, Pattern)> {
        let places = words.iter().filter_map(|word| self.by_first_word.get(word.folded())).flatten().copied();
        let places: BTreeSet<usize> = places.collect();
        places.into_iter().filter_map(|place| self.claims.get(place))
    }

    /// The claims that one of the shop's documents makes, with the words in which it makes them.
    pub(super) fn quoted(&self, document: &str) -> Quoted {
        let mut quoted = Quoted::default();
        let stream = self.lexicon.tokenize(document);
        for (claim, pattern) in self.candidates(stream.tokens()).filter(|(claim, _)| claim.may_be_quoted()) {
            if pattern.find(&stream, &[]).is_some() {
                let words = stream.tokens().iter().map(|token| (claim.as_str(), token.folded().to_owned()));
                quoted.0.extend(words);
            }
        }
        quoted
    }

    fn first_unsupported(&self, stream: &TokenStream<'_>, facts: &Facts, quoted: &Quoted) -> Option<Claim> {
        let has = |patterns: &[Pattern], clause: &Range<usize>| {
            let mut places = patterns.iter().flat_map(|pattern| pattern.find_all(stream, &[]));
            places.any(|place| clause.contains(&place.start))
        };
        let is_meant = |claim: Claim, place: &Range<usize>| {
            let clause = stream.clause(place.start);
            let is_denied = matches!(claim, Claim::AsksSecret | Claim::Offered) && has(&self.negations, &clause);
            // Asking is what a claim on a secret does.
            let is_open = || match claim {
                Claim::AsksSecret => false,
                Claim::IsHuman => is_asked(stream, clause.end),
                _ => is_asked(stream, clause.end) || has(&self.suppositions, &clause),
            };
            !is_denied && !is_open()
        };
        let is_quoted = |claim: Claim, place: &Range<usize>| {
            let words = &stream.tokens()[place.clone()];
            claim.may_be_quoted() && words.iter().all(|word| quoted.has(claim, word.folded()))
        };
        let mut claimed: Vec<Claim> = Vec::new();
        for (claim, pattern) in self.candidates(stream.tokens()) {
            let mut places = pattern.find_all(stream, &[]).into_iter();
            if !claimed.contains(claim) && places.any(|place| is_meant(*claim, &place) && !is_quoted(*claim, &place)) {
                claimed.push(*claim);
            }
        }
        // "Not eligible" matches both, and means the refusal.
        if claimed.contains(&Claim::Refused) {
            claimed.retain(|claim| *claim != Claim::Eligible);
        }
        claimed.into_iter().find(|claim| !facts.supports(*claim))
    }

    /// Whether a claim may begin at a word.
    fn may_begin(&self, word: &str) -> bool {
        let stream = self.lexicon.tokenize(word);
        stream.tokens().iter().any(|token| self.by_first_word.contains_key(token.folded()))
    }

    /// The first of these words, the last of the text, at which a claim stands or may begin.
    fn first_open(&self, stream: &TokenStream<'_>, mut words: Range<usize>) -> Option<usize> {
        let is_open = |at: &usize| {
            let opens =
                |place: &usize| self.claims.get(*place).is_some_and(|(_, claim)| claim.may_match_at(stream, *at));
            let patterns = stream.tokens().get(*at).and_then(|word| self.by_first_word.get(word.folded()));
            patterns.is_some_and(|places| places.iter().any(opens))
        };
        words.find(is_open)
    }
}

/// The words in which documents make claims.
#[derive(Debug, Default)]
pub(super) struct Quoted(HashSet<(&'static str, String)>);

impl Quoted {
    /// Adds the claims of another document.
    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    fn has(&self, claim: Claim, word: &str) -> bool {
        self.0.contains(&(claim.as_str(), word.to_owned()))
    }
}

/// Whether a question mark follows the words before this place.
fn is_asked(stream: &TokenStream<'_>, end: usize) -> bool {
    let Some(last) = stream.tokens()[..end].last() else { return false };
    let after = stream.text()[last.span.end..].trim_start_matches(['*', '_', '"', '\'', ' ', ')']);
    after.starts_with('?')
}

/// From this length in bytes, a sentence is shortened after each word. Text of twice this length without a space counts as a sentence.
const LONGEST_SENTENCE: usize = 600;

/// The result of checking the next character.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClaimCheck {
    /// A text without an unsupported claim.
    Clear(String),
    /// An unsupported claim, and its words.
    Unsupported(Claim, String),
}

/// Holds a reply back from a word at which a claim may begin to the end of its clause; other words pass one by one.
pub(super) struct ClaimWatch<'a> {
    rules: &'a ClaimRules,
    facts: Facts,
    quoted: Quoted,
    /// The sentence so far, and how much of it was let out.
    sentence: String,
    released: usize,
}

impl<'a> ClaimWatch<'a> {
    pub(super) fn new(rules: &'a ClaimRules, facts: Facts, quoted: Quoted) -> Self {
        Self { rules, facts, quoted, sentence: String::new(), released: 0 }
    }

    pub(super) fn push(&mut self, c: char) -> ClaimCheck {
        let check = self.read(c);
        if c.is_whitespace() && self.sentence.len() >= LONGEST_SENTENCE {
            self.shorten();
        }
        check
    }

    fn read(&mut self, c: char) -> ClaimCheck {
        let before = self.sentence.chars().next_back();
        self.sentence.push(c);
        let is_endless = self.sentence.len() >= 2 * LONGEST_SENTENCE;
        if !c.is_whitespace() && !is_endless {
            return ClaimCheck::Clear(String::new());
        }
        if is_endless || c == '\n' || before.is_some_and(|before| ".!?…".contains(before)) {
            let check = self.decide();
            self.sentence.clear();
            self.released = 0;
            return check;
        }
        if before.is_some_and(|before| ",;:()".contains(before)) {
            return self.decide();
        }
        // Nothing is held but this word: the words before it begin no claim.
        let word = self.sentence[self.released..].trim();
        if !word.contains(char::is_whitespace) && !self.rules.may_begin(word) {
            return ClaimCheck::Clear(self.release(self.sentence.len()));
        }
        let stream = self.rules.lexicon.tokenize(&self.sentence);
        let tokens = stream.tokens();
        let clause = stream.clause(tokens.len().saturating_sub(1));
        let has_earlier = tokens[..clause.start].last().is_some_and(|word| word.span.end > self.released);
        if has_earlier && self.rules.first_unsupported(&stream, &self.facts, &self.quoted).is_some() {
            return self.decide();
        }
        let open = self.rules.first_open(&stream, clause).and_then(|word| tokens.get(word));
        let end = open.map_or(self.sentence.len(), |token| token.span.start);
        ClaimCheck::Clear(self.release(end))
    }

    pub(super) fn finish(&mut self) -> ClaimCheck {
        self.decide()
    }

    /// The clause has ended: all of it may be said, or nothing.
    fn decide(&mut self) -> ClaimCheck {
        let stream = self.rules.lexicon.tokenize(&self.sentence);
        let claim = self.rules.first_unsupported(&stream, &self.facts, &self.quoted);
        let text = self.release(self.sentence.len());
        claim.map_or(ClaimCheck::Clear(text.clone()), |claim| ClaimCheck::Unsupported(claim, text))
    }

    /// Forgets what precedes the last clause, or, if that is long itself, what precedes a claim that may have begun.
    fn shorten(&mut self) {
        let stream = self.rules.lexicon.tokenize(&self.sentence);
        let last = stream.clause(stream.tokens().len().saturating_sub(1)).start;
        let clause = stream.tokens().get(last).map_or(0, |word| word.span.start).min(self.released);
        let cut = if self.sentence.len() - clause < LONGEST_SENTENCE { clause } else { self.released };
        self.sentence.drain(..cut);
        self.released -= cut;
    }

    fn release(&mut self, end: usize) -> String {
        let text = self.sentence.get(self.released..end).unwrap_or_default().to_owned();
        self.released = self.released.max(end);
        text
    }
}

#[cfg(test)]
mod tests;
