//! `GET /console`: the support console, one page whose scripts show its views.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::page::{escape, modules};
use super::{assets, revalidated, standalone};
use crate::app::App;
use crate::domain::Language;
use crate::domain::language::DateFormat;
use crate::http::browser::accepted_languages;
use crate::http::console::Me;
use crate::http::error::{ApiError, Result};
use crate::persona::texts::{PageTexts, fill};

const PAGE: &str = include_str!("console/console.html");

/// The settings that the page passes to its scripts.
#[derive(Serialize)]
struct Settings<'a> {
    /// The name of the default persona.
    name: &'a str,
    language: Language,
    /// The label of each language on the language button.
    language_names: BTreeMap<Language, String>,
    texts: BTreeMap<Language, &'a PageTexts>,
    /// How each language writes dates, as in `texts/common.LANG.toml`.
    date_formats: &'a BTreeMap<Language, DateFormat>,
    /// Hosts that links in messages may lead to, in addition to our own.
    link_hosts: Vec<String>,
    text_max_chars: usize,
    /// Who is signed in, if anyone.
    me: Option<Me>,
}

/// Serves the console. The page is public and contains no data of the shop before a sign-in.
pub(super) async fn get(State(app): State<Arc<App>>, headers: HeaderMap, mut parts: Parts) -> Result<Response> {
    if !app.config.console.on {
        return Err(ApiError::NotFound);
    }
    // This page has no rate limit, so it must not reveal whether a key is valid. Browsers send cookies.
    parts.headers.remove("x-api-key");
    let me = Me::of(&mut parts, &app).await;
    // Before a sign-in, the shop of the chat page gives the texts.
    let shop = me.as_ref().map_or_else(|| app.web_shop(), |me| app.shops.get(&me.tenant));
    let persona = shop.prompts().default_persona();
    let console = shop.console();
    let wanted = accepted_languages(&headers).into_iter().find(|language| console.closest(*language) == *language);
    let language = console.closest(wanted.unwrap_or(persona.first_language()));
    let settings = Settings {
        name: &persona.name,
        language,
        language_names: console.iter().map(|(language, _)| (language, language.code().to_uppercase())).collect(),
        texts: console.iter().collect(),
        date_formats: shop.console_dates(),
        link_hosts: app.config.grounding.link_hosts.iter().map(ToString::to_string).collect(),
        text_max_chars: app.config.http.text_max_chars,
        me,
    };
    // A closing tag in a text must not end the element.
    let json = serde_json::to_string(&settings).unwrap_or_default().replace('<', "\\u003c");
    let texts = console.get(language);
    let body = fill(
        PAGE,
        &[
            ("language", language.code()),
            ("title", &escape(texts.text("title"))),
            ("noscript", &escape(texts.text("noscript"))),
            ("icon", &assets::path("icon.svg")),
            ("base", &assets::path("base.css")),
            ("style", &assets::path("console.css")),
            ("views", &assets::path("views.css")),
            ("modules", &modules("console.js")),
            ("script", &assets::path("console.js")),
            ("settings", &json),
        ],
    );
    Ok((standalone(), revalidated(&headers, "text/html; charset=utf-8", body)).into_response())
}
