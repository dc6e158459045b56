//! Checks of the configuration, the keys, the proxies and the log file.

use std::fs::OpenOptions;
use std::path::Path;

use crate::cli::logging;
use crate::config::paths::{may_create_in, nearest_folder};
use crate::config::{AuthConfig, Config, HttpConfig, LogConfig};
use crate::domain::check::Check;

pub(super) fn examine(config: &Config, mistakes: &[String]) -> Vec<Check> {
    let mut checks: Vec<Check> = mistakes.iter().map(|mistake| Check::fail("config", mistake)).collect();
    if let Err(error) = logging::parse(&config.log.filter) {
        checks.push(Check::fail("config", format!("{error:#}")));
    }
    if checks.is_empty() {
        let dotenv = if Path::new(".env").exists() { " and .env" } else { "" };
        checks.push(Check::ok("config", format!("every value of the environment{dotenv} is valid")));
    }
    checks.extend(keys(&config.auth));
    checks.extend(proxies(&config.http));
    checks.extend(log_file(&config.log));
    checks
}

/// Counts the keys per tenant without printing them. Invalid keys are reported with the configuration.
fn keys(auth: &AuthConfig) -> Option<Check> {
    match &auth.keys {
        None => Some(Check::ok("keys", format!("none: development, so {}", auth.describe()))),
        Some(keys) => (!keys.is_empty()).then(|| Check::ok("keys", auth.describe())),
    }
}

/// Warns about an https address without a proxy: the server itself does not encrypt.
fn proxies(http: &HttpConfig) -> Option<Check> {
    let url = http.public_url.as_ref().filter(|url| url.starts_with("https://"))?;
    http.trusted_proxies.is_empty().then(|| {
        Check::warn(
            "proxies",
            format!(
                "PUBLIC_URL={url} needs a proxy in front, but TRUSTED_PROXIES is empty, so all customers share one rate \
                 limit: set TRUSTED_PROXIES to the proxy's address and have it send X-Forwarded-For"
            ),
        )
    })
}

fn log_file(log: &LogConfig) -> Option<Check> {
    let path = log.file.as_ref()?;
    let shown = path.display();
    if path.is_dir() {
        return Some(Check::fail("log file", format!("LOG_FILE={shown} is a folder: set it to a file")));
    }
    let tried = match path.exists() {
        true => OpenOptions::new().append(true).open(path).map(drop),
        false => may_create_in(&nearest_folder(path)),
    };
    Some(match tried {
        Ok(()) => Check::ok("log file", shown.to_string()),
        Err(error) => Check::fail(
            "log file",
            format!("LOG_FILE={shown} is not writable ({error}): grant this user write access, or set another file"),
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::KeyEntry;

    fn auth(keys: Option<&[(&str, &str)]>) -> AuthConfig {
        let entry = |(tenant, key): &(&str, &str)| KeyEntry { tenant: (*tenant).to_owned(), key: (*key).to_owned() };
        AuthConfig {
            keys: keys.map(|keys| keys.iter().map(entry).collect()),
            token_ttl: std::time::Duration::from_secs(1),
            token_secret: None,
            web_chat: false,
            web_chat_tenant: crate::domain::TenantId::default(),
        }
    }

    #[test]
    fn key_check_never_prints_keys() {
        let line = |keys| keys_line(&auth(keys));
        assert_eq!(line(Some(&[("default", "s3cret")])), "1 key for tenant default (1)");
        assert_eq!(line(Some(&[("b", "s1"), ("a", "s2"), ("b", "s3")])), "3 keys for tenants a (1), b (2)");
        assert!(line(None).starts_with("none: development"));
        assert_eq!(keys(&auth(Some(&[]))), None);
    }

    fn keys_line(auth: &AuthConfig) -> String {
        keys(auth).unwrap().line
    }

    #[test]
    fn log_file_check_creates_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let log = |file: PathBuf| {
            let (config, _) = Config::read_all(crate::config::Env::default());
            log_file(&LogConfig { file: Some(file), ..config.log }).unwrap().outcome
        };
        let file = folder.path().join("log/a.log");
        assert_eq!(log(file.clone()), crate::domain::check::Outcome::Ok);
        assert!(!folder.path().join("log").exists());
        assert_eq!(log(folder.path().to_owned()), crate::domain::check::Outcome::Fail);
        std::fs::write(folder.path().join("log"), "a file").unwrap();
        assert_eq!(log(file), crate::domain::check::Outcome::Fail);
    }
}
