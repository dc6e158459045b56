//! Checks the language of a model's reply before any of it is shown.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::time::timeout;
use tracing::warn;

use super::Turn;
use crate::domain::Language;
use crate::nlu::language::{LanguageRules, Prose};
use crate::providers::llm::{ChatMessage, ChatRequest, Deltas, LlmError, Ticket};

/// The letters after which a reply is shown at the latest.
const OPENING: usize = 80;
/// The bytes after which a reply with few letters is shown, such as a list of numbers.
const OPENING_BYTES: usize = 400;
/// A model that pauses for so long has its words shown.
const PAUSE: Duration = Duration::from_millis(500);

/// The language in which the model has to reply.
pub struct Wanted<'a> {
    rules: &'a LanguageRules,
    language: Language,
    /// The languages of the persona.
    spoken: Vec<Language>,
}

impl<'a> Wanted<'a> {
    pub fn of(turn: &Turn, rules: &'a LanguageRules) -> Self {
        Self { rules, language: turn.language(), spoken: turn.persona.languages.clone() }
    }

    /// Whether a text is in another language.
    pub fn is_missed_by(&self, text: &str) -> bool {
        self.look_at(text) == Prose::Foreign
    }

    /// Starts the reply. A model that opens in another language is asked again.
    ///
    /// # Errors
    /// [`LlmError::WrongLanguage`] if it opens in another language again.
    pub async fn stream(&self, ticket: Ticket, request: ChatRequest) -> Result<Deltas, LlmError> {
        let gateway = ticket.gateway().clone();
        if let Some(deltas) = self.checked(ticket.stream(request.clone()).await?).await {
            return Ok(deltas);
        }
        warn!(language = %self.language, "The language model replied in another language: asking again");
        let mut again = request;
        again.messages.push(ChatMessage::system(format!("Language: {}", self.language)));
        self.checked(gateway.stream(again).await?).await.ok_or(LlmError::WrongLanguage)
    }

    /// Reads until the language is clear. Returns the whole reply, or `None` if its opening is in another language.
    async fn checked(&self, deltas: Deltas) -> Option<Deltas> {
        let mut deltas = deltas.fuse();
        let (mut held, mut text, mut letters, mut prose) = (Vec::new(), String::new(), 0, Prose::Unclear);
        while letters < OPENING && text.len() < OPENING_BYTES && prose != Prose::Own {
            let Ok(Some(delta)) = timeout(PAUSE, deltas.next()).await else { break };
            let new = delta.as_deref().unwrap_or_default();
            letters += new.chars().filter(|c| c.is_alphabetic()).count();
            text.push_str(new);
            held.push(delta);
            prose = self.look_at(&text);
        }
        (prose != Prose::Foreign).then(|| Box::pin(stream::iter(held).chain(deltas)) as Deltas)
    }

    fn look_at(&self, text: &str) -> Prose {
        self.rules.look_at_prose(text, self.language, &self.spoken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Prompts;

    #[tokio::test]
    async fn hold_of_reply_without_letters_is_bounded() {
        let rules = LanguageRules::read(&Prompts::shipped()).expect("the shipped rules");
        let wanted = Wanted { rules: &rules, language: Language::EN, spoken: vec![Language::EN] };
        let digits = stream::repeat_with(|| Ok("12345 ".to_owned()));
        let mut shown = wanted.checked(Box::pin(digits)).await.expect("no other language");
        assert_eq!(shown.next().await.and_then(Result::ok).as_deref(), Some("12345 "));
    }
}
