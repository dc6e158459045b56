//! Mails about returns: `prompts/returns/mail/{template}.{language}.md`, filled in by minijinja.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value};

use crate::domain::Language;
use crate::persona::{PromptError, Prompts};

/// What customers are mailed about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Template {
    ReturnApproved,
    ReturnRejected,
    LabelReady,
    /// A person asks the customer something.
    MoreInfo,
    /// The goods have arrived.
    ReturnReceived,
    /// The money was paid back.
    RefundPaid,
}

impl Template {
    pub const ALL: [Self; 6] = [
        Self::ReturnApproved,
        Self::ReturnRejected,
        Self::LabelReady,
        Self::MoreInfo,
        Self::ReturnReceived,
        Self::RefundPaid,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReturnApproved => "return_approved",
            Self::ReturnRejected => "return_rejected",
            Self::LabelReady => "label_ready",
            Self::MoreInfo => "more_info",
            Self::ReturnReceived => "return_received",
            Self::RefundPaid => "refund_paid",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|template| template.as_str() == text)
    }
}

/// What a template may name (seed 001). A mail that names something else is refused when the prompts are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailValues {
    pub customer_name: String,
    pub order_number: String,
    /// Empty where there is no RMA.
    pub rma_number: String,
    pub refund_amount: String,
    /// What a person asks; empty elsewhere.
    pub question: String,
    pub label_url: String,
}

impl MailValues {
    fn to_value(&self) -> Value {
        let Self { customer_name, order_number, rma_number, refund_amount, question, label_url } = self;
        let pairs = [
            ("customer_name", customer_name),
            ("order_number", order_number),
            ("rma_number", rma_number),
            ("refund_amount", refund_amount),
            ("question", question),
            ("label_url", label_url),
        ];
        Value::from_pairs(pairs.map(|(name, value)| (name, value.as_str())))
    }
}

/// A mail as the customer reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub subject: String,
    pub text: String,
}

impl Written {
    /// Seed 001: the first 200 characters.
    pub fn preview(&self) -> String {
        const PREVIEW_CHARS: usize = 200;
        self.text.chars().take(PREVIEW_CHARS).collect()
    }
}

/// The templates in all languages of the desk.
#[derive(Debug)]
pub struct MailTexts {
    templates: Environment<'static>,
    languages: Vec<Language>,
}

/// A template that could not be filled in.
#[derive(Debug, thiserror::Error)]
#[error("the mail {template} cannot be written: {cause}")]
pub struct MailTextError {
    template: &'static str,
    cause: minijinja::Error,
}

impl MailTexts {
    /// Reads every template and fills it in once, so that a broken one is told when the server starts.
    pub fn read(prompts: &Prompts, languages: &[Language]) -> Result<Self, PromptError> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut names = BTreeMap::new();
        for template in Template::ALL {
            for language in languages {
                let file = format!("returns/mail/{}.{language}.md", template.as_str());
                let content = prompts.text(&file)?.to_owned();
                let wrong = |line: Option<usize>, hint: String| prompts.error(&file, line, hint);
                if subject_and_text(&content).is_none() {
                    return Err(wrong(
                        Some(1),
                        "the first line must be 'Subject: …', with an empty line below".to_owned(),
                    ));
                }
                let name = name_of(template, *language);
                templates
                    .add_template_owned(name.clone(), content)
                    .map_err(|cause| wrong(cause.line(), cause.to_string()))?;
                names.insert(name, file.clone());
            }
        }
        let texts = Self { templates, languages: languages.to_vec() };
        let sample = MailValues {
            customer_name: "A".to_owned(),
            order_number: "12345".to_owned(),
            rma_number: "RMA-1-AAAA".to_owned(),
            refund_amount: "1".to_owned(),
            question: "?".to_owned(),
            label_url: "https://shop.example/label".to_owned(),
        };
        for template in Template::ALL {
            for language in languages {
                texts.write(template, *language, &sample).map_err(|error| {
                    let file = names.get(&name_of(template, *language)).cloned().unwrap_or_default();
                    prompts.error(&file, error.cause.line(), error.cause.to_string())
                })?;
            }
        }
        Ok(texts)
    }

    /// The mail in that language; in the desk's first one where it has no such mail.
    pub fn write(&self, template: Template, language: Language, values: &MailValues) -> Result<Written, MailTextError> {
        let language = if self.languages.contains(&language) { language } else { self.languages[0] };
        let fail = |cause| MailTextError { template: template.as_str(), cause };
        let written = self
            .templates
            .get_template(&name_of(template, language))
            .and_then(|template| template.render(values.to_value()))
            .map_err(fail)?;
        let (subject, text) = subject_and_text(&written).unwrap_or(("", &written));
        Ok(Written { subject: subject.to_owned(), text: format!("{}\n", text.trim_end()) })
    }
}

