//! The shops of a server. The default shop has the paths of `PROMPTS_PATH` and `KNOWLEDGE_PATH`; each folder of `SHOPS_PATH` is
//! another shop.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use chrono_tz::Tz;
use serde::{Deserialize, Deserializer};

use super::{Config, Env, KeyEntry};
use crate::domain::TenantId;
use crate::domain::commerce::Currency;

/// The settings of one shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShopConfig {
    pub tenant: TenantId,
    /// The shop's folder of personas, texts and rules, over the default shop's; `None` = the default shop.
    pub prompts: Option<PathBuf>,
    /// The shop's folder of documents; `None` = no documents.
    pub knowledge: Option<PathBuf>,
    /// The shop's default persona; `None` = the default shop's.
    pub persona: Option<String>,
    /// The sender of the shop's e-mails; `None` = `MAIL_FROM`.
    pub mail_from: Option<String>,
    pub time_zone: Tz,
    pub currency: Currency,
}

/// All shops.
#[derive(Clone, Debug)]
pub struct ShopsConfig {
    /// `SHOPS_PATH`
    pub folder: PathBuf,
    /// `SHOP_TIME_ZONE`: an IANA name. Days of warranties and returns are counted there.
    pub time_zone: Tz,
    /// `SHOP_CURRENCY`: the currency of amounts without one.
    pub currency: Currency,
    others: BTreeMap<TenantId, ShopFile>,
}

/// `shop.toml`: the settings that differ from the default shop's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ShopFile {
    persona: Option<String>,
    mail_from: Option<String>,
    #[serde(deserialize_with = "time_zone")]
    time_zone: Option<Tz>,
    currency: Option<Currency>,
    api_keys: ApiKeys,
}

/// The shop's keys, like those of `X_API_KEYS`. Not shown by `Debug`.
#[derive(Clone, Default, Deserialize)]
struct ApiKeys(Vec<String>);

impl std::fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

fn time_zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Tz>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let hint =
        || serde::de::Error::custom(format!("'{name}' is not a time zone: write an IANA name such as Asia/Tokyo"));
    name.parse().map(Some).map_err(|_| hint())
}

impl ShopsConfig {
    pub fn read(env: &mut Env) -> Self {
        let folder: PathBuf = env.text("SHOPS_PATH", "database/shops").into();
        let mut others = BTreeMap::new();
        for (place, read) in read_folder(&folder) {
            match read {
                Ok((tenant, file)) => drop(others.insert(tenant, file)),
                Err(problem) => env.refuse("SHOPS_PATH", format!("{place}: {problem}")),
            }
        }
        let currencies: Vec<_> = Currency::ALL.iter().map(|currency| (currency.as_str(), *currency)).collect();
        Self {
            folder,
            time_zone: env.number("SHOP_TIME_ZONE", chrono_tz::Asia::Ho_Chi_Minh),
            currency: env.choice("SHOP_CURRENCY", &currencies, Currency::Vnd),
            others,
        }
    }

    /// Returns the keys of every `shop.toml`.
    pub(super) fn api_keys(&self) -> Vec<KeyEntry> {
        let entry = |tenant: &TenantId, key: &String| KeyEntry { tenant: tenant.to_string(), key: key.clone() };
        self.others.iter().flat_map(|(tenant, file)| file.api_keys.0.iter().map(|key| entry(tenant, key))).collect()
    }

    /// Whether only the default shop exists. It then serves every tenant.
    pub fn has_one_shop(&self) -> bool {
        self.others.is_empty()
    }

    /// Iterates over the names of the other shops.
    pub fn others(&self) -> impl Iterator<Item = &TenantId> {
        self.others.keys()
    }

    /// Returns the time zone of the shop that serves the tenant.
    pub fn time_zone_of(&self, tenant: &TenantId) -> Tz {
        self.others.get(tenant).and_then(|file| file.time_zone).unwrap_or(self.time_zone)
    }
}

impl Config {
    /// Returns the settings of the shop that serves the tenant.
    ///
    /// Without other shops, that is the default shop. Otherwise a tenant without a folder has the default shop's personas
    /// and texts, but no documents.
    pub fn shop(&self, tenant: &TenantId) -> ShopConfig {
        let shops = &self.shops;
        let default = ShopConfig {
            tenant: TenantId::default(),
            prompts: None,
            knowledge: Some(self.knowledge.folder.clone()),
            persona: None,
            mail_from: None,
            time_zone: shops.time_zone,
            currency: shops.currency,
        };
        match shops.others.get(tenant) {
            Some(file) => ShopConfig {
                tenant: tenant.clone(),
                prompts: Some(shops.folder.join(tenant.as_str()).join("prompts")),
                knowledge: Some(shops.folder.join(tenant.as_str()).join("knowledge")),
                persona: file.persona.clone(),
                mail_from: file.mail_from.clone(),
                time_zone: file.time_zone.unwrap_or(default.time_zone),
                currency: file.currency.unwrap_or(default.currency),
            },
            None if shops.has_one_shop() || tenant.as_str() == TenantId::DEFAULT => default,
            None => ShopConfig { knowledge: None, ..default },
        }
    }

