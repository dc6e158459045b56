//! Chooses what to quote of the pages that answer: new passages, and of those that the customer knows the sentences that answer.

use super::Telecom;
use super::memory::Memory;
use super::rules::Topic;
use crate::dialogue::{Turn, answer, retrieve};
use crate::domain::text::sentences::sentences;
use crate::nlu::examples::{Counts, Nearest};
use crate::retrieval::Passage;

/// The similarity from which a sentence answers a question that shares no word with it.
const SIMILAR: f64 = 0.1;
/// The share of the best score from which another passage of the page replaces a quoted one that has nothing new.
const NEXT_TO_QUOTED: f64 = 0.5;
/// The share of a question's words that a sentence needs to answer it alone, and that it needs to do so surely. Then it also has this
/// share of those that its section has.
const MOST: f64 = 0.5;
const NEARLY_ALL: f64 = 0.7;
const OF_SECTION: f64 = 0.4;

/// The sentences of a passage that answer a question.
#[derive(Clone)]
struct Part {
    text: String,
    /// Whether they have most of what the section has of the question.
    is_sure: bool,
}

impl Telecom {
    /// Returns the passages to quote, the best first, and whether they were quoted in the last answers. Of a passage that was quoted
    /// before, only the sentences that surely answer, or all of them; if they were quoted as well, another passage.
    pub(super) fn worth_saying(
        &self,
        turn: &Turn,
        question: &str,
        passages: &[Passage],
        memory: &Memory,
    ) -> (Vec<Passage>, bool) {
        let is_known = |passage: &&Passage| memory.has_shown(passage);
        let best = passages.first().map_or(0.0, |passage| passage.score);
        let close =
            answer::worth_quoting(&self.services.pages(turn), &retrieve::query(turn, question), passages).iter();
        let new: Vec<Passage> = close.filter(|passage| !is_known(passage)).cloned().collect();
        let Some(first) = passages.first().filter(is_known) else { return (new, false) };
        let part = self.answering(turn, question, first);
        let is_unsaid = |text: &&String| !memory.last_quotes.contains(*text);
        let unsaid = part.as_ref().filter(|part| is_unsaid(&&part.text));
        let of_first = |text: &str| vec![Passage { text: text.to_owned(), ..first.clone() }];
        if let Some(part) = unsaid.filter(|part| part.is_sure) {
            return (of_first(&part.text), false);
        }
        let is_just_said =
            part.as_ref().is_some_and(|part| part.is_sure && memory.last_quotes.last() == Some(&part.text));
        // No new sentence surely answers, so all of them do.
        let is_whole = new.is_empty() && is_unsaid(&&first.text);
        if is_whole || !is_just_said && self.services.pages(turn).covers(&retrieve::query(turn, question), first) {
            return (of_first(&first.text), false);
        }
        // "Where is that?" is about no other section.
        let stays = self.stays(turn, question, passages, memory);
        let is_next =
            |passage: &&Passage| !stays && passage.file == first.file && passage.score >= NEXT_TO_QUOTED * best;
        let next = passages.iter().find(|passage| !is_known(passage) && is_next(passage));
        match next {
            _ if unsaid.is_none() && !new.is_empty() && !stays => (new, false),
            Some(next) if unsaid.is_none() => (vec![next.clone()], false),
            _ => (of_first(&first.text), true),
        }
    }

    /// Whether a question is about the section that was quoted last and names hardly anything: "how much is it?"
    fn stays(&self, turn: &Turn, question: &str, found: &[Passage], memory: &Memory) -> bool {
        let is_last = |first: &Passage| {
            memory.subject.as_ref().is_some_and(|last| (&last.file, &last.section) == (&first.file, &first.section))
        };
        found.first().is_some_and(is_last)
            && self.rules.parse(question).utterance.asks(Topic::Pointing)
            && self.strong_words(turn, question) <= 1
    }

