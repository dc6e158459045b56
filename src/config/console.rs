use std::time::Duration;

use super::Env;

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
            audit_retention_days: Some(env.number("AUDIT_RETENTION_DAYS", 365)).filter(|days| *days > 0),
        }
    }
}
