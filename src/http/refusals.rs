//! The errors of each family of routes, for the OpenAPI document.
//!
//! A route names its family in `responses(…)`, then the errors that only it has or that it describes differently. Every error
//! gets the `Problem` body in [`docs::complete`](super::docs::complete).

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::{RefOr, Response, ResponseBuilder};

/// Defines a unit type for each family, with the status codes of its errors and, where it differs, their description.
macro_rules! families {
    ($($(#[$doc:meta])* $name:ident: $($status:literal $(= $text:literal)?),+;)+) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$(($status, [$($text,)? description($status)][0])),+].map(response).into()
            }
        }
    )+};
}

families! {
    /// Errors of a route that reads.
    RefusedRead: 401, 404, 429, 503;
    /// Errors of a route that reads by a query.
    RefusedQuery: 401, 404, 422, 429, 503;
    /// Errors of a route that takes a JSON body and does not write to the store.
    RefusedBody: 400, 401, 403, 404, 408, 413, 415, 422, 429;
    /// Errors of a route that takes a JSON body.
    RefusedWrite: 400, 401, 403, 404, 408, 413, 415, 422, 429, 503;
    /// Errors of a route that lists what belongs to the caller.
    RefusedList: 401, 422, 429, 503;
    /// Errors of a route that creates something from a JSON body.
    RefusedCreate: 400, 401, 403, 408, 413, 415, 422, 429, 503 = "`draining` or `unavailable`";
    /// Errors of a route that accepts a customer's message.
    RefusedMessage: 400, 401, 403, 404, 408, 413, 415, 422, 429, 503 = "`overloaded`, `draining` or `unavailable`";
    /// Errors of the route that accepts a message of a session.
    RefusedChat: 400, 401, 403, 408, 413, 415, 422, 429, 503 = "`overloaded`, `draining` or `unavailable`";
    /// Errors of a console route that takes a file.
    RefusedUpload: 401, 403, 404 = "`not_found`: the console is off", 408, 413, 415, 422, 429, 503;
    /// Errors of a console route that does not read the store.
    RefusedConsole: 401, 404 = "`not_found`: the console is off", 429;
    /// Errors of a console route that reads by a query.
    RefusedConsoleQuery: 401, 404 = "`not_found`: the console is off", 422, 429, 503;
}

fn description(status: u16) -> &'static str {
    match status {
        400 => "`invalid_json`",
        401 => "`unauthorized`",
        403 => "`forbidden_origin`",
        404 => "`not_found`",
        408 => "`request_timeout`",
        413 => "`too_large`",
        415 => "`unsupported_media_type`",
        422 => "`invalid_request`",
        429 => "`rate_limited`",
        _ => "`unavailable`",
    }
}

fn response((status, description): (u16, &str)) -> (String, RefOr<Response>) {
    (status.to_string(), ResponseBuilder::new().description(description).build().into())
}
