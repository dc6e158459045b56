use std::time::Duration;

use super::Env;

/// The chat page and its widget.
#[derive(Clone, Debug)]
pub struct WebConfig {
    /// `WIDGET_ORIGINS`, comma-separated: other sites whose pages may embed the chat page.
    pub widget_origins: Vec<String>,
}

impl WebConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self { widget_origins: env.list("WIDGET_ORIGINS", origin) }
    }
}

/// Parses scheme and host for a content security policy, such as `https://*.shop.example`. Strict, since a stray `;` or space would
/// change the policy.
fn origin(entry: &str) -> Option<String> {
    let entry = entry.trim_end_matches('/').to_ascii_lowercase();
    let authority = entry.strip_prefix("https://").or_else(|| entry.strip_prefix("http://"))?;
    let host = authority.strip_prefix("*.").unwrap_or(authority);
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    let named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
    let numbered = port.is_none_or(|port| port.parse::<u16>().is_ok());
    (named && numbered).then_some(entry)
}

/// The owner's console.
#[derive(Clone, Debug)]
pub struct ConsoleConfig {
    /// `CONSOLE`: whether the console is enabled.
    pub on: bool,
    /// `CONSOLE_SESSION_HOURS`: how long a session lasts.
    pub session_ttl: Duration,
    /// `CONSOLE_CSV_MAX_MB`: the maximum size of an uploaded list, in bytes.
    pub csv_max_bytes: usize,
    /// `CONSOLE_CSV_SECONDS`: how long uploading, reading and writing a list may take.
    pub csv_timeout: Duration,
    /// `AUDIT_RETENTION_DAYS`: how long entries of the console's audit log are kept; `None` = forever.
    pub audit_retention_days: Option<u32>,
}

impl ConsoleConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            on: env.choice("CONSOLE", &[("on", true), ("off", false)], true),
            session_ttl: env.seconds_of_hours("CONSOLE_SESSION_HOURS", 12),
            csv_max_bytes: env.number("CONSOLE_CSV_MAX_MB", 20_usize).saturating_mul(1 << 20),
            csv_timeout: env.seconds("CONSOLE_CSV_SECONDS", 120),
            audit_retention_days: Some(env.days("AUDIT_RETENTION_DAYS", 365)).filter(|days| *days > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_origin_has_only_scheme_and_host() {
        let good = [
            ("https://shop.example", "https://shop.example"),
            ("https://Shop.example/", "https://shop.example"),
            ("http://localhost:8000", "http://localhost:8000"),
            ("https://*.shop.example", "https://*.shop.example"),
        ];
        for (entry, expected) in good {
            assert_eq!(origin(entry).as_deref(), Some(expected));
        }
        for bad in [
            "shop.example",
            "*",
            "https://",
            "https://*",
            "https://a;script-src",
            "https://a b",
            "https://a/b",
            "https://a:port",
            "ftp://a",
            "https://a:1:2",
            "'self'",
        ] {
            assert_eq!(origin(bad), None, "{bad}");
        }
    }
}
