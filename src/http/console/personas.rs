//! `/console/api/personas`: reading and editing the personas' files.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tracing::error;
use utoipa::ToSchema;

use super::owner::Editor;
use crate::app::App;
use crate::app::personas::{PersonaEdit, PersonaError, PersonaFile, PersonaProblem, SavedVersion};
use crate::domain::{ConsoleAct, ConsoleDeed};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Body, PathParameters};
use crate::http::refusals::{RefusedBody, RefusedConsole, RefusedRead, RefusedWrite};
use crate::persona::{Persona, PersonaFault};

/// All personas.
#[derive(Serialize, ToSchema)]
pub(super) struct PersonaList {
    personas: Vec<PersonaSummary>,
}

#[derive(Serialize, ToSchema)]
struct PersonaSummary {
    /// The file's stem, which a conversation names.
    id: String,
    /// The name on the pages.
    name: String,
    desk: String,
    /// The first one is the default.
    languages: Vec<String>,
    /// Whether conversations without a persona use it.
    default: bool,
}

/// A persona's file and its earlier versions.
#[derive(Serialize, ToSchema)]
pub(super) struct PersonaView {
    id: String,
    text: String,
    /// A hash of the text, to send with an edited text.
    hash: String,
    /// The last ten versions, newest first; empty before the first edit.
    versions: Vec<SavedVersion>,
}

/// The text of an earlier version.
#[derive(Serialize, ToSchema)]
pub(super) struct VersionText {
    text: String,
}

/// A text to check.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonaText {
    text: String,
}

/// A new text for a persona's file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PutPersona {
    text: String,
    /// The `hash` of the text before the edit.
    hash: String,
}

/// The persona that a text defines, or the problem in it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum PersonaCheck {
    Valid {
        /// True.
        valid: bool,
        name: String,
        /// By language.
        greetings: BTreeMap<String, String>,
        /// By language; a language without a follow-up is omitted.
        follow_ups: BTreeMap<String, String>,
    },
    Invalid {
        /// False.
        valid: bool,
        /// The line, counted from 1; null for the whole text or a conflict with another file.
        line: Option<usize>,
        /// The problem and how to fix it.
        problem: String,
        /// A stable word for the problem, if it is a common mistake.
        code: Option<PersonaFault>,
    },
}

/// Lists the personas by name.
#[utoipa::path(
    get, path = "/console/api/personas", operation_id = "console_personas", tag = "console",
    responses(
        (status = 200, description = "all of them", body = PersonaList),
        RefusedConsole,
        (status = 404, description = "`not_found`: the console is off, or the shop has no folder"),
    )
)]
pub(super) async fn list(Editor(owner): Editor, State(app): State<Arc<App>>) -> Json<PersonaList> {
    let summary = |(persona, default): (Arc<Persona>, bool)| PersonaSummary {
        id: persona.id.clone(),
        name: persona.name.clone(),
        desk: persona.desk.clone(),
        languages: persona.languages.iter().map(ToString::to_string).collect(),
        default,
    };
    Json(PersonaList { personas: app.personas.list(&owner.tenant).into_iter().map(summary).collect() })
}

/// Returns a persona's file and its earlier versions.
#[utoipa::path(
    get, path = "/console/api/personas/{id}", operation_id = "console_persona", tag = "console",
    params(("id" = String, Path)),
    responses((status = 200, description = "the file", body = PersonaView), RefusedRead)
)]
pub(super) async fn get(
    Editor(owner): Editor,
    State(app): State<Arc<App>>,
    PathParameters(id): PathParameters<String>,
) -> Result<Json<PersonaView>> {
    let file = with_store_timeout(&app, app.personas.get(&owner.tenant, &id)).await?;
    Ok(Json(PersonaView::new(id, file)))
}

