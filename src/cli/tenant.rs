//! `frontdesk tenant`: shops that sell over WhatsApp.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, anyhow, bail};
use chrono::Utc;
use clap::Subcommand;
use rand::random;

use super::open_store;
use super::output::explain;
use crate::config::{Config, PaymentMode};
use crate::domain::audit::OPERATOR;
use crate::domain::commerce::tenant::{
    CatalogLink, ChattinessLevel, ContentSid, CredentialName, Label, PaymentMethod, ShopLanguages, ToneStyle,
};
use crate::domain::commerce::{Tenant, TenantSettings};
use crate::domain::identity::e164::E164;
use crate::domain::sealed::SealingKey;
use crate::domain::{Language, TenantId};
use crate::persona::Prompts;
use crate::store::tenants::{CredentialChanges, Saving, credential_owner};
use crate::store::{Store, StoreError};

#[derive(Clone, Debug, Subcommand)]
pub enum What {
    /// Add a shop
    Add {
        /// The shop's short name, as in X_API_KEYS: a-z, 0-9, - and _
        tenant: TenantId,
        /// The shop's name, as customers know it
        #[arg(long, value_name = "TEXT")]
        name: Label<60>,
        #[command(flatten)]
        changes: Box<Changes>,
    },
    /// Change the settings of a shop. Those that are not named stay
    Set {
        /// The shop's short name
        tenant: TenantId,
        /// The shop's name, as customers know it
        #[arg(long, value_name = "TEXT")]
        name: Option<Label<60>>,
        #[command(flatten)]
        changes: Box<Changes>,
    },
    /// List the shops and their settings. Credentials are named, not shown
    List,
}

/// Settings to change. An empty text removes what is optional.
#[derive(Clone, Debug, clap::Args)]
pub struct Changes {
    /// The bot's name
    #[arg(long, value_name = "TEXT")]
    bot_name: Option<Label<40>>,
    /// How the bot introduces itself
    #[arg(long, value_name = "TEXT")]
    bot_intro: Option<OrNone<Label<300>>>,
    /// How the bot speaks: friendly_concise, professional or casual
    #[arg(long, value_name = "STYLE")]
    tone_style: Option<ToneStyle>,
    /// The language of customers who have not shown another one
    #[arg(long, value_name = "CODE")]
    default_language: Option<Language>,
    /// The languages that the bot speaks, with commas between them
    #[arg(long, value_name = "CODES")]
    allowed_languages: Option<List<Language>>,
    /// How much small talk is answered, from 0 (none) to 3 (much)
    #[arg(long, value_name = "LEVEL")]
    max_chattiness_level: Option<ChattinessLevel>,
    /// The shop's page with all goods
    #[arg(long, value_name = "URL")]
    catalog_link_base: Option<OrNone<CatalogLink>>,
    /// The ways to pay, with commas between them: mpesa_stk, mpesa_c2b, pesapal
    #[arg(long, value_name = "NAMES")]
    payments_enabled: Option<List<PaymentMethod>>,
    /// Hand off to a person after this many tool errors in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    max_tool_errors: Option<u8>,
    /// Hand off to a person after this many clarifying questions in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    max_clarifications: Option<u8>,
    /// Hand off to a person after this many unsolved turns of a frustrated customer in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    max_unresolved_turns: Option<u8>,
    /// The expected wait for a person, as announced to customers
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=10_080))]
    expected_wait_minutes: Option<u32>,
    /// Topics that are left to people, with commas between them
    #[arg(long, value_name = "TOPICS")]
    compliance_topics: Option<List<Label<40>>>,
    /// The number at which customers write, such as +254712345678
    #[arg(long, value_name = "NUMBER")]
    whatsapp_number: Option<OrNone<E164>>,
    /// The persona that answers on WhatsApp, such as commerce_en
    #[arg(long, value_name = "NAME")]
    whatsapp_persona: Option<OrNone<Label<60>>>,
    /// The template for messages later than 24 hours after the customer's last one: its id at Twilio, HX…
    #[arg(long, value_name = "ID")]
    whatsapp_template: Option<OrNone<ContentSid>>,
    /// A TOML file with lines such as `twilio_auth_token = "…"`; - reads standard input. An empty value removes the credential
    #[arg(long, value_name = "PATH")]
    credentials: Option<PathBuf>,
}

