//! Addresses and HTTP clients of services, and comparison of Ollama's model names.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Response, Url};

/// Ollama's default port.
const DEFAULT_PORT: u16 = 11434;

/// An invalid address of an Ollama server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("OLLAMA_HOST must be a host, host:port or an http(s) URL without a query: {0}")]
pub struct InvalidAddress(String);

/// Returns the base URL of an Ollama server, with a trailing slash, from `OLLAMA_HOST` and `OLLAMA_PORT`.
///
/// `host` has the same format as for Ollama: a host, `host:port`, `:port`, an IPv6 address with or without brackets, or a URL with or
/// without a path. A port in it takes precedence over `port`. The default port is 11434 for a host and the scheme's port for a URL. An
/// unspecified address (`0.0.0.0`) becomes loopback.
pub fn base_url(host: &str, port: Option<u16>) -> Result<Url, InvalidAddress> {
    let host = host.trim();
    let text = match host.split_once("://") {
        Some(_) => host.to_owned(),
        None => format!("http://{}", bare(host)),
    };
    let mut url = Url::parse(&text).map_err(|error| InvalidAddress(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(InvalidAddress(format!("the scheme is {}", url.scheme())));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(InvalidAddress("it has a query or a fragment".to_owned()));
    }
    if !has_port(&text) {
        let default = if host.contains("://") { None } else { Some(DEFAULT_PORT) };
        url.set_port(port.or(default)).map_err(|()| InvalidAddress("it cannot have a port".to_owned()))?;
    }
    let loopback = match address(&url) {
        Some(IpAddr::V4(ip)) if ip.is_unspecified() => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        Some(IpAddr::V6(ip)) if ip.is_unspecified() => Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        _ => None,
    };
    if let Some(ip) = loopback {
        url.set_ip_host(ip).map_err(|()| InvalidAddress("it cannot have a host".to_owned()))?;
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Formats a host without a scheme for a URL.
fn bare(host: &str) -> String {
    match host.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{host}]"),
        Err(_) if host.is_empty() || host.starts_with(':') => format!("127.0.0.1{host}"),
        Err(_) => host.to_owned(),
    }
}

/// Returns whether the URL's text has a port. A parsed URL omits the scheme's default port.
fn has_port(url: &str) -> bool {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.ends_with(']'))
}

/// Returns the URL's host if it is an IP address.
fn address(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Returns whether the URL is on this machine, which needs no proxy.
fn is_local(url: &Url) -> bool {
    url.host_str() == Some("localhost") || address(url).is_some_and(|ip| ip.is_loopback())
}

/// The maximum size of a response that is read at once, in bytes.
pub(super) const MAX_BODY: usize = 64 * 1024 * 1024;

/// Reads a body. Returns `None` if it exceeds the limit.
pub(super) async fn body(mut response: Response, limit: usize) -> reqwest::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await? {
        if body.len() + part.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&part);
    }
    Ok(Some(body))
}

