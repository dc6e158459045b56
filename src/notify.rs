//! E-mails from templates: `prompts/FOLDER/NAME.LANGUAGE.md`, filled in by minijinja.
//!
//! A desk reads its templates with [`MailTemplates::read`] and registers a renderer for them with [`Notifier::register`]. It stores mails
//! with their template's name and context; the `send_mail` job renders and sends each of them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use minijinja::{Environment, UndefinedBehavior, Value};

use crate::domain::{Language, PerShop, TenantId};
use crate::persona::{PromptError, Prompts};
use crate::providers::email::{Email, EmailError, Mailer};
use crate::store::mails::Mail;

mod check;

pub use check::check_mail;

/// A rendered mail: plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedMail {
    pub subject: String,
    pub text: String,
}

impl RenderedMail {
    /// The first 200 characters.
    pub fn preview(&self) -> String {
        const PREVIEW_CHARS: usize = 200;
        self.text.chars().take(PREVIEW_CHARS).collect()
    }
}

/// A mail that could not be rendered.
#[derive(Debug, thiserror::Error)]
#[error("the mail {template} cannot be rendered: {cause}")]
pub struct RenderError {
    template: String,
    cause: minijinja::Error,
}

impl RenderError {
    /// No shop has the template.
    pub fn missing(template: &str) -> Self {
        let cause = minijinja::Error::new(minijinja::ErrorKind::TemplateNotFound, "no persona uses its desk");
        Self { template: template.to_owned(), cause }
    }
}

/// The mail templates of one desk in all of its languages.
#[derive(Debug)]
pub struct MailTemplates {
    templates: Environment<'static>,
    languages: Vec<Language>,
}

impl MailTemplates {
    /// Reads the templates and renders each with `sample`, so that a template with a mistake is reported at the start.
    pub fn read(
        prompts: &Prompts,
        folder: &str,
        names: &[&str],
        languages: &[Language],
        sample: &[(&str, &str)],
    ) -> Result<Self, PromptError> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut texts = Self { templates, languages: languages.to_vec() };
        for name in names {
            for language in languages {
                let files = prompts.files_for(*language, |code| format!("{folder}/{name}.{code}.md"));
                let file = &files[0];
                let content = prompts.text(file)?.to_owned();
                if subject_and_text(&content).is_none() {
                    let hint = "the first line must be 'Subject: …', with an empty line below".to_owned();
                    return Err(prompts.error(file, Some(1), hint));
                }
                let wrong = |cause: minijinja::Error| prompts.error(file, cause.line(), cause.to_string());
                texts.templates.add_template_owned(template_key(name, *language), content).map_err(wrong)?;
                texts.render(name, *language, sample).map_err(|error| wrong(error.cause))?;
            }
        }
        Ok(texts)
    }

    /// Renders the mail in `language`, or in the desk's first language if it has no template in that one.
    pub fn render(
        &self,
        name: &str,
        language: Language,
        context: &[(&str, &str)],
    ) -> Result<RenderedMail, RenderError> {
        let language = if self.languages.contains(&language) { language } else { self.languages[0] };
        let rendered = self
            .templates
            .get_template(&template_key(name, language))
            .and_then(|template| template.render(Value::from_pairs(context.iter().copied())))
            .map_err(|cause| RenderError { template: name.to_owned(), cause })?;
        let (subject, text) = subject_and_text(&rendered).unwrap_or(("", &rendered));
        Ok(RenderedMail { subject: subject.to_owned(), text: format!("{}\n", text.trim_end()) })
    }
}

/// The key does not end in `.html`, so minijinja escapes nothing: mails are plain text.
fn template_key(name: &str, language: Language) -> String {
    format!("{name}.{language}")
}

/// The subject from the first line, and the text below the empty line after it.
fn subject_and_text(content: &str) -> Option<(&str, &str)> {
    let (first, rest) = content.split_once('\n')?;
    let subject = first.strip_prefix("Subject:")?.trim();
    (!subject.is_empty()).then_some((subject, rest.trim_start_matches(['\r', '\n'])))
}

/// Renders a stored mail of a shop.
pub type Renderer = Arc<dyn Fn(&TenantId, &Mail) -> Result<RenderedMail, RenderError> + Send + Sync>;

/// Why a mail was not sent.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    #[error("no desk has the mail template {0}")]
    UnknownTemplate(String),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error(transparent)]
    Email(#[from] EmailError),
}

impl NotifyError {
    /// Whether sending the mail again cannot succeed.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Email(cause) if !cause.is_temporary())
    }
}

/// Renders and sends stored mails.
pub struct Notifier {
    mailer: Arc<dyn Mailer>,
    renderers: RwLock<BTreeMap<&'static str, Renderer>>,
    /// The addresses of shops that do not use the mailer's.
    senders: PerShop<String>,
}

impl Notifier {
    pub fn new(mailer: Arc<dyn Mailer>) -> Arc<Self> {
        Arc::new(Self { mailer, renderers: RwLock::default(), senders: PerShop::default() })
    }

    /// Sets the renderer of these templates. It replaces an earlier one, such as when a desk is loaded again with new texts.
    pub fn register(&self, templates: &[&'static str], renderer: Renderer) {
        let mut renderers = self.renderers.write().unwrap_or_else(PoisonError::into_inner);
        renderers.extend(templates.iter().map(|template| (*template, renderer.clone())));
    }

    /// Sets the sender's address of a shop's mails.
    pub fn set_sender(&self, tenant: &TenantId, from: String) {
        self.senders.set(tenant, from);
    }

    /// Renders and sends a mail once. Every attempt has the same Message-ID.
    pub async fn send(&self, tenant: &TenantId, mail: &Mail) -> Result<RenderedMail, NotifyError> {
        let renderer = {
            let renderers = self.renderers.read().unwrap_or_else(PoisonError::into_inner);
            renderers.get(mail.template.as_str()).cloned()
        };
        let renderer = renderer.ok_or_else(|| NotifyError::UnknownTemplate(mail.template.clone()))?;
        let rendered = renderer(tenant, mail)?;
        let email = Email {
            id: mail.number.to_string(),
            from: self.senders.get(tenant),
            to: mail.to.as_str().to_owned(),
            subject: rendered.subject.clone(),
            text: rendered.text.clone(),
        };
        self.mailer.send(&email).await?;
        Ok(rendered)
    }

    /// Deletes the copy of a mail that the mailer has kept, after the customer's data was erased.
    pub async fn forget(&self, mail: &Mail) -> Result<(), EmailError> {
        self.mailer.forget(&mail.number.to_string()).await
    }

    /// Describes in one line how mails are sent.
    pub fn describe(&self) -> String {
        self.mailer.describe()
    }
}
