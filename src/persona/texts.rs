//! Texts with places to fill, and those that every desk needs.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{PromptError, Prompts};
use crate::domain::language::DateFormat;
use crate::domain::{ErrorCode, Language};

mod console;
mod page;

pub use console::ConsoleTexts;
pub use page::PageTexts;

/// `template` with every `{name}` replaced by its value, in one pass: a value that holds braces stays as it is.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        let value = rest.find('}').and_then(|close| {
            let name = &rest[1..close];
            values.iter().find(|(key, _)| *key == name).map(|(_, value)| (value, close + 1))
        });
        match value {
            Some((value, end)) => {
                filled.push_str(value);
                rest = &rest[end..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// What is read once a language: `texts/{desk}.{language}.toml`.
#[derive(Clone, Debug)]
pub struct ByLanguage<T> {
    texts: BTreeMap<Language, T>,
    fallback: Language,
}

impl<T: serde::de::DeserializeOwned> ByLanguage<T> {
    /// Reads the desk's texts in each of the languages; the first one stands in for a language that has none.
    pub fn load(prompts: &Prompts, desk: &str, languages: &[Language]) -> Result<Self, PromptError> {
        let mut texts = BTreeMap::new();
        for language in languages {
            texts.insert(*language, prompts.toml(&format!("texts/{desk}.{language}.toml"))?);
        }
        let fallback = *languages
            .first()
            .ok_or_else(|| prompts.error("texts", None, "no persona of this desk names a language".to_owned()))?;
        Ok(Self { texts, fallback })
    }
}

impl<T> ByLanguage<T> {
    pub fn get(&self, language: Language) -> &T {
        // The fallback is in the map by construction.
        self.texts.get(&language).unwrap_or_else(|| &self.texts[&self.fallback])
    }

    /// This language, if there are texts in it, else the one that stands in for it.
    pub fn closest(&self, language: Language) -> Language {
        if self.texts.contains_key(&language) { language } else { self.fallback }
    }

    pub fn iter(&self) -> impl Iterator<Item = (Language, &T)> {
        self.texts.iter().map(|(language, texts)| (*language, texts))
    }
}

/// What any desk may have to say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommonTexts {
    /// Stands wherever a text says `{hotline}`.
    pub hotline: String,
    pub date_format: DateFormat,
    error_timeout: String,
    error_unavailable: String,
    error_overloaded: String,
    error_model: String,
    error_internal: String,
    error_notice: String,
    /// Stands where a number was held back.
    pub guard_replacement: String,
    /// Ends a reply that began to read out its instructions.
    pub guard_rest: String,
    /// Ends a reply that began to make a claim which nothing supports.
    pub guard_claim: String,
    /// Stands where an address was taken out.
    pub guard_link: String,
}

impl CommonTexts {
    /// What went wrong, in the customer's words.
    pub fn error(&self, code: ErrorCode) -> String {
        self.with_hotline(match code {
            ErrorCode::Timeout => &self.error_timeout,
            ErrorCode::Unavailable => &self.error_unavailable,
            ErrorCode::Overloaded => &self.error_overloaded,
            ErrorCode::Model => &self.error_model,
            ErrorCode::Internal => &self.error_internal,
        })
    }

    /// What is said when nothing at all could be said.
    pub fn error_notice(&self) -> String {
        self.with_hotline(&self.error_notice)
    }

    fn with_hotline(&self, text: &str) -> String {
        fill(text, &[("hotline", &self.hotline)])
    }
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn a_value_is_never_filled_again() {
        assert_eq!(fill("{a} and {b}, {c} {", &[("a", "{b}"), ("b", "x")]), "{b} and x, {c} {");
        assert_eq!(fill("Serial '{serial}'", &[("serial", "A-1")]), "Serial 'A-1'");
    }
}
