//! E-mail to customers: one trait, a file each for whoever carries it.
//!
//! - [`Smtp`]: a mail server (`SMTP_URL`)
//! - [`MailFiles`]: `.eml` files in a folder, for a shop that has set no server
//! - [`Nowhere`]: nobody, for what is only tried out

use async_trait::async_trait;

mod files;
mod message;
mod nowhere;
mod smtp;

pub use files::MailFiles;
pub use message::InvalidSender;
pub use nowhere::Nowhere;
pub use smtp::{InvalidSmtp, Smtp};

/// An e-mail that is to be sent: plain text to one customer.
#[derive(Clone, PartialEq, Eq)]
pub struct Email {
    /// `MSG-{unix}-{hash}`: the same for every attempt, so that a mail server or a reader can tell a repetition.
    pub id: String,
    /// The customer's address.
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Whose words and address these are stays out of logs.
impl std::fmt::Debug for Email {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Email").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why an e-mail was not sent. No text holds an address or what the mail says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmailError {
    /// It may go through later: nobody answers, the server is busy, the folder cannot be written.
    #[error("the e-mail could not be sent now: {0}")]
    Temporary(String),
    /// It never will: the address or the mail itself is refused.
    #[error("the e-mail was refused: {0}")]
    Permanent(String),
}

impl EmailError {
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary(_))
    }
}

/// Carries e-mails out of the house.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Sends the e-mail once; whoever calls tries again. Ends within the carrier's deadline.
    ///
    /// `Ok` means that the carrier has taken responsibility: a mail server said 250, or the file is on the disk.
    async fn send(&self, email: &Email) -> Result<(), EmailError>;

    /// Removes what the carrier still holds of an e-mail that was erased after it was sent.
    async fn forget(&self, _id: &str) -> Result<(), EmailError> {
        Ok(())
    }

    /// One line for whoever starts the server, without credentials.
    fn describe(&self) -> String;
}
