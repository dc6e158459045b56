//! HTTP requests to a Chroma server, and the mapping of its errors.

use std::time::Duration;

use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::VectorError;
use super::InvalidChroma;
use crate::providers::address::{MAX_BODY, body as body_of, client, reason, shortened};

/// Chroma's default database, which other clients also use. Each shop has separate collections in it.
const DATABASE: &str = "api/v2/tenants/default_tenant/databases/default_database/";

/// A client of one server.
pub struct Wire {
    http: reqwest::Client,
    base: Url,
    timeout: Duration,
}

/// Chroma's error response.
#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    #[serde(default)]
    message: String,
}

impl Wire {
    pub fn new(url: &str, timeout: Duration) -> Result<Self, InvalidChroma> {
        let invalid = || InvalidChroma::Address(url.to_owned());
        let mut base = Url::parse(url.trim()).map_err(|_| invalid())?;
        let plain = base.query().is_none() && base.fragment().is_none();
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() || !plain {
            return Err(invalid());
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let http = client(&base, timeout).timeout(timeout).build()?;
        Ok(Self { http, base, timeout })
    }

    /// Gets a path below `/api/v2/`.
    pub async fn get_server<T: DeserializeOwned>(&self, path: &str) -> Result<T, VectorError> {
        self.send(Method::GET, &format!("api/v2/{path}"), None).await?.ok_or_else(|| self.not_chroma("404"))
    }

    /// Sends a request below the database. Returns `None` if the collection does not exist.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Option<T>, VectorError> {
        self.send(method, &format!("{DATABASE}{path}"), body).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Option<T>, VectorError> {
        let url = self.base.join(path).map_err(|error| VectorError::Refused(error.to_string()))?;
        let mut request = self.http.request(method, url);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|error| self.unavailable(error))?;
        let status = response.status();
        let body = body_of(response, MAX_BODY).await.map_err(|error| self.unavailable(error))?;
        let body = body.ok_or_else(|| self.not_chroma("the response is longer than the limit"))?;
        if status.is_success() {
            return serde_json::from_slice(&body)
                .map(Some)
                .map_err(|error| self.not_chroma(&format!("{status}, {error}")));
        }
        let error: Option<ErrorBody> = serde_json::from_slice(&body).ok();
        let Some(error) = error else {
            if status.is_server_error() {
                return Err(VectorError::Unavailable(format!("{} answered {status}", self.address())));
            }
            return Err(self.not_chroma(status.as_str()));
        };
        if status == StatusCode::NOT_FOUND {
            let is_from_chroma = error.error == "NotFoundError";
            return if is_from_chroma {
                Ok(None)
            } else {
                Err(self.not_chroma(&format!("{status}, {}", shortened(&error.error))))
            };
        }
        let text = shortened(&format!("{}: {}", error.error, error.message));
        let text = format!("Chroma answered {}, {text}", status.as_u16());
        let is_temporary = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        Err(if is_temporary { VectorError::Unavailable(text) } else { VectorError::Refused(text) })
    }

    fn unavailable(&self, error: reqwest::Error) -> VectorError {
        let address = self.address();
        if error.is_timeout() {
            let seconds = self.timeout.as_secs_f32();
            return VectorError::Unavailable(format!(
                "no answer from {address} within {seconds} s (CHROMA_TIMEOUT_SECONDS)"
            ));
        }
        let reason = reason(error);
        VectorError::Unavailable(format!(
            "{address}: {reason}; start the Chroma server (scripts/chroma), or unset CHROMA_URL to store vectors in the database"
        ))
    }

    pub fn not_chroma(&self, answer: &str) -> VectorError {
        VectorError::Refused(format!(
            "the server at {} is not Chroma version 1 or later ({answer}): set CHROMA_URL to the address that scripts/chroma \
            prints",
            self.address()
        ))
    }

    /// Returns the address without credentials.
    fn address(&self) -> String {
        let port = self.base.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}{}", self.base.scheme(), self.base.host_str().unwrap_or_default(), self.base.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_must_be_an_http_url() {
        let wire = |url: &str| Wire::new(url, Duration::from_secs(1));
        assert_eq!(wire("http://127.0.0.1:8000").ok().unwrap().address(), "http://127.0.0.1:8000/");
        assert_eq!(wire(" https://u:p@shop.vn/chroma ").ok().unwrap().address(), "https://shop.vn/chroma/");
        for bad in ["", "localhost:8000", "127.0.0.1", "ftp://shop.vn", "http://", "http://shop.vn/?a=b"] {
            assert!(wire(bad).err().unwrap().to_string().contains("CHROMA_URL"), "{bad:?}");
        }
    }
}
