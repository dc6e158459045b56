//! `/conversations`: opening, reading, listing and deleting conversations, and renewing their tokens.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
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
use super::error::{ApiError, KEY_REUSED, Result, with_store_timeout};
use super::extract::{
    Body, ConversationPath, EmptyBody, Query, conversation_id, cut_page, idempotency, page_limit, position,
};
use super::limit::OnlyRepeats;
use super::refusals::{RefusedCreate, RefusedList, RefusedRead, RefusedWrite};
use super::views::{ConversationView, MessageView};
use crate::app::personal_files::DeleteError;
use crate::app::{App, NewConversation, OpenError, Opened};
use crate::domain::calendar::time;
use crate::domain::text::{clean, clean_json};
use crate::domain::{ConsoleAct, ConsoleDeed, ConversationId, Language};
use crate::store::StoreError;

/// A conversation to open. Every field is optional.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateConversation {
    /// The shop's own name for the customer, 1 to 255 characters without control or bidirectional characters.
    #[schema(nullable, min_length = 1, max_length = 255, pattern = r"\S")]
    user_id: Option<String>,
    /// The name of a persona: a file's stem under `prompts/`.
    #[schema(nullable)]
    persona: Option<String>,
    /// One of the persona's languages. Without it, the first messages decide, and later ones may change it.
    #[schema(value_type = Option<String>, example = "vi")]
    language: Option<Language>,
    /// Any data that the shop wants to store with the conversation. Control and bidirectional characters are removed.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

/// A conversation that was just opened.
#[derive(Serialize, ToSchema)]
pub(super) struct ConversationOpened {
    #[serde(flatten)]
    conversation: ConversationView,
    greeting: MessageView,
    /// A token for this conversation only, to send as `Authorization: Bearer`.
    token: String,
    #[serde(serialize_with = "time")]
    token_expires_at: DateTime<Utc>,
}

/// Opens a conversation with the persona's greeting.
#[utoipa::path(
    post, path = "/conversations", operation_id = "create_conversation", tag = "conversations",
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body return the same conversation for 24 h; a page sends a random one, such as a UUID")),
    request_body = CreateConversation,
    responses(
        (status = 201, description = "opened", body = ConversationOpened, headers(("Location" = String))),
        RefusedCreate,
    )
)]
pub(super) async fn create(
    opener: Opener,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<CreateConversation>,
) -> Result<Response> {
    let idempotency = idempotency(&headers, &body.hash)?;
    let wanted = body.value;
    check_user_id(wanted.user_id.as_deref())?;
    let is_shop = opener.visitor.is_none();
    if !is_shop && (wanted.user_id.is_some() || wanted.metadata.is_some()) {
        return Err(ApiError::InvalidRequest("Only a caller with an API key may set user_id and metadata.".to_owned()));
    }
    // The header of a back end does not describe its customer.
    let likely_languages =
        if is_own_page(&headers, &app.config.http) { accepted_languages(&headers) } else { Vec::new() };
    let new = NewConversation {
        user_id: wanted.user_id,
        persona: wanted.persona,
        language: wanted.language,
        likely_languages,
        metadata: clean_members(wanted.metadata.unwrap_or_default()),
        idempotency,
        visitor: opener.visitor,
        repeats_only: repeats.is_some(),
    };
    let opening = async {
        match (app.open(&opener.tenant, new).await, repeats) {
            (Err(OpenError::NotRepeated), Some(Extension(OnlyRepeats(refusal)))) => Err(refusal),
            (opened, _) => opened.map_err(ApiError::from),
        }
    };
    let Opened { conversation, greeting, token, token_expires_at } = with_store_timeout(&app, opening).await?;
    let cookie = token_cookie(&app, &headers, conversation.id, &token, token_expires_at);
    let location = format!("/conversations/{}", conversation.id);
    let opened = ConversationOpened {
        conversation: conversation.into(),
        greeting: MessageView::new(greeting, is_shop, None),
        token,
        token_expires_at,
    };
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], cookie, Json(opened)).into_response())
}

/// Checks the shop's own name for a customer. Nothing is removed from it, because the result could be another customer's.
pub(super) fn check_user_id(user_id: Option<&str>) -> Result<()> {
    let Some(id) = user_id else { return Ok(()) };
    if id.trim().is_empty() || id.chars().count() > 255 {
        return Err(ApiError::InvalidRequest("user_id must have 1 to 255 characters.".to_owned()));
    }
    if id.chars().any(char::is_control) || clean(id) != id {
        return Err(ApiError::InvalidRequest(
            "user_id contains a control or bidirectional character; remove it.".to_owned(),
        ));
    }
    Ok(())
}

/// Cleans the names and values of an object's members.
fn clean_members(object: Map<String, Value>) -> Map<String, Value> {
    object.into_iter().map(|(name, value)| (clean(&name).into_owned(), clean_json(value))).collect()
}

/// A new conversation token.
#[derive(Serialize, ToSchema)]
pub(super) struct TokenView {
    token: String,
    #[serde(serialize_with = "time")]
    token_expires_at: DateTime<Utc>,
}

