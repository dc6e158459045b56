//! Where log lines go: the terminal, and a file as well where `LOG_FILE` names one.

use std::io;
use std::sync::Mutex;

use anyhow::Context;
use file_rotate::compression::Compression;
use file_rotate::suffix::AppendCount;
use file_rotate::{ContentLimit, FileRotate};
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat};

/// Begins to log. `terminal`: where lines go besides the file; `None` for commands that speak for themselves.
///
/// # Errors
/// `LOG` is no filter, or the file cannot be opened.
pub(super) fn init(config: &LogConfig, terminal: bool) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.filter).with_context(|| format!("LOG={} is no filter", config.filter))?;
    let console = terminal.then(|| {
        let layer = fmt::layer().with_writer(io::stderr).with_target(false);
        match config.format {
            LogFormat::Text => layer.boxed(),
            LogFormat::Json => layer.json().flatten_event(true).boxed(),
        }
        .with_filter(filter)
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
                .with_context(|| format!("LOG_FILE={} cannot be written", path.display()))?;
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
    tracing_subscriber::registry().with(console).with(file).try_init().context("logging cannot begin")
}
