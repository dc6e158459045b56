//! A mail server.

use std::time::Duration;

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tokio::time::timeout;

use super::message::{InvalidSender, message, sender};
use super::{Email, EmailError, Mailer};
use crate::config::MailConfig;

/// Why no mail server can be used as it is set. The URL itself, which may hold a password, is not told.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSmtp {
    #[error(
        "SMTP_URL cannot be used: write smtps://user:password@host or smtp://host:587?tls=required, with %-escapes in \
         user and password"
    )]
    Url,
    #[error("MAIL_FROM: {0}")]
    Sender(#[from] InvalidSender),
}

/// Hands e-mails to a mail server, over a new connection each: a shop sends few.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    deadline: Duration,
    host: String,
}

impl Smtp {
    /// Connects to nobody yet.
    pub fn new(url: &str, config: &MailConfig) -> Result<Self, InvalidSmtp> {
        let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| InvalidSmtp::Url)?
            .timeout(Some(config.deadline))
            .build();
        let host = host.ok_or(InvalidSmtp::Url)?;
        Ok(Self { transport, from: sender(&config.from)?, deadline: config.deadline, host })
    }

    /// Whether the server lets us in; sends nothing.
    pub async fn check(&self) -> Result<(), EmailError> {
        match timeout(self.deadline, self.transport.test_connection()).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(EmailError::Temporary("the mail server does not answer".to_owned())),
            Ok(Err(cause)) => Err(classify(&cause)),
            Err(_) => Err(too_slow()),
        }
    }
}

fn too_slow() -> EmailError {
    EmailError::Temporary("the mail server took too long".to_owned())
}

#[async_trait]
impl Mailer for Smtp {
    async fn send(&self, email: &Email) -> Result<(), EmailError> {
        let message = message(email, &self.from)?;
        // lettre's own deadline covers connecting alone; a server that goes silent in the middle must end as well.
        match timeout(self.deadline, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(cause)) => Err(classify(&cause)),
            Err(_) => Err(too_slow()),
        }
    }

    fn describe(&self) -> String {
        format!("SMTP, {}", self.host)
    }
}

/// A 5xx is for good, except where it is about us and not about the mail (RFC 4954: 530 and 535 ask for credentials,
/// 534 and 538 for another way to send them): then the shop mends its settings, and the mail goes out after that.
/// Everything else may pass.
fn classify(cause: &Error) -> EmailError {
    let code = cause.status().map(u16::from);
    let what = match code {
        // The server's own words may hold the customer's address.
        Some(code) => format!("the mail server answered {code}"),
        None if cause.is_timeout() => "the mail server took too long".to_owned(),
        None if cause.is_tls() => "no encrypted connection to the mail server".to_owned(),
        None => "the mail server cannot be reached".to_owned(),
    };
    match code {
        Some(530 | 534 | 535 | 538) => EmailError::Temporary(what),
        Some(500..) => EmailError::Permanent(what),
        _ => EmailError::Temporary(what),
    }
}
