//! Reads single values and collects errors.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use crate::domain::text::clean;

/// The most days of a setting, about a century. Dates that are much further away cannot be represented.
const DAYS_MAX: u32 = 36_500;
/// The most hours of a setting.
const HOURS_MAX: u32 = DAYS_MAX * 24;

/// The invalid values, one per line.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct ConfigError(pub(super) Vec<String>);

/// The environment variables, and the errors found so far.
#[derive(Debug, Default)]
pub struct Env {
    /// `None` if the value is not UTF-8.
    values: HashMap<String, Option<String>>,
    /// The names of such values that were read.
    garbled: RefCell<BTreeSet<String>>,
    errors: Vec<String>,
}

impl ConfigError {
    /// Returns each invalid value as `NAME: reason`.
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// Loads the `.env` of the working directory, or of the nearest parent folder that has one, into the environment. Variables that are
    /// already set keep their values.
    pub fn load_dotenv() -> Result<(), Self> {
        // dotenvy does not check values, and setting a variable to a value with NUL panics.
        refuse_nul()?;
        match dotenvy::dotenv() {
            Err(error) if !error.not_found() => Err(Self::of_dotenv(&error)),
            _ => Ok(()),
        }
    }

    /// Checks that [`ConfigError::load_dotenv`] can read the file, if it exists.
    pub fn check_dotenv() -> Result<(), Self> {
        refuse_nul()?;
        let result = dotenvy::dotenv_iter().and_then(|lines| lines.collect::<Result<Vec<_>, _>>());
        match result {
            Err(error) if !error.not_found() => Err(Self::of_dotenv(&error)),
            _ => Ok(()),
        }
    }

    /// Describes an error in a `.env` without the line's text, which may be a key.
    fn of_dotenv(error: &dotenvy::Error) -> Self {
        let dotenvy::Error::LineParse(..) = error else {
            return Self(vec![format!(".env: cannot read the file ({error})")]);
        };
        let is_wrong = |line: &[u8]| dotenvy::from_read_iter(line).any(|pair| pair.is_err());
        let place = line_of_dotenv(is_wrong).unwrap_or_else(|| ".env".to_owned());
        let hint = "write NAME=value, with the value in single quotes if it contains spaces or quotes";
        Self(vec![format!("{place}: the line is not valid: {hint}")])
    }
}

fn refuse_nul() -> Result<(), ConfigError> {
    match line_of_dotenv(|line| line.contains(&0)) {
        Some(place) => Err(ConfigError(vec![format!(
            "{place}: the line contains a NUL character (U+0000): remove it, and save the file as UTF-8"
        )])),
        None => Ok(()),
    }
}

/// Returns the `FILE:LINE` of the first matching line of the `.env` that dotenvy finds.
fn line_of_dotenv(is_wanted: impl Fn(&[u8]) -> bool) -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    let file = folder.ancestors().map(|folder| folder.join(".env")).find(|file| file.is_file())?;
    let content = std::fs::read(&file).ok()?;
    let index = content.split(|byte| *byte == b'\n').position(is_wanted)?;
    let shown = file.strip_prefix(&folder).unwrap_or(&file).display();
    Some(format!("{shown}:{}", index + 1))
}

impl Env {
    /// Reads the process's environment. Settings that are not UTF-8 are errors.
    pub fn from_process() -> Self {
        let named = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self { values: named.map(|(name, value)| (name, value.into_string().ok())).collect(), ..Self::default() }
    }

    /// Uses only these values.
    pub fn of(values: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { values: values.into_iter().map(|(name, value)| (name, Some(value))).collect(), ..Self::default() }
    }

