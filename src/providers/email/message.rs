//! Formats an [`Email`] by RFC 5322.

use lettre::message::header::{ContentTransferEncoding, ContentType};
use lettre::message::{Mailbox, SinglePart};
use lettre::{Address, Message};

use super::{Email, EmailError};

/// A sender's address is not valid.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is not an address: write shop@example.com or \"The shop <shop@example.com>\"")]
pub struct InvalidSender(pub String);

pub(super) fn sender(written: &str) -> Result<Mailbox, InvalidSender> {
    written.parse().map_err(|_| InvalidSender(written.to_owned()))
}

/// Checks an address for [`Email::from`].
pub fn check_sender(written: &str) -> Result<(), InvalidSender> {
    sender(written).map(drop)
}

/// Formats the message with `Message-ID: <{id}@{domain of the sender}>`.
///
/// # Errors
/// [`EmailError::Permanent`]: the customer's address or the subject is not valid.
pub(super) fn message(email: &Email, from: &Mailbox) -> Result<Message, EmailError> {
    let own = email.from.as_deref().map(sender).transpose();
    let own = own.map_err(|cause| EmailError::Permanent(cause.to_string()))?;
    let from = own.as_ref().unwrap_or(from);
    let to: Address = email
        .to
        .parse()
        .map_err(|_| EmailError::Permanent("the customer's address is not an e-mail address".to_owned()))?;
    // Every server accepts quoted-printable, and people can read the raw file.
    let body = SinglePart::builder()
        .header(ContentType::TEXT_PLAIN)
        .header(ContentTransferEncoding::QuotedPrintable)
        .body(email.text.clone());
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(email.subject.replace(['\r', '\n'], " "))
        .message_id(Some(format!("<{}@{}>", email.id, from.email.domain())))
        .singlepart(body)
        .map_err(|cause| EmailError::Permanent(cause.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email() -> Email {
        Email {
            id: "MSG-1700000000-ab12cd34".to_owned(),
            from: None,
            to: "john.doe@example.com".to_owned(),
            subject: "Đã duyệt trả hàng\r\nBcc: spy@example.com".to_owned(),
            text: "Chào quý khách,\nmã trả hàng RMA-1.".to_owned(),
        }
    }

    #[test]
    fn mail_has_its_id_and_no_injected_header() {
        let from = sender("SSTC <shop@sstc.example>").expect("an address");
        let formatted = String::from_utf8(message(&email(), &from).expect("a message").formatted()).expect("text");
        assert!(formatted.contains("Message-ID: <MSG-1700000000-ab12cd34@sstc.example>\r\n"), "{formatted}");
        assert!(formatted.contains("To: john.doe@example.com\r\n"), "{formatted}");
        assert!(!formatted.contains("\nBcc:"), "{formatted}");
        let again = message(&email(), &from).expect("a message").formatted();
        let without_date = |text: &str| text.lines().filter(|line| !line.starts_with("Date:")).collect::<String>();
        assert_eq!(without_date(&formatted), without_date(&String::from_utf8(again).expect("text")));
    }

    #[test]
    fn invalid_address_is_refused_and_not_repeated() {
        let from = sender("shop@sstc.example").expect("an address");
        let own = Email { from: Some("Acme <acme@acme.example>".to_owned()), ..email() };
        let formatted = String::from_utf8(message(&own, &from).expect("a message").formatted()).expect("text");
        assert!(formatted.contains("From: Acme <acme@acme.example>\r\n") && !formatted.contains("sstc"), "{formatted}");
        let refused = message(&Email { to: "nobody at all".to_owned(), ..email() }, &from).expect_err("refused");
        assert!(!refused.is_temporary());
        assert!(!refused.to_string().contains("nobody"), "{refused}");
        assert!(sender("shop").is_err());
    }
}
