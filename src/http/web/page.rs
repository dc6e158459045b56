//! `GET /`: the chat page with its persona and texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::{assets, framed_by, revalidated};
use crate::app::App;
use crate::config::Config;
use crate::desks::Shop;
use crate::domain::Language;
use crate::http::browser::accepted_languages;
use crate::persona::Persona;
use crate::persona::texts::{PageTexts, fill};

const PAGE: &str = include_str!("assets/page.html");
const NOTICE: &str = include_str!("assets/notice.html");

/// The query of a link to the page. Unknown parameters are ignored.
#[derive(Default, Deserialize)]
pub(super) struct PageQuery {
    /// A file's stem under `prompts/`.
    persona: Option<String>,
    /// One of the persona's languages.
    language: Option<String>,
    /// Present if the page is shown inside a page of another site.
    widget: Option<String>,
}

/// Serves the chat page, or a notice if the chat is closed or the persona unknown.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let Query(query) = query.unwrap_or_default();
    let shop = app.web_shop();
    let found = match &query.persona {
        None => Some(shop.prompts().default_persona()),
        Some(id) => shop.prompts().find_persona(id),
    };
    let persona = found.clone().unwrap_or_else(|| shop.prompts().default_persona());
    let asked = query.language.as_ref().and_then(|code| code.parse().ok());
    let asked = asked.filter(|language| persona.languages.contains(language));
    let language = asked.unwrap_or_else(|| persona.closest_language(&accepted_languages(&headers)));
    let texts = shop.page(language);
    let policy = framed_by(&app.config.web.widget_origins);
    let body = if !app.config.auth.web_chat {
        Err(notice(language, &persona, texts, "closed"))
    } else if found.is_none() {
        Err(notice(language, &persona, texts, "unknown"))
    } else {
        let widget = query.widget.is_some();
        Ok(page(&shop, &persona, &Settings::new(&shop, &persona, language, asked, widget, &app.config)))
    };
    match body {
        Ok(body) => (policy, revalidated(&headers, "text/html; charset=utf-8", body)).into_response(),
        Err(body) => (StatusCode::NOT_FOUND, policy, Html(body)).into_response(),
    }
}

/// The settings that the page passes to its script.
#[derive(Serialize)]
struct Settings<'a> {
    persona: &'a str,
    name: &'a str,
    language: Language,
    /// The language of a new conversation. Without it, the first messages decide, and later ones may change it.
    asked_language: Option<Language>,
    greetings: BTreeMap<Language, &'a str>,
    /// By the language in which they are written.
    texts: BTreeMap<Language, &'a PageTexts>,
    text_max_chars: usize,
    widget: bool,
    /// Hosts that links in messages may lead to, in addition to our own.
    link_hosts: Vec<String>,
}

impl<'a> Settings<'a> {
    fn new(
        shop: &'a Shop,
        persona: &'a Persona,
        language: Language,
        asked_language: Option<Language>,
        widget: bool,
        config: &Config,
    ) -> Self {
        let languages = || persona.languages.iter().copied();
        Self {
            persona: &persona.id,
            name: &persona.name,
            language,
            asked_language,
            greetings: languages().map(|language| (language, persona.greeting(language))).collect(),
            texts: languages().map(|language| (shop.page_language(language), shop.page(language))).collect(),
            text_max_chars: config.http.text_max_chars,
            widget,
            link_hosts: config.grounding.link_hosts.iter().map(ToString::to_string).collect(),
        }
    }
}

fn page(shop: &Shop, persona: &Persona, settings: &Settings<'_>) -> String {
    // A closing tag inside a text must not end the element.
    let json = serde_json::to_string(settings).unwrap_or_default().replace('<', "\\u003c");
    let texts = shop.page(settings.language);
    fill(
        PAGE,
        &[
            ("language", shop.page_language(settings.language).code()),
            ("name", &escape(&persona.name)),
            ("tagline", &escape(texts.text("tagline"))),
            ("noscript", &escape(texts.text("noscript"))),
            ("icon", &assets::path("icon.svg")),
            ("base", &assets::path("base.css")),
            ("style", &assets::path("page.css")),
            ("modules", &modules("chat.js")),
            ("script", &assets::path("chat.js")),
            ("settings", &json),
        ],
    )
}

/// Returns tags that make the browser load the script and its imports in parallel.
pub(super) fn modules(script: &str) -> String {
    let paths = assets::modules(script).into_iter().map(assets::path);
    paths.map(|path| format!("<link rel=\"modulepreload\" href=\"{path}\">\n")).collect()
}

/// The texts of a notice have the keys `{name}_title`, `{name}_text` and `{name}_hint`.
fn notice(language: Language, persona: &Persona, texts: &PageTexts, name: &str) -> String {
    let text = |part: &str| escape(texts.text(&format!("{name}_{part}")));
    fill(
        NOTICE,
        &[
            ("language", language.code()),
            ("name", &escape(&persona.name)),
            ("icon", &assets::path("icon.svg")),
            ("base", &assets::path("base.css")),
            ("style", &assets::path("page.css")),
            ("title", &text("title")),
            ("text", &text("text")),
            ("hint", &text("hint")),
        ],
    )
}

/// Escapes a text for markup, between tags or quotes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(escape("<b a='1' c=\"2\">&"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
    }
}
