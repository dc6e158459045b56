//! Texts with placeholders, and the texts that every desk needs.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{PromptError, Prompts};
use crate::domain::language::{DateFormat, NumberFormat};
use crate::domain::returns::{Notice, Outcome};
use crate::domain::{ErrorCode, Language};

mod page;

pub use page::PageTexts;

/// Replaces every `{name}` of the template by its value. Braces inside values are not replaced.
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

/// Returns the names in braces.
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}

/// Texts per language, from `texts/{desk}.{language}.toml` and the files of the languages that it falls back to.
#[derive(Clone, Debug)]
pub struct ByLanguage<T> {
    texts: BTreeMap<Language, T>,
    fallback: Language,
}

impl<T: serde::de::DeserializeOwned> ByLanguage<T> {
    /// Loads the desk's texts in each of the languages. The first one is the fallback.
    pub fn load(prompts: &Prompts, desk: &str, languages: &[Language]) -> Result<Self, PromptError> {
        let mut texts = BTreeMap::new();
        for language in languages {
            texts.insert(*language, prompts.texts(desk, *language)?);
        }
        let fallback = *languages
            .first()
            .ok_or_else(|| prompts.error("texts", None, "no persona of this desk names a language".to_owned()))?;
        Ok(Self { texts, fallback })
    }

    /// Loads texts like [`load`](Self::load), and checks those of each language. `check` explains a mistake to the person who edits
    /// the file.
    pub fn load_checked(
        prompts: &Prompts,
        desk: &str,
        languages: &[Language],
        check: impl Fn(&T) -> Result<(), String>,
    ) -> Result<Self, PromptError> {
        let all = Self::load(prompts, desk, languages)?;
        for (language, texts) in all.iter() {
            if let Err(hint) = check(texts) {
                let files = prompts.files_for(language, |code| format!("texts/{desk}.{code}.toml"));
                return Err(prompts.error(&files[0], None, hint));
            }
        }
        Ok(all)
    }
}

impl<T> ByLanguage<T> {
    pub fn get(&self, language: Language) -> &T {
        // The fallback is in the map by construction.
        self.texts.get(&language).unwrap_or_else(|| &self.texts[&self.fallback])
    }

    /// Returns this language if it has texts, else the fallback.
    pub fn closest(&self, language: Language) -> Language {
        if self.texts.contains_key(&language) { language } else { self.fallback }
    }

    pub fn iter(&self) -> impl Iterator<Item = (Language, &T)> {
        self.texts.iter().map(|(language, texts)| (*language, texts))
    }
}

/// Texts of every desk.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommonTexts {
    /// The value of `{hotline}`.
    pub hotline: String,
    pub date_format: DateFormat,
    pub number_format: NumberFormat,
    error_timeout: String,
    error_unavailable: String,
    error_overloaded: String,
    error_model: String,
    error_internal: String,
    error_notice: String,
    over_limit: String,
    only_text: String,
    decision_question: String,
    decision_closed: String,
    /// Replaces a number that no source supports.
    pub guard_replacement: String,
    /// Ends a reply that started to quote its instructions.
    pub guard_rest: String,
    /// Ends a reply that started an unsupported claim.
    pub guard_claim: String,
    /// `None`: [`Self::guard_claim`] is said.
    #[serde(default)]
    pub guard_human: Option<String>,
    /// Replaces a link that is not allowed.
    pub guard_link: String,
}

impl CommonTexts {
    /// Returns the text of an error for the customer.
    pub fn error(&self, code: ErrorCode) -> String {
        self.with_hotline(match code {
            ErrorCode::Timeout => &self.error_timeout,
            ErrorCode::Unavailable => &self.error_unavailable,
            ErrorCode::Overloaded => &self.error_overloaded,
            ErrorCode::Model => &self.error_model,
            ErrorCode::Internal => &self.error_internal,
        })
    }

    /// Returns the text for a turn without any reply.
    pub fn error_notice(&self) -> String {
        self.with_hotline(&self.error_notice)
    }

    /// Returns the answer to a customer who writes too much.
    pub fn over_limit(&self) -> String {
        self.with_hotline(&self.over_limit)
    }

    /// Returns the answer to a message without text.
    pub fn only_text(&self) -> String {
        self.with_hotline(&self.only_text)
    }

    /// Returns the message about a person's decision on a ticket. `None` if only the ticket's desk can say it.
    pub fn decision(&self, notice: &Notice) -> Option<String> {
        let ticket = ("ticket_id", notice.ticket.as_str());
        match &notice.outcome {
            Outcome::MoreInfo { question } => Some(fill(&self.decision_question, &[ticket, ("question", question)])),
            Outcome::Closed => Some(fill(&self.decision_closed, &[ticket])),
            _ => None,
        }
    }

