use std::time::Duration;

use super::{EmbedConfig, Env, MessagingConfig};

/// The most requests that a job sends. A WhatsApp part whose answer was lost is looked up and then sent, each time with up to two tokens.
const REQUESTS_MAX: u32 = 4;

/// Background jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct JobsConfig {
    /// `EMBED_BATCH`: how many messages are embedded in one request.
    pub embed_batch: u64,
    /// `OUTBOX_ATTEMPTS`: a job with an attempt limit that has failed this often becomes a dead letter.
    pub attempts: u32,
    /// `OUTBOX_BACK_OFF_SECONDS`: the wait after the first failure. It doubles with each one, up to ten minutes.
    pub back_off: Duration,
    /// `OUTBOX_REST_SECONDS`: how long jobs wait before they try a service again that is down.
    pub pause: Duration,
    /// Lease of every kind of job. It must exceed the longest run: all requests of a job, and the pace of WhatsApp. A job that outlives its
    /// lease runs a second time.
    pub lease: Duration,
    /// With `EMBED_SYNC`, how long a turn waits for its messages to be embedded.
    pub embed_wait: Option<Duration>,
}

impl JobsConfig {
    /// `timeouts` are those of the other services that jobs use.
    pub(super) fn read(
        env: &mut Env,
        embed: &EmbedConfig,
        messaging: &MessagingConfig,
        timeouts: [Duration; 3],
    ) -> Self {
        let request = timeouts.into_iter().fold(embed.timeout.max(messaging.timeout), Duration::max);
        Self {
            embed_batch: embed.batch as u64,
            attempts: env.number("OUTBOX_ATTEMPTS", 8),
            back_off: env.interval("OUTBOX_BACK_OFF_SECONDS", 2),
            pause: env.interval("OUTBOX_REST_SECONDS", 15),
            lease: request * REQUESTS_MAX + messaging.pace + Duration::from_secs(60),
            embed_wait: embed.sync.then_some(embed.timeout),
        }
    }
}
