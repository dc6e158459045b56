//! Decides what a message is about: rules and examples first, the language model if they are unsure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::Telecom;
use super::billing::corrects_case;
use super::memory::Memory;
use super::route::{Category, Route, SURE, route};
use super::rules::{Parsed, Topic};
use crate::config::LlmMode;
use crate::dialogue::Turn;
use crate::dialogue::history::window;
use crate::domain::IntentSource;
use crate::nlu::examples::Classifier;
use crate::nlu::keywords::Strength;
use crate::providers::llm::{ChatMessage, ChatRequest};

/// Characters of the conversation in the prompt.
const CONTEXT_CHARS: usize = 1200;
/// The confidence of clear words, and of weak ones.
const CLEAR: f64 = 0.9;
const WEAK: f64 = 0.6;
/// The probabilities from which the examples decide: clearly, and weakly.
const VERY_LIKELY: f64 = 0.75;
const LIKELY: f64 = 0.5;
/// The share of known words from which the examples may decide without the words. See `gibberish_is_unknown`.
const KNOWN: f64 = 0.5;

/// The label of examples that the documents do not answer.
const ELSEWHERE: &str = "elsewhere";
/// The reason of a verdict about such a message.
pub(super) const NOT_COVERED: &str = "the examples know that no page answers it";

/// A classified message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Verdict {
    pub category: Category,
    pub confidence: f64,
    pub source: IntentSource,
    /// The rules that decided, or the model's reason.
    pub reason: String,
    /// Whether the examples contradict the words that decided about a question, so that a model that is up is asked.
    #[serde(skip)]
    pub is_doubtful: bool,
}

// A doc comment here would be shown to the model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModelVerdict {
    category: Category,
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: f64,
    reasoning: String,
}

impl Verdict {
    fn by_rules(category: Category, confidence: f64, reason: &str) -> Self {
        let (source, reason) = (IntentSource::Rules, reason.to_owned());
        Self { category, confidence, source, reason, is_doubtful: false }
    }

    pub fn route(&self, last: Option<Route>) -> Route {
        route(self.category, self.confidence, last)
    }
}

impl Telecom {
    /// Asks the rules and the examples, and the model where they are unsure. Small talk, a wish for a person and answers to the
    /// desk's own questions never wait for a model.
    pub(super) async fn classify(&self, turn: &Turn, parsed: &Parsed, memory: &Memory) -> Verdict {
        let by_rules = self.classify_by_rules(turn, parsed, memory);
        let is_sure = by_rules.confidence >= SURE;
        if (is_sure && !by_rules.is_doubtful)
            || self.services.config.llm.mode == LlmMode::Offline
            || !self.services.llm.is_up()
        {
            return by_rules;
        }
        match self.ask_model(turn, &parsed.utterance.text).await {
            Ok(verdict) if is_sure && verdict.confidence < SURE => by_rules,
            Ok(verdict) => verdict,
            Err(reason) => {
                warn!(error = reason, "Classifying by rules: the language model gave no usable answer");
                Verdict { source: IntentSource::Fallback, ..by_rules }
            }
        }
    }

