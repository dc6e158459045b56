//! Answers a shopping question from the shop's documents, in the persona's voice.

use tracing::warn;

use super::Retail;
use super::context::About;
use super::intent::Intent;
use super::memory::Memory;
use super::prompt::{Given, system};
use super::rules::{Topic, Utterance};
use super::texts::Text;
use crate::config::LlmMode;
use crate::dialogue::answer;
use crate::dialogue::history::{room_for_history, window, window_start};
use crate::dialogue::shown::{Chosen, Shown};
use crate::dialogue::{DeskError, Turn};
use crate::domain::Kind;
use crate::grounding::claims::Facts;
use crate::grounding::{Grounded, Placeholders, Sources};
use crate::providers::llm::{ChatMessage, ChatRequest, Deltas, LlmError};
use crate::replies::MissingValue;
use crate::retrieval::Passage;
use crate::retrieval::search::{By, Found};

/// Passages that are quoted if no model words a reply.
const QUOTES: usize = 3;
/// A passage with less than this share of the best score is not worth quoting.
const WORTH_QUOTING: f64 = 0.6;

impl Retail {
    /// Retrieves passages, replies, and adds the follow-up.
    pub(super) async fn reply(
        &self,
        turn: &mut Turn,
        utterance: &Utterance,
        about: About,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let is_chosen = about.chosen.is_some();
        let found = match about.chosen {
            Some(Chosen { passages, shown }) => {
                memory.shown = Some(shown);
                Found { passages, by: By::Words, similarity: None, question: None }
            }
            None => turn.step("retrieve").take(self.retrieve(turn, &utterance.text, about.pages_only)).await,
        };
        let Some(metadata) = answer::cite(turn, &found, &found.passages).await? else {
            let names_nothing = utterance.requests(Topic::UnnamedGoods);
            let text = self.text(turn, if names_nothing { Text::ReplyWhich } else { Text::ReplyUnknown }, &[])?;
            answer::say_unknown(turn, &text).await?;
            return self.follow_up(turn).await;
        };
        let quoted = worth_quoting(&found.passages);
        let folders = &turn.persona.knowledge;
        let shown = Shown::of(&self.services.knowledge, folders, &utterance.text, quoted);
        let has_products = shown.is_some();
        if !is_chosen && has_products {
            memory.shown = shown;
        }
        let quotation = self.quote(turn, quoted)?;
        if !has_products && repeats(turn, &quotation) {
            let text = self.text(turn, Text::ReplyUnknown, &[])?;
            answer::say_unknown(turn, &text).await?;
            return self.follow_up(turn).await;
        }
        match self.begin(turn, &utterance.text, &found).await? {
            Ok(deltas) => {
                let common = self.common(turn);
                let sources = self.sources(turn, &found.passages);
                let guarded = Grounded::new(&self.grounding, &Placeholders::of(common), &sources);
                answer::stream(turn, deltas, guarded, &quotation, common, metadata).await?;
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
        answer::begin(turn, ticket, request).await
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

    /// Returns the best passages with their titles.
    fn quote(&self, turn: &Turn, passages: &[Passage]) -> Result<String, MissingValue> {
        let quote = |passage: &Passage| {
            self.text(turn, Text::ReplyQuote, &[("title", &passage.title), ("text", &passage.text)])
        };
        let quotes: Vec<String> = passages.iter().map(quote).collect::<Result<_, _>>()?;
        Ok(answer::quotation(self.text(turn, Text::ReplyIntro, &[])?, quotes.into_iter()))
    }
}

fn worth_quoting(passages: &[Passage]) -> &[Passage] {
    let best = passages.first().map_or(0.0, |passage| passage.score);
    let count = passages.iter().take(QUOTES).take_while(|passage| passage.score >= WORTH_QUOTING * best).count();
    &passages[..count]
}

/// Whether the last reply had the same words. Saying them again would not help.
fn repeats(turn: &Turn, text: &str) -> bool {
    let last = turn.history.iter().rev().find(|message| message.metadata.kind() == Some(Kind::Reply));
    last.is_some_and(|last| last.text == text)
}
