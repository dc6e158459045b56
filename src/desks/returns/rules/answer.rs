//! Reads whether and how a message answers a question of the desk.
//!
//! Only a yes lets the desk do what cannot be undone, so no clause may doubt or say no. A clear yes may lead its clause, with a reason
//! or a question after it ("yes they pinch, who pays the shipping?"); any other yes must be a whole clause. A polite word that also
//! opens other sentences ("ok", "dạ", "vâng") is a yes only if the message says nothing else. A question that only doubts
//! ("yes?", "right?") takes the yes back. A no and a cancel count among other words, too. Anything else is not an answer, and the
//! desk repeats its question.

use std::ops::Range;

use super::intent::clauses_of;
use crate::dialogue::Answer;
use crate::domain::text::{Pattern, TokenStream, any_match, match_mask};
use crate::nlu::keywords::pattern_lists;

/// How a message answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub answer: Option<Answer>,
    /// The answer if the question was whether to cancel an order.
    pub answer_to_cancel: Option<Answer>,
    /// The answer if the question was whether to open a ticket for a person.
    pub answer_to_ticket: Option<Answer>,
    /// The message contains the word for cancelling something.
    pub mentions_cancel: bool,
    /// See [`Act::Hesitate`](crate::dialogue::Act::Hesitate).
    pub hesitates: bool,
    pub has_question: bool,
    /// The message is a clear instruction to do what the desk offered: "register the return".
    pub instructs: bool,
    /// See [`Act::Equivocate`](crate::dialogue::Act::Equivocate).
    pub equivocates: bool,
    /// See [`Act::Acknowledge`](crate::dialogue::Act::Acknowledge).
    pub acknowledges: bool,
    /// See [`Act::Thank`](crate::dialogue::Act::Thank).
    pub thanks: bool,
}

pattern_lists! {
    /// The words of answers: `[answers]` of the rule files, which explain each list.
    pub(super) AnswerFile => AnswerRules {
        leading_yes, yes, yes_to_ticket, weak_yes, thanks, no, cancel, again, cancelling, conceding, doing,
        keeping, harmless, reasons, unsure, negations, brakes, statement_brakes, asks, tags, doubtful, around,
        wishing,
    }
}

/// A part of a message between punctuation marks. A leading yes is a separate clause.
struct Clause {
    words: Range<usize>,
    asks: bool,
    /// The first word that asks. `None` if only a question mark does, or nothing.
    asks_from: Option<usize>,
    reports_damage: bool,
}

impl AnswerRules {
    /// Reads the answer in a message. A negation in a clause that reports damage ("it does not turn on") is not a no;
    /// `reports_damage` decides which clauses do.
    pub fn read(&self, stream: &TokenStream<'_>, reports_damage: impl Fn(&str) -> bool) -> Reading {
        let reasons = match_mask(&self.reasons, stream, &[]);
        let harmless = merged([match_mask(&self.harmless, stream, &[]), reasons.clone()]);
        let clauses = self.clauses(stream, &harmless, reports_damage);
        let cancelling = match_mask(&self.cancelling, stream, &harmless);
        let seen = Seen::new(self, stream, &clauses, (harmless.clone(), &reasons), &[]);
        let conceding = match_mask(&self.conceding, stream, &[]);
        // "Fine, cancel it": the instruction counts, and what it concedes does not.
        let hidden_by = |instruction: &Vec<bool>| match instruction.contains(&true) {
            true => merged([harmless.clone(), instruction.clone(), conceding.clone()]),
            false => harmless.clone(),
        };
        let at_offer = Seen::new(self, stream, &clauses, (hidden_by(&cancelling), &reasons), &cancelling);
        let doing = match_mask(&self.doing, stream, &harmless);
        let is_done =
            || Seen::new(self, stream, &clauses, (hidden_by(&doing), &reasons), &doing).answer() == Some(Answer::Yes);
        let instructs = doing.contains(&true) && is_done();
        let keeping = match_mask(&self.keeping, stream, &harmless);
        let to_ticket = match_mask(&self.yes_to_ticket, stream, &harmless);
        let hidden = merged([harmless.clone(), to_ticket.clone()]);
        let at_ticket = Seen::new(self, stream, &clauses, (hidden, &reasons), &to_ticket);
        let answer = seen.answer();
        let answer_to_cancel = match at_offer.answer() {
            _ if seen.states(&keeping) => Some(Answer::No),
            // "No, too complicated. Yes, cancel it": the customer is asked again.
            Some(Answer::No) if cancelling.contains(&true) && at_offer.agrees_with(&at_offer.yes) => None,
            other => other,
        };
        Reading {
            answer,
            answer_to_cancel,
            answer_to_ticket: at_ticket.answer().or_else(|| at_ticket.begins_with_yes().then_some(Answer::Yes)),
            mentions_cancel: cancelling.contains(&true),
            hesitates: (seen.hesitates && answer != Some(Answer::Yes))
                || matches!(answer, Some(Answer::No | Answer::Cancel)),
            acknowledges: answer == Some(Answer::Yes) && !seen.agrees_with(&seen.yes),
            thanks: seen.thanks && ![&seen.yes, &seen.weak_yes].iter().any(|flags| flags.contains(&true)),
            instructs,
            has_question: clauses.iter().any(|clause| clause.asks),
            equivocates: any_match(&self.doubtful, stream, &[]),
        }
    }

