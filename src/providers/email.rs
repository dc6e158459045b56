//! E-mail to customers: a trait and its backends.
//!
//! - [`Smtp`]: a mail server (`SMTP_URL`)
//! - [`MailFiles`]: `.eml` files in a folder, for a shop without a mail server
//! - [`Nowhere`]: discards mails, for replays of evaluation cases

use async_trait::async_trait;

mod files;
mod message;
mod smtp;

pub use files::MailFiles;
pub use message::{InvalidSender, check_sender};
pub use smtp::{InvalidSmtp, Smtp};

/// An e-mail to one customer, in plain text.
#[derive(Clone, PartialEq, Eq)]
pub struct Email {
    /// `MSG-{unix}-{hash}`: the same for every attempt, so that duplicates can be recognized.
    pub id: String,
    /// The sender's address, if it is not the backend's.
    pub from: Option<String>,
    /// The customer's address.
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Leaves the address and the text out of logs.
impl std::fmt::Debug for Email {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Email").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why an e-mail was not sent. The messages contain neither addresses nor text of the mail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmailError {
    /// A retry may succeed: the server does not answer or is busy, or the folder is not writable.
    #[error("the e-mail could not be sent now: {0}")]
    Temporary(String),
    /// A retry cannot succeed: the address or the mail itself was refused.
    #[error("the e-mail was refused: {0}")]
    Permanent(String),
}

impl EmailError {
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary(_))
    }
}

/// Sends e-mails.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Sends the e-mail once, within the backend's deadline.
    ///
    /// `Ok` means that the mail was accepted: the server answered 250, or the file is on the disk.
    async fn send(&self, email: &Email) -> Result<(), EmailError>;

    /// Deletes the copy that the backend keeps of an e-mail, if it keeps one.
    async fn forget(&self, _id: &str) -> Result<(), EmailError> {
        Ok(())
    }

    /// Describes the backend in one line, without credentials.
    fn describe(&self) -> String;
}

/// Accepts every e-mail and discards it.
pub struct Nowhere;

#[async_trait]
impl Mailer for Nowhere {
    async fn send(&self, _: &Email) -> Result<(), EmailError> {
        Ok(())
    }

    fn describe(&self) -> String {
        "nowhere".to_owned()
    }
}
