//! `/console/api/personas`: the personas' files, seen and changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tracing::error;
use utoipa::ToSchema;

use super::owner::Editor;
use crate::app::App;
use crate::app::personas::{PersonaEdit, PersonaError, PersonaFile, PersonaProblem, SavedVersion};
use crate::domain::{ConsoleAct, ConsoleDeed};
use crate::http::error::ApiError;
use crate::http::extract::{Body, Known};
use crate::http::in_time::in_time;
use crate::http::problem::Problem;
use crate::http::refusals::{RefusedRead, RefusedWrite};
use crate::http::views::time;
use crate::persona::Persona;

/// All personas.
#[derive(Serialize, ToSchema)]
pub(super) struct PersonaList {
    personas: Vec<PersonaSummary>,
}

#[derive(Serialize, ToSchema)]
struct PersonaSummary {
    /// The file's stem, by which a conversation names it.
    id: String,
    /// What it is called on a page.
    name: String,
    desk: String,
    /// The first one is its own.
    languages: Vec<String>,
    /// Whether conversations get it that name none.
    default: bool,
}

/// A persona's file and what it said before.
#[derive(Serialize, ToSchema)]
pub(super) struct PersonaView {
    id: String,
    text: String,
    /// Of the text: send it along with another one.
    hash: String,
    /// The last ten texts, newest first; none before the first edit.
    versions: Vec<VersionView>,
}

#[derive(Serialize, ToSchema)]
struct VersionView {
    version: u32,
    #[serde(serialize_with = "time")]
    saved_at: DateTime<Utc>,
    /// Who saved it; null: somebody without a name, or who edited the file itself.
    saved_by: Option<String>,
    /// Whether the file says it now.
    current: bool,
}

/// What a persona's file said.
#[derive(Serialize, ToSchema)]
pub(super) struct VersionText {
    text: String,
}

/// A text that may become a persona's.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonaText {
    text: String,
}

/// What a persona's file is to say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PutPersona {
    text: String,
    /// `hash` of the text that was edited.
    hash: String,
}

/// What a text would make of the persona, or what is wrong with it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum PersonaCheck {
    Valid {
        /// True.
        valid: bool,
        name: String,
        /// By language.
        greetings: BTreeMap<String, String>,
        /// By language; languages without one are left out.
        follow_ups: BTreeMap<String, String>,
    },
    Invalid {
        /// False.
        valid: bool,
        /// Of the text, counted from 1; null: the text as a whole, or another file that does not go with it.
        line: Option<usize>,
        /// What is wrong, and how to mend it.
        problem: String,
    },
}

/// The personas, by name.
#[utoipa::path(
    get, path = "/console/api/personas", operation_id = "console_personas", tag = "console",
    responses(
        (status = 200, description = "all of them", body = PersonaList),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: there is no console, or the personas are another shop's", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(_: Editor, State(app): State<Arc<App>>) -> Json<PersonaList> {
    let summary = |(persona, default): (Arc<Persona>, bool)| PersonaSummary {
        id: persona.id.clone(),
        name: persona.name.clone(),
        desk: persona.desk.clone(),
        languages: persona.languages.iter().map(ToString::to_string).collect(),
        default,
    };
    Json(PersonaList { personas: app.personas.list().into_iter().map(summary).collect() })
}

/// A persona's file as it is, and what it said before.
#[utoipa::path(
    get, path = "/console/api/personas/{id}", operation_id = "console_persona", tag = "console",
    params(("id" = String, Path)),
    responses(
        (status = 200, description = "the file", body = PersonaView),
        RefusedRead,
    )
)]
pub(super) async fn get(
    _: Editor,
    State(app): State<Arc<App>>,
    Known(id): Known<String>,
) -> Result<Json<PersonaView>, ApiError> {
    let file = in_time(&app, app.personas.get(&id)).await?;
    Ok(Json(PersonaView::new(id, file)))
}

/// What a persona's file said.
#[utoipa::path(
    get, path = "/console/api/personas/{id}/versions/{version}", operation_id = "console_persona_version", tag = "console",
    params(("id" = String, Path), ("version" = String, Path, description = "counted from 1")),
    responses(
        (status = 200, description = "the text", body = VersionText),
        RefusedRead,
    )
)]
pub(super) async fn version(
    _: Editor,
    State(app): State<Arc<App>>,
    Known((id, version)): Known<(String, u32)>,
) -> Result<Json<VersionText>, ApiError> {
    let found = in_time(&app, app.personas.find_version(&id, version)).await?;
    found.map(|version| Json(VersionText { text: version.text })).ok_or(ApiError::NotFound)
}

