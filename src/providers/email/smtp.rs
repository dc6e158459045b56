//! Sends e-mails to an SMTP server.

use std::time::Duration;

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tokio::time::timeout;

use super::message::{InvalidSender, message, sender};
use super::{Email, EmailError, Mailer};
use crate::config::MailConfig;

/// Why the mail server's settings cannot be used. The URL is left out, since it may contain a password.
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

/// Sends each e-mail over a new connection, since a shop sends few.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    deadline: Duration,
    host: String,
}

impl Smtp {
    /// Does not connect yet.
    pub fn new(url: &str, config: &MailConfig) -> Result<Self, InvalidSmtp> {
        let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| InvalidSmtp::Url)?
            .timeout(Some(config.deadline))
            .build();
        let host = host.ok_or(InvalidSmtp::Url)?;
        Ok(Self { transport, from: sender(&config.from)?, deadline: config.deadline, host })
    }

    /// Connects and logs in without sending a mail.
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
        // lettre's timeout covers connecting only. This one also covers a server that stops answering later.
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

/// Answers from 500 on are permanent, except those about credentials (RFC 4954: 530, 534, 535, 538): the mail can be sent
/// once the shop has fixed its settings. All other errors are temporary.
fn classify(cause: &Error) -> EmailError {
    let code = cause.status().map(u16::from);
    let what = match code {
        // The server's text may contain the customer's address.
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
