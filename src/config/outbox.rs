use std::time::Duration;

use super::{EmbedConfig, Env};

/// Doing what was stored to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxConfig {
    /// Jobs that are taken at once: `EMBED_BATCH`.
    pub batch: u64,
    /// `OUTBOX_ATTEMPTS`: a job that failed so often by its own fault is given up.
    pub attempts: u32,
    /// `OUTBOX_BACK_OFF_SECONDS`: the first wait; each one is twice as long, up to ten minutes.
    pub back_off: Duration,
    /// `OUTBOX_REST_SECONDS`: how long a service that is down is left alone.
    pub rest: Duration,
    /// How long a job that was begun belongs to who began it: longer than a request may take.
    pub lease: Duration,
    /// With `EMBED_SYNC`, how long a turn waits for its jobs at most.
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
