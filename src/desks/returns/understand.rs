//! Asks the model for the intent and the order number of a message that the rules do not understand. Without a usable answer,
//! the desk asks the customer.

use serde::Deserialize;
use serde_json::{Value, json};
use tracing::warn;

use super::Returns;
use super::state::Intent;
use crate::config::LlmMode;
use crate::desks::Turn;
use crate::domain::IntentSource;
use crate::domain::commerce::OrderNumber;
use crate::providers::llm::{ChatMessage, ChatRequest};

#[derive(Deserialize)]
struct IntentAnswer {
    intent: Intent,
}

#[derive(Deserialize)]
struct NumberAnswer {
    order_number: Option<String>,
}

impl Returns {
    /// Returns the model's intent and who decided. `None` means that the desk has to ask the customer.
    pub(super) async fn ask_for_intent(&self, turn: &mut Turn) -> (Option<Intent>, IntentSource) {
        if self.services.config.llm.mode == LlmMode::Offline {
            return (None, IntentSource::Rules);
        }
        let schema = json!({
            "type": "object",
            "properties": {"intent": {"type": "string", "enum": Intent::ALL.map(Intent::as_str)}},
            "required": ["intent"]
        });
        let answer = self.ask_model::<IntentAnswer>(turn, &self.classify_prompt, &schema).await;
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
        let schema = json!({
            "type": "object",
            "properties": {"order_number": {"type": ["string", "null"]}},
            "required": ["order_number"]
        });
        let answer = self.ask_model::<NumberAnswer>(turn, &self.number_prompt, &schema).await?;
        answer.order_number?.trim().trim_start_matches('#').parse().ok()
    }

    async fn ask_model<A: for<'de> Deserialize<'de>>(
        &self,
        turn: &mut Turn,
        prompt: &str,
        schema: &Value,
    ) -> Option<A> {
        if !self.services.llm.is_up() {
            return None;
        }
        let messages =
            vec![ChatMessage::system(prompt.to_owned()), ChatMessage::user(format!("Message: {}", turn.message.text))];
        let request = ChatRequest { messages, model: turn.persona.model.clone(), temperature: Some(0.0) };
        let within = self.services.config.retail.intent_timeout;
        let asked = turn.step("model").take(self.services.llm.answer(request, schema, within)).await;
        let answer = asked.map_err(|cause| cause.to_string()).and_then(|answer| {
            serde_json::from_value(answer).map_err(|_| "the answer does not fit the schema".to_owned())
        });
        match answer {
            Ok(answer) => Some(answer),
            Err(cause) => {
                warn!(error = cause, "The language model did not understand a message either");
                turn.note_model_error(cause);
                None
            }
        }
    }
}
