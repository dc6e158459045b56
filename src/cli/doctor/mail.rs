//! What a shop that takes goods back needs to write to its customers.

use super::settings::{may_create_in, nearest_folder};
use super::{Check, PATIENCE};
use crate::config::{Config, MailConfig};
use crate::desks::DeskRegistry;
use crate::persona::Prompts;
use crate::providers::email::{MailFiles, Mailer, Smtp};

/// Checks nothing for a shop without a persona whose desk sends mails.
pub(super) async fn examine(config: &Config, prompts: &Prompts) -> Vec<Check> {
    if !DeskRegistry::built_in().used_by(prompts).any(|desk| desk.sends_mail()) {
        return Vec::new();
    }
    let mail = MailConfig { deadline: config.mail.deadline.min(PATIENCE), ..config.mail.clone() };
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
            format!("{}: {cause}; mails wait and are tried again, SMTP_URL names the server", server.describe()),
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
        Ok(()) => {
            Check::ok(NAME, format!("files in {shown}, for people to pass on: SMTP_URL names a server that sends them"))
        }
        Err(error) => Check::warn(
            NAME,
            format!(
                "MAIL_OUTBOX_PATH={shown} cannot be written ({error}): give this user the right to, or set SMTP_URL"
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
                "they lead to http://{}, which customers cannot reach: set PUBLIC_URL to the address that they call",
                config.http.bind
            ),
        ),
    }
}
