//! Social talk: a short reply in the persona's voice, then back to business.

use futures_util::StreamExt;
use tracing::warn;

use super::Retail;
use super::classify::Understood;
use crate::desks::window::window;
use crate::desks::{DeskError, Turn};
use crate::domain::{Kind, Metadata};
use crate::grounding::{Grounded, Piece, joined};
use crate::persona::cut_at_sentence;
use crate::persona::texts::fill;
use crate::providers::llm::{ChatMessage, ChatRequest, LlmError};

/// The topic of who wants to talk to a person.
pub(super) const PERSON: &str = "person";
/// So much of the conversation helps the model to reply in its tone.
const CONTEXT_CHARS: usize = 800;
/// A social reply is one or two sentences; what a model says beyond that is cut.
const MOST_CHARS: usize = 400;

impl Retail {
    /// Says one message: the model's reply, or a written one on the topic, ended with the redirect.
    pub(super) async fn chat(&self, turn: &mut Turn, understood: &Understood) -> Result<(), DeskError> {
        let topic = understood.social.as_deref().unwrap_or("other");
        let written = self.texts(turn).social(topic, turn.number());
        let mut filled = fill(written, &[("hotline", self.hotline(turn))]);
        // A telephone number is a fact, and facts are not left to the model.
        let holds_a_fact = filled != written;
        // Where there is no console, nobody would see it.
        if topic == PERSON && self.services.config.console.on {
            turn.ask_for_person();
            filled = fill(&self.texts(turn).person_told, &[("hotline", self.hotline(turn))]);
        }
        let reply = if holds_a_fact || understood.model_is_late {
            vec![Piece::Text(filled)]
        } else {
            match self.social_reply(turn).await {
                Some(reply) => self.grounded(turn, &reply, filled),
                None => vec![Piece::Text(filled)],
            }
        };
        turn.note("social_topic", topic);
        let redirect = Piece::Text(format!(" {}", self.texts(turn).social_redirect));
        turn.show(Kind::Social, joined(reply.into_iter().chain([redirect]))).await?;
        Ok(turn.end_message(Metadata::of(Kind::Social)).await?)
    }

    /// The model's reply, as far as it stands on the persona and on what the customer said; `written`, with the guards, where
    /// it had to be stopped.
    fn grounded(&self, turn: &Turn, reply: &str, written: String) -> Vec<Piece> {
        let mut sources = turn.sources();
        sources.shop.push(self.hotline(turn));
        sources.instructions.push(&self.social_prompt);
        // The prompt's examples may be said.
        sources.shop.extend(self.social_prompt.lines().filter_map(|line| line.strip_prefix("Reply: ")));
        let mut speech = Grounded::new(&self.grounding, &self.placeholders(turn), &sources);
        let mut pieces = speech.push(reply);
        pieces.extend(speech.finish());
        if speech.stopped().is_some() {
            pieces.retain(|piece| matches!(piece, Piece::Guard(_)));
            pieces.push(Piece::Text(written));
        }
        pieces
    }

    /// The model's own reply; `None` if there is no model, or it does not answer in time and form. It is read whole
    /// before it is said: a reply of one sentence that breaks off is better replaced than shown.
    async fn social_reply(&self, turn: &Turn) -> Option<String> {
        if !self.services.llm.is_up() {
            return None;
        }
        let persona = cut_at_sentence(&turn.persona.text, self.services.config.prompts.persona_max_chars);
        let canary = self.grounding.canary().line();
        let system = format!(
            "{canary}\n\nSystem Persona: {persona}\n\n{canary}\n\n{}\n\nLanguage: {}",
            self.social_prompt,
            turn.language()
        );
        let mut messages = vec![ChatMessage::system(system)];
        messages.extend(window(&turn.history, CONTEXT_CHARS));
        messages.push(ChatMessage::user(turn.message.text.clone()));
        let request =
            ChatRequest { messages, model: turn.persona.model.clone(), temperature: turn.persona.temperature };
        let whole = async {
            let mut deltas = self.services.llm.stream(request).await?;
            let mut text = String::new();
            while let Some(delta) = deltas.next().await {
                text.push_str(&delta?);
                if text.chars().count() > MOST_CHARS {
                    break;
                }
            }
            Ok::<String, LlmError>(text)
        };
        let text = match tokio::time::timeout(self.config().social_timeout, whole).await {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                warn!(%error, "No social reply from the language model; a written one is used");
                return None;
            }
            Err(_) => {
                warn!("The language model took too long over a social reply; a written one is used");
                return None;
            }
        };
        let redirect = &self.texts(turn).social_redirect;
        let text = text.trim().trim_matches('"').trim().trim_end_matches(redirect.as_str());
        let text = cut_at_sentence(text, MOST_CHARS).trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}
