//! Answering a shopping question from the shop's documents, in the persona's voice.

use futures_util::StreamExt;
use serde_json::json;
use tracing::warn;

use super::classify::Understood;
use super::intent::Intent;
use super::prompt::{Given, system};
use super::{Heard, Retail};
use crate::config::LlmMode;
use crate::desks::window::{room_for_history, window, window_start};
use crate::desks::{DeskError, Turn};
use crate::domain::{Event, GuardReason, Kind, Metadata, SourceItem, TurnStatus};
use crate::grounding::claims::Facts;
use crate::grounding::{Grounded, Sources};
use crate::persona::texts::fill;
use crate::providers::llm::{ChatMessage, ChatRequest, Deltas, LlmError};
use crate::retrieval::Passage;
use crate::retrieval::search::Found;

/// Passages that are quoted where no model words a reply.
const QUOTES: usize = 3;

impl Retail {
    /// Retrieves, replies, follows up.
    pub(super) async fn reply(&self, turn: &mut Turn, heard: &Heard, understood: &Understood) -> Result<(), DeskError> {
        let found = turn.step("retrieve").take(self.retrieve(turn, heard)).await;
        let passages = &found.passages;
        let sources: Vec<SourceItem> = passages.iter().map(SourceItem::from).collect();
        turn.note("retrieval", json!({ "by": found.by, "similarity": found.similarity, "passages": &sources }));
        if sources.is_empty() {
            // No context: a model would guess.
            let text = if understood.names_nothing {
                self.texts(turn).reply_which.clone()
            } else {
                self.quote(turn, passages)
            };
            turn.say_with(Kind::Reply, &text, Metadata::of(Kind::Reply).with("no_context", true)).await?;
            return self.follow_up(turn).await;
        }
        let metadata = Metadata::of(Kind::Reply).with("sources", &sources);
        turn.emit(Event::Sources { items: sources }).await?;
        match self.begin(turn, heard, &found).await? {
            Ok(deltas) => self.speak(turn, deltas, passages, metadata).await?,
            Err(error) => {
                warn!(%error, "No reply from the language model; passages are quoted");
                // One that is switched off has not failed.
                match self.services.config.llm.mode {
                    LlmMode::Offline => turn.note("model_error", error.to_string()),
                    LlmMode::Auto | LlmMode::Ollama => turn.note_model_error(&error),
                }
                let text = self.quote(turn, passages);
                turn.say_with(Kind::Reply, &text, metadata).await?;
            }
        }
        if turn.error().is_none() {
            self.follow_up(turn).await?;
        }
        Ok(())
    }

    /// Waits for the model's first words, telling the place in its queue. The inner error: nothing was said.
    async fn begin(
        &self,
        turn: &mut Turn,
        heard: &Heard,
        found: &Found,
    ) -> Result<Result<Deltas, LlmError>, DeskError> {
        let mut ticket = match self.services.llm.enter() {
            Ok(ticket) => ticket,
            Err(error) => return Ok(Err(error)),
        };
        let config = self.config();
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
            instruction: &self.texts(turn).instruction,
        });
        let room = room_for_history(&self.services.config.llm, &[&system, heard.question()]);
        let mut messages = vec![ChatMessage::system(system)];
        messages.extend(window(&turn.history, config.history_max_chars.min(room)));
        messages.push(ChatMessage::user(heard.question().to_owned()));
        let request =
            ChatRequest { messages, model: turn.persona.model.clone(), temperature: turn.persona.temperature };
        let wait = turn.step("model_queue");
        wait.take(async {
            while let Some(position) = ticket.waiting().await {
                turn.emit(Event::Queued { position }).await?;
            }
            Ok::<(), DeskError>(())
        })
        .await?;
        Ok(turn.step("first_token").take(ticket.stream(request)).await)
    }

    /// Writes what the model says, as far as it stands on the passages. The model fails in the middle: what was said stays,
    /// cut, and the customer hears why.
    async fn speak(
        &self,
        turn: &mut Turn,
        mut deltas: Deltas,
        passages: &[Passage],
        metadata: Metadata,
    ) -> Result<(), DeskError> {
        let sources = self.sources(turn, passages);
        let mut speech = Grounded::new(&self.grounding, &self.placeholders(turn), &sources);
        let generate = turn.step("generate");
        let broken_off = generate.take(async {
            while let Some(delta) = deltas.next().await {
                match delta {
                    Ok(text) => turn.show(Kind::Reply, speech.push(&text)).await?,
                    Err(error) => return Ok(Some(error)),
                }
                if speech.is_closed() {
                    break;
                }
            }
            Ok::<Option<LlmError>, DeskError>(None)
        });
        let broken_off = broken_off.await?;
        turn.show(Kind::Reply, speech.finish()).await?;
        if let Some(error) = broken_off {
            warn!(%error, "The language model broke off");
            turn.note_model_error(&error);
            turn.end_message(metadata.cut(TurnStatus::Failed)).await?;
            let common = self.common.get(turn.language());
            turn.fail(error.code(), &common.error(error.code())).await?;
            return Ok(());
        }
        if turn.is_writing() && speech.stopped() == Some(GuardReason::UnsupportedFact) {
            // Too many figures were invented: the documents have the right ones.
            let quote = format!("\n\n{}", self.quote(turn, passages));
            turn.write(Kind::Reply, &quote).await?;
        }
        if !turn.is_writing() {
            // Nothing was left of what the model said.
            let text = self.quote(turn, passages);
            return Ok(turn.say_with(Kind::Reply, &text, metadata).await?);
        }
        Ok(turn.end_message(metadata).await?)
    }

    /// The texts that a reply may stand on.
    fn sources<'a>(&'a self, turn: &'a Turn, passages: &'a [Passage]) -> Sources<'a> {
        let mut sources = turn.sources();
        let of_passage = |passage: &'a Passage| [passage.title.as_str(), &passage.section, &passage.text];
        sources.shop.extend(passages.iter().flat_map(of_passage));
        sources.shop.extend([self.hotline(turn), &self.texts(turn).instruction]);
        sources.instructions.push(&self.texts(turn).instruction);
        sources.claims = Facts::OF_DOCUMENTS;
        sources
    }

    /// The best passages with their titles, or honestly nothing.
    fn quote(&self, turn: &Turn, passages: &[Passage]) -> String {
        let texts = self.texts(turn);
        if passages.is_empty() {
            return fill(&texts.reply_unknown, &[("hotline", self.hotline(turn))]);
        }
        let quotes = passages
            .iter()
            .take(QUOTES)
            .map(|passage| fill(&texts.reply_quote, &[("title", &passage.title), ("text", &passage.text)]));
        std::iter::once(texts.reply_intro.clone()).chain(quotes).collect::<Vec<_>>().join("\n")
    }
}
