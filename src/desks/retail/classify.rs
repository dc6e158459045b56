//! Decides what a message is about: rules first, the language model if they are unsure.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::warn;

use super::intent::Intent;
use super::memory::Memory;
use super::rules::{Context, Utterance, in_context};
use super::{Incoming, Retail};
use crate::config::{Classifier, LlmMode};
use crate::desks::Turn;
use crate::dialogue::history::window;
use crate::dialogue::{Act, Social};
use crate::domain::IntentSource;
use crate::providers::llm::{ChatMessage, ChatRequest, LlmError};

/// Characters of the conversation in the prompt.
const CONTEXT_CHARS: usize = 1200;

/// The least confidence of an intent that the conversation or the documents settled.
const SETTLED: f64 = 0.7;

/// A classified message.
pub(super) struct Understood {
    /// The message, with what the rules or the model decided.
    pub utterance: Utterance,
    pub source: IntentSource,
    pub clarify_needed: bool,
    /// Whether the model was too late; it is not asked again in this turn.
    pub model_is_late: bool,
    /// The model's reason.
    rationale: Option<String>,
    /// Why the model's answer was not used.
    model_error: Option<String>,
}

impl Understood {
    /// The message held only a request to switch the language: there is nothing to clarify or answer.
    fn only_language() -> Self {
        Self {
            utterance: Utterance { confidence: 1.0, ..Utterance::default() },
            source: IntentSource::Rules,
            clarify_needed: false,
            model_is_late: false,
            rationale: None,
            model_error: None,
        }
    }

    pub fn intent(&self) -> Intent {
        self.utterance.intent.unwrap_or(Intent::Unknown)
    }

    /// Decides on an intent after all. `because` is shown in the receipt.
    pub fn settle(&mut self, intent: Intent, because: &str) {
        self.utterance.intent = Some(intent);
        self.utterance.matched.insert(0, because.to_owned());
        self.utterance.acts.retain(|act| !matches!(act, Act::Chat(_)));
        self.utterance.confidence = self.utterance.confidence.max(SETTLED);
        self.clarify_needed = false;
    }

    /// Returns the classification for the receipt, with the rules' evidence.
    pub fn receipt(&self, confidence: f64) -> Value {
        let mut receipt = json!({
            "intent": self.intent().as_str(), "confidence": confidence, "source": self.source,
            "matched": self.utterance.matched,
        });
        for (name, value) in [("rationale", &self.rationale), ("model_error", &self.model_error)] {
            if let Some(value) = value {
                receipt[name] = json!(value);
            }
        }
        receipt
    }
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

impl ModelVerdict {
    /// Whether the model is sure of an intent.
    fn is_sure(&self, threshold: f64) -> bool {
        self.intent != Intent::Unknown && !self.clarify_needed && self.confidence >= threshold
    }
}

impl Retail {
    /// Asks rules and model in the order that `CLASSIFIER` sets. Requests for another language or a person are decided by rules
    /// alone, so that they never wait for a model.
    pub(super) async fn classify(&self, turn: &Turn, incoming: &Incoming, memory: &Memory) -> Understood {
        if incoming.is_only_switch() {
            return Understood::only_language();
        }
        let context = Context { waiting_for_serial: incoming.waiting_for_serial, last_intent: memory.last_intent };
        let utterance = in_context(incoming.utterance.clone(), &context);
        let threshold = self.config().intent_threshold;
        let sure = utterance.intent.is_some() && utterance.confidence >= threshold;
        let wants_person = utterance.social() == Some(Social::Person);
        let rules_first = sure && self.config().classifier == Classifier::RulesFirst;
        // "Is water damage covered by the warranty?": one word says warranty. The model tells a question from a look-up.
        let is_doubtful = utterance.wants(Intent::Warranty)
            && utterance.entities.serials.is_empty()
            && !incoming.waiting_for_serial
            && self.services.llm.is_up();
        let rules_decide = incoming.switched || wants_person || (rules_first && !is_doubtful);
        if rules_decide || self.services.config.llm.mode == LlmMode::Offline {
            return by_rules(utterance, IntentSource::Rules, threshold, None);
        }
        match self.ask_model(turn, incoming).await {
            Ok(answer) if rules_first && !answer.is_sure(threshold) => {
                by_rules(utterance, IntentSource::Rules, threshold, None)
            }
            Ok(answer) => by_model(answer, utterance, threshold),
            Err(unusable) => by_rules(utterance, IntentSource::Fallback, threshold, Some(unusable)),
        }
    }

    async fn ask_model(&self, turn: &Turn, incoming: &Incoming) -> Result<ModelVerdict, Unusable> {
        if !self.services.llm.is_up() {
            return Err(Unusable::because("no language model answers"));
        }
        let mut messages = vec![ChatMessage::system(self.classify_prompt.clone())];
        messages.extend(window(&turn.history, CONTEXT_CHARS));
        messages.push(ChatMessage::user(format!("Message: {}", incoming.utterance.text)));
        let request = ChatRequest { messages, model: turn.persona.model.clone(), temperature: Some(0.0) };
        let answer = self.services.llm.extract(request, self.services.config.desks.intent_timeout).await;
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

fn by_rules(utterance: Utterance, source: IntentSource, threshold: f64, unusable: Option<Unusable>) -> Understood {
    Understood {
        clarify_needed: utterance.intent.is_none() || utterance.confidence < threshold,
        utterance,
        source,
        model_is_late: unusable.as_ref().is_some_and(|unusable| unusable.is_late),
        rationale: None,
        model_error: unusable.map(|unusable| unusable.reason),
    }
}

fn by_model(answer: ModelVerdict, mut utterance: Utterance, threshold: f64) -> Understood {
    utterance.intent = Some(answer.intent).filter(|intent| *intent != Intent::Unknown);
    utterance.confidence = answer.confidence;
    if utterance.intent.is_some() {
        utterance.acts.retain(|act| !matches!(act, Act::Chat(_)));
    } else if utterance.social().is_none() && answer.rationale.trim_start().to_ascii_lowercase().starts_with("social") {
        utterance.set(Act::Chat(Social::Other), true);
    }
    Understood {
        clarify_needed: utterance.intent.is_none() || answer.clarify_needed || answer.confidence < threshold,
        utterance,
        source: IntentSource::Llm,
        model_is_late: false,
        rationale: Some(answer.rationale),
        model_error: None,
    }
}
