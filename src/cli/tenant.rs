//! `frontdesk tenant`: shops that sell over WhatsApp.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, anyhow, bail};
use chrono::Utc;
use clap::Subcommand;
use rand::random;

use super::open_store;
use crate::config::Config;
use crate::domain::commerce::tenant::{
    CatalogLink, ChattinessLevel, CredentialName, Label, PaymentMethod, ShopLanguages, ToneStyle,
};
use crate::domain::commerce::{Tenant, TenantSettings};
use crate::domain::identity::e164::E164;
use crate::domain::sealed::SealingKey;
use crate::domain::{Language, TenantId};
use crate::persona::Prompts;
use crate::store::tenants::{CredentialChanges, Saving, credential_owner};
use crate::store::{Store, StoreError};

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Add a shop
    Add {
        /// The shop's short name, as in X_API_KEYS: a-z, 0-9, - and _
        tenant: TenantId,
        /// The shop's name, as customers know it
        #[arg(long, value_name = "TEXT")]
        name: Label<60>,
        #[command(flatten)]
        changes: Changes,
    },
    /// Change the settings of a shop. Those that are not named stay
    Set {
        /// The shop's short name
        tenant: TenantId,
        /// The shop's name, as customers know it
        #[arg(long, value_name = "TEXT")]
        name: Option<Label<60>>,
        #[command(flatten)]
        changes: Changes,
    },
    /// List the shops and their settings. Credentials are named, not shown
    List,
}

/// Settings to change. An empty text removes what is optional.
#[derive(Clone, Debug, clap::Args)]
struct Changes {
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
    /// A person takes over after this many errors of tools in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    max_tool_errors: Option<u8>,
    /// A person takes over after this many questions in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    max_clarifications: Option<u8>,
    /// A person takes over after this many turns that did not help a frustrated customer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    max_unresolved_turns: Option<u8>,
    /// How soon a person answers, as customers are told
    #[arg(long, value_name = "MINUTES")]
    expected_wait_minutes: Option<u32>,
    /// Topics that are left to people, with commas between them
    #[arg(long, value_name = "TOPICS")]
    compliance_topics: Option<List<Label<40>>>,
    /// The number at which customers write, such as +254712345678
    #[arg(long, value_name = "NUMBER")]
    whatsapp_number: Option<OrNone<E164>>,
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

impl<T: FromStr> FromStr for List<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// The actor in the audit log.
const WHO: &str = "tenant";

/// Runs the command and prints the result.
pub async fn run(config: Config, args: &Args) -> anyhow::Result<()> {
    let store = open_store(&config).await?;
    match &args.what {
        What::List => list(&store, config.commerce.tenant_key.as_ref()).await,
        What::Add { tenant, name, changes } => {
            if store.tenant(tenant).find_tenant().await?.is_some() {
                bail!("the shop {tenant} exists already: change it with `frontdesk tenant set {tenant}`");
            }
            let settings = TenantSettings::new(name.clone());
            let new = Tenant { id: tenant.clone(), settings, whatsapp_number: None };
            save(&config, &store, new, changes).await
        }
        What::Set { tenant, name, changes } => {
            let found = store.tenant(tenant).find_tenant().await?;
            let mut found = found.ok_or_else(|| no_tenant(tenant))?;
            found.settings.name = name.clone().unwrap_or(found.settings.name);
            save(&config, &store, found, changes).await
        }
    }
}

/// Returns the error for a name that is not that of a shop of the commerce desk.
pub(super) fn no_tenant(tenant: &TenantId) -> anyhow::Error {
    anyhow!(
        "there is no shop {tenant}: list the shops with `frontdesk tenant list`, or add it with `frontdesk tenant add`"
    )
}

async fn save(config: &Config, store: &Store, mut tenant: Tenant, changes: &Changes) -> anyhow::Result<()> {
    changes.apply(&mut tenant);
    check_languages(config, &tenant.settings.languages)?;
    let credentials = match &changes.credentials {
        Some(path) => read_credentials(path, &tenant.id, config.commerce.tenant_key.as_ref())?,
        None => CredentialChanges::new(),
    };
    let Tenant { id, settings, whatsapp_number } = &tenant;
    match store.tenant(id).save_tenant(settings, whatsapp_number.as_ref(), &credentials, WHO, Utc::now()).await? {
        Saving::Done => print(store, &tenant, config.commerce.tenant_key.as_ref()).await,
        Saving::NumberTaken(other) => bail!(
            "nothing was written: the shop {other} has this WhatsApp number. Remove it there first: \
             frontdesk tenant set {other} --whatsapp-number \"\""
        ),
    }
}

impl Changes {
    fn apply(&self, tenant: &mut Tenant) {
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
        set(&mut tenant.whatsapp_number, self.whatsapp_number.as_ref().map(|number| &number.0));
        if let Some(List(methods)) = &self.payments_enabled {
            settings.payments_enabled = methods.iter().copied().collect();
        }
        if let Some(List(topics)) = &self.compliance_topics {
            settings.compliance.topics = topics.iter().cloned().collect();
        }
        let earlier = &settings.languages;
        let allowed = match &self.allowed_languages {
            Some(List(languages)) => languages.clone(),
            None => earlier.allowed().to_vec(),
        };
        let default = self.default_language.unwrap_or(earlier.default_language());
        settings.languages = ShopLanguages::new(default, allowed);
    }
}

/// Refuses languages that `prompts/rules/languages.toml` does not list.
fn check_languages(config: &Config, languages: &ShopLanguages) -> anyhow::Result<()> {
    let known = Prompts::load(&config.prompts.folder, &config.prompts.persona)?.languages()?;
    match languages.allowed().iter().find(|language| known.iter().all(|known| known.code != **language)) {
        None => Ok(()),
        Some(unknown) => {
            let known: Vec<&str> = known.iter().map(|language| language.code.code()).collect();
            bail!("{unknown} is not a language of prompts/rules/languages.toml; write one of {}", known.join(", "))
        }
    }
}

/// Reads and seals credentials. No error quotes one.
fn read_credentials(path: &Path, tenant: &TenantId, key: Option<&SealingKey>) -> anyhow::Result<CredentialChanges> {
    let key = key.ok_or_else(|| {
        anyhow!("credentials are stored sealed: set TENANT_SECRET_KEY to a secret of your own, made with `openssl rand -hex 32`")
    })?;
    let shown = path.display();
    let content = if path == Path::new("-") {
        let mut content = String::new();
        std::io::stdin().read_to_string(&mut content).map(|_| content)
    } else {
        std::fs::read_to_string(path)
    };
    let content = content.with_context(|| format!("cannot read {shown}"))?;
    let expected = || {
        let names: Vec<&str> = CredentialName::ALL.iter().map(|name| name.as_str()).collect();
        anyhow!("{shown}: write lines such as twilio_auth_token = \"…\", with the names {}", names.join(", "))
    };
    let values: BTreeMap<CredentialName, String> = toml::from_str(&content).map_err(|_| expected())?;
    let seal = |(name, value): (CredentialName, String)| {
        let value = value.trim();
        let owner = credential_owner(tenant, name);
        let sealed = if value.is_empty() { None } else { Some(key.seal(&owner, value, random())?) };
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
