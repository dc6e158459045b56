use std::time::Duration;

use super::{EmbedConfig, Env};

/// Background jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxConfig {
    /// `EMBED_BATCH`: jobs that are taken at once.
    pub batch: u64,
    /// `OUTBOX_ATTEMPTS`: attempts before a job fails permanently. Attempts while a service is down do not count.
    pub attempts: u32,
    /// `OUTBOX_BACK_OFF_SECONDS`: the wait after the first failure. It doubles each time, up to ten minutes.
    pub back_off: Duration,
    /// `OUTBOX_REST_SECONDS`: the pause before retrying a service that is down.
    pub rest: Duration,
    /// How long a started job is leased to its worker, which is longer than a request may take.
    pub lease: Duration,
    /// With `EMBED_SYNC`, how long a turn waits for its jobs.
    pub awaited: Option<Duration>,
}

impl OutboxConfig {
    pub(super) fn read(env: &mut Env, embed: &EmbedConfig) -> Self {
        Self {
            batch: embed.batch as u64,
            attempts: env.number("OUTBOX_ATTEMPTS", 8),
            back_off: env.seconds("OUTBOX_BACK_OFF_SECONDS", 2),
            rest: env.seconds("OUTBOX_REST_SECONDS", 15),
            awaited: embed.sync.then_some(embed.timeout),
            lease: embed.timeout * 2 + Duration::from_secs(60),
        }
    }
}
