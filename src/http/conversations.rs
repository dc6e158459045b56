//! `/conversations`

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::access::{Access, Guest, Opener, Shop};
use super::browser::{accepted_languages, is_encrypted, is_own_page, set_cookie};
use super::client::ClientAddress;
use super::console::console_act;
use super::error::{ApiError, KEY_REUSED};
use super::extract::{Body, ConversationPath, Query, conversation_id, idempotency};
use super::in_time::in_time;
use super::limit::OnlyRepeats;
use super::problem::Problem;
use super::refusals::RefusedRead;
use super::views::{ConversationView, MessageView, time};
use crate::app::personal_files::DeleteError;
use crate::app::{App, NewConversation, OpenError, Opened};
use crate::domain::{ConsoleAct, ConsoleDeed, Language};

/// What a new conversation may be given.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateConversation {
    /// The shop's own name for the customer, 1 to 255 characters.
    #[schema(nullable, min_length = 1, max_length = 255, pattern = r"\S")]
    user_id: Option<String>,
    /// A file's stem under `prompts/`.
    #[schema(nullable)]
    persona: Option<String>,
    /// One of the persona's languages; otherwise the first message decides.
    #[schema(value_type = Option<String>, example = "vi")]
    language: Option<Language>,
    /// Anything that the shop wants to keep with it.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

/// A conversation that was opened.
#[derive(Serialize, ToSchema)]
pub(super) struct ConversationOpened {
    #[serde(flatten)]
    conversation: ConversationView,
    greeting: MessageView,
    /// Opens this conversation alone, as `Authorization: Bearer`.
    token: String,
    #[serde(serialize_with = "time")]
    token_expires_at: DateTime<Utc>,
}