    /// Classifies without a model.
    pub(super) fn classify_by_rules(&self, turn: &Turn, parsed: &Parsed, memory: &Memory) -> Verdict {
        let utterance = &parsed.utterance;
        if utterance.wants_person() {
            return Verdict::by_rules(Category::Unknown, CLEAR, "wants a person");
        }
        let has_reason = parsed.said.claims() || parsed.said.reason.is_some();
        if utterance.asks(Topic::Refund) && has_reason && !utterance.has_question() {
            return Verdict::by_rules(Category::Billing, CLEAR, "claims money");
        }
        let guess = guess(&self.examples, parsed);
        let (category, mut confidence) = weigh(parsed.technical, parsed.billing, guess);
        let is_technical = category == Category::Technical && confidence >= SURE && parsed.technical > parsed.billing;
        if let Some(answered) = self.answered(parsed, is_technical, memory) {
            return Verdict::by_rules(answered, CLEAR, "answers the desk's question");
        }
        let is_about_case = memory.has_open_request() && memory.last_agent == Some(Route::Billing);
        if utterance.cancels() && (memory.open_wish().is_some() || is_about_case) {
            return Verdict::by_rules(Category::Billing, CLEAR, "gives up the open request");
        }
        if utterance.asks(Topic::Progress) && memory.has_open_request() && !is_technical {
            return Verdict::by_rules(Category::Billing, CLEAR, "asks about the open request");
        }
        // "No, the reason is the outage" does not report one.
        if corrects_case(parsed, memory) && is_about_case && (!is_technical || utterance.asks(Topic::Field)) {
            return Verdict::by_rules(Category::Billing, CLEAR, "corrects the case");
        }
        let is_after_page = memory.last_agent == Some(Route::Technical) && memory.has_page();
        if utterance.asks(Topic::Tried) && !utterance.has_question() && is_after_page && !parsed.said.is_concrete() {
            return Verdict::by_rules(Category::Technical, CLEAR, "the advice did not help");
        }
        let asks_plan = utterance.asks(Topic::Subscription) || utterance.asks(Topic::Allowance);
        let is_of_account = parsed.said.user_id().is_some() || memory.account.verified.is_some() && asks_plan;
        if is_of_account && !is_technical {
            return Verdict::by_rules(Category::Billing, CLEAR, "is about an account");
        }
        if parsed.is_small_talk() {
            return Verdict::by_rules(Category::Unknown, CLEAR, "small talk");
        }
        let elsewhere = elsewhere(&self.examples, parsed);
        let is_answer = utterance.answer.is_some() && !utterance.has_question();
        let is_elsewhere = memory.refund.is_none() && !is_answer && elsewhere >= VERY_LIKELY;
        if is_elsewhere && !self.is_on_pages(turn, &utterance.text, memory) {
            return Verdict::by_rules(Category::Unknown, CLEAR, NOT_COVERED);
        }
        // Examples alone do not end a specialist's thread: "it is blue now" resembles none of its messages.
        // Nor does a question without technical words leave an open refund: "so I won't get it back?"
        let is_of_refund = memory.refund.is_some() && utterance.has_question() && parsed.technical == Strength::None;
        let is_new = category == Category::Unknown || category == Category::Technical && is_of_refund;
        if is_new && memory.last_agent.is_some_and(|last| last != Route::Fallback) {
            confidence = 0.0;
        }
        let reason = format!(
            "words: technical {:?}, billing {:?}; examples: {}",
            parsed.technical,
            parsed.billing,
            guess.map_or("nothing".to_owned(), |(category, p)| format!("{} {p:.2}", category.as_str())),
        );
        let is_doubtful = utterance.has_question() && is_contradicted(category, guess);
        Verdict { is_doubtful, ..Verdict::by_rules(category, confidence, &reason) }
    }

    async fn ask_model(&self, turn: &Turn, text: &str) -> Result<Verdict, String> {
        let mut messages = vec![ChatMessage::system(self.classify_prompt.clone())];
        messages.extend(window(&turn.history, CONTEXT_CHARS));
        messages.push(ChatMessage::user(format!("Message: {text}")));
        let request = ChatRequest { messages, model: turn.persona.model.clone(), temperature: Some(0.0) };
        let answer = self.services.llm.extract(request, self.services.config.desks.intent_timeout).await;
        let ModelVerdict { category, confidence, reasoning } = answer.map_err(|error| error.to_string())?;
        if !(0.0..=1.0).contains(&confidence) {
            return Err("confidence is out of range".to_owned());
        }
        let (source, reason) = (IntentSource::Llm, reasoning);
        Ok(Verdict { category, confidence, source, reason, is_doubtful: false })
    }
}

/// Returns how likely it is that a message asks for what the company does not offer or its documents do not say: a search would find the wrong page.
fn elsewhere(examples: &Classifier, parsed: &Parsed) -> f64 {
    let guess = examples.classify(&parsed.utterance.text);
    guess.filter(|guess| guess.label == ELSEWHERE && guess.known >= KNOWN).map_or(0.0, |guess| guess.probability)
}

/// Returns the category of the nearest examples with its probability, or `None` if neither the words nor the examples know the
/// message.
fn guess(examples: &Classifier, parsed: &Parsed) -> Option<(Category, f64)> {
    let is_known = parsed.names_matter();
    let guess = examples.classify(&parsed.utterance.text).filter(|guess| is_known || guess.known >= KNOWN)?;
    Some((category_of(guess.label), guess.probability))
}

/// Returns the category of an example's label. Kinds of small talk are unknown.
fn category_of(label: &str) -> Category {
    Category::parse(label).unwrap_or(Category::Unknown)
}

/// Whether the examples name another category than the words.
fn is_contradicted(category: Category, guess: Option<(Category, f64)>) -> bool {
    guess.is_some_and(|(other, probability)| other != category && probability >= LIKELY)
}

