//! The hosts that links in replies may lead to (`LINK_HOSTS`).

use std::fmt;
use std::str::FromStr;

/// A host, or every subdomain of one: `shop.vn`, `*.shop.vn` (which is not `shop.vn` itself).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkHost {
    name: String,
    subdomains: bool,
}

/// The error for a text that is not a host name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("write a host name alone, such as shop.vn or *.shop.vn")]
pub struct InvalidLinkHost;

impl LinkHost {
    /// Whether a link to `host` is allowed. `host` is in lower case, as a URL parser returns it.
    pub fn covers(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        match host.strip_suffix(&self.name) {
            Some("") => !self.subdomains,
            Some(rest) => self.subdomains && rest.ends_with('.') && rest.len() > 1,
            None => false,
        }
    }
}

impl FromStr for LinkHost {
    type Err = InvalidLinkHost;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, subdomains) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
        let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        if name.is_empty() || !name.chars().all(good) || name.starts_with(['.', '-']) || name.ends_with('.') {
            return Err(InvalidLinkHost);
        }
        Ok(Self { name: name.to_ascii_lowercase(), subdomains })
    }
}

impl fmt::Display for LinkHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.subdomains { "*." } else { "" }, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_covers_itself_and_star_only_subdomains() {
        let covers = |host: &str, other: &str| host.parse::<LinkHost>().unwrap().covers(other);
        assert!(covers("Shop.vn", "shop.vn") && covers("*.shop.vn", "a.b.shop.vn"));
        for (host, other) in [
            ("shop.vn", "a.shop.vn"),
            ("*.shop.vn", "shop.vn"),
            ("*.shop.vn", "evilshop.vn"),
            ("shop.vn", "shop.vn.evil.com"),
        ] {
            assert!(!covers(host, other), "{host} {other}");
        }
    }

    #[test]
    fn text_that_is_no_host_is_refused() {
        for bad in ["", "*", "*.", "https://shop.vn", "shop.vn/a", "a b", ".vn", "shop.vn:80", "shop.*"] {
            assert_eq!(bad.parse::<LinkHost>(), Err(InvalidLinkHost), "{bad:?}");
        }
        assert_eq!("*.Shop.vn".parse::<LinkHost>().unwrap().to_string(), "*.shop.vn");
    }
}
