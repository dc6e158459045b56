//! Decides what a message is about: rules first, the language model if they are unsure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::intent::Intent;
use super::memory::Memory;
use super::rules::{Context, Verdict};
use super::social::PERSON;
use super::{Incoming, Retail};
use crate::config::{Classifier, LlmMode};
use crate::desks::Turn;
use crate::dialogue::history::window;
use crate::domain::IntentSource;
use crate::nlu::long_text::read_text;
use crate::providers::llm::{ChatMessage, ChatRequest, LlmError};

/// Characters of the conversation in the prompt.
const CONTEXT_CHARS: usize = 1200;

/// A classified message.
pub(super) struct Understood {
    pub intent: Intent,
    pub confidence: f64,
    pub source: IntentSource,
    pub clarify_needed: bool,
    /// The topic of small talk.
    pub social: Option<String>,
    /// Whether the customer wants goods without naming any.
    pub names_nothing: bool,
    /// Whether the model was too late; it is not asked again in this turn.
    pub model_is_late: bool,
    pub receipt: Receipt,
}

/// Why the model's answer is not used.
struct Unusable {
    reason: String,
    is_late: bool,
}

impl Unusable {
    fn because(reason: &str) -> Self {
        Self { reason: reason.to_owned(), is_late: false }
    }
}

/// Why a message was classified this way, for the receipt.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Receipt {
    /// The rules' evidence.
    matched: Vec<String>,
    /// The model's reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
    /// Why the model's answer was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    model_error: Option<String>,
}

/// The classification in the receipt.
#[derive(Serialize)]
pub(super) struct Understanding<'a> {
    pub intent: &'a str,
    pub confidence: f64,
    pub source: IntentSource,
    #[serde(flatten)]
    pub why: &'a Receipt,
}

// A doc comment here would be shown to the model.
#[derive(Debug, Deserialize, JsonSchema)]
struct ModelVerdict {
    intent: Intent,
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: f64,
    #[serde(rename = "need_retrieval")]
    _need_retrieval: bool,
    clarify_needed: bool,
    #[serde(rename = "clarify_questions")]
    _clarify_questions: Vec<String>,
    rationale: String,
}

impl Retail {
    /// Asks rules and model in the order that `CLASSIFIER` sets. Requests for another language or a person are decided by rules
    /// alone, so that they never wait for a model.
    pub(super) async fn classify(&self, turn: &Turn, incoming: &Incoming, memory: &Memory) -> Understood {
        if incoming.switch.is_some() && incoming.text.is_empty() {
            return Understood::only_language();
        }
        let context = Context { waiting_for_serial: incoming.waiting_for_serial, last_intent: memory.last_intent };
        let vocabulary = self.vocabulary(turn);
        let verdict = read_text(incoming.text.len(), || self.rules.classify(&incoming.text, &context, &vocabulary));
        let threshold = self.config().intent_threshold;
        let sure = verdict.intent != Intent::Unknown && verdict.confidence >= threshold;
        let wants_person = verdict.social.as_deref() == Some(PERSON);
        let rules_decide =
            incoming.switch.is_some() || wants_person || (sure && self.config().classifier == Classifier::RulesFirst);
        if rules_decide || self.services.config.llm.mode == LlmMode::Offline {
            return by_rules(verdict, IntentSource::Rules, threshold, None);
        }
        match self.ask_model(turn, incoming).await {
            Ok(answer) => by_model(answer, verdict, threshold),
            Err(unusable) => by_rules(verdict, IntentSource::Fallback, threshold, Some(unusable)),
        }
    }

    async fn ask_model(&self, turn: &Turn, incoming: &Incoming) -> Result<ModelVerdict, Unusable> {
        if !self.services.llm.is_up() {
            return Err(Unusable::because("no language model answers"));
        }
        let mut messages = vec![ChatMessage::system(self.classify_prompt.clone())];
        messages.extend(window(&turn.history, CONTEXT_CHARS));
        messages.push(ChatMessage::user(format!("Message: {}", incoming.text)));
        let request = ChatRequest { messages, model: turn.persona.model.clone(), temperature: Some(0.0) };
        let answer = self.services.llm.extract(request, self.config().intent_timeout).await;
        let unusable = |error: LlmError| Unusable {
            reason: error.to_string(),
            is_late: matches!(error, LlmError::Timeout(_) | LlmError::Overloaded),
        };
        let verdict = answer.map_err(unusable).and_then(|verdict: ModelVerdict| {
            let range = 0.0..=1.0;
            if range.contains(&verdict.confidence) {
                Ok(verdict)
            } else {
                Err(Unusable::because("confidence is out of range"))
            }
        });
        if let Err(unusable) = &verdict {
            warn!(error = unusable.reason, "Classifying by rules: the language model gave no usable answer");
        }
        verdict
    }
}

fn by_rules(verdict: Verdict, source: IntentSource, threshold: f64, unusable: Option<Unusable>) -> Understood {
    Understood {
        intent: verdict.intent,
        confidence: verdict.confidence,
        source,
        clarify_needed: verdict.intent == Intent::Unknown || verdict.confidence < threshold,
        social: verdict.social,
        names_nothing: verdict.names_nothing,
        model_is_late: unusable.as_ref().is_some_and(|unusable| unusable.is_late),
        receipt: Receipt {
            matched: verdict.matched,
            rationale: None,
            model_error: unusable.map(|unusable| unusable.reason),
        },
    }
}

fn by_model(answer: ModelVerdict, verdict: Verdict, threshold: f64) -> Understood {
    let says_social = answer.rationale.trim_start().to_ascii_lowercase().starts_with("social");
    let social = match verdict.social {
        Some(topic) => Some(topic),
        None => (says_social && answer.intent == Intent::Unknown).then(|| "other".to_owned()),
    };
    Understood {
        intent: answer.intent,
        confidence: answer.confidence,
        source: IntentSource::Llm,
        clarify_needed: answer.intent == Intent::Unknown || answer.clarify_needed || answer.confidence < threshold,
        social: social.filter(|_| answer.intent == Intent::Unknown),
        names_nothing: verdict.names_nothing,
        model_is_late: false,
        receipt: Receipt { matched: verdict.matched, rationale: Some(answer.rationale), model_error: None },
    }
}
