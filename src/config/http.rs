use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use ipnet::IpNet;
use url::Url;

use super::Env;

/// The HTTP server.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// `BIND_ADDR`; port 0 = a free one.
    pub bind: SocketAddr,
    /// `CORS_ORIGINS`, comma-separated: other sites whose pages may read responses.
    pub cors_origins: Vec<String>,
    /// `PUBLIC_URL`: scheme and host under which browsers reach the server, such as `https://chat.example.com`; `None` = the host of
    /// each request.
    pub public_url: Option<String>,
    /// `TRUSTED_PROXIES`, comma-separated addresses or networks: proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// `RATE_LIMIT_PER_SECOND`: requests per client address, for callers without a key; 0 = no limit.
    pub rate_per_second: u32,
    /// `RATE_LIMIT_BURST`: requests that may arrive at once.
    pub rate_burst: u32,
    /// `KEY_RATE_LIMIT_PER_SECOND`: requests per API key; 0 = no limit.
    pub key_rate_per_second: u32,
    /// `SSE_STALL_SECONDS`: when a stalled client connection is closed; 0 = never.
    pub stall: Duration,
    /// `REQUEST_HEAD_SECONDS`: when a connection that is idle or sends an incomplete request head is closed; 0 = never.
    pub head_timeout: Duration,
    /// `REQUEST_BODY_SECONDS`: how long a request body may take to arrive; 0 = no limit.
    pub body_timeout: Duration,
    /// `CONNECTIONS_MAX`: open connections in total.
    pub connections_max: usize,
    /// `CONNECTIONS_PER_ADDRESS`: open connections per client address; 0 = no limit.
    pub connections_per_address: usize,
    /// `METRICS_ADDR`: the address that serves `/metrics` without a key; `None` = disabled.
    pub metrics_bind: Option<SocketAddr>,
    /// `BODY_MAX_BYTES`
    pub body_max_bytes: usize,
    /// `SSE_KEEP_ALIVE_SECONDS`: the interval of keep-alive comments; 0 = never.
    pub keep_alive: Duration,
    /// `SSE_RETRY_MS`: when a browser reconnects.
    pub retry: Duration,
    /// `STREAMS_PER_CONVERSATION`: open event streams; another one closes the oldest.
    pub streams_per_conversation: usize,
    /// `STREAMS_PER_KEY`: open event streams per shop, of callers with its API keys.
    pub streams_per_key: usize,
    /// `REQUEST_STORE_TIMEOUT_SECONDS`: how long a request waits for the store before it fails with 503.
    pub store_timeout: Duration,
    /// `TEXT_MAX_CHARS`: the maximum length of a customer's message, trimmed.
    pub text_max_chars: usize,
    /// `CHAT_WAIT_SECONDS`: how long `POST /chat` waits for the reply.
    pub chat_wait: Duration,
}

impl HttpConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            bind: env.number("BIND_ADDR", SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))),
            cors_origins: env.cors_origins(),
            public_url: env.public_url(),
            trusted_proxies: env.list("TRUSTED_PROXIES", |entry| {
                entry.parse::<IpNet>().ok().or_else(|| entry.parse::<IpAddr>().ok().map(IpNet::from))
            }),
            rate_per_second: env.number("RATE_LIMIT_PER_SECOND", 20),
            rate_burst: env.number("RATE_LIMIT_BURST", 60),
            key_rate_per_second: env.number("KEY_RATE_LIMIT_PER_SECOND", 0),
            stall: env.seconds("SSE_STALL_SECONDS", 30),
            head_timeout: env.seconds("REQUEST_HEAD_SECONDS", 30),
            body_timeout: env.seconds("REQUEST_BODY_SECONDS", 30),
            connections_max: env.at_least(1, "CONNECTIONS_MAX", 10_000),
            connections_per_address: env.number("CONNECTIONS_PER_ADDRESS", 256),
            metrics_bind: env.metrics_bind(),
            body_max_bytes: env.at_least(1, "BODY_MAX_BYTES", 64 * 1024),
            keep_alive: env.seconds("SSE_KEEP_ALIVE_SECONDS", 15),
            retry: env.milliseconds("SSE_RETRY_MS", 2000),
            streams_per_conversation: env.at_least(1, "STREAMS_PER_CONVERSATION", 8),
            streams_per_key: env.at_least(1, "STREAMS_PER_KEY", 10_000),
            store_timeout: env.seconds("REQUEST_STORE_TIMEOUT_SECONDS", 5),
            text_max_chars: env.at_least(1, "TEXT_MAX_CHARS", 4000),
            chat_wait: env.seconds("CHAT_WAIT_SECONDS", 60),
        }
    }
}

/// Parses scheme, host and port as browsers write an origin.
pub(super) fn origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    let is_one = !url.host_str()?.contains('*');
    (is_bare && is_one).then(|| url.origin().ascii_serialization())
}

impl Env {
    fn metrics_bind(&mut self) -> Option<SocketAddr> {
        let text = self.find("METRICS_ADDR")?;
        let address = text.parse().ok();
        if address.is_none() {
            self.refuse(
                "METRICS_ADDR",
                format!("'{text}' is not an address: write host and port, such as 127.0.0.1:9090"),
            );
        }
        address
    }

    fn cors_origins(&mut self) -> Vec<String> {
        if self.find("CORS_ORIGINS").as_deref() == Some("*") {
            let why = "'*' is not allowed: list the sites whose pages may call, such as https://shop.example";
            self.refuse("CORS_ORIGINS", why.to_owned());
            return Vec::new();
        }
        self.list("CORS_ORIGINS", origin)
    }

    fn public_url(&mut self) -> Option<String> {
        let url = self.find("PUBLIC_URL")?;
        let public = origin(&url);
        if public.is_none() {
            let why = format!("'{url}' is not valid: write scheme and host, such as https://chat.example.com");
            self.refuse("PUBLIC_URL", why);
        }
        public
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_has_only_scheme_host_and_port() {
        for (text, expected) in [
            ("https://chat.example", "https://chat.example"),
            ("https://Chat.Example/", "https://chat.example"),
            ("https://chat.example:443", "https://chat.example"),
            ("http://localhost:8080/", "http://localhost:8080"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(origin(text).as_deref(), Some(expected));
        }
        for text in [
            "*",
            "https://*",
            "https://*.a.example",
            "chat.example",
            "localhost:8080",
            "https://a/b",
            "ftp://a",
            "https://u@a",
            "null",
        ] {
            assert_eq!(origin(text), None, "{text}");
        }
    }
}
