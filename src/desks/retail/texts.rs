//! What the desk says: `prompts/texts/retail.{language}.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The desk's texts in one language. Comments in the file say when each is used.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetailTexts {
    pub language_ack: String,
    pub cute_greeting: String,
    pub clarify: String,
    pub social_redirect: String,
    pub person_told: String,
    pub warranty_prompt: String,
    pub warranty_prompt_invalid: String,
    /// With `{name}`, `{serial}` and `{date}`.
    pub warranty_found: String,
    /// With `{date}`.
    pub warranty_valid: String,
    pub warranty_expired: String,
    /// With `{serial}`.
    pub warranty_not_found: String,
    pub warranty_wait: String,
    pub reply_intro: String,
    /// With `{title}` and `{text}`.
    pub reply_quote: String,
    pub reply_unknown: String,
    pub reply_which: String,
    /// For the language model.
    pub instruction: String,
    /// Small talk by topic; `other` is used for a topic without texts.
    pub social: BTreeMap<String, Vec<String>>,
}

impl RetailTexts {
    /// Checks that each text has the placeholders that it needs.
    pub fn check(&self) -> Result<(), String> {
        let places = [
            ("warranty_found", &self.warranty_found, ["{name}", "{serial}", "{date}"].as_slice()),
            ("warranty_valid", &self.warranty_valid, &["{date}"]),
            ("warranty_not_found", &self.warranty_not_found, &["{serial}"]),
            ("reply_quote", &self.reply_quote, &["{title}", "{text}"]),
        ];
        for (key, text, needed) in places {
            if let Some(missing) = needed.iter().find(|place| !text.contains(**place)) {
                return Err(format!("{key} must contain {missing}"));
            }
        }
        if self.social.get("other").is_none_or(Vec::is_empty) {
            return Err("[social] must have at least one text under other".to_owned());
        }
        Ok(())
    }

    /// Returns a small-talk reply for the topic. The variant depends on the turn's number.
    pub fn social(&self, topic: &str, turn: u32) -> &str {
        let variants =
            self.social.get(topic).filter(|variants| !variants.is_empty()).or_else(|| self.social.get("other"));
        let index = |count: usize| usize::try_from(turn).unwrap_or(0) % count;
        variants.and_then(|variants| variants.get(index(variants.len().max(1)))).map_or("", String::as_str)
    }
}
