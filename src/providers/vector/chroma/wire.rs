//! Requests to the server, and what its answers mean.

use std::time::Duration;

use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::VectorError;
use super::InvalidChroma;
use crate::providers::address::{MAX_BODY, body as body_of, client, reason};

/// The database that a Chroma server makes by itself, which is where other clients look too. Shops have collections of their own.
const DATABASE: &str = "api/v2/tenants/default_tenant/databases/default_database/";
/// How much of the server's complaint goes into the log, in characters.
const MAX_COMPLAINT: usize = 300;

/// One server's address, and the connections to it.
pub struct Wire {
    http: reqwest::Client,
    base: Url,
    timeout: Duration,
}

/// What Chroma says of a request that it refuses.
#[derive(Deserialize)]
struct Complaint {
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

    /// Asks below `/api/v2/`.
    pub async fn get_server<T: DeserializeOwned>(&self, path: &str) -> Result<T, VectorError> {
        self.send(Method::GET, &format!("api/v2/{path}"), None).await?.ok_or_else(|| self.is_no_chroma("404"))
    }

    /// Asks below the database. `None`: the server says that there is no such collection.
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
        let body = body.ok_or_else(|| self.is_no_chroma("an answer that is longer than the limit"))?;
        if status.is_success() {
            return serde_json::from_slice(&body)
                .map(Some)
                .map_err(|error| self.is_no_chroma(&format!("{status}, {error}")));
        }
        let complaint: Option<Complaint> = serde_json::from_slice(&body).ok();
        let Some(complaint) = complaint else {
            if status.is_server_error() {
                return Err(VectorError::Unavailable(format!("{} says {status}", self.address())));
            }
            return Err(self.is_no_chroma(status.as_str()));
        };
        if status == StatusCode::NOT_FOUND {
            let is_chromas = complaint.error == "NotFoundError";
            return if is_chromas {
                Ok(None)
            } else {
                Err(self.is_no_chroma(&format!("{status}, {}", shortened(&complaint.error))))
            };
        }
        let words = shortened(&format!("{}: {}", complaint.error, complaint.message));
        let words = format!("Chroma says {}, {words}", status.as_u16());
        let passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        Err(if passing { VectorError::Unavailable(words) } else { VectorError::Refused(words) })
    }

    fn unavailable(&self, error: reqwest::Error) -> VectorError {
        let address = self.address();
        if error.is_timeout() {
            let seconds = self.timeout.as_secs_f32();
            return VectorError::Unavailable(format!(
                "no answer from {address} within {seconds} s (CHROMA_TIMEOUT_SECONDS)"
            ));
        }
        let reason = reason(&error.without_url());
        VectorError::Unavailable(format!(
            "{address}: {reason}; start the Chroma server (scripts/chroma), or unset CHROMA_URL to keep vectors in the database"
        ))
    }

    pub fn is_no_chroma(&self, answer: &str) -> VectorError {
        VectorError::Refused(format!(
            "what answers at {} is no Chroma server of version 1 or later ({answer}): set CHROMA_URL to the line that \
             scripts/chroma prints",
            self.address()
        ))
    }

    /// Without what may be a password.
    fn address(&self) -> String {
        let port = self.base.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}{}", self.base.scheme(), self.base.host_str().unwrap_or_default(), self.base.path())
    }
}

fn shortened(complaint: &str) -> String {
    complaint.chars().take(MAX_COMPLAINT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_an_http_url() {
        let wire = |url: &str| Wire::new(url, Duration::from_secs(1));
        assert_eq!(wire("http://127.0.0.1:8000").ok().unwrap().address(), "http://127.0.0.1:8000/");
        assert_eq!(wire(" https://u:p@shop.vn/chroma ").ok().unwrap().address(), "https://shop.vn/chroma/");
        for bad in ["", "localhost:8000", "127.0.0.1", "ftp://shop.vn", "http://", "http://shop.vn/?a=b"] {
            assert!(wire(bad).err().unwrap().to_string().contains("CHROMA_URL"), "{bad:?}");
        }
    }
}
