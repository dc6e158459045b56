use std::path::PathBuf;
use std::time::Duration;

use super::Env;
use super::http::origin;

/// E-mails.
#[derive(Clone)]
pub struct MailConfig {
    /// `SMTP_URL`: the mail server, as `smtps://user:password@host`; `None` = write files to `folder`. Contains a password.
    pub smtp_url: Option<String>,
    /// `MAIL_FROM`: the sender's address.
    pub from: String,
    /// `MAIL_OUTBOX_PATH`: the folder for `.eml` files, without a mail server.
    pub folder: PathBuf,
    /// `SMTP_TIMEOUT_SECONDS`: how long one attempt may take in total.
    pub deadline: Duration,
}

impl MailConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            smtp_url: env.find("SMTP_URL"),
            from: env.text("MAIL_FROM", "shop@localhost"),
            folder: env.text("MAIL_OUTBOX_PATH", "database/outbox").into(),
            deadline: env.seconds("SMTP_TIMEOUT_SECONDS", 30),
        }
    }
}

impl std::fmt::Debug for MailConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MailConfig")
            .field("smtp_url", &self.smtp_url.as_ref().map(|_| "…"))
            .field("from", &self.from)
            .field("folder", &self.folder)
            .field("deadline", &self.deadline)
            .finish()
    }
}

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