/// What a text would make of the persona; nothing is changed.
#[utoipa::path(
    post, path = "/console/api/personas/{id}/check", operation_id = "console_check_persona", tag = "console",
    params(("id" = String, Path)), request_body = PersonaText,
    responses(
        (status = 200, description = "what it would say, or what is wrong", body = PersonaCheck),
        (status = 400, description = "`invalid_json`", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "`forbidden_origin`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "`request_timeout`", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "`too_large`", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "`unsupported_media_type`", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`invalid_request`", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn check(
    _: Editor,
    State(app): State<Arc<App>>,
    Known(id): Known<String>,
    body: Body<PersonaText>,
) -> Result<Json<PersonaCheck>, ApiError> {
    match app.personas.check(&id, &body.value.text).await {
        Ok(persona) => Ok(Json(PersonaCheck::of(&persona))),
        Err(PersonaError::Invalid(PersonaProblem { line, problem })) => {
            Ok(Json(PersonaCheck::Invalid { valid: false, line, problem }))
        }
        Err(cause) => Err(cause.into()),
    }
}

/// Writes the persona's file; the server takes it into use at once. A text that could not be used changes nothing.
#[utoipa::path(
    put, path = "/console/api/personas/{id}", operation_id = "console_put_persona", tag = "console",
    params(("id" = String, Path)), request_body = PutPersona,
    responses(
        (status = 200, description = "the file as it is now", body = PersonaView),
        RefusedWrite,
        (status = 409, description = "`conflict`: the file has changed since it was read", body = Problem, content_type = "application/problem+json"),
        (status = 500, description = "`not_writable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn put(
    Editor(owner): Editor,
    State(app): State<Arc<App>>,
    Known(id): Known<String>,
    body: Body<PutPersona>,
) -> Result<Json<PersonaView>, ApiError> {
    let PutPersona { text, hash } = body.value;
    let act = ConsoleAct { subject: Some(id.clone()), ..owner.act(ConsoleDeed::PersonaSaved) };
    let edit = PersonaEdit { text, hash, act: Some((owner.tenant, act)), saved_by: owner.name };
    let file = in_time(&app, app.personas.save(&id, edit)).await?;
    Ok(Json(PersonaView::new(id, file)))
}

impl PersonaView {
    fn new(id: String, file: PersonaFile) -> Self {
        let PersonaFile { text, hash, versions } = file;
        Self { id, text, hash, versions: versions.into_iter().map(Into::into).collect() }
    }
}

impl From<SavedVersion> for VersionView {
    fn from(saved: SavedVersion) -> Self {
        let SavedVersion { version, saved_at, saved_by, current } = saved;
        Self { version, saved_at, saved_by, current }
    }
}

impl PersonaCheck {
    fn of(persona: &Persona) -> Self {
        let languages = || persona.languages.iter().copied();
        let follow_up = |language| Some((language, persona.follow_up(language)?.to_owned()));
        Self::Valid {
            valid: true,
            name: persona.name.clone(),
            greetings: languages()
                .map(|language| (language.to_string(), persona.greeting(language).to_owned()))
                .collect(),
            follow_ups: languages()
                .filter_map(follow_up)
                .map(|(language, line)| (language.to_string(), line))
                .collect(),
        }
    }
}

impl From<PersonaError> for ApiError {
    fn from(cause: PersonaError) -> Self {
        match cause {
            PersonaError::NotFound => Self::NotFound,
            PersonaError::Conflict => Self::Conflict(
                "The persona was changed since you read it; read it again and bring both texts together.",
            ),
            PersonaError::Invalid(PersonaProblem { line: Some(line), problem }) => {
                Self::InvalidRequest(format!("Line {line}: {problem}."))
            }
            PersonaError::Invalid(PersonaProblem { line: None, problem }) => {
                Self::InvalidRequest(format!("This text cannot be used: {problem}."))
            }
            PersonaError::Store(cause) => cause.into(),
            PersonaError::NotWritable(_) => {
                error!(error = %cause, "A persona was not saved");
                Self::NotWritable(
                    "The persona's file cannot be written; let the server's account write it and its folder.",
                )
            }
            PersonaError::Unreadable(_) => {
                error!(error = %cause, "A persona cannot be shown");
                Self::Internal
            }
        }
    }
}
