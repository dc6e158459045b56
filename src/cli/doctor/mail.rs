//! Checks of mails to customers.

use super::settings::{may_create_in, nearest_folder};
use super::{Check, TIMEOUT};
use crate::config::{Config, MailConfig};
use crate::desks::DeskRegistry;
use crate::persona::Prompts;
use crate::providers::email::{MailFiles, Mailer, Smtp};

/// Checks nothing without a persona whose desk sends mails.
pub(super) async fn examine(config: &Config, prompts: &Prompts) -> Vec<Check> {
    if !DeskRegistry::built_in().used_by(prompts).any(|desk| desk.sends_mail()) {
        return Vec::new();
    }
    let mail = MailConfig { deadline: config.mail.deadline.min(TIMEOUT), ..config.mail.clone() };
    let carrier = match &mail.smtp_url {
        Some(url) => server(url, &mail).await,
        None => folder(&mail),
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
