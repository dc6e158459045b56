//! Extractors and parsers for requests. They are strict: whatever does not fit is refused with the reason.

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use sha2::{Digest, Sha256};

use super::body::BodyTimeout;
use super::error::{ApiError, Result};
use crate::domain::ConversationId;
use crate::domain::text::hex;
use crate::store::acceptance::IdempotencyKey;

/// The most bytes of any body, whatever `BODY_MAX_BYTES` says: a safety net in addition to the limiting layer.
pub(super) const BODY_CEILING: usize = 16 * 1024 * 1024;

/// A JSON object in the body. An empty body counts as `{}` if no field is required.
pub(super) struct Body<T> {
    pub value: T,
    /// A hash of the JSON value, which does not depend on white space or the order of fields.
    pub hash: String,
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let bytes = to_bytes(body, BODY_CEILING).await.map_err(|cause| unreadable(&cause))?;
        let value = read(&parts.headers, &bytes)?;
        refuse_nul(&value)?;
        let mut sorted = value.clone();
        sorted.sort_all_objects();
        let hash = hex(&Sha256::digest(sorted.to_string()));
        match serde_path_to_error::deserialize(value) {
            Ok(value) => Ok(Self { value, hash }),
            Err(_) if bytes.is_empty() => Err(ApiError::InvalidJson),
            Err(error) => {
                Err(ApiError::InvalidRequest(json_problem(&error.path().to_string(), &error.inner().to_string())))
            }
        }
    }
}

/// The parameters of a form in the body, in their order.
pub(super) struct Form(pub Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let bytes = to_bytes(request.into_body(), BODY_CEILING).await.map_err(|cause| unreadable(&cause))?;
        Ok(Self(url::form_urlencoded::parse(&bytes).into_owned().collect()))
    }
}

/// Returns why a body could not be read: it is too large, too late, or not a valid HTTP body.
fn unreadable(cause: &axum::Error) -> ApiError {
    let mut source = std::error::Error::source(cause);
    while let Some(error) = source {
        if error.is::<LengthLimitError>() {
            return ApiError::TooLarge;
        }
        if error.is::<BodyTimeout>() {
            return ApiError::RequestTimeout;
        }
        source = error.source();
    }
    ApiError::InvalidJson
}

/// A body that must be empty or `{}`.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[schema(as = Nothing)]
#[serde(deny_unknown_fields)]
pub(super) struct EmptyBody {}

fn read(headers: &HeaderMap, bytes: &Bytes) -> Result<Value> {
    if bytes.is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence != "application/json" && !(essence.starts_with("application/") && essence.ends_with("+json")) {
        return Err(ApiError::UnsupportedMediaType("application/json"));
    }
    let value = super::json::parse(bytes).map_err(|cause| match cause.classify() {
        // Valid JSON that is refused: a repeated field name, or too many levels.
        Category::Data => ApiError::InvalidRequest(sentence(&cause.to_string())),
        // Valid JSON as well, but serde_json calls it a syntax error.
        Category::Syntax if cause.to_string().starts_with("number out of range") => {
            ApiError::InvalidRequest("A number is too large.".to_owned())
        }
        Category::Io | Category::Syntax | Category::Eof => ApiError::InvalidJson,
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(ApiError::InvalidRequest("The request body must be a JSON object.".to_owned()))
    }
}

/// Refuses the character NUL, which PostgreSQL cannot store.
fn refuse_nul(value: &Value) -> Result<()> {
    let has_nul = |text: &str| text.contains('\0');
    let found = match value {
        Value::String(text) => has_nul(text),
        Value::Array(items) => return items.iter().try_for_each(refuse_nul),
        Value::Object(map) => {
            map.values().try_for_each(refuse_nul)?;
            map.keys().any(|key| has_nul(key))
        }
        _ => false,
    };
    if found {
        Err(ApiError::InvalidRequest("A text contains the character NUL; remove it.".to_owned()))
    } else {
        Ok(())
    }
}

/// Describes why a JSON value does not fit. serde calls an array a sequence, and an object a map or a struct.
fn json_problem(path: &str, problem: &str) -> String {
    let types = problem.strip_prefix("invalid type: ").and_then(|types| types.rsplit_once(", expected "));
    let Some((found, expected)) = types else { return sentence(problem) };
    let in_json = |name: &str| match name.trim_start_matches("a ") {
        "sequence" => "an array".to_owned(),
        "map" => "an object".to_owned(),
        name if name.starts_with("struct ") => "an object".to_owned(),
        _ => name.to_owned(),
    };
    let path = if path == "." { "The request body" } else { path };
    format!("{path} has the wrong type: send {}, not {}.", in_json(expected), in_json(found))
}

/// Turns an error message into a sentence: with a capital letter and a period.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// The query string, parsed strictly.
pub(super) struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let refused =
            || ApiError::InvalidRequest("The query has an unknown parameter or a wrong value; see /docs.".to_owned());
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(refused());
        }
        axum::extract::Query::try_from_uri(&parts.uri).map(|query| Self(query.0)).map_err(|_| refused())
    }
}

