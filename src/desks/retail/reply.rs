//! Answers a shopping question from the shop's documents, in the persona's voice.

use tracing::warn;

use super::Retail;
use super::context::About;
use super::intent::Intent;
use super::memory::Memory;
use super::prompt::{Given, system};
use super::retrieve::{PASSAGES, Retrieved, WORTH_QUOTING};
use super::rules::{Topic, Utterance};
use super::texts::Text;
use crate::config::LlmMode;
use crate::dialogue::answer::{self, Written};
use crate::dialogue::history::{room_for_history, window, window_start};
use crate::dialogue::shown::{Chosen, Shown};
use crate::dialogue::{DeskError, Turn};
use crate::domain::text::words;
use crate::domain::{Kind, Message, Metadata, Sender};
use crate::grounding::claims::Facts;
use crate::grounding::{Grounded, Placeholders, Sources};
use crate::providers::llm::{ChatMessage, ChatRequest, Deltas, LlmError};
use crate::replies::MissingValue;
use crate::retrieval::Passage;
use crate::retrieval::catalogue::money;
use crate::retrieval::search::{By, Found};

/// Products in stock that are named if a product is sold out.
const INSTEAD: usize = 2;
/// More pieces of one product are not added up.
const MOST_PIECES: u64 = 10_000;

impl Retail {
    /// Retrieves passages, replies, and adds the follow-up.
    pub(super) async fn reply(
        &self,
        turn: &mut Turn,
        utterance: &Utterance,
        about: About,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        if let Some(text) = about.written {
            return self.reply_written(turn, text, about.chosen, memory).await;
        }
        let is_chosen = about.chosen.is_some();
        let is_total = about.is_total;
        let (knowledge, folders) = (self.services.knowledge.clone(), turn.persona.knowledge.clone());
        let Retrieved { mut found, mut quoted } = match about.chosen {
            Some(Chosen { passages, shown }) => {
                memory.shown = Some(shown);
                let quoted = passages.clone();
                Retrieved { found: Found { passages, by: By::Words, similarity: None, question: None }, quoted }
            }
            None => {
                let subject = memory.subject.as_ref();
                turn.step("retrieve").take(self.retrieve(turn, &utterance.text, about.pages_only, subject)).await
            }
        };
        if !about.wished.is_empty() {
            // A model also gets what else was found.
            let others = found.passages.into_iter().filter(|passage| !has(&about.wished, passage));
            found.passages = about.wished.iter().cloned().chain(others).take(PASSAGES).collect();
            quoted = about.wished;
        }
        let asked = self.search(turn, &utterance.text, about.pages_only);
        // A customer may ask for the same products again. The same part of a page did not answer before; a model words it otherwise.
        if !self.services.llm.is_up() && knowledge.rows_of(&folders, &quoted, asked.language).is_empty() {
            self.replace_repeated(turn, &asked.text, &found, &mut quoted)?;
        }
        let shown = Shown::of(&knowledge, &folders, &asked, &quoted);
        let total = if is_total { self.total(turn, &utterance.text, &quoted)? } else { None };
        let is_total = total.is_some();
        let quotation = match total {
            Some(total) => total,
            None => self.quote(turn, utterance, &asked.text, &quoted)?,
        };
        let passages = if quoted.is_empty() { &[] } else { found.passages.as_slice() };
        let Some(metadata) = answer::cite(turn, &found, passages).await? else {
            let names_nothing = utterance.requests(Topic::UnnamedGoods);
            let text = self.text(turn, if names_nothing { Text::ReplyWhich } else { Text::ReplyUnknown }, &[])?;
            answer::say_unknown(turn, &text).await?;
            return self.follow_up(turn).await;
        };
        let are_products = shown.is_some();
        let earlier = memory.shown.take();
        let latest = if is_chosen { earlier.clone() } else { shown.or_else(|| earlier.clone()) };
        memory.shown = latest.map(|shown| shown.after(earlier.as_ref(), &knowledge, &folders, asked.language));
        memory.follow(&quoted, are_products, &asked.text);
        if is_total {
            turn.say_with(Kind::Reply, &quotation, metadata).await?;
            return self.follow_up(turn).await;
        }
        match self.begin(turn, &utterance.text, &found).await? {
            Ok(deltas) => {
                let common = self.common(turn);
                let sources = self.sources(turn, &found.passages);
                let guarded = Grounded::new(&self.grounding, &Placeholders::of(common), &sources);
                let written = Written { quotation: &quotation, ending: "", common };
                answer::stream(turn, deltas, guarded, &written, metadata).await?;
            }
            Err(error) => {
                warn!(%error, "No reply from the language model: quoting the documents");
                match self.services.config.llm.mode {
                    // A model that is switched off has not failed.
                    LlmMode::Offline => turn.note("model_error", error.to_string()),
                    LlmMode::Auto | LlmMode::Ollama => turn.note_model_error(&error),
                }
                turn.say_with(Kind::Reply, &quotation, metadata).await?;
            }
        }
        if turn.error().is_none() {
            self.follow_up(turn).await?;
        }
        Ok(())
    }

