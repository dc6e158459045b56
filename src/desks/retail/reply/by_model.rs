//! A reply in the words of a language model: what the model reads, and the products that the conversation is about after it.
//!
//! A model finds an answer among more than rules can choose from, so it reads what the message may mean as well. What it reads is cited,
//! and supports its figures.

use super::super::Retail;
use super::super::intent::Intent;
use super::super::memory::{Current, Memory};
use super::super::prompt::{EARLIER_MAX_CHARS, Given, fitting, system};
use super::super::texts::Text;
use crate::dialogue::answer;
use crate::dialogue::history::{room_for_history, window, window_start};
use crate::dialogue::shown::Shown;
use crate::dialogue::{DeskError, Turn};
use crate::domain::{Message, Sender};
use crate::grounding::Sources;
use crate::grounding::claims::Facts;
use crate::nlu::long_text::read_text;
use crate::providers::llm::{ChatMessage, ChatRequest, Deltas, LlmError};
use crate::retrieval::rows::Row;
use crate::retrieval::search::Found;
use crate::retrieval::{Passage, Query, Subject, add_new, in_one_language};

/// The most of each kind of passages.
mod most {
    /// Of what was found for the message and would not be quoted.
    pub const FOUND: usize = 3;
    /// Products of the conversation.
    pub const IN_TALK: usize = 4;
    /// Products that the message describes.
    pub const WISHED: usize = 3;
    pub const SECTIONS: usize = 4;
    /// Other products of a kind.
    pub const OF_KIND: usize = 10;
    /// Of all.
    pub const READ: usize = 18;
}

/// Products whose amounts are computed.
const COMPUTED: usize = 3;
/// Numbers of pieces that are multiplied.
const COUNTS: usize = 2;
/// Earlier messages whose number of pieces may still count.
const EARLIER: usize = 2;

/// What a model reads for a reply.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub question: &'a str,
    pub found: &'a Found,
    /// Lines with computed amounts.
    pub amounts: &'a str,
}

impl Retail {
    /// Returns the passages that a model reads: what would be quoted without it, and what else was found; then the section before, the
    /// products of the conversation and of their kind, and the sections that are nearest to the message. Returns the amounts that it
    /// reads, too.
    pub(super) fn for_model(
        &self,
        turn: &Turn,
        text: &str,
        quoted: &[Passage],
        found: &[Passage],
        memory: &Memory,
    ) -> (Vec<Passage>, String) {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let (shown, query) = (memory.shown.as_ref(), self.search(turn, text, false));
        let section = |subject: &Subject| pages.section(&subject.file, &subject.section, language);
        let in_talk = shown.map_or_else(Vec::new, |shown| shown.all(&pages, language));
        let mut wished = pages.rows_wished(&query, Some(1));
        wished.truncate(most::WISHED);
        let amounts = self.amounts(turn, text, &in_talk, wished.first(), memory);
        let mut kinds = pages.categories(text, language);
        if kinds.is_empty() {
            let described = wished.first().map(|row| row.passage.section.clone());
            kinds.extend(described.or_else(|| shown?.category(&pages, language)));
        }
        let each = most::OF_KIND / kinds.len().max(1);
        let of_each = |kind: &String| pages.rows_of_category(kind, text, language).into_iter().take(each);
        let nearest = Query { limit: most::SECTIONS, ..self.search(turn, text, true) };
        let (first, others) = found.split_at(found.len().min(most::FOUND));
        let rows = in_talk.into_iter().take(most::IN_TALK).chain(wished).map(|row| row.passage);
        let all = (quoted.iter().chain(first).cloned())
            .chain(memory.subject.as_ref().and_then(section))
            .chain(rows)
            .chain(pages.nearest_sections(&nearest))
            .chain(kinds.iter().flat_map(of_each).map(|row| row.passage))
            .chain(others.iter().cloned());
        let mut read: Vec<Passage> = Vec::new();
        add_new(&mut read, all);
        in_one_language(&mut read, language);
        read.truncate(most::READ);
        let fitting = fitting(&read, self.services.config.desks.context_max_chars);
        // Without any, the model answers from the conversation.
        read.truncate(if fitting > 0 { fitting } else { quoted.len() });
        (read, amounts)
    }

    /// Returns amounts that the customer may ask for, each with its computation: pieces of a product, sums and differences. Models
    /// compute badly, and the guards remove figures that no text has.
    fn amounts(&self, turn: &Turn, text: &str, in_talk: &[Row], wished: Option<&Row>, memory: &Memory) -> String {
        let before = memory.shown.as_ref().map_or_else(Vec::new, |shown| {
            self.services.pages(turn).rows(&shown.before, turn.language()).into_iter().flatten().collect()
        });
        let (current, others) = in_talk.split_at(in_talk.len().min(1));
        let rows = current.iter().chain(wished).chain(others).chain(&before);
        let bundle = memory.bundle.iter().map(|bundle| (bundle.name.clone(), bundle.price));
        let mut items: Vec<(String, u64)> = Vec::new();
        for item in bundle.chain(rows.filter_map(|row| Some((row.passage.title.clone(), row.price?)))) {
            if !items.contains(&item) && items.len() < COMPUTED {
                items.push(item);
            }
        }
        let counts = self.counts_said(turn, text);
        let mut lines = Vec::new();
        let mut line = |left: String, amount: Option<u64>| {
            lines.extend(amount.map(|amount| format!("{left} = {}\n", self.price(turn, amount))));
        };
        for (at, (name, price)) in items.iter().enumerate() {
            for count in &counts {
                line(format!("{count} × {name}"), count.checked_mul(*price));
            }
            for (other, of_other) in &items[at + 1..] {
                let both = |one: u64, two: u64| price.checked_mul(one)?.checked_add(of_other.checked_mul(two)?);
                line(format!("{name} + {other}"), both(1, 1));
                line(format!("Difference between {name} and {other}"), Some(price.abs_diff(*of_other)));
                for count in &counts {
                    line(format!("{count} × ({name} + {other})"), both(*count, *count));
                }
                if let [one, two] = counts[..] {
                    line(format!("{one} × {name} + {two} × {other}"), both(one, two));
                    line(format!("{two} × {name} + {one} × {other}"), both(two, one));
                }
            }
        }
        if items.len() > 2 {
            let names: Vec<&str> = items.iter().map(|(name, _)| name.as_str()).collect();
            line(names.join(" + "), items.iter().try_fold(0u64, |sum, (_, price)| sum.checked_add(*price)));
        }
        lines.concat()
    }

