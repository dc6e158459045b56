use serde::{Deserialize, Serialize};

/// The texts of the chat page and its widget in one language, from `texts/page.{language}.toml`, which documents each text. The page
/// receives the texts of all languages, since it can switch while it is open.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PageTexts {
    /// The language's name, on the button that switches to it.
    pub language: String,
    pub tagline: String,
    pub conversation: String,
    pub you: String,
    pub agent: String,
    pub agent_named: String,
    pub person_speaks: String,
    pub assistant_speaks: String,
    pub loading: String,
    pub gone: String,
    pub new_messages: String,
    pub composer: String,
    pub placeholder: String,
    pub send: String,
    pub too_long: String,
    pub typing: String,
    pub queued: String,
    pub queued_next: String,
    pub looking_up: String,
    pub stop: String,
    pub stopped: String,
    pub cut: String,
    pub ask_again: String,
    pub sources: String,
    pub reconnecting: String,
    pub reconnected: String,
    pub sending: String,
    pub send_later: String,
    pub too_fast: String,
    pub too_many: String,
    pub busy: String,
    pub not_sent: String,
    pub refused: String,
    pub send_again: String,
    pub new_conversation: String,
    pub new_question: String,
    pub new_yes: String,
    pub new_no: String,
    pub widget_open: String,
    pub widget_close: String,
    pub closed_title: String,
    pub closed_text: String,
    pub closed_hint: String,
    pub unknown_title: String,
    pub unknown_text: String,
    pub unknown_hint: String,
    pub noscript: String,
}

impl PageTexts {
    /// Checks that texts contain their placeholders.
    pub fn check(&self) -> Result<(), String> {
        let placeholders = [
            ("agent_named", &self.agent_named, "{agent}"),
            ("too_long", &self.too_long, "{max}"),
            ("queued", &self.queued, "{ahead}"),
            ("sources", &self.sources, "{count}"),
            ("too_fast", &self.too_fast, "{seconds}"),
            ("busy", &self.busy, "{seconds}"),
        ];
        match placeholders.into_iter().find(|(_, text, placeholder)| !text.contains(placeholder)) {
            Some((key, _, missing)) => Err(format!("{key} must contain {missing}")),
            None => Ok(()),
        }
    }
}
