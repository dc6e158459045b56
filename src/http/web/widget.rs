//! `GET /widget.js`: the script that adds a chat button and panel to another site's page.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

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
    let settings = settings(&app.web_shop(), &app.config).to_string();
    let script = SCRIPT.replacen(PLACE, &settings, 1);
    let open_to_all = [
        (header::X_CONTENT_TYPE_OPTIONS, NOSNIFF),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    (open_to_all, revalidated(&headers, "text/javascript; charset=utf-8", script)).into_response()
}

/// Returns the settings in the script.
fn settings(shop: &Shop, config: &Config) -> Value {
    // A persona's texts on the button and the panel by language; `first` is its default language.
    let personas = shop.prompts().personas().map(|persona| {
        let words = persona.languages.iter().map(|language| {
            let texts = shop.page(*language);
            let open = texts.text("widget_open").replace("{name}", &persona.name);
            (*language, json!({"open": open, "close": texts.text("widget_close")}))
        });
        let words: BTreeMap<Language, Value> = words.collect();
        (persona.id.clone(), json!({"first": persona.first_language(), "words": words}))
    });
    let personas: BTreeMap<String, Value> = personas.collect();
    json!({
        // Whether pages of our own may open conversations.
        "open": config.auth.web_chat,
        // The other sites whose pages may show the panel.
        "origins": config.web.widget_origins,
        "default": shop.prompts().default_persona().id,
        "personas": personas,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_has_one_settings_placeholder() {
        assert_eq!(SCRIPT.matches(PLACE).count(), 1);
    }
}