/// Issues a new conversation token to a caller with an API key or a valid token, until 30 days after the conversation began.
#[utoipa::path(
    post, path = "/conversations/{id}/token", operation_id = "renew", tag = "conversations", params(("id" = String, Path)),
    request_body = EmptyBody,
    responses(
        (status = 200, description = "the token", body = TokenView),
        RefusedWrite,
        (status = 422, description = "`invalid_request`: the conversation is too old"),
    )
)]
pub(super) async fn renew_token(
    guest: Guest,
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    _: Body<EmptyBody>,
) -> Result<Response> {
    let found = with_store_timeout(&app, app.store.tenant(&guest.tenant).find_conversation(guest.conversation)).await?;
    let conversation = found.ok_or(ApiError::NotFound)?;
    let (token, token_expires_at) = app.token(&conversation, Utc::now()).ok_or_else(|| {
        ApiError::InvalidRequest("This conversation is too old for a new token; open a new conversation.".to_owned())
    })?;
    let cookie = token_cookie(&app, &headers, conversation.id, &token, token_expires_at);
    Ok((cookie, Json(TokenView { token, token_expires_at })).into_response())
}

/// Builds the `Set-Cookie` header with the token, if one of our own pages sent the request.
fn token_cookie(
    app: &App,
    headers: &HeaderMap,
    id: ConversationId,
    token: &str,
    expires_at: DateTime<Utc>,
) -> Option<[(HeaderName, HeaderValue); 1]> {
    let config = &app.config.http;
    let cookie = is_own_page(headers, config).then(|| set_cookie(id, token, expires_at, is_encrypted(headers, config)));
    cookie.flatten().map(|cookie| [(header::SET_COOKIE, cookie)])
}

impl From<DeleteError> for ApiError {
    fn from(cause: DeleteError) -> Self {
        match cause {
            DeleteError::Store(cause) => cause.into(),
            DeleteError::Files(cause) => {
                tracing::error!(error = %cause, "Could not delete a conversation: its evaluation cases could not be removed");
                Self::NotWritable(
                    "An evaluation case of this conversation cannot be removed; make the folder EVALS_PATH writable for the server.",
                )
            }
        }
    }
}

impl From<OpenError> for ApiError {
    fn from(cause: OpenError) -> Self {
        match cause {
            OpenError::NoSuchPersona { known } => {
                Self::InvalidRequest(format!("The persona does not exist; send one of {}.", known.join(", ")))
            }
            OpenError::NoSuchLanguage { known } => {
                let known: Vec<&str> = known.iter().map(Language::code).collect();
                Self::InvalidRequest(format!(
                    "The persona does not speak this language; send one of {}.",
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
    /// Only conversations of this customer.
    user_id: Option<String>,
    /// The most conversations to return, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u64>,
    /// Continue after this position: `next` of an earlier response.
    #[param(format = Uuid)]
    after: Option<String>,
}

/// A page of conversations.
#[derive(Serialize, ToSchema)]
pub(super) struct ConversationList {
    conversations: Vec<ConversationView>,
    /// The `after` of the next page; null at the end.
    next: Option<String>,
}

/// Lists the shop's conversations, newest first.
#[utoipa::path(
    get, path = "/conversations", operation_id = "list_conversations", tag = "conversations", params(ListQuery),
    responses((status = 200, description = "a page", body = ConversationList), RefusedList)
)]
pub(super) async fn list(
    shop: Shop,
    State(app): State<Arc<App>>,
    Query(query): Query<ListQuery>,
) -> Result<Json<ConversationList>> {
    let limit = page_limit(query.limit)?;
    let after = position(query.after.as_deref(), |cursor| conversation_id(cursor).ok())?;
    let tenant = app.store.tenant(&shop.tenant);
    let listing = tenant.list_conversations(query.user_id.as_deref(), after, limit + 1);
    let mut page = with_store_timeout(&app, listing).await?;
    let next = cut_page(&mut page, limit, |last| last.id.to_string());
    Ok(Json(ConversationList { conversations: page.into_iter().map(Into::into).collect(), next }))
}

/// Returns one conversation.
#[utoipa::path(
    get, path = "/conversations/{id}", operation_id = "get_conversation", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, description = "the conversation", body = ConversationView), RefusedRead)
)]
pub(super) async fn get(guest: Guest, State(app): State<Arc<App>>) -> Result<Json<ConversationView>> {
    let store = app.store.tenant(&guest.tenant);
    let reading = async {
        match store.find_conversation(guest.conversation).await? {
            Some(found) if guest.access.is_shop() => ConversationView::for_shop(&store, found).await.map(Some),
            found => Ok::<_, StoreError>(found.map(ConversationView::from)),
        }
    };
    with_store_timeout(&app, reading).await?.map(Json).ok_or(ApiError::NotFound)
}

/// Deletes a conversation and the customer's words in it, also those in RMAs, tickets and evaluation cases. A running turn is
/// cancelled first. RMAs and tickets stay, with their states and amounts.
#[utoipa::path(
    delete, path = "/conversations/{id}", operation_id = "delete_conversation", tag = "conversations", params(("id" = String, Path)),
    responses(
        (status = 204, description = "deleted"),
        RefusedRead,
        (status = 403, description = "`forbidden_origin`"),
        (status = 500, description = "`not_writable`"),
    )
)]
pub(super) async fn delete(
    shop: Shop,
    ClientAddress(client): ClientAddress,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
) -> Result<StatusCode> {
    let who = shop.name.as_deref().unwrap_or(if shop.access == Access::Key { "API key" } else { "operator" });
    let act = ConsoleAct { conversation: Some(id), ..console_act(who, ConsoleDeed::Deleted, client) };
    let deleted = with_store_timeout(&app, app.delete_conversation(&shop.tenant, id, act)).await?;
    if deleted { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::NotFound) }
}
