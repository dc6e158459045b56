//! The API's own description, and a page to read it.

use std::sync::Arc;

use axum::response::Html;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use utoipa::openapi::schema::Type;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ObjectBuilder, RefOr, Required, Schema};
use utoipa::{OpenApi, ToSchema};

use super::access::Operator;
use super::browser::{COOKIE, SESSION};
use super::problem::Problem;
use super::web::{policy, reference};
use crate::app::App;
use crate::desks::DeskRegistry;
use crate::domain::{Event, Kind};

/// What the routes do not say of themselves.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "frontdesk",
        description = "A customer-service chat server. Errors are `application/problem+json` with a stable `code`; every response carries `x-request-id`. `POST …/stream` answers with server-sent events, one JSON object (schema `Event`) in each `data:` line.",
    ),
    components(schemas(Event, Problem)),
    modifiers(&Security),
    security(("api_key" = []), ("conversation_token" = []), ("conversation_cookie" = []), ("console_session" = []), ()),
)]
pub(super) struct Api;

struct Security;

impl utoipa::Modify for Security {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        components
            .add_security_scheme("api_key", SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-API-Key"))));
        components.add_security_scheme(
            "conversation_cookie",
            SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(COOKIE))),
        );
        components
            .add_security_scheme("console_session", SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(SESSION))));
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("conversation_token", SecurityScheme::Http(bearer));
    }
}

/// What is posted here may be nothing at all.
const MAY_BE_EMPTY: [&str; 3] =
    ["/conversations", "/conversations/{id}/token", "/conversations/{id}/turns/{turn}/cancel"];

/// Adds what the routes' own descriptions cannot say: an event that no turn has, the kinds of every desk's messages, and bodies
/// that may be absent but not `null`.
pub(super) fn complete(openapi: &mut utoipa::openapi::OpenApi) {
    let schemas = openapi.components.as_mut().map(|components| &mut components.schemas);
    if let Some(RefOr::T(Schema::OneOf(events))) = schemas.and_then(|schemas| schemas.get_mut(&*Event::name())) {
        let kind = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["reset"]));
        let reset = ObjectBuilder::new().property("type", kind).required("type");
        let reset = reset.description(Some("What the reader has is too old: the history is to be read again."));
        events.items.push(reset.build().into());
    }
    let kinds = openapi.components.as_mut().and_then(|components| components.schemas.get_mut(&*Kind::name()));
    if let Some(RefOr::T(Schema::Object(kind))) = kinds {
        let registry = DeskRegistry::built_in();
        let of_desks = registry.iter().flat_map(|desk| desk.message_kinds());
        kind.enum_values = Some(Kind::SHARED.iter().chain(of_desks).map(|kind| json!(kind)).collect());
    }
    for path in MAY_BE_EMPTY {
        let post = openapi.paths.paths.get_mut(path).and_then(|path| path.post.as_mut());
        if let Some(RefOr::T(body)) = post.and_then(|post| post.request_body.as_mut()) {
            body.required = Some(Required::False);
        }
    }
}

/// `/openapi.json`, and `/docs` for the shop.
pub(super) fn routes(openapi: utoipa::openapi::OpenApi) -> Router<Arc<App>> {
    let described = serde_json::to_value(&openapi).unwrap_or_default();
    let page = Arc::<str>::from(reference::page(&described));
    let description = Arc::new(openapi);
    Router::new()
        .route("/openapi.json", get(move || async move { Json(description.as_ref().clone()) }))
        .route("/docs", get(move |_: Operator| async move { (policy::alone(), Html(page.to_string())) }))
}
