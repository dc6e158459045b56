use std::path::PathBuf;

use super::Env;

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// The log.
#[derive(Clone, Debug)]
pub struct LogConfig {
    /// `LOG`: a `tracing` filter for the terminal.
    pub filter: String,
    /// `LOG_FORMAT`
    pub format: LogFormat,
    /// `LOG_FILE`: a file for all lines from debug level up.
    pub file: Option<PathBuf>,
    /// `LOG_FILE_MAX_MB`: the size at which the file is rotated.
    pub file_max_bytes: usize,
    /// `LOG_FILE_KEEP`: rotated files that are kept.
    pub file_keep: usize,
}

impl LogConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            filter: env.text("LOG", "info"),
            format: env.choice("LOG_FORMAT", &[("text", LogFormat::Text), ("json", LogFormat::Json)], LogFormat::Text),
            file: env.find("LOG_FILE").map(PathBuf::from),
            file_max_bytes: env.number::<usize>("LOG_FILE_MAX_MB", 500).saturating_mul(1024 * 1024),
            file_keep: env.number("LOG_FILE_KEEP", 3),
        }
    }
}

/// OpenTelemetry traces, with OpenTelemetry's variable names.
#[derive(Clone, Debug)]
pub struct TraceConfig {
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`: the base URL of an OTLP/HTTP collector; `None` = no traces.
    pub endpoint: Option<String>,
    /// `OTEL_SERVICE_NAME`
    pub service_name: String,
}

impl TraceConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let endpoint = env.find("OTEL_EXPORTER_OTLP_ENDPOINT").map(|url| url.trim_end_matches('/').to_owned());
        if endpoint.as_ref().is_some_and(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
            let why = "must be the URL of an OTLP/HTTP collector, such as http://127.0.0.1:4318";
            env.refuse("OTEL_EXPORTER_OTLP_ENDPOINT", why.to_owned());
        }
        Self { endpoint, service_name: env.text("OTEL_SERVICE_NAME", "frontdesk") }
    }
}
