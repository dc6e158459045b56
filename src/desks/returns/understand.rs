//! Asks the model for the intent and the order number of a message that the rules do not understand. Without a usable answer,
//! the desk asks the customer.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tracing::warn;

use super::Returns;
use super::state::Intent;
use crate::config::LlmMode;
use crate::desks::Turn;
use crate::domain::IntentSource;
use crate::domain::commerce::OrderNumber;
use crate::providers::llm::{ChatMessage, ChatRequest};

#[derive(Deserialize, JsonSchema)]
struct IntentAnswer {
    intent: Intent,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = ["order_number"]))]
struct NumberAnswer {
    order_number: Option<String>,
}

impl Returns {
    /// Returns the model's intent and who decided. `None` means that the desk has to ask the customer.
    pub(super) async fn ask_for_intent(&self, turn: &mut Turn) -> (Option<Intent>, IntentSource) {
        if self.services.config.llm.mode == LlmMode::Offline {
            return (None, IntentSource::Rules);
        }
        let answer = self.ask_model::<IntentAnswer>(turn, &self.classify_prompt).await;
        match answer {
            // "Other" is no help: ask the customer.
            Some(IntentAnswer { intent: Intent::Other }) => (None, IntentSource::Llm),
            Some(IntentAnswer { intent }) => (Some(intent), IntentSource::Llm),
            None => (None, IntentSource::Fallback),
        }
    }

    /// Returns the order number that the model reads in the message. It is looked up like any other.
    pub(super) async fn ask_for_order_number(&self, turn: &mut Turn) -> Option<OrderNumber> {
        if self.services.config.llm.mode == LlmMode::Offline {
            return None;
        }
        let answer = self.ask_model::<NumberAnswer>(turn, &self.number_prompt).await?;
        answer.order_number?.trim().trim_start_matches('#').parse().ok()
    }

    async fn ask_model<A: DeserializeOwned + JsonSchema>(&self, turn: &mut Turn, prompt: &str) -> Option<A> {
        if !self.services.llm.is_up() {
            return None;
        }
        let messages =
            vec![ChatMessage::system(prompt.to_owned()), ChatMessage::user(format!("Message: {}", turn.message.text))];
        let request = ChatRequest { messages, model: turn.persona.model.clone(), temperature: Some(0.0) };
        let within = self.services.config.desks.intent_timeout;
        match turn.step("model").take(self.services.llm.extract(request, within)).await {
            Ok(answer) => Some(answer),
            Err(cause) => {
                warn!(error = %cause, "The language model did not understand a message either");
                turn.note_model_error(cause);
                None
            }
        }
    }
}