/// The conversation in the path.
pub(super) struct ConversationPath(pub ConversationId);

impl<S: Send + Sync> FromRequestParts<S> for ConversationPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        conversation_id(&path_parameter(parts, state, "id").await?).map(Self)
    }
}

/// Parses a conversation id. Anything but a UUID in its usual form is not found.
pub(super) fn conversation_id(text: &str) -> Result<ConversationId> {
    let id: ConversationId = text.parse().map_err(|_| ApiError::NotFound)?;
    if id.to_string().eq_ignore_ascii_case(text) { Ok(id) } else { Err(ApiError::NotFound) }
}

/// The parameters of the path. A value of the wrong type is not found.
pub(super) struct PathParameters<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PathParameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Path(parameters) = Path::<T>::from_request_parts(parts, state).await.map_err(|_| ApiError::NotFound)?;
        Ok(Self(parameters))
    }
}

/// Returns the path parameter with this name.
pub(super) async fn path_parameter<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Result<String> {
    let Path(parameters) =
        Path::<Vec<(String, String)>>::from_request_parts(parts, state).await.map_err(|_| ApiError::NotFound)?;
    parameters.into_iter().find(|(key, _)| key == name).map(|(_, value)| value).ok_or(ApiError::NotFound)
}

/// Returns the most rows of a page: 1 to 200, or 50 by default.
pub(super) fn page_limit(limit: Option<u64>) -> Result<u64> {
    match limit.unwrap_or(50) {
        limit @ 1..=200 => Ok(limit),
        _ => Err(ApiError::InvalidRequest("limit must be between 1 and 200.".to_owned())),
    }
}

/// Cuts rows that were read with one more than `limit`, and returns the cursor of the next page if there is one.
pub(super) fn cut_page<T>(rows: &mut Vec<T>, limit: u64, cursor: impl FnOnce(&T) -> String) -> Option<String> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    rows.last().filter(|_| has_more).map(cursor)
}

/// Returns the position that `after` names: the cursor of an earlier response.
pub(super) fn position<T>(after: Option<&str>, parse: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>> {
    let refused = || ApiError::InvalidRequest("after must be the next of an earlier response.".to_owned());
    after.map(|cursor| parse(cursor).ok_or_else(refused)).transpose()
}

/// Returns the request's `Idempotency-Key`: 1 to 255 visible ASCII characters.
pub(super) fn idempotency(headers: &HeaderMap, body_hash: &str) -> Result<Option<IdempotencyKey>> {
    let mut keys = headers.get_all("idempotency-key").iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let visible = (1..=255).contains(&key.len()) && key.as_bytes().iter().all(u8::is_ascii_graphic);
    match key.to_str() {
        Ok(key) if visible && keys.next().is_none() => {
            Ok(Some(IdempotencyKey { key: key.to_owned(), body_hash: body_hash.to_owned() }))
        }
        _ => Err(ApiError::InvalidRequest("Idempotency-Key must be 1 to 255 visible ASCII characters.".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_type_names_field_and_json_types() {
        for (problem, detail) in [
            ("invalid type: sequence, expected a string", "text has the wrong type: send a string, not an array."),
            ("invalid type: map, expected a sequence", "text has the wrong type: send an array, not an object."),
            (
                "invalid type: integer `7`, expected struct X",
                "text has the wrong type: send an object, not integer `7`.",
            ),
            ("missing field `text`", "Missing field `text`."),
        ] {
            assert_eq!(json_problem("text", problem), detail);
        }
    }

    #[test]
    fn nul_is_refused_at_any_depth() {
        assert!(refuse_nul(&serde_json::json!({"a": [{"b": "x\0"}]})).is_err());
        assert!(refuse_nul(&serde_json::json!({"a\0": 1})).is_err());
        assert!(refuse_nul(&serde_json::json!({"a": ["b", 1, null]})).is_ok());
    }
}