    /// Returns how many pieces the message means: of each part, or of an earlier message if it has no number.
    fn counts_said(&self, turn: &Turn, text: &str) -> Vec<u64> {
        let of_parts = self.picks.wishes_of(text).into_iter().filter_map(|part| self.picks.count_of(&part));
        let mut counts: Vec<u64> = self.picks.pieces(text).into_iter().chain(of_parts).collect();
        if counts.is_empty() {
            let earlier = turn.history.iter().rev().filter(|message| message.sender == Sender::User).take(EARLIER);
            counts.extend(earlier.filter_map(|message| self.picks.pieces(&message.text)).next());
        }
        counts.retain(|count| *count > 1);
        counts.dedup();
        counts.truncate(COUNTS);
        counts
    }

    /// Waits for the model's first words. The inner error means that it said nothing.
    pub(super) async fn begin(
        &self,
        turn: &mut Turn,
        reading: Reading<'_>,
    ) -> Result<Result<Deltas, LlmError>, DeskError> {
        let Reading { question, found, amounts } = reading;
        let ticket = match self.services.llm.enter() {
            Ok(ticket) => ticket,
            Err(error) => return Ok(Err(error)),
        };
        let config = &self.services.config;
        let (canary, fence) = (self.grounding.canary().line(), format!("{:016x}", rand::random::<u64>()));
        let mut given = Given {
            persona: &turn.persona,
            persona_max_chars: config.prompts.persona_max_chars,
            canary: &canary,
            passages: &found.passages,
            amounts,
            context_max_chars: config.desks.context_max_chars,
            earlier: &[],
            fence: &fence,
            intent: Intent::Shopping.as_str(),
            instruction: self.texts(turn).template(Text::Instruction),
        };
        // What the history does not show is recalled, so the room for that is kept free.
        let recalled = found.question.as_ref().map_or(0, |_| config.search.memory_messages * EARLIER_MAX_CHARS);
        let instructions = system(&given);
        let room = room_for_history(&config.llm, &[&instructions, question]).saturating_sub(recalled);
        let most = config.desks.history_max_chars.min(room);
        let shown = &turn.history[window_start(&turn.history, most)..];
        let earlier = self.recall(turn, found.question.as_deref(), shown).await;
        given.earlier = &earlier;
        let instructions = if earlier.is_empty() { instructions } else { system(&given) };
        let mut messages = vec![ChatMessage::system(instructions)];
        messages.extend(window(&turn.history, most));
        messages.push(ChatMessage::user(question.to_owned()));
        let request =
            ChatRequest { messages, model: turn.persona.model.clone(), temperature: turn.persona.temperature };
        answer::begin(turn, &self.language_rules, ticket, request).await
    }

    /// Returns the texts that support a reply.
    pub(super) fn sources<'a>(&'a self, turn: &'a Turn, reading: Reading<'a>) -> Sources<'a> {
        let mut sources = turn.sources();
        let of_passage = |passage: &'a Passage| [passage.title.as_str(), &passage.section, &passage.text];
        sources.shop.extend(reading.found.passages.iter().flat_map(of_passage));
        let instruction = self.texts(turn).template(Text::Instruction);
        sources.shop.extend([reading.amounts, self.hotline(turn), instruction]);
        sources.instructions.push(instruction);
        sources.claims = Facts::OF_DOCUMENTS;
        sources
    }

    /// Makes the products that the model's reply names those of the conversation, since it may have chosen others than the rules.
    pub(super) fn follow_reply(&self, turn: &Turn, asked: &Query, read: &[Passage], memory: &mut Memory) {
        let is_whole = |said: &&Message| said.metadata.is_worded_by_model() && !said.metadata.is_cut();
        let Some(reply) = turn.last_said().filter(is_whole) else { return };
        let pages = self.services.pages(turn);
        let shown = memory.shown.as_ref();
        let said = Query { text: reply.text.clone(), ..asked.clone() };
        let mut named = read_text(reply.text.len(), || Shown::named(shown, &pages, &said));
        let is_read = |row: &Row| read.iter().any(|passage| passage.title == row.passage.title);
        named.retain(|mention| matches!(mention.rows.as_slice(), [row] if is_read(row)));
        if let Some(focused) = Shown::focused(shown, &named, &pages, asked) {
            memory.shown = Some(focused);
            memory.current = Some(Current::Products);
        }
    }
}