    /// Checks that a text with values that a customer needs has them all.
    ///
    /// # Errors
    /// The first mistake, for the person who edits the file.
    pub fn check(&self) -> Result<(), String> {
        let needed = [
            ("decision_question", &self.decision_question, "ticket_id"),
            ("decision_question", &self.decision_question, "question"),
            ("decision_closed", &self.decision_closed, "ticket_id"),
        ];
        match needed.iter().find(|(_, text, value)| !placeholders(text).any(|has| has == *value)) {
            Some((name, _, value)) => Err(format!("{name} must contain {{{value}}}")),
            None => Ok(()),
        }
    }

    fn with_hotline(&self, text: &str) -> String {
        fill(text, &[("hotline", &self.hotline)])
    }
}

/// Returns at most the first `max_chars` characters of `text`, cut after a sentence if possible, else after a word, else after a
/// letter with its combining marks.
pub fn cut_at_sentence(text: &str, max_chars: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(max_chars) else { return text };
    let head = &text[..limit];
    let sentence = head
        .char_indices()
        .filter(|(at, c)| {
            *c == '\n'
                || (matches!(c, '.' | '!' | '?' | '…')
                    && text[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace))
        })
        .map(|(at, c)| at + c.len_utf8())
        .next_back();
    // A sentence that ends in the first half would cut too much.
    if let Some(end) = sentence.filter(|end| *end * 2 >= head.len()) {
        return head[..end].trim_end();
    }
    if let Some(end) = head.rfind(char::is_whitespace) {
        return head[..end].trim_end();
    }
    let mut end = limit;
    while text[end..].chars().next().is_some_and(unicode_normalization::char::is_combining_mark) {
        let Some((at, _)) = text[..end].char_indices().next_back() else { break };
        end = at;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Prompts with English texts, some in Swahili, and fewer in Sheng.
    fn prompts(texts: &[(&str, &str)]) -> Prompts {
        let shipped = Prompts::shipped();
        texts.iter().fold(shipped, |prompts, (language, content)| {
            prompts.with_file(format!("texts/demo.{language}.toml"), (*content).to_owned())
        })
    }

    #[test]
    fn missing_texts_come_from_the_fallbacks() {
        let prompts = prompts(&[
            ("en", "bye = \"Bye\"\nhi = \"Hi\"\nprice = \"Price\""),
            ("sw", "hi = \"Habari\"\nprice = \"Bei\""),
            ("sheng", "hi = \"Niaje\""),
        ]);
        let said = |code: &str| {
            let texts = prompts.texts::<BTreeMap<String, String>>("demo", code.parse().unwrap()).unwrap();
            texts.into_values().collect::<Vec<_>>()
        };
        assert_eq!(said("sheng"), ["Bye", "Niaje", "Bei"]);
        assert_eq!(said("sw"), ["Bye", "Habari", "Bei"]);
        assert_eq!(said("en"), ["Bye", "Hi", "Price"]);
    }

    #[test]
    fn errors_name_the_file_of_the_fallback() {
        let load = |prompts: &Prompts, code: &str| {
            let check = |texts: &BTreeMap<String, String>| {
                if texts.contains_key("hi") { Ok(()) } else { Err("hi is missing".to_owned()) }
            };
            let loaded = ByLanguage::load_checked(prompts, "demo", &[code.parse().unwrap()], check);
            loaded.map(|_| ()).map_err(|error| error.to_string())
        };
        for (texts, code, expected) in [
            (&[("en", "hi = \"Hi\"")][..], "sheng", Ok(())),
            (&[("en", "bye = \"Bye\"")], "sheng", Err("prompts/texts/demo.en.toml: hi is missing".to_owned())),
            (
                &[("en", "hi = \"Hi\""), ("sw", "a = 1\n")],
                "sw",
                Err("prompts/texts/demo.sw.toml:1: invalid type: integer `1`, expected a string".to_owned()),
            ),
        ] {
            let found = load(&prompts(texts), code);
            assert_eq!(found.map_err(|error| error.trim_end().to_owned()), expected, "{texts:?}");
        }
        let error = load(&prompts(&[]), "sheng").unwrap_err();
        assert!(error.starts_with("prompts/texts/demo.sheng.toml: the file is missing"), "{error}");
    }

    #[test]
    fn values_are_filled_once() {
        assert_eq!(fill("{a} and {b}, {c} {", &[("a", "{b}"), ("b", "x")]), "{b} and x, {c} {");
        assert_eq!(fill("Serial '{serial}'", &[("serial", "A-1")]), "Serial 'A-1'");
    }

    #[test]
    fn text_is_cut_after_sentence_word_or_letter() {
        for (text, max, expected) in [
            ("Ngắn.", 10, "Ngắn."),
            ("Một câu. Hai câu. Ba", 18, "Một câu. Hai câu."),
            ("Giá 1.5 triệu đồng một chiếc", 12, "Giá 1.5"),
            ("Rất dài không có dấu chấm", 12, "Rất dài"),
            ("ABCDEFGH", 3, "ABC"),
            ("AE\u{302}\u{301}B", 2, "A"),
            ("dòng một\ndòng hai dài", 12, "dòng một"),
            ("", 0, ""),
            ("á", 0, ""),
        ] {
            assert_eq!(cut_at_sentence(text, max), expected, "{text:?} at {max}");
        }
    }
}
