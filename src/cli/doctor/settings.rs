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
    use super::*;
    use crate::config::Env;
    use crate::domain::check::Outcome;

    fn config(name: &str, value: &str) -> Config {
        Config::read_all(Env::of([(name.to_owned(), value.to_owned())])).0
    }

    #[test]
    fn key_check_never_prints_keys() {
        let line = |list: &str| keys(&config("X_API_KEYS", list).auth).map(|check| check.line);
        assert_eq!(line("default:s3cret").as_deref(), Some("1 key for tenant default (1)"));
        assert_eq!(line("b:s1,a:s2,b:s3").as_deref(), Some("3 keys for tenants a (1), b (2)"));
        assert_eq!(line(""), None);
    }

    #[test]
    fn log_file_check_creates_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = |file: &str| {
            let file = folder.path().join(file).display().to_string();
            log_file(&config("LOG_FILE", &file).log).unwrap().outcome
        };
        assert_eq!(outcome("log/a.log"), Outcome::Ok);
        assert!(!folder.path().join("log").exists());
        assert_eq!(outcome(""), Outcome::Fail);
        std::fs::write(folder.path().join("log"), "a file").unwrap();
        assert_eq!(outcome("log/a.log"), Outcome::Fail);
    }
}