/// Not ending in `.html` or the like, so that nothing is escaped: mails are plain text.
fn name_of(template: Template, language: Language) -> String {
    format!("{}.{language}", template.as_str())
}

/// The subject of the first line, and what stands below the empty line after it.
fn subject_and_text(content: &str) -> Option<(&str, &str)> {
    let (first, rest) = content.split_once('\n')?;
    let subject = first.strip_prefix("Subject:")?.trim();
    (!subject.is_empty()).then_some((subject, rest.trim_start_matches(['\r', '\n'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts(folder: &std::path::Path) -> Prompts {
        Prompts::load(folder, &folder.join("returns_en.md")).expect("the prompts")
    }

    fn values() -> MailValues {
        MailValues {
            customer_name: "John <b>Doe</b>".to_owned(),
            order_number: "77893".to_owned(),
            rma_number: "RMA-1700000000-AB12".to_owned(),
            refund_amount: "$129.99".to_owned(),
            question: "Is the <b>sole</b> torn?".to_owned(),
            label_url: "https://shop.example/labels/1?signature=x&until=1".to_owned(),
        }
    }

    #[test]
    fn every_mail_of_every_language_says_what_it_is_about_as_plain_text() {
        let texts = MailTexts::read(&prompts("prompts".as_ref()), &[Language::EN, Language::VI]).expect("the mails");
        for language in [Language::EN, Language::VI] {
            for template in Template::ALL {
                let mail = texts.write(template, language, &values()).expect("a mail");
                let whole = format!("{}\n{}", mail.subject, mail.text);
                assert!(whole.contains("77893") && whole.contains("John <b>Doe</b>"), "{whole}");
                assert!(!whole.contains("{{") && !whole.contains("undefined"), "{whole}");
                assert!(mail.preview().chars().count() <= 200);
            }
            let approved = texts.write(Template::ReturnApproved, language, &values()).expect("a mail").text;
            assert!(approved.contains("$129.99") && approved.contains("signature=x&until=1"), "{approved}");
        }
    }

    #[test]
    fn a_mail_that_names_what_nobody_fills_in_is_told_with_file_and_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let mail = folder.path().join("returns/mail");
        std::fs::create_dir_all(&mail).expect("folders");
        std::fs::copy("prompts/returns_en.md", folder.path().join("returns_en.md")).expect("a persona");
        for template in Template::ALL {
            let name = format!("{}.en.md", template.as_str());
            std::fs::copy(format!("prompts/returns/mail/{name}"), mail.join(&name)).expect("a mail");
        }
        assert!(MailTexts::read(&prompts(folder.path()), &[Language::EN]).is_ok());
        for (content, line, hint) in [
            ("Subject: x\n\nHello {{ custmer_name }}\n", Some(3), "undefined"),
            ("Subject: x\n\nHello {{ customer_name\n", Some(3), "syntax"),
            ("Hello {{ customer_name }}\n", Some(1), "Subject: "),
        ] {
            std::fs::write(mail.join("label_ready.en.md"), content).expect("a mail");
            let error = MailTexts::read(&prompts(folder.path()), &[Language::EN]).expect_err("broken");
            assert!(error.file.ends_with("returns/mail/label_ready.en.md"), "{error}");
            assert_eq!(error.line, line, "{error}");
            assert!(error.hint.contains(hint), "{error}");
        }
    }
}
