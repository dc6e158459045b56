//! `GET /widget.js`: the script that adds a chat button and panel to another site's page.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::{NOSNIFF, revalidated};
use crate::app::App;
use crate::config::Config;
use crate::desks::Shop;
use crate::domain::Language;

const SCRIPT: &str = include_str!("assets/widget.js");
/// The placeholder in the script for its settings.
const PLACE: &str = "/* filled in by the server */ {}";

/// Serves the script. Any site may load it, but the panel opens only on `WIDGET_ORIGINS`.
pub(super) async fn get(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let settings = serde_json::to_string(&Settings::new(&app.web_shop(), &app.config)).unwrap_or_default();
    let script = SCRIPT.replacen(PLACE, &settings, 1);
    let open_to_all = [
        (header::X_CONTENT_TYPE_OPTIONS, NOSNIFF),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    (open_to_all, revalidated(&headers, "text/javascript; charset=utf-8", script)).into_response()
}

/// The settings in the script.
#[derive(Serialize)]
struct Settings {
    /// Whether pages of our own may open conversations.
    open: bool,
    /// The other sites whose pages may show the panel.
    origins: Vec<String>,
    default: String,
    personas: BTreeMap<String, Spoken>,
}

/// A persona's texts on the button and the panel by language; `first` is its default language.
#[derive(Serialize)]
struct Spoken {
    first: Language,
    words: BTreeMap<Language, Words>,
}

#[derive(Serialize)]
struct Words {
    open: String,
    close: String,
}

impl Settings {
    fn new(shop: &Shop, config: &Config) -> Self {
        let personas = shop.prompts().personas().map(|persona| {
            let words = persona.languages.iter().map(|language| {
                let texts = shop.page(*language);
                let open = texts.text("widget_open").replace("{name}", &persona.name);
                let words = Words { open, close: texts.text("widget_close").to_owned() };
                (*language, words)
            });
            (persona.id.clone(), Spoken { first: persona.first_language(), words: words.collect() })
        });
        Self {
            open: config.auth.web_chat,
            origins: config.web.widget_origins.clone(),
            default: shop.prompts().default_persona().id.clone(),
            personas: personas.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_has_one_settings_placeholder() {
        assert_eq!(SCRIPT.matches(PLACE).count(), 1);
    }
}
