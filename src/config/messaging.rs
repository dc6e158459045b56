use std::time::Duration;

use super::Env;
use super::http::origin;

/// WhatsApp, through Twilio.
#[derive(Clone, Debug)]
pub struct MessagingConfig {
    /// `TWILIO_URL`: scheme and host of Twilio's API.
    pub twilio_url: String,
    /// `TWILIO_TIMEOUT_SECONDS`: how long a request to Twilio may take.
    pub timeout: Duration,
    /// `WHATSAPP_PACE_SECONDS`: how long a message waits for the report that the one before it was sent.
    pub pace: Duration,
}

impl MessagingConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let url = env.text("TWILIO_URL", "https://api.twilio.com");
        if origin(&url).is_none() {
            let why = format!("'{url}' is not valid: write scheme and host, such as https://api.twilio.com");
            env.refuse("TWILIO_URL", why);
        }
        Self {
            twilio_url: url,
            timeout: env.seconds("TWILIO_TIMEOUT_SECONDS", 10),
            pace: env.seconds("WHATSAPP_PACE_SECONDS", 5),
        }
    }
}