/// A value, or nothing if the text is empty.
#[derive(Clone, Debug)]
struct OrNone<T>(Option<T>);

impl<T: FromStr> FromStr for OrNone<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().is_empty() { Ok(Self(None)) } else { text.parse().map(|value| Self(Some(value))) }
    }
}

/// Values with commas between them.
#[derive(Clone, Debug)]
struct List<T>(Vec<T>);

impl<T: FromStr<Err: Display>> FromStr for List<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let read = parts.map(|part| part.parse().map_err(|error| format!("'{part}': {error}")));
        read.collect::<Result<_, _>>().map(Self)
    }
}

/// Runs the command and prints the result.
pub async fn run(config: Config, what: &What) -> anyhow::Result<()> {
    let store = open_store(&config).await?;
    match what {
        What::List => list(&store, config.commerce.tenant_key.as_ref()).await,
        What::Add { tenant, name, changes } => {
            let languages = changes.languages(None);
            changes.check_names(&config, tenant, languages.allowed())?;
            let settings = TenantSettings { languages, ..TenantSettings::new(name.clone()) };
            let new = Tenant { id: tenant.clone(), settings, whatsapp_number: None };
            let change =
                |found: Option<Tenant>| if found.is_some() { Err(Saving::Exists) } else { Ok(changes.apply(new)) };
            save(&config, &store, tenant, change, changes).await
        }
        What::Set { tenant, name, changes } => {
            let named = changes.allowed_languages.iter().flat_map(|List(languages)| languages);
            let named: Vec<Language> = named.chain(&changes.default_language).copied().collect();
            changes.check_names(&config, tenant, &named)?;
            let change = |found: Option<Tenant>| {
                let mut found = found.ok_or(Saving::Missing)?;
                found.settings.languages = changes.languages(Some(&found.settings.languages));
                found.settings.name = name.clone().unwrap_or(found.settings.name);
                Ok(changes.apply(found))
            };
            save(&config, &store, tenant, change, changes).await
        }
    }
}

/// Returns the error for a name that is not that of a shop of the commerce desk.
pub(super) fn no_tenant(tenant: &TenantId) -> anyhow::Error {
    // A command that is not told a shop means the default one.
    let another = if *tenant == TenantId::default() { "name another one with --tenant, " } else { "" };
    anyhow!(
        "there is no shop {tenant}: {another}list the shops with `frontdesk tenant list`, or add it with `frontdesk tenant add`"
    )
}

async fn save(
    config: &Config,
    store: &Store,
    tenant: &TenantId,
    change: impl FnOnce(Option<Tenant>) -> Result<Tenant, Saving>,
    changes: &Changes,
) -> anyhow::Result<()> {
    let key = config.commerce.tenant_key.as_ref();
    let credentials = match &changes.credentials {
        Some(path) => read_credentials(path, tenant, key)?,
        None => CredentialChanges::new(),
    };
    let adds_payments = credentials.iter().any(|(name, sealed)| name.is_for_payments() && sealed.is_some());
    if adds_payments && config.commerce.payments == PaymentMode::Sandbox {
        bail!(
            "nothing was written: PAYMENTS=sandbox serves no shop that has credentials of a payment provider: set PAYMENTS=auto, or leave \
             them out"
        );
    }
    match store.tenant(tenant).save_tenant(change, &credentials, OPERATOR, Utc::now()).await? {
        Saving::Done(saved) => print(store, &saved, key).await,
        Saving::Exists => {
            bail!("the shop {tenant} exists already: change it with `frontdesk tenant set {tenant}`")
        }
        Saving::Missing => Err(no_tenant(tenant)),
        Saving::NumberTaken(other) => bail!(
            "nothing was written: the shop {other} has this WhatsApp number. Remove it there first: \
             frontdesk tenant set {other} --whatsapp-number \"\""
        ),
    }
}

