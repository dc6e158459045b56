//! Reads whether and how a message answers a question of the desk.
//!
//! Only a yes lets the desk do what cannot be undone, so its clause must say nothing else, and no clause may ask, doubt or say no.
//! A no and a cancel count among other words, too. Anything else is not an answer, and the desk repeats its question.

use std::ops::Range;

use serde::Deserialize;

use crate::dialogue::Answer;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, match_mask};

/// How a message answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub answer: Option<Answer>,
    /// The answer if the question was whether to cancel an order.
    pub answer_to_cancel: Option<Answer>,
    /// The message contains the word for cancelling something.
    pub mentions_cancel: bool,
    /// See [`Act::Hesitate`](crate::dialogue::Act::Hesitate).
    pub hesitates: bool,
    pub has_question: bool,
    /// See [`Act::Equivocate`](crate::dialogue::Act::Equivocate).
    pub equivocates: bool,
}

/// The words of answers, as patterns (`[answers]` of `prompts/rules/returns.LANG.toml`).
#[derive(Debug)]
pub struct AnswerRules {
    yes: Vec<Pattern>,
    weak_yes: Vec<Pattern>,
    no: Vec<Pattern>,
    cancel: Vec<Pattern>,
    again: Vec<Pattern>,
    cancelling: Vec<Pattern>,
    keeping: Vec<Pattern>,
    harmless: Vec<Pattern>,
    unsure: Vec<Pattern>,
    negations: Vec<Pattern>,
    brakes: Vec<Pattern>,
    asks: Vec<Pattern>,
    doubtful: Vec<Pattern>,
    around: Vec<Pattern>,
    wishing: Vec<Pattern>,
}

/// The lists of the rule file, which explains each.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AnswerFile {
    yes: Vec<String>,
    weak_yes: Vec<String>,
    no: Vec<String>,
    cancel: Vec<String>,
    again: Vec<String>,
    cancelling: Vec<String>,
    keeping: Vec<String>,
    harmless: Vec<String>,
    unsure: Vec<String>,
    negations: Vec<String>,
    brakes: Vec<String>,
    asks: Vec<String>,
    doubtful: Vec<String>,
    around: Vec<String>,
    wishing: Vec<String>,
}

/// A part of a message between punctuation marks.
struct Clause {
    words: Range<usize>,
    asks: bool,
    tells_damage: bool,
}

impl AnswerRules {
    pub(super) fn new(file: &AnswerFile, lexicon: &Lexicon) -> Result<Self, InvalidPattern> {
        let patterns = |written: &[String]| lexicon.patterns(written);
        Ok(Self {
            yes: patterns(&file.yes)?,
            weak_yes: patterns(&file.weak_yes)?,
            no: patterns(&file.no)?,
            cancel: patterns(&file.cancel)?,
            again: patterns(&file.again)?,
            cancelling: patterns(&file.cancelling)?,
            keeping: patterns(&file.keeping)?,
            harmless: patterns(&file.harmless)?,
            unsure: patterns(&file.unsure)?,
            negations: patterns(&file.negations)?,
            brakes: patterns(&file.brakes)?,
            asks: patterns(&file.asks)?,
            doubtful: patterns(&file.doubtful)?,
            around: patterns(&file.around)?,
            wishing: patterns(&file.wishing)?,
        })
    }

    /// Reads the answer in a message. A negation in a clause that reports damage ("it does not turn on") is not a no;
    /// `tells_damage` decides which clauses do.
    pub fn read(&self, stream: &TokenStream<'_>, tells_damage: impl Fn(&str) -> bool) -> Reading {
        let harmless = match_mask(&self.harmless, stream, &[]);
        let clauses = self.clauses(stream, &harmless, tells_damage);
        let cancelling = match_mask(&self.cancelling, stream, &harmless);
        let seen = Seen::new(self, stream, &clauses, harmless.clone(), &[]);
        let hidden = harmless.iter().zip(&cancelling).map(|(a, b)| *a || *b).collect();
        let at_offer = Seen::new(self, stream, &clauses, hidden, &cancelling);
        let keeping = match_mask(&self.keeping, stream, &harmless);
        let answer = seen.answer();
        Reading {
            answer,
            answer_to_cancel: if seen.states(&keeping) { Some(Answer::No) } else { at_offer.answer() },
            mentions_cancel: cancelling.contains(&true),
            hesitates: seen.hesitates || matches!(answer, Some(Answer::No | Answer::Cancel)),
            has_question: clauses.iter().any(|clause| clause.asks),
            equivocates: finds(&self.doubtful, stream, &[]),
        }
    }

    /// Whether the message is nothing but answers, numbers and addresses.
    pub fn is_nothing_else(&self, stream: &TokenStream<'_>) -> bool {
        let lists = [&self.yes, &self.weak_yes, &self.no, &self.cancel, &self.again, &self.around];
        let answers = merged(lists.map(|patterns| match_mask(patterns, stream, &[])));
        answers.iter().zip(figures(stream)).all(|(answer, figure)| *answer || figure)
    }

