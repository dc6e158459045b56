//! The OpenAPI document, and the page that shows it.

use std::sync::{Arc, LazyLock};

use axum::response::Html;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::schema::Type;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Response, Schema};
use utoipa::{OpenApi, ToSchema};

use super::access::Operator;
use super::browser::{COOKIE, SESSION};
use super::problem::Problem;
use super::web::{reference, standalone};
use crate::app::App;
use crate::desks::DeskRegistry;
use crate::domain::{Event, Kind};

/// The parts of the document that do not belong to a route.
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

/// Routes that accept an empty body.
const MAY_BE_EMPTY: [&str; 3] =
    ["/conversations", "/conversations/{id}/token", "/conversations/{id}/turns/{turn}/cancel"];

/// Completes the document with what the routes' attributes cannot express: the `reset` event, the kinds of messages, bodies that may be empty, and the
/// `Problem` body of errors.
pub(super) fn complete(openapi: &mut utoipa::openapi::OpenApi) {
    let schemas = openapi.components.as_mut().map(|components| &mut components.schemas);
    if let Some(RefOr::T(Schema::OneOf(events))) = schemas.and_then(|schemas| schemas.get_mut(&*Event::name())) {
        let kind = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["reset"]));
        let reset = ObjectBuilder::new().property("type", kind).required("type");
        let reset = reset.description(Some("The reader's last event is too old: read the history again."));
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
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build();
    for (status, response) in openapi.paths.paths.values_mut().flat_map(operations).flat_map(responses) {
        if status.starts_with(['4', '5']) && response.content.is_empty() {
            response.content.insert("application/problem+json".to_owned(), problem.clone().into());
        }
    }
}

fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut path.get, &mut path.put, &mut path.post, &mut path.delete].into_iter().flatten()
}

fn responses(operation: &mut Operation) -> impl Iterator<Item = (&str, &mut Response)> {
    operation.responses.responses.iter_mut().filter_map(|(status, response)| match response {
        RefOr::T(response) => Some((status.as_str(), response)),
        RefOr::Ref(_) => None,
    })
}

/// `/openapi.json`, and `/docs` for the shop.
pub(super) fn routes(openapi: utoipa::openapi::OpenApi) -> Router<Arc<App>> {
    let description = Arc::new(openapi);
    let described = description.clone();
    // Written when it is first asked for, so that no start waits for it.
    let page =
        Arc::new(LazyLock::new(move || reference::page(&serde_json::to_value(described.as_ref()).unwrap_or_default())));
    Router::new()
        .route("/openapi.json", get(move || async move { Json(description.as_ref().clone()) }))
        .route("/docs", get(move |_: Operator| async move { (standalone(), Html(page.to_string())) }))
}