    /// Whether what answers a question sends the customer to the staff.
    pub(super) fn is_by_staff(&self, turn: &Turn, question: &str, quoted: &[Passage]) -> bool {
        quoted.first().is_some_and(|first| {
            // "Yes please" names no part of it.
            let names_part =
                self.rules.parse(question).utterance.has_question() || self.strong_words(turn, question) > 0;
            let part = self.answering(turn, question, first).filter(|_| names_part);
            self.rules.is_by_staff(part.as_ref().map_or(&first.text, |part| &part.text))
        })
    }

    /// Returns the part of a passage that answers a question: the sentences with most of its words, of which a question for a number
    /// wants one with a number, or else the most similar sentence. `None` if that is all of it.
    fn answering(&self, turn: &Turn, question: &str, passage: &Passage) -> Option<Part> {
        let pages = self.services.pages(turn);
        let sentences = sentences(&passage.text);
        let weight = |sentence: &&str| pages.weight_met(question, &with_units(sentence), turn.language());
        let met: Vec<f64> = sentences.iter().map(weight).collect();
        let most = met.iter().copied().fold(0.0, f64::max);
        let has_number = |n: &usize| self.names_quantity(sentences[*n]);
        let part = |chosen: &[usize], is_sure: bool| {
            // What announces a list says nothing without it.
            let is_cut = |n: &usize| sentences[*n].trim_end().ends_with(':') && !chosen.contains(&(n + 1));
            let is_part = !chosen.is_empty() && chosen.len() < sentences.len() && !chosen.iter().any(is_cut);
            let text = || chosen.iter().map(|n| sentences[*n]).collect::<Vec<_>>().join(" ");
            is_part.then(|| Part { text: text(), is_sure })
        };
        let all: Vec<usize> = (0..sentences.len()).collect();
        let asked = self.rules.parse(question).utterance;
        let wants_number = asked.asks(Topic::Quantity);
        let query = retrieve::query(turn, question);
        let wants_more = asked.asks(Topic::MoreWays);
        let asked_in_all = pages.weight_met(question, question, turn.language());
        let is_sure = wants_more
            || most >= OF_SECTION * pages.weight_met_by(&query, passage) && most >= NEARLY_ALL * asked_in_all;
        if wants_more && most > 0.0 {
            // The customer has done what the question names.
            let others: Vec<usize> = all.into_iter().filter(|n| met[*n] < most).collect();
            return part(&others, true);
        }
        if wants_number && most < MOST * asked_in_all {
            let numbered: Vec<usize> = all.into_iter().filter(has_number).collect();
            return part(&numbered, is_sure);
        }
        let with_most: Vec<usize> = all.iter().copied().filter(|n| met[*n] >= most).collect();
        let numbered: Vec<usize> = with_most.iter().copied().filter(has_number).collect();
        let chosen = if wants_number && !numbered.is_empty() { numbered } else { with_most };
        if chosen.len() < sentences.len() {
            // "To block it again, …" belongs to the sentence before.
            let belongs = |n: usize| n > 0 && chosen.contains(&(n - 1)) && self.rules.refers_back(sentences[n]);
            let with_next: Vec<usize> = all.into_iter().filter(|n| chosen.contains(n) || belongs(*n)).collect();
            return part(&with_next, is_sure).or_else(|| part(&chosen, is_sure));
        }
        if most > 0.0 {
            return None;
        }
        let counts: Vec<Counts> = sentences.iter().map(|sentence| Counts::of(sentence)).collect();
        let similar = Nearest::new(&counts.iter().collect::<Vec<_>>()).similarities(&Counts::of(question));
        let nearest = similar.into_iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        nearest.filter(|(_, similarity)| *similarity >= SIMILAR).and_then(|(n, _)| part(&[n], is_sure))
    }
}

/// Returns a sentence with the units of its numbers as words of their own: a search for "GB" does not find "13 GB".
fn with_units(sentence: &str) -> String {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let units = words.windows(2).filter(|pair| is_number(pair[0])).map(|pair| pair[1]);
    units.fold(sentence.to_owned(), |text, unit| text + ". " + unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_words_of_their_own() {
        assert_eq!(with_units("Up to 13 GB with plan S."), "Up to 13 GB with plan S.. GB");
        assert_eq!(with_units("No number."), "No number.");
    }
}
