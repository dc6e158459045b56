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
