//! What most routes may answer instead, for the API's description. A route names one of these, and beside it what it alone
//! may answer, or says in other words.

use std::collections::BTreeMap;

use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use super::problem::Problem;

/// Of a route that reads.
pub(super) struct RefusedRead;

/// Of a route that takes a JSON body from whoever may write.
pub(super) struct RefusedWrite;

type Described = BTreeMap<String, RefOr<Response>>;

const READ: [(&str, &str); 4] =
    [("401", "unauthorized"), ("404", "not_found"), ("429", "rate_limited"), ("503", "unavailable")];
const WRITE: [(&str, &str); 6] = [
    ("400", "invalid_json"),
    ("403", "forbidden_origin"),
    ("408", "request_timeout"),
    ("413", "too_large"),
    ("415", "unsupported_media_type"),
    ("422", "invalid_request"),
];

impl IntoResponses for RefusedRead {
    fn responses() -> Described {
        described(&READ)
    }
}

impl IntoResponses for RefusedWrite {
    fn responses() -> Described {
        described(&[READ.as_slice(), &WRITE].concat())
    }
}

fn described(refusals: &[(&str, &str)]) -> Described {
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build();
    let response = |code: &str| {
        let described = ResponseBuilder::new().description(format!("`{code}`"));
        described.content("application/problem+json", problem.clone()).build().into()
    };
    refusals.iter().map(|(status, code)| ((*status).to_owned(), response(code))).collect()
}