impl Changes {
    /// Returns the shop with these changes, without those of its languages.
    fn apply(&self, mut tenant: Tenant) -> Tenant {
        fn set<T: Clone>(setting: &mut T, value: Option<&T>) {
            if let Some(value) = value {
                setting.clone_from(value);
            }
        }
        let settings = &mut tenant.settings;
        set(&mut settings.bot_name, self.bot_name.as_ref());
        set(&mut settings.bot_intro, self.bot_intro.as_ref().map(|intro| &intro.0));
        set(&mut settings.tone_style, self.tone_style.as_ref());
        set(&mut settings.max_chattiness_level, self.max_chattiness_level.as_ref());
        set(&mut settings.catalog_link_base, self.catalog_link_base.as_ref().map(|link| &link.0));
        set(&mut settings.escalation_rules.tool_errors, self.max_tool_errors.as_ref());
        set(&mut settings.escalation_rules.clarifications, self.max_clarifications.as_ref());
        set(&mut settings.escalation_rules.unresolved_turns, self.max_unresolved_turns.as_ref());
        set(&mut settings.handoff.expected_wait_minutes, self.expected_wait_minutes.as_ref());
        set(&mut settings.whatsapp.persona, self.whatsapp_persona.as_ref().map(|persona| &persona.0));
        set(&mut settings.whatsapp.template, self.whatsapp_template.as_ref().map(|template| &template.0));
        set(&mut tenant.whatsapp_number, self.whatsapp_number.as_ref().map(|number| &number.0));
        if let Some(List(methods)) = &self.payments_enabled {
            settings.payments_enabled = methods.iter().copied().collect();
        }
        if let Some(List(topics)) = &self.compliance_topics {
            settings.compliance.topics = topics.iter().cloned().collect();
        }
        tenant
    }

    /// Returns the shop's languages after these changes. A new shop speaks only its default language unless others are named.
    fn languages(&self, earlier: Option<&ShopLanguages>) -> ShopLanguages {
        let default = self.default_language.or(earlier.map(ShopLanguages::default_language)).unwrap_or(Language::EN);
        let allowed = match &self.allowed_languages {
            Some(List(languages)) => languages.clone(),
            None => earlier.map(|earlier| earlier.allowed().to_vec()).unwrap_or_default(),
        };
        ShopLanguages::new(default, allowed)
    }

    /// Refuses languages that the shop's `prompts/rules/languages.toml` does not list, and a persona that the shop does not have.
    fn check_names(&self, config: &Config, tenant: &TenantId, languages: &[Language]) -> anyhow::Result<()> {
        let persona = self.whatsapp_persona.as_ref().and_then(|persona| persona.0.as_ref());
        if languages.is_empty() && persona.is_none() {
            return Ok(());
        }
        let prompts = Prompts::load_shop(&config.prompts, &config.shop(tenant))?;
        let known = prompts.languages()?;
        if let Some(unknown) = languages.iter().find(|language| known.iter().all(|known| known.code != **language)) {
            let known: Vec<&str> = known.iter().map(|language| language.code.code()).collect();
            bail!(
                "{unknown} is not a language of prompts/rules/languages.toml; write one of {}; choose with \
                 --default-language and --allowed-languages",
                known.join(", ")
            )
        }
        if let Some(unknown) = persona.filter(|persona| prompts.find_persona(persona.as_str()).is_none()) {
            let known: Vec<&str> = prompts.personas().map(|persona| persona.id.as_str()).collect();
            bail!("--whatsapp-persona: there is no persona '{unknown}': write one of {}", known.join(", "))
        }
        Ok(())
    }
}