    /// Waits for the model's first words. The inner error means that it said nothing.
    async fn begin(
        &self,
        turn: &mut Turn,
        question: &str,
        found: &Found,
    ) -> Result<Result<Deltas, LlmError>, DeskError> {
        let ticket = match self.services.llm.enter() {
            Ok(ticket) => ticket,
            Err(error) => return Ok(Err(error)),
        };
        let config = &self.services.config.desks;
        let shown = &turn.history[window_start(&turn.history, config.history_max_chars)..];
        let earlier = self.recall(turn, found.question.as_deref(), shown).await;
        let system = system(&Given {
            persona: &turn.persona,
            persona_max_chars: self.services.config.prompts.persona_max_chars,
            canary: &self.grounding.canary().line(),
            passages: &found.passages,
            context_max_chars: config.context_max_chars,
            earlier: &earlier,
            fence: &format!("{:016x}", rand::random::<u64>()),
            intent: Intent::Shopping.as_str(),
            instruction: self.texts(turn).template(Text::Instruction),
        });
        let room = room_for_history(&self.services.config.llm, &[&system, question]);
        let mut messages = vec![ChatMessage::system(system)];
        messages.extend(window(&turn.history, config.history_max_chars.min(room)));
        messages.push(ChatMessage::user(question.to_owned()));
        let request =
            ChatRequest { messages, model: turn.persona.model.clone(), temperature: turn.persona.temperature };
        answer::begin(turn, &self.language_rules, ticket, request).await
    }

