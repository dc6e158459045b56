//! What to say where the passage that answers was quoted just before.

use super::super::Retail;
use super::super::retrieve::WORTH_QUOTING;
use super::super::texts::Text;
use super::last_reply;
use crate::desks::Turn;
use crate::dialogue::answer;
use crate::domain::Sender;
use crate::domain::text::words;
use crate::replies::MissingValue;
use crate::retrieval::search::Found;
use crate::retrieval::{Passage, Query};

/// What became of a repeated passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeated {
    /// It was not quoted before, or another one takes its place.
    Not,
    /// It answers this question, too, or some of its sentences do.
    Again,
    /// Nothing else is left to quote. It is quoted again, unless the question is the same as well.
    AllSaid,
}

impl Retail {
    /// Replaces a passage that the last reply quoted: by those of its sentences that answer; else by the next one of nearly the same score;
    /// else by the passage that answers the question alone, without the subject of the conversation. If that is the same one, it is quoted
    /// again, and so is the section of a topic or one that has most of the question's words.
    pub(super) fn replace_repeated(
        &self,
        turn: &Turn,
        asked: &str,
        search: &Query,
        found: &Found,
        quoted: &mut Vec<Passage>,
        is_topic: bool,
    ) -> Result<Repeated, MissingValue> {
        let Some(last) = last_reply(turn) else { return Ok(Repeated::Not) };
        let was_said = |passage: &Passage| {
            let quotes = self.quotes(turn, std::slice::from_ref(&self.excerpt(turn, asked, passage)))?;
            Ok::<bool, MissingValue>(quotes.iter().any(|quote| answer::has_quoted(last, quote)))
        };
        let Some(first) = quoted.first() else { return Ok(Repeated::Not) };
        if !was_said(first)? {
            return Ok(Repeated::Not);
        }
        let question = turn.history.iter().rev().find(|message| message.sender == Sender::User);
        let is_same =
            question.is_some_and(|asked| asked.turn == last.turn && words(&asked.text) == words(&turn.message.text));
        if !is_same && let Some(part) = self.answering_part(turn, asked, first) {
            *quoted = vec![part];
            return Ok(Repeated::Again);
        }
        // The section is known to be the right one.
        if is_topic {
            return Ok(Repeated::Again);
        }
        let best = found.passages.first().map_or(0.0, |best| best.score);
        let mut next = None;
        for passage in found.passages.iter().filter(|passage| passage.score >= WORTH_QUOTING * best) {
            if next.is_none() && !was_said(passage)? {
                next = Some(passage.clone());
            }
        }
        if next.is_none() && !is_same {
            let pages = Query { pages_only: true, ..search.clone() };
            let alone = self.services.pages(turn).find_by_words(&pages).passages;
            if let Some(other) = alone.first() {
                if was_said(other)? {
                    return Ok(Repeated::Again);
                }
                next = Some(other.clone());
            }
        }
        // "And are there any fees?", after the section that says it among other things.
        if next.is_none() && !is_same && self.services.pages(turn).covers(search, first) {
            return Ok(Repeated::Again);
        }
        let repeated = if next.is_none() { Repeated::AllSaid } else { Repeated::Not };
        if next.is_some() || is_same {
            *quoted = next.into_iter().collect();
        }
        Ok(repeated)
    }

    /// Returns a passage with only its sentences that have a word of a question, if these have most of its words.
    fn answering_part(&self, turn: &Turn, asked: &str, passage: &Passage) -> Option<Passage> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let has_word = |sentence: &str| pages.words_met(asked, sentence, language) > 0;
        let mut lines: Vec<String> = Vec::new();
        let mut heading: Option<&str> = None;
        for line in passage.text.lines().filter(|line| !line.trim().is_empty()) {
            if line.trim_end().ends_with(':') {
                heading = Some(line);
                continue;
            }
            let kept: Vec<&str> = line.split_inclusive(". ").filter(|sentence| has_word(sentence)).collect();
            if !kept.is_empty() {
                lines.extend(heading.take().map(str::to_owned));
                lines.push(kept.concat().trim_end().to_owned());
            }
        }
        let text = lines.join("\n");
        let query = Query { text: asked.to_owned(), language, limit: 1, pages_only: false };
        // The headings were said, too.
        let said = Passage { title: String::new(), section: String::new(), text, ..passage.clone() };
        let answers = || pages.has_most_of(asked, &said, language);
        let is_answer = !said.text.is_empty() && !pages.names_nothing(&query) && answers();
        is_answer.then(|| Passage { text: said.text.clone(), ..passage.clone() })
    }

    /// Adds the hotline to the reply if the customer asks how to reach the shop.
    pub(super) fn with_hotline(&self, turn: &Turn, asked: &str, said: String) -> Result<String, MissingValue> {
        if said.contains(self.hotline(turn)) || !self.rules.asks_contact(asked) {
            return Ok(said);
        }
        Ok(format!("{said}\n{}", self.text(turn, Text::ReplyHotline, &[])?))
    }
}
