//! The points at which a language model helps: five nodes answer with JSON, seven word a reply ([`wording`]).
//!
//! The rules and the texts come first: their result is used where the model is down, late or wrong. Money, identity and the shop never
//! come from a model, and no model calls a tool.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tracing::warn;

use super::classify::Verdict;
use super::effect::Incoming;
use super::state::{ConversationState, Stage};
use super::{Commerce, Situation, advance};
use crate::config::Config;
use crate::desks::Turn;
use crate::dialogue::history::window;
use crate::domain::commerce::Currency;
use crate::domain::commerce::policy::{GovernorClass, Intent, ROUTE, SWITCH_LANGUAGE, route};
use crate::domain::commerce::tenant::{PaymentMethod, ToneStyle};
use crate::domain::{IntentSource, Language, string_enum};
use crate::grounding::{Canary, Grounding, GroundingRules};
use crate::persona::{PromptError, Prompts};
use crate::providers::llm::{ChatMessage, ChatRequest};

mod wording;

pub(super) use wording::Draft;

/// Characters of the conversation in a prompt.
const CONTEXT_CHARS: usize = 1200;
/// Words of a message of which the rules know no language, from which the model is asked for it.
const SENTENCE: usize = 4;
/// The most words of a search, and the longest one.
const SEARCH_WORDS: usize = 8;
const SEARCH_WORD_CHARS: usize = 30;

string_enum! {
    /// A point at which a model is asked. Its prompt is `prompts/commerce/NAME.md`.
    pub enum Node {
        IntentClassify = "intent_classify",
        LanguagePolicy = "language_policy",
        GovernorSpamCasual = "governor_spam_casual",
        SalesNarrowQuery = "sales_narrow_query",
        PaymentRouterPrompt = "payment_router_prompt",
        CatalogPresentOptions = "catalog_present_options",
        ProductDisambiguate = "product_disambiguate",
        SupportRagAnswer = "support_rag_answer",
        OffersAnswer = "offers_answer",
        OrderStatusResponse = "order_status_response",
        PrefsConsentResponse = "prefs_consent_response",
        HandoffMessage = "handoff_message",
    }
}

/// The prompts of the nodes, and the checks of their replies.
pub(super) struct Nodes {
    prompts: HashMap<Node, String>,
    /// What holds for every reply that is worded.
    wording: String,
    tones: HashMap<ToneStyle, String>,
    grounding: Grounding,
    /// How long the model may take to answer with JSON, and to word a reply.
    answer_within: Duration,
    word_within: Duration,
}

impl Nodes {
    /// Reads `commerce/*.md` and `commerce/tones.toml`. The returned function makes the nodes.
    ///
    /// # Errors
    /// A file is missing or malformed, or a tone has no description.
    pub fn read(prompts: &Prompts) -> Result<impl FnOnce(&Config) -> Self + use<>, PromptError> {
        const TONES: &str = "commerce/tones.toml";
        let read = |node: &Node| Ok((*node, prompts.text(&format!("commerce/{node}.md"))?.to_owned()));
        let tones: HashMap<ToneStyle, String> = prompts.toml(TONES)?;
        if let Some(missing) = ToneStyle::ALL.iter().find(|tone| !tones.contains_key(tone)) {
            return Err(prompts.error(TONES, None, format!("{missing} is missing: describe how it sounds")));
        }
        let wording = prompts.text("commerce/wording.md")?.to_owned();
        let grounding = GroundingRules::read(prompts)?;
        let prompts = Node::ALL.iter().map(read).collect::<Result<_, PromptError>>()?;
        Ok(move |config: &Config| Self {
            prompts,
            wording,
            tones,
            // Links come from the desk's texts, never from a model.
            grounding: Grounding::new(grounding.in_currency(Currency::Kes), Vec::new(), Canary::new(rand::random())),
            answer_within: config.desks.intent_timeout,
            word_within: config.commerce.wording_timeout,
        })
    }

    fn prompt(&self, node: Node) -> &str {
        self.prompts.get(&node).map_or("", String::as_str)
    }
}

/// One of several names, and how sure the model is of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    choice: String,
    confidence: f64,
}

/// The words of a search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchAnswer {
    words: Vec<String>,
}

