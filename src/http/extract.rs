//! Reading requests strictly: what is wrong with one is said, and nothing is guessed.

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use sha2::{Digest, Sha256};

use super::body_deadline::BodyTimeout;
use super::error::ApiError;
use crate::domain::ConversationId;
use crate::domain::text::hex;
use crate::store::idempotency::IdempotencyKey;

/// The most that any body may have, whatever the configured limit says: a second line behind the limiting layer.
const BODY_CEILING: usize = 16 * 1024 * 1024;

/// A JSON body. None at all counts as `{}`.
pub(super) struct Body<T> {
    pub value: T,
    /// The body's value, hashed: equal for equal bodies, however they are spelled.
    pub hash: String,
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = to_bytes(body, BODY_CEILING).await.map_err(|cause| unreadable(&cause))?;
        let value = read(&parts.headers, &bytes)?;
        refuse_nul(&value)?;
        let mut sorted = value.clone();
        sorted.sort_all_objects();
        let hash = hex(&Sha256::digest(sorted.to_string()));
        let value = serde_json::from_value(value).map_err(|error| ApiError::InvalidRequest(sentence(&error)))?;
        Ok(Self { value, hash })
    }
}

/// Why a body could not be read: it is larger than allowed, it is late, or it is no HTTP body.
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

/// A body that may only be empty, or `{}`.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

fn read(headers: &HeaderMap, bytes: &Bytes) -> Result<Value, ApiError> {
    if bytes.is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence != "application/json" && !(essence.starts_with("application/") && essence.ends_with("+json")) {
        return Err(ApiError::UnsupportedMediaType("application/json"));
    }
    let value = super::json::parse(bytes).map_err(|cause| match cause.classify() {
        // It is JSON, but none that we take: a name twice, or too deep.
        Category::Data => ApiError::InvalidRequest(sentence(&cause)),
        Category::Io | Category::Syntax | Category::Eof => ApiError::InvalidJson,
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(ApiError::InvalidRequest("The body must be a JSON object.".to_owned()))
    }
}

/// NUL fits neither a PostgreSQL text nor a C string; nobody types it.
fn refuse_nul(value: &Value) -> Result<(), ApiError> {
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
    if found { Err(ApiError::InvalidRequest("A text holds the character NUL; remove it.".to_owned())) } else { Ok(()) }
}

/// What serde says of a value that does not fit, as a sentence.
fn sentence(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => "The body does not fit.".to_owned(),
    }
}

/// A query string of a known shape.
pub(super) struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let refused = || {
            ApiError::InvalidRequest(
                "The query does not fit: a parameter is unknown or has a wrong value; see /docs.".to_owned(),
            )
        };
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(refused());
        }
        axum::extract::Query::try_from_uri(&parts.uri).map(|query| Self(query.0)).map_err(|_| refused())
    }
}

/// The conversation of the path, for who may name any.
pub(super) struct ConversationPath(pub ConversationId);

impl<S: Send + Sync> FromRequestParts<S> for ConversationPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        conversation_id(&path_parameter(parts, state, "id").await?).map(Self)
    }
}

/// The conversation of the path. An id that is no UUID is one that does not exist.
pub(super) fn conversation_id(text: &str) -> Result<ConversationId, ApiError> {
    let id: ConversationId = text.parse().map_err(|_| ApiError::NotFound)?;
    if id.to_string().eq_ignore_ascii_case(text) { Ok(id) } else { Err(ApiError::NotFound) }
}

/// The path's parameters; what does not fit does not exist.
pub(super) struct Known<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Known<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(parameters) = Path::<T>::from_request_parts(parts, state).await.map_err(|_| ApiError::NotFound)?;
        Ok(Self(parameters))
    }
}

/// The path's parameters by name.
pub(super) async fn path_parameter<S: Send + Sync>(
    parts: &mut Parts,
    state: &S,
    name: &str,
) -> Result<String, ApiError> {
    let Path(parameters) =
        Path::<Vec<(String, String)>>::from_request_parts(parts, state).await.map_err(|_| ApiError::NotFound)?;
    parameters.into_iter().find(|(key, _)| key == name).map(|(_, value)| value).ok_or(ApiError::NotFound)
}

/// The request's `Idempotency-Key`, if it has one: 1 to 255 visible ASCII characters.
pub(super) fn idempotency(headers: &HeaderMap, body_hash: &str) -> Result<Option<IdempotencyKey>, ApiError> {
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
    fn an_id_has_one_form_and_everything_else_does_not_exist() {
        let id = ConversationId::now();
        assert_eq!(conversation_id(&id.to_string()).unwrap(), id);
        assert_eq!(conversation_id(&id.to_string().to_uppercase()).unwrap(), id);
        for bad in ["", "x", &format!("{{{id}}}"), &id.0.simple().to_string(), &format!("urn:uuid:{id}")] {
            assert!(conversation_id(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn nul_is_found_wherever_it_hides() {
        assert!(refuse_nul(&serde_json::json!({"a": [{"b": "x\0"}]})).is_err());
        assert!(refuse_nul(&serde_json::json!({"a\0": 1})).is_err());
        assert!(refuse_nul(&serde_json::json!({"a": ["b", 1, null]})).is_ok());
    }
}