/// Decides from the words and from the most likely label of the examples.
fn weigh(technical: Strength, billing: Strength, guess: Option<(Category, f64)>) -> (Category, f64) {
    let guessed = |least: f64| guess.filter(|(_, probability)| *probability >= least).map(|(category, _)| category);
    let named = match technical.cmp(&billing) {
        std::cmp::Ordering::Greater => Some((Category::Technical, technical)),
        std::cmp::Ordering::Less => Some((Category::Billing, billing)),
        std::cmp::Ordering::Equal => None,
    };
    match (named, guessed(VERY_LIKELY), guessed(LIKELY)) {
        (Some((category, Strength::Clear)), _, _) => (category, CLEAR),
        (Some((category, _)), _, Some(likely)) if likely == category => (category, CLEAR),
        (Some((category, _)), _, _) => (category, WEAK),
        // Both name a category: money that has to do with the line is a matter of billing.
        (None, Some(sure), _) => (sure, CLEAR),
        (None, None, Some(likely)) if likely != Category::Unknown => (likely, WEAK),
        (None, None, _) if billing != Strength::None => (Category::Billing, WEAK),
        (None, None, _) => (Category::Unknown, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::rules::TelecomRules;
    use super::*;

    #[test]
    fn words_decide_and_examples_confirm() {
        use Category::{Billing, Technical, Unknown};
        use Strength::{Clear, None as No, Weak};
        for (technical, billing, guess, expected) in [
            (Clear, No, None, (Technical, 0.9)),
            (Clear, Weak, Some((Billing, 0.9)), (Technical, 0.9)),
            (Weak, No, None, (Technical, 0.6)),
            (No, Weak, Some((Billing, 0.5)), (Billing, 0.9)),
            (No, Weak, Some((Technical, 0.9)), (Billing, 0.6)),
            (Clear, Clear, None, (Billing, 0.6)),
            (Clear, Clear, Some((Technical, 0.8)), (Technical, 0.9)),
            (No, No, Some((Technical, 0.8)), (Technical, 0.9)),
            (No, No, Some((Technical, 0.6)), (Technical, 0.6)),
            (No, No, Some((Unknown, 0.8)), (Unknown, 0.9)),
            (No, No, Some((Unknown, 0.6)), (Unknown, 0.0)),
            (No, No, None, (Unknown, 0.0)),
        ] {
            assert_eq!(weigh(technical, billing, guess), expected, "{technical:?} {billing:?} {guess:?}");
        }
    }

    #[test]
    fn examples_that_disagree_contradict_the_words() {
        use Category::{Billing, Technical, Unknown};
        for (guess, expected) in [
            (None, false),
            (Some((Billing, 0.9)), false),
            (Some((Technical, 0.49)), false),
            (Some((Technical, 0.5)), true),
            (Some((Unknown, 0.8)), true),
        ] {
            assert_eq!(is_contradicted(Billing, guess), expected, "{guess:?}");
        }
    }

    /// What the words and the examples make of a message that begins a conversation.
    fn category(rules: &TelecomRules, examples: &Classifier, text: &str) -> Category {
        let parsed = rules.parse(text);
        let utterance = &parsed.utterance;
        if utterance.wants_person() || utterance.social().is_some() || utterance.greets() {
            return Category::Unknown;
        }
        let guess = guess(examples, &parsed);
        let (category, confidence) = weigh(parsed.technical, parsed.billing, guess);
        if confidence >= WEAK { category } else { Category::Unknown }
    }

    /// `tests/data/telecom/messages.tsv`: category, language, style and message, written by someone who had seen neither the
    /// rules nor the examples. 115 of 120 were right at first run; that is what to expect of new messages. Three greetings among them were
    /// added to the examples later.
    #[test]
    fn words_and_examples_understand_90_messages_of_100() {
        let prompts = crate::persona::Prompts::shipped();
        let (rules, examples) = (TelecomRules::read(&prompts).unwrap(), Classifier::read(&prompts, "telecom").unwrap());
        let (mut right, mut all) = (0, 0);
        let mut confusion: BTreeMap<(String, &str), usize> = BTreeMap::new();
        for line in include_str!("../../../tests/data/telecom/messages.tsv").lines() {
            let [wanted, language, _, text] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            let got = category(&rules, &examples, text).as_str();
            right += i32::from(got == wanted);
            all += 1;
            *confusion.entry((wanted.to_owned(), got)).or_default() += 1;
            if got != wanted {
                let Parsed { technical, billing, .. } = rules.parse(text);
                let guess = examples.classify(text);
                eprintln!("{language} {text:?}: wanted {wanted}, got {got}: {technical:?}, {billing:?}, {guess:?}");
            }
        }
        eprintln!("{right} of {all} are right; wanted and got: {confusion:?}");
        assert!(right * 10 >= all * 9, "{right} of {all}");
    }

    /// `tests/data/telecom/gibberish.tsv`: kind and message. Of its 46 lines, one is routed: `1q2w3e4r` looks like a code.
    #[test]
    fn gibberish_is_unknown() {
        let prompts = crate::persona::Prompts::shipped();
        let (rules, examples) = (TelecomRules::read(&prompts).unwrap(), Classifier::read(&prompts, "telecom").unwrap());
        let lines = include_str!("../../../tests/data/telecom/gibberish.tsv").lines();
        let texts: Vec<&str> = lines.map(|line| line.split_once('\t').unwrap().1).collect();
        assert!(texts.len() >= 30);
        let routed = |text: &&&str| category(&rules, &examples, text) != Category::Unknown;
        let routed: Vec<_> = texts.iter().filter(routed).map(|text| (text, examples.classify(text))).collect();
        assert!(routed.len() * 20 <= texts.len(), "{routed:#?}");
    }
}
