//! E-mails as `.eml` files, for a shop without a mail server.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use lettre::message::Mailbox;
use tokio::io::AsyncWriteExt;

use super::message::{InvalidSender, message, sender};
use super::{Email, EmailError, Mailer};
use crate::config::MailConfig;

/// Writes each e-mail to `{folder}/{id}.eml`. Sending a mail again replaces its file.
pub struct MailFiles {
    folder: PathBuf,
    from: Mailbox,
}

impl MailFiles {
    /// The folder is created with the first mail.
    pub fn new(config: &MailConfig) -> Result<Self, InvalidSender> {
        Ok(Self { folder: config.folder.clone(), from: sender(&config.from)? })
    }
}

#[async_trait]
impl Mailer for MailFiles {
    async fn send(&self, email: &Email) -> Result<(), EmailError> {
        let formatted = message(email, &self.from)?.formatted();
        let name = stem(&email.id);
        tokio::fs::create_dir_all(&self.folder).await.map_err(failed)?;
        // Written under another name first, so that programs that watch the folder never see a partial mail.
        let part = self.folder.join(format!(".{name}.part"));
        write(&part, &formatted).await.map_err(failed)?;
        tokio::fs::rename(&part, self.folder.join(format!("{name}.eml"))).await.map_err(failed)
    }

    async fn forget(&self, id: &str) -> Result<(), EmailError> {
        match tokio::fs::remove_file(self.folder.join(format!("{}.eml", stem(id)))).await {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(failed(cause)),
            _ => Ok(()),
        }
    }

    fn describe(&self) -> String {
        format!("files in {} (SMTP_URL is not set)", self.folder.display())
    }
}

/// Returns the file name of an e-mail. Only letters, digits and `-` of the id are used, so that it cannot leave the folder.
fn stem(id: &str) -> String {
    id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

fn failed(cause: std::io::Error) -> EmailError {
    EmailError::Temporary(format!("the mail folder cannot be written: {}", cause.kind()))
}

/// Writes a file and waits until it is on the disk, because a mail that counts as sent is not written again.
async fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = tokio::fs::File::create(path).await?;
    file.write_all(bytes).await?;
    // `write_all` returns before the file is written, and `sync_all` drops its error.
    file.flush().await?;
    file.sync_all().await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn email() -> Email {
        Email {
            from: None,
            id: "MSG-1700000000-ab12cd34".to_owned(),
            to: "a@example.com".to_owned(),
            subject: "s".to_owned(),
            text: "t".to_owned(),
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn full_disk_fails_the_mail() {
        let error = write(Path::new("/dev/full"), b"mail").await.expect_err("a full disk");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    }

    fn config(folder: PathBuf) -> MailConfig {
        MailConfig { smtp_url: None, from: "shop@example.com".to_owned(), folder, deadline: Duration::from_secs(1) }
    }

    #[tokio::test]
    async fn mail_sent_twice_is_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = MailFiles::new(&config(folder.path().join("outbox"))).expect("a sender");
        for _ in 0..2 {
            files.send(&email()).await.expect("written");
        }
        let names: Vec<String> = std::fs::read_dir(folder.path().join("outbox"))
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["MSG-1700000000-ab12cd34.eml"]);
    }

    #[tokio::test]
    async fn unusable_folder_is_a_temporary_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("a file in the way");
        let files = MailFiles::new(&config(file.join("outbox"))).expect("a sender");
        assert!(files.send(&email()).await.expect_err("no folder").is_temporary());
    }
}