/// Returns a builder of an HTTP client for the server, without a proxy on this machine. Redirects are not followed, since they would
/// send customers' messages and the shop's documents to another address.
pub(super) fn client(base: &Url, connect_timeout: Duration) -> reqwest::ClientBuilder {
    let client = reqwest::Client::builder()
        .user_agent(concat!("frontdesk/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout)
        .redirect(Policy::none());
    if is_local(base) { client.no_proxy() } else { client }
}

/// Characters of a service's error that are logged.
pub(super) const MAX_ERROR: usize = 300;

/// Returns the start of a service's error.
pub(super) fn shortened(error: &str) -> String {
    error.chars().take(MAX_ERROR).collect()
}

/// Returns the innermost cause of an error, such as `Connection refused`, without the URL, which may have an account or a customer.
pub(super) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut deepest: &dyn Error = &error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

/// Returns whether two names refer to the same model. The default tag is `:latest`, and case is ignored.
pub fn same_model(a: &str, b: &str) -> bool {
    let without_latest = |name: &str| name.strip_suffix(":latest").unwrap_or(name).to_ascii_lowercase();
    without_latest(a) == without_latest(b)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn host_formats_match_ollamas() {
        let table = [
            ("127.0.0.1", None, "http://127.0.0.1:11434/"),
            ("127.0.0.1", Some(8000), "http://127.0.0.1:8000/"),
            ("", None, "http://127.0.0.1:11434/"),
            ("  ", Some(1), "http://127.0.0.1:1/"),
            (":8000", Some(1), "http://127.0.0.1:8000/"),
            ("0.0.0.0", None, "http://127.0.0.1:11434/"),
            ("0.0.0.0:8000", None, "http://127.0.0.1:8000/"),
            ("::", None, "http://[::1]:11434/"),
            ("ollama", None, "http://ollama:11434/"),
            ("ollama:8000", Some(1), "http://ollama:8000/"),
            ("ollama:80", Some(11434), "http://ollama/"),
            ("ollama/api-proxy", None, "http://ollama:11434/api-proxy/"),
            ("::1", None, "http://[::1]:11434/"),
            ("[::1]", None, "http://[::1]:11434/"),
            ("[::1]:8000", Some(1), "http://[::1]:8000/"),
            ("http://ollama", None, "http://ollama/"),
            ("http://ollama", Some(11434), "http://ollama:11434/"),
            ("http://ollama:80", Some(11434), "http://ollama/"),
            ("http://ollama:11434/", None, "http://ollama:11434/"),
            ("http://ollama:8000", Some(1), "http://ollama:8000/"),
            ("http://[::1]:8000/x", Some(1), "http://[::1]:8000/x/"),
            ("http://[::1]/x/", Some(1), "http://[::1]:1/x/"),
            ("https://llm.shop.vn", None, "https://llm.shop.vn/"),
            ("https://llm.shop.vn:443", Some(11434), "https://llm.shop.vn/"),
            ("https://llm.shop.vn/ollama", None, "https://llm.shop.vn/ollama/"),
            ("https://u:p@llm.shop.vn", Some(8443), "https://u:p@llm.shop.vn:8443/"),
            ("HTTPS://llm.shop.vn/", None, "https://llm.shop.vn/"),
        ];
        for (host, port, expected) in table {
            assert_eq!(base_url(host, port).map(String::from), Ok(expected.to_owned()), "{host:?} {port:?}");
        }
    }

    #[test]
    fn invalid_addresses_are_refused() {
        for bad in
            ["ftp://ollama", "http://", "a b", "ollama:99999", "ollama:port", "http://ollama/?a=b", "http://x/#y"]
        {
            assert!(base_url(bad, None).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn model_without_tag_is_latest() {
        let table = [
            ("gpt-oss", "gpt-oss:latest", true),
            ("gpt-oss:latest", "gpt-oss", true),
            ("gpt-oss", "gpt-oss", true),
            ("Qwen3:8B", "qwen3:8b", true),
            ("gpt-oss", "gpt-oss:20b", false),
            ("gpt-oss:20b", "gpt-oss:latest", false),
            ("hf.co/shop/model", "hf.co/shop/model:latest", true),
            ("gpt", "gpt-oss", false),
        ];
        for (a, b, expected) in table {
            assert_eq!(same_model(a, b), expected, "{a} {b}");
        }
    }

    #[tokio::test]
    async fn redirects_are_not_followed() {
        use crate::config::{EmbedConfig, LlmConfig, VectorConfig};
        use crate::providers::embedding::{EmbeddingModel, OllamaEmbedding};
        use crate::providers::llm::{ChatModel, ChatRequest, Ollama};
        use crate::providers::vector::{ChromaIndex, VectorIndex};

        let (server, target) = (listener().await, listener().await);
        let (url, elsewhere) = (format!("http://{}", server.1), format!("http://{}", target.1));
        let redirecting = async move {
            loop {
                let (mut stream, _) = server.0.accept().await.expect("a connection");
                let answer = format!(
                    "HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                );
                let _ = stream.read(&mut [0; 64 * 1024]).await;
                stream.write_all(answer.as_bytes()).await.expect("an answer");
            }
        };
        let asking = async {
            let llm = Ollama::new(&LlmConfig { host: url.clone(), ..LlmConfig::default() }).expect("a client");
            let embed = OllamaEmbedding::new(&EmbedConfig { host: url.clone(), ..EmbedConfig::default() });
            let chroma = ChromaIndex::new(&url, &VectorConfig::default()).expect("a client");
            assert!(llm.probe().await.is_err());
            assert!(llm.stream(ChatRequest::default()).await.is_err());
            assert!(embed.expect("a client").embed(&["Chào".to_owned()]).await.is_err());
            assert!(chroma.ping().await.is_err());
        };
        tokio::select! {
            () = redirecting => {}
            _ = target.0.accept() => panic!("a redirect was followed"),
            () = asking => {}
        }
    }

    async fn listener() -> (TcpListener, std::net::SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        (listener, address)
    }
}
