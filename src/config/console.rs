use std::time::Duration;

use super::Env;

/// The owner's console.
#[derive(Clone, Debug)]
pub struct ConsoleConfig {
    /// `CONSOLE`: whether it is there at all.
    pub on: bool,
    /// `CONSOLE_SESSION_HOURS`: how long somebody who has signed in stays so.
    pub session_ttl: Duration,
}

impl ConsoleConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            on: env.choice("CONSOLE", &[("on", true), ("off", false)], true),
            session_ttl: env.seconds_of_hours("CONSOLE_SESSION_HOURS", 12),
        }
    }
}