    /// Returns the value if the variable is set, even if it is empty.
    pub fn raw(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name)?;
        if value.is_none() {
            self.garbled.borrow_mut().insert(name.to_owned());
        }
        value.as_deref()
    }

    /// Returns the trimmed value if it is not empty.
    pub fn find(&self, name: &str) -> Option<String> {
        let value = clean(self.raw(name)?);
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    pub fn text(&self, name: &str, default: &str) -> String {
        self.find(name).unwrap_or_else(|| default.to_owned())
    }

    /// Parses an amount of memory in millions of bytes, and returns it in bytes.
    pub fn megabytes(&mut self, name: &str, default: usize) -> usize {
        self.number(name, default).saturating_mul(1_000_000)
    }

    /// Parses a value. An invalid one is an error and yields the default.
    pub fn number<T: FromStr>(&mut self, name: &str, default: T) -> T
    where
        T::Err: Display,
    {
        match self.find(name).map(|value| value.parse()) {
            None => default,
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                let value = self.text(name, "");
                self.refuse(name, format!("'{value}' is not valid ({error})"));
                default
            }
        }
    }

    /// Parses a number that must be at least `least`.
    pub fn at_least<T: FromStr + PartialOrd + Display + Copy>(&mut self, least: T, name: &str, default: T) -> T
    where
        T::Err: Display,
    {
        let number = self.number(name, default);
        if number < least {
            self.refuse(name, format!("'{number}' is not valid: must be at least {least}"));
            return default;
        }
        number
    }

    /// Parses a duration in seconds, with fractions.
    pub fn seconds(&mut self, name: &str, default: u64) -> Duration {
        let seconds: f64 = self.number(name, default as f64);
        Duration::try_from_secs_f64(seconds).unwrap_or_else(|_| {
            self.refuse(name, "must be a number of seconds, 0 or more".to_owned());
            Duration::from_secs(default)
        })
    }

    /// Parses the pause of a loop in seconds, with fractions. Without a pause the loop would use a whole core.
    pub fn interval(&mut self, name: &str, default: u64) -> Duration {
        let interval = self.seconds(name, default);
        if interval.is_zero() {
            self.refuse(name, format!("'0' is not valid: write a number of seconds above 0, such as {default}"));
            return Duration::from_secs(default);
        }
        interval
    }

    /// Parses a duration in hours, with fractions.
    pub fn hours(&mut self, name: &str, default: u32) -> Duration {
        let hours: f64 = self.number(name, f64::from(default));
        let duration = Duration::try_from_secs_f64(hours * 3600.0).ok().filter(|_| hours <= f64::from(HOURS_MAX));
        duration.unwrap_or_else(|| {
            self.refuse(
                name,
                format!("'{hours}' is not valid: must be a number of hours, 0 or more, at most {HOURS_MAX}"),
            );
            Duration::from_secs(u64::from(default) * 3600)
        })
    }

    /// Parses a number of days.
    pub fn days(&mut self, name: &str, default: u32) -> u32 {
        let days = self.number(name, default);
        if days > DAYS_MAX {
            self.refuse(name, format!("'{days}' is not valid: must be a number of days, at most {DAYS_MAX}"));
            return default;
        }
        days
    }

    pub fn milliseconds(&mut self, name: &str, default: u64) -> Duration {
        Duration::from_millis(self.number(name, default))
    }

    /// Parses a comma-separated list. Skips empty entries; invalid ones are errors.
    pub fn list<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>) -> Vec<T> {
        let value = self.text(name, "");
        let entries = value.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let (good, bad): (Vec<_>, Vec<_>) = entries.map(|entry| read(entry).ok_or(entry)).partition(Result::is_ok);
        for entry in bad.into_iter().filter_map(Result::err) {
            self.refuse(name, format!("'{entry}' is not valid"));
        }
        good.into_iter().filter_map(Result::ok).collect()
    }

    /// Parses one of the named choices.
    pub fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)], default: T) -> T {
        let Some(value) = self.find(name) else { return default };
        if let Some((_, choice)) = choices.iter().find(|(known, _)| known.eq_ignore_ascii_case(&value)) {
            return *choice;
        }
        let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        self.refuse(name, format!("'{value}' is not one of {}", known.join(", ")));
        default
    }

    /// Adds an error about the value of `name`.
    pub fn refuse(&mut self, name: &str, why: String) {
        self.errors.push(format!("{name}: {why}"));
    }

    pub(super) fn into_errors(self) -> Vec<String> {
        let garbled = self.garbled.into_inner().into_iter().map(|name| format!("{name}: the value is not UTF-8"));
        self.errors.into_iter().chain(garbled).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_must_be_utf8() {
        let garbled = |name: &str| (name.to_owned(), None);
        let values = HashMap::from([garbled("X_API_KEYS"), garbled("something else")]);
        let env = Env { values, ..Env::default() };
        assert_eq!(env.raw("X_API_KEYS"), None);
        assert_eq!(env.into_errors(), ["X_API_KEYS: the value is not UTF-8"]);
    }
}