    fn clauses(&self, stream: &TokenStream<'_>, hidden: &[bool], tells_damage: impl Fn(&str) -> bool) -> Vec<Clause> {
        // "That is what I ordered" and "đâu phải" have the words of a question, and are answers.
        let answers = merged([&self.yes, &self.no].map(|patterns| match_mask(patterns, stream, hidden)));
        let asks = match_mask(&self.asks, stream, hidden);
        let asks: Vec<bool> = asks.iter().zip(answers).map(|(asks, answers)| *asks && !answers).collect();
        let mut clauses = Vec::new();
        let mut at = 0;
        while at < stream.tokens().len() {
            let words = stream.clause(at);
            let end = stream.tokens()[words.end - 1].span.end;
            let next = stream.tokens().get(words.end).map_or(stream.text().len(), |token| token.span.start);
            let marks = stream.text().get(end..next).unwrap_or_default();
            clauses.push(Clause {
                asks: marks.contains(['?', '？']) || asks[words.clone()].contains(&true),
                tells_damage: tells_damage(stream.source(words.clone())),
                words: words.clone(),
            });
            at = words.end.max(at + 1);
        }
        clauses
    }
}

/// The words of a message that each list matches.
struct Seen<'s> {
    clauses: &'s [Clause],
    yes: Vec<bool>,
    no: Vec<bool>,
    cancel: Vec<bool>,
    again: Vec<bool>,
    weak_yes: Vec<bool>,
    unsure: Vec<bool>,
    /// The words that may accompany a yes.
    allowed: Vec<bool>,
    hesitates: bool,
}

impl<'s> Seen<'s> {
    /// `also_yes`: further words that are a yes here.
    fn new(
        rules: &AnswerRules,
        stream: &TokenStream<'_>,
        clauses: &'s [Clause],
        hidden: Vec<bool>,
        also_yes: &[bool],
    ) -> Self {
        let of = |patterns: &[Pattern]| match_mask(patterns, stream, &hidden);
        let mut yes = of(&rules.yes);
        yes.iter_mut().zip(also_yes).for_each(|(yes, also)| *yes |= also);
        let weak_yes = of(&rules.weak_yes);
        // Words after an answer may belong to it: "that is not my order" has words of a yes.
        let allowed = merged([
            yes.clone(),
            weak_yes.clone(),
            of(&rules.around),
            of(&rules.wishing),
            of(&rules.again),
            hidden.clone(),
            figures(stream),
        ]);
        let (negations, brakes) = (of(&rules.negations), of(&rules.brakes));
        let unsure = of(&rules.unsure);
        let hesitates = clauses.iter().any(|clause| {
            let denies = has(&negations, clause) && !clause.tells_damage;
            denies || has(&brakes, clause) || has(&unsure, clause)
        });
        Self {
            no: of(&rules.no),
            cancel: of(&rules.cancel),
            again: of(&rules.again),
            clauses,
            yes,
            weak_yes,
            unsure,
            allowed,
            hesitates,
        }
    }

    /// A cancel is stronger than a no, a no than a yes ("no, that's not correct").
    fn answer(&self) -> Option<Answer> {
        if self.states(&self.cancel) {
            Some(Answer::Cancel)
        } else if self.states(&self.no) {
            Some(Answer::No)
        } else if self.hesitates || self.clauses.iter().any(|clause| clause.asks) {
            None
        } else if self.states(&self.again) {
            Some(Answer::Again)
        } else {
            self.agrees().then_some(Answer::Yes)
        }
    }

    /// Whether a clause that neither asks nor doubts has a flagged word.
    fn states(&self, flags: &[bool]) -> bool {
        self.clauses.iter().any(|clause| !clause.asks && has(flags, clause) && !has(&self.unsure, clause))
    }

    /// "Yes, I bought it for my son" agrees; "ok" does only where nothing else is said ("ok, let my son decide").
    fn agrees(&self) -> bool {
        let is_clean =
            |clause: &Clause| clause.tells_damage || self.allowed[clause.words.clone()].iter().all(|word| *word);
        let agrees_with = |flags: &[bool]| self.clauses.iter().any(|clause| has(flags, clause) && is_clean(clause));
        agrees_with(&self.yes) || (agrees_with(&self.weak_yes) && self.clauses.iter().all(is_clean))
    }
}

fn has(flags: &[bool], clause: &Clause) -> bool {
    flags.get(clause.words.clone()).is_some_and(|flags| flags.contains(&true))
}

fn finds(patterns: &[Pattern], stream: &TokenStream<'_>, hidden: &[bool]) -> bool {
    patterns.iter().any(|pattern| pattern.find(stream, hidden).is_some())
}

fn merged<const N: usize>(lists: [Vec<bool>; N]) -> Vec<bool> {
    let mut lists = lists.into_iter();
    let mut merged = lists.next().unwrap_or_default();
    for list in lists {
        merged.iter_mut().zip(list).for_each(|(to, flag)| *to |= flag);
    }
    merged
}

/// Returns for each word whether it is part of a number or an address.
fn figures(stream: &TokenStream<'_>) -> Vec<bool> {
    let mut figures = Vec::with_capacity(stream.tokens().len());
    let mut tokens = stream.tokens().iter().peekable();
    let mut end = 0;
    for piece in stream.text().split_inclusive(char::is_whitespace) {
        end += piece.len();
        let is_figure = piece.contains(|c: char| c == '@' || c.is_ascii_digit());
        while tokens.next_if(|token| token.span.start < end).is_some() {
            figures.push(is_figure);
        }
    }
    figures
}

#[cfg(test)]
mod tests;
