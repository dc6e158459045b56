//! Small talk: a short reply in the persona's voice, then back to business.

use futures_util::StreamExt;
use tracing::warn;

use super::Retail;
use super::classify::Understood;
use crate::desks::{DeskError, Turn};
use crate::dialogue::history::window;
use crate::domain::{Kind, Metadata};
use crate::grounding::{Grounded, Piece, joined};
use crate::persona::cut_at_sentence;
use crate::persona::texts::fill;
use crate::providers::llm::{ChatMessage, ChatRequest, LlmError};

/// The topic of a customer who wants to talk to a person.
pub(super) const PERSON: &str = "person";
/// Characters of the conversation in the prompt.
const CONTEXT_CHARS: usize = 800;
/// The longest reply of the model, in characters; one or two sentences.
const MOST_CHARS: usize = 400;

impl Retail {
    /// Sends one message: the model's reply, or a written one on the topic, and the redirect.
    pub(super) async fn chat(&self, turn: &mut Turn, understood: &Understood) -> Result<(), DeskError> {
        let topic = understood.social.as_deref().unwrap_or("other");
        let written = self.texts(turn).social(topic, turn.number());
        let mut filled = fill(written, &[("hotline", self.hotline(turn))]);
        // A text with a telephone number is never left to the model.
        let holds_a_fact = filled != written;
        // Without a console, no person would see it.
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

    /// Returns the guarded reply, or `written` if the guards stopped it.
    fn grounded(&self, turn: &Turn, reply: &str, written: String) -> Vec<Piece> {
        let mut sources = turn.sources();
        sources.shop.push(self.hotline(turn));
        sources.instructions.push(&self.social_prompt);
        // A reply may use the prompt's examples.
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

    /// Returns the model's reply, or `None` if there is no model or it does not answer in time. The reply is read completely before
    /// it is sent, so that an incomplete one is replaced by the written text.
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
