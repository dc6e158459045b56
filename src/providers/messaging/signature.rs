//! Twilio's signatures of its requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use url::Url;

/// A request of Twilio's to check.
#[derive(Clone, Copy, Debug)]
pub struct SignedRequest<'a> {
    /// Scheme and host under which Twilio reaches the server.
    pub public_url: &'a str,
    /// The path with its query.
    pub path: &'a str,
    /// The form's parameters.
    pub parameters: &'a [(String, String)],
    /// The header `X-Twilio-Signature`.
    pub signature: &'a str,
}

impl SignedRequest<'_> {
    /// Returns whether one of the tokens made the signature. Twilio signs some URLs with the port and some without it, so both count.
    /// Each comparison takes the same time.
    pub fn is_signed_with(&self, tokens: &[String]) -> bool {
        let Ok(signature) = STANDARD.decode(self.signature) else { return false };
        let sorted = self.sorted_parameters();
        let mut is_signed = false;
        for url in self.urls() {
            for token in tokens {
                // HMAC takes a key of any length.
                let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(token.as_bytes()) else { continue };
                mac.update(url.as_bytes());
                mac.update(sorted.as_bytes());
                is_signed |= !token.is_empty() && mac.verify_slice(&signature).is_ok();
            }
        }
        is_signed
    }

    /// Joins names and values, sorted. A parameter that is repeated with the same value counts once.
    fn sorted_parameters(&self) -> String {
        let mut sorted: Vec<&(String, String)> = self.parameters.iter().collect();
        sorted.sort();
        sorted.dedup();
        sorted.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]).collect()
    }

    /// Returns the URL with the port and without it.
    fn urls(&self) -> Vec<String> {
        let Ok(public) = Url::parse(self.public_url) else { return Vec::new() };
        let (scheme, host) = (public.scheme(), public.host_str().unwrap_or_default());
        let port = public.port_or_known_default().map(|port| format!("{scheme}://{host}:{port}{}", self.path));
        std::iter::once(format!("{scheme}://{host}{}", self.path)).chain(port).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "12345";
    /// The example of Twilio's documentation.
    const SIGNATURE: &str = "0/KCTR6DLpKmkAf8muzZqo1nDgQ=";

    fn parameters() -> Vec<(String, String)> {
        [
            ("CallSid", "CA1234567890ABCDE"),
            ("To", "+18005551212"),
            ("Digits", "1234"),
            ("From", "+12349013030"),
            ("Caller", "+12349013030"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    fn is_signed(public_url: &str, parameters: &[(String, String)], tokens: &[&str]) -> bool {
        let path = "/myapp.php?foo=1&bar=2";
        let request = SignedRequest { public_url, path, parameters, signature: SIGNATURE };
        request.is_signed_with(&tokens.iter().map(|token| (*token).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn documented_example_is_valid() {
        let mut parameters = parameters();
        for public_url in ["https://mycompany.com", "https://mycompany.com:443", "https://mycompany.com:8443"] {
            assert!(is_signed(public_url, &parameters, &[TOKEN]), "{public_url}");
        }
        assert!(is_signed("https://mycompany.com", &parameters, &["old", TOKEN]));
        parameters.push(parameters[2].clone());
        assert!(is_signed("https://mycompany.com", &parameters, &[TOKEN]), "a repeated parameter counts once");
    }

    #[test]
    fn any_change_is_noticed() {
        let good = parameters();
        let mut other = good.clone();
        other[2].1.push('5');
        let longer = [good.clone(), vec![("a".to_owned(), String::new())]].concat();
        for (public_url, parameters, tokens) in [
            ("https://mycompany.com", &other, &[TOKEN][..]),
            ("https://mycompany.com", &longer, &[TOKEN]),
            ("http://mycompany.com", &good, &[TOKEN]),
            ("https://mycompany.com.example", &good, &[TOKEN]),
            ("https://mycompany.com", &good, &["123456"]),
            ("https://mycompany.com", &good, &[""]),
            ("https://mycompany.com", &good, &[]),
        ] {
            assert!(!is_signed(public_url, parameters, tokens), "{public_url} {tokens:?}");
        }
    }
}