    /// Returns the names of tenants that have a key or the chat page, but no folder although other shops have one.
    pub fn tenants_without_shop(&self) -> Vec<TenantId> {
        let keys = self.auth.keys.iter().flatten().filter_map(|entry| entry.tenant.parse().ok());
        let mut tenants: Vec<TenantId> = keys.chain([self.auth.web_chat_tenant.clone()]).collect();
        tenants.retain(|tenant| self.shop(tenant).knowledge.is_none());
        tenants.sort();
        tenants.dedup();
        tenants
    }
}

type ReadShop = Result<(TenantId, ShopFile), String>;

/// Reads the shops below the folder, each with its place for errors. A missing folder has none.
fn read_folder(folder: &Path) -> Vec<(String, ReadShop)> {
    let entries = match std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(cause) => return vec![(folder.display().to_string(), Err(format!("cannot list the folder ({cause})")))],
    };
    let shops = entries.iter().map(std::fs::DirEntry::path).filter(|path| {
        let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        !hidden && path.is_dir()
    });
    shops.map(|path| (path.display().to_string(), read_shop(&path))).collect()
}

fn read_shop(folder: &Path) -> ReadShop {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let tenant: TenantId = name.parse().map_err(|error| format!("the folder's name is not valid: {error}"))?;
    if tenant == TenantId::default() {
        return Err("the default shop's files are in PROMPTS_PATH and KNOWLEDGE_PATH: rename the folder".to_owned());
    }
    let content = match std::fs::read_to_string(folder.join("shop.toml")) {
        Ok(content) => content,
        Err(cause) if cause.kind() == ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(format!("cannot read shop.toml ({cause})")),
    };
    // The error's own text would quote the line, which may be a key.
    let file = toml::from_str(&content).map_err(|error| {
        let line = error.span().map_or(1, |span| content[..span.start.min(content.len())].matches('\n').count() + 1);
        format!("shop.toml:{line}: {}", error.message())
    })?;
    Ok((tenant, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "a-key-of-the-shop-acme";

    fn read(files: &[(&str, &str)]) -> (Config, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, content).expect("a file");
        }
        let root = ("SHOPS_PATH".to_owned(), folder.path().display().to_string());
        Config::read_all(Env::of([root]))
    }

    #[test]
    fn shop_file_overrides_the_default_shop() {
        let toml =
            format!("persona = \"host\"\ntime_zone = \"Asia/Tokyo\"\ncurrency = \"JPY\"\napi_keys = [\"{KEY}\"]\n");
        let (config, errors) = read(&[("acme/shop.toml", &toml), ("beta/knowledge/a.md", "# A"), (".git/x", "")]);
        assert_eq!(errors, [""; 0]);
        let shop = |name: &str| config.shop(&name.parse().expect("a name"));
        let acme = shop("acme");
        assert_eq!((acme.time_zone, acme.currency), (chrono_tz::Asia::Tokyo, Currency::Jpy));
        assert_eq!(acme.persona.as_deref(), Some("host"));
        assert!(acme.knowledge.as_ref().is_some_and(|folder| folder.ends_with("acme/knowledge")));
        assert_eq!((shop("beta").time_zone, shop("beta").currency), (chrono_tz::Asia::Ho_Chi_Minh, Currency::Vnd));
        assert_eq!(shop("default").knowledge, Some("knowledge".into()));
        assert_eq!(shop("other").knowledge, None, "it must not answer from another shop's documents");
        let keys = config.auth.keys.as_ref().expect("keys");
        assert!(keys.iter().any(|entry| (entry.tenant.as_str(), entry.key.as_str()) == ("acme", KEY)));
        assert!(!format!("{config:?}").contains(KEY));
    }

    #[test]
    fn one_shop_serves_every_tenant() {
        let (config, _) = read(&[]);
        assert_eq!(config.shop(&"acme".parse().expect("a name")), config.shop(&TenantId::default()));
        assert_eq!(config.tenants_without_shop(), []);
    }

    #[test]
    fn invalid_shops_are_refused_with_their_place() {
        for (name, content, problem) in [
            ("acme/shop.toml", "\ntimezone = \"x\"", "shop.toml:2: unknown field `timezone`"),
            ("acme/shop.toml", "time_zone = \"Tokyo\"", "shop.toml:1: 'Tokyo' is not a time zone"),
            ("acme/shop.toml", "currency = \"gold\"", "shop.toml:1: unknown variant `gold`"),
            ("acme/shop.toml", "api_keys = [\"short\"]", "key 1 has 5 characters"),
            ("My Shop/shop.toml", "", "the folder's name is not valid"),
            ("default/shop.toml", "", "rename the folder"),
        ] {
            let (_, errors) = read(&[(name, content)]);
            assert!(errors.iter().any(|error| error.contains(problem)), "{name}: {errors:?}");
        }
    }
}
