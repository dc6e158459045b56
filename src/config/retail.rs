use std::time::Duration;

use super::Env;

/// Which classifier goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classifier {
    /// The rules, and the language model where they are unsure.
    RulesFirst,
    /// The language model, and the rules where it does not answer.
    LlmFirst,
}

/// When the cute greeting is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CuteGreeting {
    /// With the first confident intent of a conversation, and when the intent changes.
    OnChange,
    /// With every confident intent.
    Always,
    Off,
}

/// Settings of every desk.
#[derive(Clone, Debug)]
pub struct DeskConfig {
    /// `INTENT_TIMEOUT_MS`: how long the language model may take to classify.
    pub intent_timeout: Duration,
    /// `SOCIAL_TIMEOUT_MS`: how long it may take for small talk before a prepared reply is used.
    pub social_timeout: Duration,
    /// `HISTORY_MAX_CHARS`: characters of the conversation in the prompt.
    pub history_max_chars: usize,
    /// `RETRIEVE_MAX_CHARS`: characters of retrieved passages in the prompt.
    pub context_max_chars: usize,
}

impl DeskConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            intent_timeout: env.milliseconds("INTENT_TIMEOUT_MS", 4000),
            social_timeout: env.milliseconds("SOCIAL_TIMEOUT_MS", 8000),
            history_max_chars: env.number("HISTORY_MAX_CHARS", 6000),
            context_max_chars: env.number("RETRIEVE_MAX_CHARS", 8000),
        }
    }
}

/// The retail desk.
#[derive(Clone, Debug)]
pub struct RetailConfig {
    /// `CLASSIFIER`
    pub classifier: Classifier,
    /// `INTENT_CONFIDENCE_THRESHOLD`: below it, the desk asks the customer.
    pub intent_threshold: f64,
    /// `CUTE_GREETING`
    pub cute_greeting: CuteGreeting,
    /// `WARRANTY_MISS_LIMIT`: unknown serials within `miss_window` before the customer has to wait.
    pub miss_limit: usize,
    /// `WARRANTY_MISS_MINUTES`
    pub miss_window: Duration,
    /// `WARRANTY_SERIALS_MAX`: serials answered in one turn.
    pub serials_max: usize,
}

impl RetailConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let intent_threshold = env.number("INTENT_CONFIDENCE_THRESHOLD", 0.6);
        if !(0.0..=1.0).contains(&intent_threshold) {
            env.refuse("INTENT_CONFIDENCE_THRESHOLD", "must be between 0 and 1".to_owned());
        }
        Self {
            classifier: env.choice(
                "CLASSIFIER",
                &[("rules_first", Classifier::RulesFirst), ("llm_first", Classifier::LlmFirst)],
                Classifier::RulesFirst,
            ),
            intent_threshold,
            cute_greeting: env.choice(
                "CUTE_GREETING",
                &[("on_change", CuteGreeting::OnChange), ("always", CuteGreeting::Always), ("off", CuteGreeting::Off)],
                CuteGreeting::OnChange,
            ),
            miss_limit: env.number("WARRANTY_MISS_LIMIT", 5),
            miss_window: Duration::from_secs(env.number("WARRANTY_MISS_MINUTES", 10_u64).saturating_mul(60)),
            serials_max: env.number("WARRANTY_SERIALS_MAX", 10),
        }
    }
}