/// Reads and seals credentials. No error quotes one.
fn read_credentials(path: &Path, tenant: &TenantId, key: Option<&SealingKey>) -> anyhow::Result<CredentialChanges> {
    let key = key.ok_or_else(|| {
        anyhow!("credentials are stored sealed: set TENANT_SECRET_KEY to a secret of your own, made with `openssl rand -hex 32`")
    })?;
    let is_input = path == Path::new("-");
    let shown = if is_input { "standard input".to_owned() } else { path.display().to_string() };
    let content = if is_input {
        let mut content = String::new();
        std::io::stdin().read_to_string(&mut content).map(|_| content)
    } else {
        std::fs::read_to_string(path)
    };
    let content = content.map_err(explain).with_context(|| format!("cannot read {shown}"))?;
    // The error itself may quote a credential.
    let expected = |error: toml::de::Error| {
        let line_at = |start: usize| content.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        let place = error.span().map(|span| format!(", line {}", line_at(span.start.min(content.len()))));
        let names: Vec<&str> = CredentialName::ALL.iter().map(|name| name.as_str()).collect();
        let place = place.unwrap_or_default();
        anyhow!("{shown}{place}: write lines such as twilio_auth_token = \"…\", with the names {}", names.join(", "))
    };
    let values: BTreeMap<CredentialName, String> = toml::from_str(&content).map_err(expected)?;
    let seal = |(name, value): (CredentialName, String)| {
        let value = value.trim();
        let owner = credential_owner(tenant, name);
        if value.is_empty() {
            return Ok((name, None));
        }
        if let Some(problem) = name.problem_of(value) {
            bail!("{shown}: {name}: {problem}");
        }
        let sealed = Some(key.seal(&owner, value, random())?);
        Ok((name, sealed))
    };
    values.into_iter().map(seal).collect()
}

async fn list(store: &Store, key: Option<&SealingKey>) -> anyhow::Result<()> {
    let tenants = store.list_tenants().await?;
    for tenant in &tenants {
        print(store, tenant, key).await?;
    }
    if tenants.is_empty() {
        println!("no shops: add one with `frontdesk tenant add`, or two samples with `frontdesk seed commerce`");
    }
    Ok(())
}

async fn print(store: &Store, tenant: &Tenant, key: Option<&SealingKey>) -> anyhow::Result<()> {
    let Tenant { id, settings, whatsapp_number } = tenant;
    let TenantSettings { languages, escalation_rules: rules, .. } = settings;
    let credentials = credentials(store, id, key).await?.into_iter().map(|(name, opens)| match opens {
        true => name.to_string(),
        false => format!("{name} (TENANT_SECRET_KEY does not open it)"),
    });
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    println!("{id}");
    for (name, value) in [
        ("name", settings.name.to_string()),
        ("bot_name", settings.bot_name.to_string()),
        ("bot_intro", text(settings.bot_intro.as_ref().map(ToString::to_string))),
        ("tone_style", settings.tone_style.to_string()),
        ("default_language", languages.default_language().to_string()),
        ("allowed_languages", joined(languages.allowed())),
        ("max_chattiness_level", settings.max_chattiness_level.to_string()),
        ("catalog_link_base", text(settings.catalog_link_base.as_ref().map(ToString::to_string))),
        ("payments_enabled", joined(&settings.payments_enabled)),
        ("max_tool_errors", rules.tool_errors.to_string()),
        ("max_clarifications", rules.clarifications.to_string()),
        ("max_unresolved_turns", rules.unresolved_turns.to_string()),
        ("expected_wait_minutes", settings.handoff.expected_wait_minutes.to_string()),
        ("compliance_topics", joined(&settings.compliance.topics)),
        ("whatsapp_number", text(whatsapp_number.as_ref().map(|number| number.as_str().to_owned()))),
        ("whatsapp_persona", text(settings.whatsapp.persona.as_ref().map(ToString::to_string))),
        ("whatsapp_template", text(settings.whatsapp.template.as_ref().map(ToString::to_string))),
        ("credentials", joined(credentials)),
    ] {
        println!("  {name:<22} {value}");
    }
    Ok(())
}

/// Returns the names of the shop's credentials, and whether the key opens each.
pub(super) async fn credentials(
    store: &Store,
    tenant: &TenantId,
    key: Option<&SealingKey>,
) -> Result<Vec<(CredentialName, bool)>, StoreError> {
    let sealed = store.tenant(tenant).list_credentials().await?.into_iter();
    let opens = |name: CredentialName, sealed: &[u8]| {
        key.is_some_and(|key| key.open(&credential_owner(tenant, name), sealed).is_ok())
    };
    Ok(sealed.map(|(name, sealed)| (name, opens(name, &sealed))).collect())
}

/// The values with commas between them, or a hyphen if there are none.
fn joined<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    if values.is_empty() { "-".to_owned() } else { values.join(", ") }
}
