//! E-mails that go nowhere: what is tried out must reach nobody.

use async_trait::async_trait;

use super::{Email, EmailError, Mailer};

/// Takes every e-mail, and neither sends nor keeps it.
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