impl Commerce {
    /// Asks for JSON of a schema. `None` if the model is down, late, or its answer is not valid; it is not asked again in this turn.
    async fn ask<T>(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        node: Node,
        (known, schema): (Value, Value),
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Option<T> {
        if situation.model_failed || !self.services.llm.is_up() {
            return None;
        }
        let mut messages = vec![ChatMessage::system(self.nodes.prompt(node).to_owned())];
        messages.extend(window(&turn.history, CONTEXT_CHARS));
        messages.push(ChatMessage::user(json!({ "known": known, "message": turn.message.text }).to_string()));
        let request = ChatRequest { messages, model: turn.persona.model.clone(), temperature: Some(0.0) };
        let asking = self.services.llm.answer(request, &schema, self.nodes.answer_within);
        let answered = turn.step(node.as_str()).take(asking).await.map_err(|error| error.to_string());
        let answer = answered.and_then(|answer| read(answer).ok_or_else(|| "the answer is not valid".to_owned()));
        self.note_node(turn, situation, node, answer)
    }

    /// Notes in the receipt what became of a node.
    fn note_node<T>(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        node: Node,
        answer: Result<T, String>,
    ) -> Option<T> {
        turn.note_one_more("nodes", json!({ "node": node, "ok": answer.is_ok() }));
        let error = match answer {
            Ok(answer) => return Some(answer),
            Err(error) => error,
        };
        warn!(node = node.as_str(), error, "The language model gave no usable answer: the rules decide");
        turn.note_model_error(error);
        situation.model_failed = true;
        None
    }

    /// Lets the model choose one of these names.
    async fn choose<'a>(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        node: Node,
        names: &[&'a str],
    ) -> Option<(&'a str, f64)> {
        let schema = json!({
            "type": "object",
            "properties": {
                "choice": { "type": "string", "enum": names },
                "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            },
            "required": ["choice", "confidence"],
            "additionalProperties": false,
        });
        let read = |answer: Value| {
            let Choice { choice, confidence } = Choice::deserialize(answer).ok()?;
            let name = names.iter().copied().find(|name| *name == choice)?;
            (0.0..=1.0).contains(&confidence).then_some((name, confidence))
        };
        self.ask(turn, situation, node, (json!({ "choices": names }), schema), read).await
    }

    /// Asks for the language of a message that the rules leave open. `detected`: the language by its words.
    pub(super) async fn ask_language(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        allowed: &[Language],
        detected: Option<(Language, f64)>,
    ) -> Option<(Language, f64)> {
        let is_open = match detected {
            Some((language, confidence)) => language != turn.language() && confidence < SWITCH_LANGUAGE,
            None => turn.message.text.split_whitespace().count() >= SENTENCE,
        };
        if !is_open || allowed.len() < 2 {
            return None;
        }
        let names: Vec<&str> = allowed.iter().map(Language::code).chain(["mixed"]).collect();
        let (name, confidence) = self.choose(turn, situation, Node::LanguagePolicy, &names).await?;
        let language = allowed.iter().copied().find(|language| language.code() == name)?;
        Some((language, confidence))
    }

    /// Asks what a message means that the rules do not understand here. Changes the message and the verdict, and returns who decided.
    pub(super) async fn ask_meaning(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        state: &ConversationState,
        incoming: &mut Incoming,
        verdict: &mut Verdict,
    ) -> IntentSource {
        let is_business = incoming.said.class == GovernorClass::Business && !incoming.said.utterance.wants_person();
        if !is_business || !self.services.llm.is_up() || !advance::is_unsure(state, incoming) {
            return IntentSource::Rules;
        }
        if let Stage::Method { methods } = &state.stage {
            let names: Vec<&str> = methods.iter().map(|method| method.as_str()).chain(["none"]).collect();
            let chosen = self.choose(turn, situation, Node::PaymentRouterPrompt, &names).await;
            let chosen = chosen.filter(|(_, confidence)| *confidence >= ROUTE);
            if let Some(method) = chosen.and_then(|(name, _)| PaymentMethod::parse(name)) {
                incoming.said.methods = vec![method];
                return IntentSource::Llm;
            }
        }
        let names: Vec<&str> = Intent::ALL.iter().map(|intent| intent.as_str()).collect();
        let answer = self.choose(turn, situation, Node::IntentClassify, &names).await;
        let Some((intent, confidence)) = answer.and_then(|(name, of)| Some((Intent::parse(name)?, of))) else {
            return if situation.model_failed { IntentSource::Fallback } else { IntentSource::Rules };
        };
        *verdict = Verdict { intent, confidence, reason: "the language model" };
        (incoming.intent, incoming.routing) = (intent, route(intent, confidence));
        if matches!(intent, Intent::SpamCasual | Intent::Unknown) {
            let names: Vec<&str> = GovernorClass::ALL.iter().map(|class| class.as_str()).collect();
            let class = self.choose(turn, situation, Node::GovernorSpamCasual, &names).await;
            let class = class.filter(|(_, confidence)| *confidence >= ROUTE);
            incoming.said.class = class.and_then(|(name, _)| GovernorClass::parse(name)).unwrap_or(incoming.said.class);
        }
        IntentSource::Llm
    }

    /// Asks for other words for goods that a search did not find. Limits of a price stay those of the customer.
    pub(super) async fn ask_search_words(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        categories: Vec<String>,
    ) -> Option<Vec<String>> {
        let schema = json!({
            "type": "object",
            "properties": { "words": { "type": "array", "items": { "type": "string" }, "maxItems": SEARCH_WORDS } },
            "required": ["words"],
            "additionalProperties": false,
        });
        let read = |answer: Value| {
            let SearchAnswer { words } = SearchAnswer::deserialize(answer).ok()?;
            let fits = |word: &String| word.chars().count() <= SEARCH_WORD_CHARS;
            (words.len() <= SEARCH_WORDS && words.iter().all(fits)).then_some(words)
        };
        let known = json!({ "categories": categories });
        let words = self.ask(turn, situation, Node::SalesNarrowQuery, (known, schema), read).await?;
        (!words.is_empty()).then_some(words)
    }
}
