//! Discards e-mails.

use async_trait::async_trait;

use super::{Email, EmailError, Mailer};

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