/// Returns the text of an earlier version.
#[utoipa::path(
    get, path = "/console/api/personas/{id}/versions/{version}", operation_id = "console_persona_version", tag = "console",
    params(("id" = String, Path), ("version" = String, Path, description = "counted from 1")),
    responses((status = 200, description = "the text", body = VersionText), RefusedRead)
)]
pub(super) async fn version(
    Editor(owner): Editor,
    State(app): State<Arc<App>>,
    PathParameters((id, version)): PathParameters<(String, u32)>,
) -> Result<Json<VersionText>> {
    let found = with_store_timeout(&app, app.personas.find_version(&owner.tenant, &id, version)).await?;
    found.map(|version| Json(VersionText { text: version.text })).ok_or(ApiError::NotFound)
}

/// Checks a text and returns the persona that it defines. Changes nothing.
#[utoipa::path(
    post, path = "/console/api/personas/{id}/check", operation_id = "console_check_persona", tag = "console",
    params(("id" = String, Path)), request_body = PersonaText,
    responses((status = 200, description = "the persona, or the problem in the text", body = PersonaCheck), RefusedBody)
)]
pub(super) async fn check(
    Editor(owner): Editor,
    State(app): State<Arc<App>>,
    PathParameters(id): PathParameters<String>,
    body: Body<PersonaText>,
) -> Result<Json<PersonaCheck>> {
    match app.personas.check(&owner.tenant, &id, &body.value.text).await {
        Ok(persona) => Ok(Json(PersonaCheck::of(&persona))),
        Err(PersonaError::Invalid(PersonaProblem { line, problem, fault: code })) => {
            Ok(Json(PersonaCheck::Invalid { valid: false, line, problem, code }))
        }
        Err(cause) => Err(cause.into()),
    }
}

/// Replaces the persona's file and reloads it at once. An invalid text changes nothing.
#[utoipa::path(
    put, path = "/console/api/personas/{id}", operation_id = "console_put_persona", tag = "console",
    params(("id" = String, Path)), request_body = PutPersona,
    responses(
        (status = 200, description = "the updated file", body = PersonaView),
        RefusedWrite,
        (status = 409, description = "`conflict`: the file has changed since it was read"),
        (status = 500, description = "`not_writable`"),
    )
)]
pub(super) async fn put(
    Editor(owner): Editor,
    State(app): State<Arc<App>>,
    PathParameters(id): PathParameters<String>,
    body: Body<PutPersona>,
) -> Result<Json<PersonaView>> {
    let PutPersona { text, hash } = body.value;
    let act = ConsoleAct { subject: Some(id.clone()), ..owner.act(ConsoleDeed::PersonaSaved) };
    let edit = PersonaEdit { text, hash, act, saved_by: owner.name };
    let file = with_store_timeout(&app, app.personas.save(&owner.tenant, &id, edit)).await?;
    Ok(Json(PersonaView::new(id, file)))
}

impl PersonaView {
    fn new(id: String, file: PersonaFile) -> Self {
        let PersonaFile { text, hash, versions } = file;
        Self { id, text, hash, versions }
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
            PersonaError::Conflict => {
                Self::Conflict("The persona has changed since you read it; read it again and merge both texts.")
            }
            PersonaError::Invalid(PersonaProblem { line: Some(line), problem, .. }) => {
                Self::InvalidRequest(format!("Line {line}: {problem}."))
            }
            PersonaError::Invalid(PersonaProblem { line: None, problem, .. }) => {
                Self::InvalidRequest(format!("The text is invalid: {problem}."))
            }
            PersonaError::Inherited => Self::InvalidRequest(
                "The persona belongs to the default shop; to edit it here, copy its file to this shop's prompts folder.".to_owned(),
            ),
            PersonaError::Store(cause) => cause.into(),
            PersonaError::NotWritable(_) => {
                error!(error = %cause, "Could not save a persona");
                Self::NotWritable(
                    "The persona's file cannot be written; make the file and its folder writable for the server.",
                )
            }
            PersonaError::Unreadable(_) => {
                error!(error = %cause, "Could not read a persona");
                Self::Internal
            }
        }
    }
}
