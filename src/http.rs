//! The HTTP API and the pages. A handler extracts, calls one function and converts the result.
//!
//! `routes` lists the routes of the API. [`sse`] alone writes server-sent events, and [`error`] alone defines errors.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use tower::{ServiceExt, service_fn};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::Compression;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::request_id::{MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use logged_path::logged_path;

// For `cargo bench`.
pub use sse::frame as sse_frame;

mod access;
mod body;
mod browser;
mod chat;
mod client;
mod connection_limit;
mod console;
mod conversations;
mod docs;
mod error;
mod events;
mod extract;
mod health;
mod history;
mod json;
mod labels;
mod limit;
mod logged_path;
mod messages;
mod payments;
mod problem;
mod refusals;
mod serve;
mod sse;
mod turns;
mod twilio;
mod views;
mod web;

pub use serve::{serve, serve_metrics};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Builds the server: every route and every layer.
pub fn router(app: Arc<App>) -> Router {
    let (api, openapi) = api(&app);
    let cors = cors(&app.config.http.cors_origins);
    let span = |request: &Request<_>| {
        let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
        let path = logged_path(request.uri(), request.extensions());
        tracing::info_span!("request", method = %request.method(), path, request.id = id)
    };
    let router = api
        .merge(docs::routes(openapi))
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(middleware::from_fn_with_state(app.clone(), limit::count))
        .merge(web::routes())
        .with_state(app)
        .layer(middleware::from_fn(compress))
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(middleware::from_fn(body::limit_head))
        .layer(middleware::from_fn(problem::finish))
        .layer(middleware::from_fn(body::discard_unread))
        // Only known paths answer a preflight request.
        .route_layer(cors)
        .layer(TraceLayer::new_for_http().make_span_with(span));
    outermost(router)
}

/// Builds the server at `METRICS_ADDR`.
fn metrics_router(app: Arc<App>) -> Router {
    let router = Router::new()
        .route("/metrics", get(health::open_metrics))
        .fallback(problem::not_found)
        .with_state(app)
        .layer(middleware::from_fn(problem::finish));
    outermost(router)
}

/// Adds to every response an id, `Cache-Control` and `X-Content-Type-Options`, unless the route sets them.
fn outermost(router: Router) -> Router {
    let nosniff = HeaderValue::from_static("nosniff");
    router
        .layer(SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
        .layer(SetResponseHeaderLayer::if_not_present(header::X_CONTENT_TYPE_OPTIONS, nosniff))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(SetRequestIdLayer::new(REQUEST_ID, NewRequestId))
        .layer(middleware::from_fn(problem::check_request_id))
}

/// Makes the ids of requests that bring none.
#[derive(Clone, Copy)]
struct NewRequestId;

impl MakeRequestId for NewRequestId {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        Uuid::now_v7().to_string().parse().ok().map(RequestId::new)
    }
}

/// Returns the OpenAPI document that `/openapi.json` serves.
pub fn openapi() -> utoipa::openapi::OpenApi {
    describe(routes()).1
}

/// Returns the routes of the API and their OpenAPI document.
fn api(app: &Arc<App>) -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    let limited = routes()
        .layer(RequestBodyLimitLayer::new(app.config.http.body_max_bytes))
        .layer(middleware::from_fn_with_state(app.clone(), problem::name_body_limit))
        .layer(middleware::from_fn_with_state(app.clone(), body::limit_time));
    describe(limited)
}

fn describe(routes: OpenApiRouter<Arc<App>>) -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    let (router, mut openapi) = routes.merge(console::file_routes()).split_for_parts();
    docs::complete(&mut openapi);
    (router, openapi)
}

/// The routes whose body is at most `BODY_MAX_BYTES`.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(docs::Api::openapi())
        .routes(routes!(conversations::create, conversations::list))
        .routes(routes!(conversations::get, conversations::delete))
        .routes(routes!(messages::post))
        .routes(routes!(messages::stream))
        .routes(routes!(chat::post))
        .routes(routes!(turns::get))
        .routes(routes!(turns::cancel))
        .routes(routes!(events::get))
        .routes(routes!(conversations::renew_token))
        .routes(routes!(history::get))
        .merge(console::routes())
        .routes(routes!(labels::get))
        .routes(routes!(twilio::receive))
        .routes(routes!(payments::post, payments::get))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| origin.parse().ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([
            header::CONTENT_TYPE,
            header::AUTHORIZATION,
            HeaderName::from_static("x-api-key"),
            HeaderName::from_static("idempotency-key"),
            HeaderName::from_static("last-event-id"),
        ])
        .expose_headers([header::LOCATION, header::RETRY_AFTER, REQUEST_ID])
}

/// Middleware: compresses the response if the client accepts that. Event streams bypass the layer, which would not compress
/// them but hold 5 KiB of idle encoder for each open stream.
async fn compress(request: Request<Body>, next: Next) -> Response {
    let mut accepts = Request::new(());
    for coding in request.headers().get_all(header::ACCEPT_ENCODING) {
        accepts.headers_mut().append(header::ACCEPT_ENCODING, coding.clone());
    }
    let response = next.run(request).await;
    if is_event_stream(response.headers().get(header::CONTENT_TYPE)) {
        return response;
    }
    let mut response = Some(response);
    let answer = service_fn(move |_| ready(Ok::<_, Infallible>(response.take().unwrap_or_default())));
    match Compression::new(answer).oneshot(accepts).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

fn is_event_stream(kind: Option<&HeaderValue>) -> bool {
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}
