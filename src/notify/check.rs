//! Checks whether e-mails can be sent, for `frontdesk doctor`.

use crate::config::paths::{may_create_in, nearest_folder};
use crate::config::{Config, MailConfig};
use crate::domain::check::Check;
use crate::providers::email::{MailFiles, Mailer, Smtp};

/// Checks the mail server or the folder of mails, and the links in mails.
pub async fn check_mail(config: &Config) -> Vec<Check> {
    let carrier = match &config.mail.smtp_url {
        Some(url) => server(url, &config.mail).await,
        None => folder(&config.mail),
    };
    vec![carrier, links(config)]
}

async fn server(url: &str, mail: &MailConfig) -> Check {
    const NAME: &str = "mail";
    let server = match Smtp::new(url, mail) {
        Ok(server) => server,
        Err(mistake) => return Check::fail(NAME, mistake.to_string()),
    };
    match server.check().await {
        Ok(()) => Check::ok(NAME, format!("{} answers", server.describe())),
        Err(cause) => Check::warn(
            NAME,
            format!("{}: {cause}; mails stay queued and are retried, check SMTP_URL", server.describe()),
        ),
    }
}

fn folder(mail: &MailConfig) -> Check {
    const NAME: &str = "mail";
    let shown = mail.folder.display();
    if let Err(mistake) = MailFiles::new(mail) {
        return Check::fail(NAME, format!("MAIL_FROM: {mistake}"));
    }
    match may_create_in(&nearest_folder(&mail.folder.join("mail"))) {
        Ok(()) => Check::ok(NAME, format!("written to files in {shown}, not sent: set SMTP_URL to send them")),
        Err(error) => Check::warn(
            NAME,
            format!(
                "MAIL_OUTBOX_PATH={shown} is not writable ({error}): grant this user write access, or set SMTP_URL"
            ),
        ),
    }
}

fn links(config: &Config) -> Check {
    const NAME: &str = "links in mails";
    match &config.http.public_url {
        Some(url) => Check::ok(NAME, format!("they lead to {url}")),
        None => Check::warn(
            NAME,
            format!(
                "they lead to http://{}, which customers cannot reach: set PUBLIC_URL to the server's public address",
                config.http.bind
            ),
        ),
    }
}