/// Opens a conversation: the persona greets.
#[utoipa::path(
    post, path = "/conversations", operation_id = "create_conversation", tag = "conversations",
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body give the same conversation for 24 h; a page takes a random one, such as a UUID")),
    request_body = CreateConversation,
    responses(
        (status = 201, description = "opened", body = ConversationOpened, headers(("Location" = String))),
        (status = 400, description = "`invalid_json`", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "`forbidden_origin`", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "`request_timeout`", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "`too_large`", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "`unsupported_media_type`", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`invalid_request`", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "`draining` or `unavailable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn create(
    opener: Opener,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<CreateConversation>,
) -> Result<Response, ApiError> {
    let idempotency = idempotency(&headers, &body.hash)?;
    let wish = body.value;
    if wish.user_id.as_ref().is_some_and(|id| id.trim().is_empty() || id.chars().count() > 255) {
        return Err(ApiError::InvalidRequest("user_id must have 1 to 255 characters.".to_owned()));
    }
    let is_shop = opener.visitor.is_none();
    if !is_shop && (wish.user_id.is_some() || wish.metadata.is_some()) {
        return Err(ApiError::InvalidRequest("user_id and metadata are taken from an API key alone.".to_owned()));
    }
    // A back end's own header says nothing about its customer.
    let likely_languages =
        if is_own_page(&headers, &app.config.http) { accepted_languages(&headers) } else { Vec::new() };
    let new = NewConversation {
        user_id: wish.user_id,
        persona: wish.persona,
        language: wish.language,
        likely_languages,
        metadata: wish.metadata.unwrap_or_default(),
        idempotency,
        visitor: opener.visitor,
        repeats_only: repeats.is_some(),
    };
    let opening = async {
        match (app.open(&opener.tenant, new).await, repeats) {
            (Err(OpenError::NotRepeated), Some(Extension(OnlyRepeats(too_many)))) => Err(too_many.into()),
            (opened, _) => opened.map_err(ApiError::from),
        }
    };
    let Opened { conversation, greeting, token, token_expires_at } = in_time(&app, opening).await?;
    let cookie = is_own_page(&headers, &app.config.http)
        .then(|| set_cookie(conversation.id, &token, token_expires_at, is_encrypted(&headers, &app.config.http)))
        .flatten();
    let location = format!("/conversations/{}", conversation.id);
    let opened = ConversationOpened {
        conversation: conversation.into(),
        greeting: MessageView::new(greeting, is_shop),
        token,
        token_expires_at,
    };
    let mut response = (StatusCode::CREATED, [(header::LOCATION, location)], Json(opened)).into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

impl From<DeleteError> for ApiError {
    fn from(cause: DeleteError) -> Self {
        match cause {
            DeleteError::Store(cause) => cause.into(),
            DeleteError::Files(cause) => {
                tracing::error!(error = %cause, "A conversation was not deleted: its cases stay");
                Self::NotWritable(
                    "A case of this conversation cannot be removed; let the server's account write the folder of EVALS_PATH.",
                )
            }
        }
    }
}

impl From<OpenError> for ApiError {
    fn from(cause: OpenError) -> Self {
        match cause {
            OpenError::NoSuchPersona { known } => {
                Self::InvalidRequest(format!("There is no such persona; take one of {}.", known.join(", ")))
            }
            OpenError::NoSuchLanguage { known } => {
                let known: Vec<&str> = known.iter().map(Language::code).collect();
                Self::InvalidRequest(format!(
                    "The persona does not speak that language; take one of {}.",
                    known.join(", ")
                ))
            }
            OpenError::KeyReused => Self::InvalidRequest(KEY_REUSED.to_owned()),
            OpenError::NotRepeated => Self::Overloaded,
            OpenError::Draining => Self::Draining,
            OpenError::Store(cause) => cause.into(),
        }
    }
}

/// Which conversations to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    /// Only this customer's.
    user_id: Option<String>,
    /// How many at most, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u64>,
    /// Go on behind this place: `next` of an earlier answer.
    #[param(format = Uuid)]
    after: Option<String>,
}

/// A page of conversations.
#[derive(Serialize, ToSchema)]
pub(super) struct ConversationList {
    conversations: Vec<ConversationView>,
    /// Where to go on, as `after`; null at the end.
    next: Option<String>,
}

/// The shop's conversations, newest first.
#[utoipa::path(
    get, path = "/conversations", operation_id = "list_conversations", tag = "conversations", params(ListQuery),
    responses(
        (status = 200, description = "a page", body = ConversationList),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`invalid_request`", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "`unavailable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    shop: Shop,
    State(app): State<Arc<App>>,
    Query(query): Query<ListQuery>,
) -> Result<Json<ConversationList>, ApiError> {
    let limit = page_limit(query.limit)?;
    let after = match query.after {
        Some(text) => Some(conversation_id(&text).map_err(|_| bad_cursor())?),
        None => None,
    };
    let tenant = app.store.tenant(&shop.tenant);
    let listing = tenant.list_conversations(query.user_id.as_deref(), after, limit + 1);
    let mut page = in_time(&app, listing).await?;
    let more = page.len() as u64 > limit;
    page.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = page.last().filter(|_| more).map(|last| last.id.to_string());
    Ok(Json(ConversationList { conversations: page.into_iter().map(Into::into).collect(), next }))
}

/// How many rows a page has, by the contract 1 to 200, 50 where nothing is said.
pub(super) fn page_limit(limit: Option<u64>) -> Result<u64, ApiError> {
    match limit.unwrap_or(50) {
        limit @ 1..=200 => Ok(limit),
        _ => Err(ApiError::InvalidRequest("limit must lie between 1 and 200.".to_owned())),
    }
}

pub(super) fn bad_cursor() -> ApiError {
    ApiError::InvalidRequest("after must be the next of an earlier answer.".to_owned())
}

/// One conversation.
#[utoipa::path(
    get, path = "/conversations/{id}", operation_id = "get_conversation", tag = "conversations", params(("id" = String, Path)),
    responses(
        (status = 200, description = "the conversation", body = ConversationView),
        RefusedRead,
    )
)]
pub(super) async fn get(guest: Guest, State(app): State<Arc<App>>) -> Result<Json<ConversationView>, ApiError> {
    let found = in_time(&app, app.store.tenant(&guest.tenant).find_conversation(guest.conversation)).await?;
    found.map(|conversation| Json(conversation.into())).ok_or(ApiError::NotFound)
}

/// Removes a conversation and what the customer said in it, also from RMAs, tickets and kept cases; a running turn is stopped
/// first. That an RMA or a ticket exists, its state and its amounts stay.
#[utoipa::path(
    delete, path = "/conversations/{id}", operation_id = "delete_conversation", tag = "conversations", params(("id" = String, Path)),
    responses(
        (status = 204, description = "gone"),
        RefusedRead,
        (status = 403, description = "`forbidden_origin`", body = Problem, content_type = "application/problem+json"),
        (status = 500, description = "`not_writable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn delete(
    shop: Shop,
    ClientAddress(client): ClientAddress,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
) -> Result<StatusCode, ApiError> {
    let who = shop.name.as_deref().unwrap_or(if shop.access == Access::Key { "API key" } else { "operator" });
    let act = ConsoleAct { conversation: Some(id), ..console_act(who, ConsoleDeed::Deleted, client) };
    let deleted = in_time(&app, app.delete_conversation(&shop.tenant, id, act)).await?;
    if deleted { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::NotFound) }
}
