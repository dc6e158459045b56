//! Logging to the terminal and to the file named by `LOG_FILE`.

use std::io::{self, IsTerminal};
use std::sync::Mutex;

use anyhow::{Context, anyhow};
use file_rotate::compression::Compression;
use file_rotate::suffix::AppendCount;
use file_rotate::{ContentLimit, FileRotate};
use tracing_subscriber::filter::{EnvFilter, FilterExt, LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::traces::Traces;
use crate::config::{LogConfig, LogFormat};

/// Which log lines the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terminal {
    /// All lines that `LOG` selects.
    Log,
    /// Warnings only, since a person chats in this terminal; nothing if a log file receives them.
    Conversation,
}

/// Database libraries that log every start at `info`. They log from `warn` on unless `LOG` names them.
const QUIET: [&str; 3] = ["sqlx", "sea_orm", "sea_orm_migration"];

/// Hides warnings about a missing model, which `frontdesk chat` prints itself.
const CONVERSATION: &str = "warn,frontdesk::providers=error";

/// Sets up logging, and sends spans to `traces`.
///
/// # Errors
/// Fails if `LOG` is not a valid filter or the file cannot be opened.
pub(super) fn init(config: &LogConfig, terminal: Terminal, traces: Option<&Traces>) -> anyhow::Result<()> {
    let filter = parse(&config.filter)?;
    let filter = match terminal {
        Terminal::Log => Some(filter),
        Terminal::Conversation if config.file.is_some() => None,
        Terminal::Conversation => Some(parse(CONVERSATION)?),
    };
    let console = filter.map(|filter| {
        let layer = fmt::layer().with_writer(io::stderr).with_target(false).with_ansi(io::stderr().is_terminal());
        match config.format {
            LogFormat::Text => layer.boxed(),
            LogFormat::Json => layer.json().flatten_event(true).boxed(),
        }
        .with_filter(filter.and(quiet(&config.filter)))
    });
    let file = match &config.file {
        Some(path) => {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder).with_context(|| format!("LOG_FILE: {}", folder.display()))?;
            }
            std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .with_context(|| format!("cannot write to LOG_FILE={}", path.display()))?;
            let limit = ContentLimit::BytesSurpassed(config.file_max_bytes);
            let rotated = FileRotate::new(path, AppendCount::new(config.file_keep), limit, Compression::None, None);
            let layer = fmt::layer().with_writer(Mutex::new(rotated)).with_ansi(false);
            let layer = match config.format {
                LogFormat::Text => layer.boxed(),
                LogFormat::Json => layer.json().flatten_event(true).boxed(),
            };
            Some(layer.with_filter(LevelFilter::DEBUG))
        }
        None => None,
    };
    let traces = traces.map(Traces::layer);
    tracing_subscriber::registry().with(traces).with(console).with(file).try_init().context("cannot set up logging")
}

/// Parses the value of `LOG`.
///
/// # Errors
/// Fails if it is not a valid filter.
pub(super) fn parse(filter: &str) -> anyhow::Result<EnvFilter> {
    EnvFilter::try_new(filter)
        .map_err(|error| anyhow!("LOG={filter} is not a valid filter, such as info or warn,frontdesk=debug: {error}"))
}

/// Limits the [`QUIET`] libraries to warnings, unless the filter names them.
fn quiet(filter: &str) -> Targets {
    let named = |library: &str| {
        filter.split(',').any(|directive| {
            let target = directive.split(['=', '[', ':']).next().unwrap_or_default();
            target.trim() == library
        })
    };
    let quiet = QUIET.into_iter().map(|library| {
        let level = if named(library) { LevelFilter::TRACE } else { LevelFilter::WARN };
        (library, level)
    });
    Targets::new().with_default(LevelFilter::TRACE).with_targets(quiet)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn database_libraries_are_quiet_unless_named() {
        let migration = |filter: &str, level| quiet(filter).would_enable("sea_orm_migration::migrator", &level);
        assert!(!migration("info", Level::INFO));
        assert!(!migration("debug,sqlx=info", Level::INFO));
        assert!(migration("info", Level::WARN));
        assert!(migration("info,sea_orm_migration=info", Level::INFO));
        assert!(migration("warn,sea_orm_migration::migrator=debug", Level::DEBUG));
        assert!(quiet("info").would_enable("frontdesk::app", &Level::DEBUG));
    }
}