    /// Whether the message is nothing but answers, numbers and addresses.
    pub fn is_nothing_else(&self, stream: &TokenStream<'_>) -> bool {
        let lists = [&self.yes, &self.yes_to_ticket, &self.weak_yes, &self.no, &self.cancel, &self.again, &self.around];
        let answers = merged(lists.map(|patterns| match_mask(patterns, stream, &[])));
        answers.iter().zip(figures(stream)).all(|(answer, figure)| *answer || figure)
    }

    /// Returns for each word whether its clause asks.
    pub fn asking_words(&self, stream: &TokenStream<'_>) -> Vec<bool> {
        let mut asking = vec![false; stream.tokens().len()];
        let clauses = self.clauses(stream, &[], |_| false);
        clauses.into_iter().filter(|clause| clause.asks).for_each(|clause| asking[clause.words].fill(true));
        asking
    }

    fn clauses(&self, stream: &TokenStream<'_>, hidden: &[bool], reports_damage: impl Fn(&str) -> bool) -> Vec<Clause> {
        // "That is what I ordered" and "đâu phải" have the words of a question, and are answers.
        let answers = merged([&self.yes, &self.no].map(|patterns| match_mask(patterns, stream, hidden)));
        let asks = match_mask(&self.asks, stream, hidden);
        let asks: Vec<bool> = asks.iter().zip(answers).map(|(asks, answers)| *asks && !answers).collect();
        let leading = match_mask(&self.leading_yes, stream, hidden);
        let mut clauses = Vec::new();
        for words in clauses_of(stream) {
            let yes = words.start..words.start + leading[words.clone()].iter().take_while(|leads| **leads).count();
            let rest = yes.end..words.end;
            for words in [yes, rest].into_iter().filter(|words| !words.is_empty()) {
                let end = stream.tokens()[words.end - 1].span.end;
                let next = stream.tokens().get(words.end).map_or(stream.text().len(), |token| token.span.start);
                let marks = stream.text().get(end..next).unwrap_or_default();
                let asks_from = words.clone().find(|word| asks[*word]);
                clauses.push(Clause {
                    asks: marks.contains(['?', '？']) || asks_from.is_some(),
                    asks_from,
                    reports_damage: reports_damage(stream.source(words.clone())),
                    words,
                });
            }
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
    /// The words that describe the goods, such as the reason of a return. They may accompany a clear yes only.
    reasons: &'s [bool],
    /// A clause has a no, a "wait" or a "but".
    hesitates: bool,
    /// The same, except for words that belong to a question: "do I keep the box?".
    wavers: bool,
    /// A clause that does not ask says "wait" or "but".
    stops: bool,
    /// A question only doubts the answer: "right?".
    doubts: bool,
    /// The message thanks: "ok thanks" may mean that all is settled.
    thanks: bool,
}

impl<'s> Seen<'s> {
    /// `also_yes`: further words that are a yes here.
    fn new(
        rules: &AnswerRules,
        stream: &TokenStream<'_>,
        clauses: &'s [Clause],
        (hidden, reasons): (Vec<bool>, &'s [bool]),
        also_yes: &[bool],
    ) -> Self {
        let of = |patterns: &[Pattern]| match_mask(patterns, stream, &hidden);
        let mut yes = of(&rules.yes);
        yes.iter_mut().zip(also_yes).for_each(|(yes, also)| *yes |= also);
        let (weak_yes, around) = (of(&rules.weak_yes), of(&rules.around));
        let is_tag = merged([yes.clone(), weak_yes.clone(), around.clone(), of(&rules.tags)]);
        // Words after an answer may belong to it: "that is not my order" has words of a yes.
        let allowed = merged([
            yes.clone(),
            weak_yes.clone(),
            around,
            of(&rules.wishing),
            of(&rules.again),
            hidden.clone(),
            figures(stream),
        ]);
        let (negations, brakes) = (of(&rules.negations), of(&rules.brakes));
        let (statement_brakes, unsure) = (of(&rules.statement_brakes), of(&rules.unsure));
        let denies = |clause: &Clause| has(&negations, clause) && !clause.reports_damage;
        let stops = |clause: &Clause| has(&brakes, clause) || has(&unsure, clause);
        // "Không" after "có" asks, and so does "can I … without": it denies nothing.
        let denies_before_asking = |clause: &Clause| {
            let statement = clause.words.start..clause.asks_from.unwrap_or(clause.words.end);
            negations[statement].contains(&true) && !clause.reports_damage
        };
        let any = |test: &dyn Fn(&Clause) -> bool| clauses.iter().any(test);
        Self {
            hesitates: any(&|clause| denies(clause) || stops(clause) || has(&statement_brakes, clause)),
            wavers: any(&|clause| {
                denies_before_asking(clause) || stops(clause) || (!clause.asks && has(&statement_brakes, clause))
            }),
            stops: any(&|clause| !clause.asks && stops(clause)),
            doubts: any(&|clause| clause.asks && is_tag[clause.words.clone()].iter().all(|word| *word)),
            thanks: of(&rules.thanks).contains(&true),
            no: of(&rules.no),
            cancel: of(&rules.cancel),
            again: of(&rules.again),
            clauses,
            yes,
            weak_yes,
            unsure,
            allowed,
            reasons,
        }
    }

    /// A cancel is stronger than a no, a no than a yes ("no, that's not correct").
    fn answer(&self) -> Option<Answer> {
        let asks = self.clauses.iter().any(|clause| clause.asks);
        if self.states(&self.cancel) {
            Some(Answer::Cancel)
        } else if self.states(&self.no) {
            Some(Answer::No)
        } else if !asks && !self.hesitates && self.states(&self.again) {
            Some(Answer::Again)
        } else {
            (!self.wavers && !self.doubts && self.agrees()).then_some(Answer::Yes)
        }
    }

    /// Whether a clause that neither asks nor doubts has a flagged word.
    fn states(&self, flags: &[bool]) -> bool {
        self.clauses.iter().any(|clause| !clause.asks && has(flags, clause) && !has(&self.unsure, clause))
    }

    /// Whether the first clause is a yes and nothing takes it back. Enough for what only calls a person: "yes. and don't forget the lid",
    /// "ok. how long will it take?", "ok thanks".
    fn begins_with_yes(&self) -> bool {
        let Some(first) = self.clauses.first() else { return false };
        let is_said = |flags: &[bool]| {
            !first.asks && has(flags, first) && self.allowed[first.words.clone()].iter().all(|word| *word)
        };
        let is_weak = || !self.wavers && is_said(&self.weak_yes) && !has(self.reasons, first);
        (is_said(&self.yes) || is_weak()) && !self.doubts && !self.stops
    }

    /// "Yes, I bought it for my son" agrees; "ok" does only where nothing else is said ("ok, let my son decide"), not even thanks or a
    /// reason: "dạ, chật quá" explains politely.
    fn agrees(&self) -> bool {
        let says_nothing_else = || self.clauses.iter().all(|clause| !clause.asks && self.is_plain(clause));
        self.agrees_with(&self.yes) || (!self.thanks && self.agrees_with(&self.weak_yes) && says_nothing_else())
    }

    fn agrees_with(&self, flags: &[bool]) -> bool {
        self.clauses.iter().any(|clause| !clause.asks && has(flags, clause) && self.is_clean(clause))
    }

    /// Whether a clause has only words that may accompany a yes, and none about the goods.
    fn is_plain(&self, clause: &Clause) -> bool {
        self.is_clean(clause) && !clause.reports_damage && !has(self.reasons, clause)
    }

    /// Whether a clause has only words that may accompany a yes.
    fn is_clean(&self, clause: &Clause) -> bool {
        clause.reports_damage || self.allowed[clause.words.clone()].iter().all(|word| *word)
    }
}

fn has(flags: &[bool], clause: &Clause) -> bool {
    flags.get(clause.words.clone()).is_some_and(|flags| flags.contains(&true))
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
