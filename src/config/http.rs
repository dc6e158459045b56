use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::Env;

/// The HTTP server.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// `BIND_ADDR`; port 0 = a free one.
    pub bind: SocketAddr,
    /// `CORS_ORIGINS`, comma separated: other sites whose pages may read answers; empty = none.
    pub cors_origins: Vec<String>,
    /// `BODY_MAX_BYTES`
    pub body_max_bytes: usize,
    /// `SSE_KEEP_ALIVE_SECONDS`: a comment after so much silence.
    pub keep_alive: Duration,
    /// `SSE_RETRY_MS`: how soon a browser comes back.
    pub retry: Duration,
    /// `TEXT_MAX_CHARS`: how long a customer's message may be, after trimming.
    pub text_max_chars: usize,
}

impl HttpConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            bind: env.number("BIND_ADDR", SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))),
            cors_origins: env
                .text("CORS_ORIGINS", "")
                .split(',')
                .map(|origin| origin.trim().trim_end_matches('/').to_owned())
                .filter(|origin| !origin.is_empty())
                .collect(),
            body_max_bytes: env.number("BODY_MAX_BYTES", 64 * 1024),
            keep_alive: env.seconds("SSE_KEEP_ALIVE_SECONDS", 15),
            retry: env.milliseconds("SSE_RETRY_MS", 2000),
            text_max_chars: env.number("TEXT_MAX_CHARS", 4000),
        }
    }
}