    /// Returns the texts that support a reply.
    fn sources<'a>(&'a self, turn: &'a Turn, passages: &'a [Passage]) -> Sources<'a> {
        let mut sources = turn.sources();
        let of_passage = |passage: &'a Passage| [passage.title.as_str(), &passage.section, &passage.text];
        sources.shop.extend(passages.iter().flat_map(of_passage));
        let instruction = self.texts(turn).template(Text::Instruction);
        sources.shop.extend([self.hotline(turn), instruction]);
        sources.instructions.push(instruction);
        sources.claims = Facts::OF_DOCUMENTS;
        sources
    }

    /// Answers with a text of the desk. Products that it is about are followed by others that are in stock.
    async fn reply_written(
        &self,
        turn: &mut Turn,
        text: Text,
        chosen: Option<Chosen>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let mut text = self.text(turn, text, &[])?;
        if let Some(Chosen { passages, shown }) = chosen {
            text.push_str(&self.instead(turn, &passages)?);
            memory.shown = Some(shown);
        }
        turn.say_with(Kind::Reply, &text, Metadata::of(Kind::Reply)).await?;
        self.follow_up(turn).await
    }

    /// Returns the part of each passage that answers, with its title.
    fn quote(
        &self,
        turn: &Turn,
        utterance: &Utterance,
        asked: &str,
        passages: &[Passage],
    ) -> Result<String, MissingValue> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let excerpts: Vec<Passage> = passages.iter().map(|passage| self.excerpt(turn, asked, passage)).collect();
        let quotes = self.quotes(turn, &excerpts)?;
        let is_again =
            last_reply(turn).is_some_and(|last| quotes.first().is_some_and(|quote| last.text.contains(quote.as_str())));
        let intro = match () {
            () if utterance.complains() => Text::ReplyIntroSorry,
            () if is_again && knowledge.rows_of(folders, passages, language).is_empty() => Text::ReplyIntroAgain,
            () => Text::ReplyIntro,
        };
        let texts = self.texts.get(answer::language_of(turn, passages));
        let quotation = answer::quotation(texts.text(intro, &[])?, quotes.into_iter());
        Ok(quotation + &self.instead(turn, passages)?)
    }

    /// Returns a passage with only the part that answers.
    fn excerpt(&self, turn: &Turn, asked: &str, passage: &Passage) -> Passage {
        let text = self.services.knowledge.excerpt(&turn.persona.knowledge, asked, passage, turn.language());
        Passage { text, ..passage.clone() }
    }

    fn quotes(&self, turn: &Turn, passages: &[Passage]) -> Result<Vec<String>, MissingValue> {
        let quote = |passage: &Passage| {
            self.text(turn, Text::ReplyQuote, &[("title", &passage.title), ("text", &passage.text)])
        };
        passages.iter().map(quote).collect()
    }

    /// Names products in stock of about the same price, where those of the passages are sold out.
    fn instead(&self, turn: &Turn, passages: &[Passage]) -> Result<String, MissingValue> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let rows = knowledge.rows_of(folders, passages, language);
        let Some(sold_out) = rows.first().filter(|_| rows.iter().all(|row| !row.in_stock)) else {
            return Ok(String::new());
        };
        let mut others = knowledge.rows_of_category(folders, &sold_out.passage.section, "", language);
        others.retain(|row| row.in_stock && row.price.is_some());
        others.sort_by_key(|row| row.price.unwrap_or_default().abs_diff(sold_out.price.unwrap_or_default()));
        let others: Vec<Passage> = others.into_iter().take(INSTEAD).map(|row| row.passage).collect();
        if others.is_empty() {
            return Ok(String::new());
        }
        let intro = self.text(turn, Text::ReplyInstead, &[])?;
        Ok(format!("\n{}", answer::quotation(intro, self.quotes(turn, &others)?.into_iter())))
    }

    /// Adds up the prices of the quoted products, if all have one.
    fn total(&self, turn: &Turn, asked: &str, passages: &[Passage]) -> Result<Option<String>, MissingValue> {
        let rows = self.services.knowledge.rows_of(&turn.persona.knowledge, passages, turn.language());
        let pieces = self.picks.pieces(asked).unwrap_or(1);
        // "Both": the number counts products, not pieces.
        let count = if rows.len() > 1 { 1 } else { pieces };
        if rows.is_empty() || rows.iter().any(|row| row.price.is_none()) || !(1..=MOST_PIECES).contains(&count) {
            return Ok(None);
        }
        let (mut lines, mut sum) = (Vec::new(), 0_u64);
        for row in &rows {
            let price = row.price.unwrap_or_default();
            sum += price * count;
            let values =
                [("name", row.passage.title.as_str()), ("count", &count.to_string()), ("price", &money(price))];
            lines.push(self.text(turn, Text::ReplyTotalLine, &values)?);
        }
        lines.push(self.text(turn, Text::ReplyTotal, &[("sum", &money(sum))])?);
        Ok(Some(lines.join("\n") + &self.instead(turn, passages)?))
    }

    /// Replaces what was quoted, if the same question had the same answer before, by the next passage of nearly the same score. Without
    /// one, nothing is quoted.
    fn replace_repeated(
        &self,
        turn: &Turn,
        asked: &str,
        found: &Found,
        quoted: &mut Vec<Passage>,
    ) -> Result<(), MissingValue> {
        let Some(last) = last_reply(turn) else { return Ok(()) };
        let was_said = |passage: &Passage| {
            let quotes = self.quotes(turn, std::slice::from_ref(&self.excerpt(turn, asked, passage)))?;
            Ok(quotes.iter().any(|quote| last.text.contains(quote.as_str())))
        };
        let question = turn.history.iter().rev().find(|message| message.sender == Sender::User);
        let is_same =
            question.is_some_and(|asked| asked.turn == last.turn && words(&asked.text) == words(&turn.message.text));
        if !is_same || !quoted.first().map_or(Ok(false), was_said)? {
            return Ok(());
        }
        let best = found.passages.first().map_or(0.0, |best| best.score);
        let mut next = None;
        for passage in found.passages.iter().filter(|passage| passage.score >= WORTH_QUOTING * best) {
            if next.is_none() && !was_said(passage)? {
                next = Some(passage.clone());
            }
        }
        *quoted = next.into_iter().collect();
        Ok(())
    }
}

/// Whether a passage is one of these. Its score does not matter.
fn has(passages: &[Passage], passage: &Passage) -> bool {
    passages.iter().any(|of| of.title == passage.title && of.file == passage.file && of.text == passage.text)
}

fn last_reply(turn: &Turn) -> Option<&Message> {
    turn.history.iter().rev().find(|message| message.metadata.kind() == Some(Kind::Reply))
}
