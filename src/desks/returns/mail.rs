//! The e-mails of the returns desk: `prompts/returns/mail/TEMPLATE.LANGUAGE.md`.

use std::sync::Arc;

use serde_json::Value;

use super::texts::ReturnsTexts;
use crate::desks::TextsOfShops;
use crate::domain::commerce::Money;
use crate::domain::{Language, PerShop, TenantId, string_enum};
use crate::notify::{MailTemplates, RenderError, Renderer};
use crate::persona::{PromptError, Prompts};
use crate::store::mails::Mail;
use crate::tools::label_link::Labels;

string_enum! {
    /// The template of an e-mail.
    pub enum Template {
        ReturnApproved = "return_approved",
        ReturnRejected = "return_rejected",
        LabelReady = "label_ready",
        /// A person asks the customer something.
        MoreInfo = "more_info",
        /// The shop has received the goods.
        ReturnReceived = "return_received",
        /// The shop has paid the money back.
        RefundPaid = "refund_paid",
    }
}

impl Template {
    pub fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|template| template.as_str()).collect()
    }
}

/// The variables that stored mails have in their context. `refund_amount` and `label_url` are added when a mail is sent.
const VARIABLES: [&str; 4] = ["customer_name", "order_number", "rma_number", "question"];

/// Reads the templates in each language.
pub fn read(prompts: &Prompts, languages: &[Language]) -> Result<MailTemplates, PromptError> {
    let sample = [
        ("customer_name", "A"),
        ("order_number", "12345"),
        ("rma_number", "RMA-1-AAAA"),
        ("refund_amount", "1"),
        ("question", "?"),
        ("label_url", "https://shop.example/label"),
    ];
    MailTemplates::read(prompts, "returns/mail", &Template::names(), languages, &sample)
}

/// Renders stored mails with the templates of their shop. A variable that a mail does not have is empty, and the link to a label is
/// valid from now on.
pub(super) fn renderer(
    templates: Arc<PerShop<Arc<MailTemplates>>>,
    texts: TextsOfShops<ReturnsTexts>,
    labels: Arc<Labels>,
) -> Renderer {
    Arc::new(move |tenant: &TenantId, mail: &Mail| {
        let label_url = mail.rma.as_ref().map(|rma| labels.link(tenant, rma)).unwrap_or_default();
        let value = |name| mail.context.get(name).and_then(Value::as_str).unwrap_or_default();
        let refund = value("refund_amount");
        let (_, common) = texts.get(tenant).ok_or_else(|| RenderError::missing(&mail.template))?;
        let format = &common.get(mail.language).number_format;
        // A mail that an earlier version stored has the formatted amount.
        let refund = refund.parse().map_or_else(|_| refund.to_owned(), |refund: Money| refund.shown(format));
        let mut context: Vec<(&str, &str)> = VARIABLES.iter().map(|name| (*name, value(*name))).collect();
        context.extend([("refund_amount", refund.as_str()), ("label_url", label_url.as_str())]);
        let templates = templates.get(tenant).ok_or_else(|| RenderError::missing(&mail.template))?;
        templates.render(&mail.template, mail.language, &context)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: [(&str, &str); 6] = [
        ("customer_name", "John <b>Doe</b>"),
        ("order_number", "77893"),
        ("rma_number", "RMA-1700000000-AB12"),
        ("refund_amount", "$129.99"),
        ("question", "Is the <b>sole</b> torn?"),
        ("label_url", "https://shop.example/labels/1?signature=x&until=1"),
    ];

    fn prompts(folder: &std::path::Path) -> Prompts {
        Prompts::load(folder, &folder.join("returns_en.md")).expect("the prompts")
    }

    #[test]
    fn every_mail_renders_as_plain_text() {
        let templates = read(&prompts("prompts".as_ref()), &[Language::EN, Language::VI]).expect("the mails");
        for language in [Language::EN, Language::VI] {
            for template in Template::ALL {
                let mail = templates.render(template.as_str(), language, &CONTEXT).expect("a mail");
                let whole = format!("{}\n{}", mail.subject, mail.text);
                assert!(whole.contains("77893") && whole.contains("John <b>Doe</b>"), "{whole}");
                assert!(!whole.contains("{{") && !whole.contains("undefined"), "{whole}");
                assert!(mail.preview().chars().count() <= 200);
            }
            let approved = templates.render("return_approved", language, &CONTEXT).expect("a mail").text;
            assert!(approved.contains("$129.99") && approved.contains("signature=x&until=1"), "{approved}");
        }
    }

    #[test]
    fn broken_template_is_reported_with_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let mail = folder.path().join("returns/mail");
        std::fs::create_dir_all(&mail).expect("folders");
        std::fs::copy("prompts/returns_en.md", folder.path().join("returns_en.md")).expect("a persona");
        for template in Template::ALL {
            let name = format!("{}.en.md", template.as_str());
            std::fs::copy(format!("prompts/returns/mail/{name}"), mail.join(&name)).expect("a mail");
        }
        assert!(read(&prompts(folder.path()), &[Language::EN]).is_ok());
        for (content, line, hint) in [
            ("Subject: x\n\nHello {{ custmer_name }}\n", Some(3), "undefined"),
            ("Subject: x\n\nHello {{ customer_name\n", Some(3), "syntax"),
            ("Hello {{ customer_name }}\n", Some(1), "Subject: "),
        ] {
            std::fs::write(mail.join("label_ready.en.md"), content).expect("a mail");
            let error = read(&prompts(folder.path()), &[Language::EN]).expect_err("broken");
            assert!(error.file.ends_with("returns/mail/label_ready.en.md"), "{error}");
            assert_eq!(error.line, line, "{error}");
            assert!(error.hint.contains(hint), "{error}");
        }
    }
}
