use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::Env;
use crate::domain::TenantId;

/// The minimum length of an API key.
const KEY_MIN_CHARS: usize = 16;

/// Who may call.
#[derive(Clone, Debug)]
pub struct AuthConfig {
    /// `X_API_KEYS`, and the keys of the shops' `shop.toml`; `None` = development mode: loopback only, every caller is tenant `default`.
    pub keys: Option<Vec<KeyEntry>>,
    /// `TOKEN_TTL_HOURS`: how long a conversation token is valid.
    pub token_ttl: Duration,
    /// `TOKEN_SECRET`: the key that signs tokens; `None` = generated once and stored in the database.
    pub token_secret: Option<String>,
    /// `WEB_CHAT`: the server's own pages create conversations without a key.
    pub web_chat: bool,
    /// `WEB_CHAT_TENANT`: the tenant of those conversations.
    pub web_chat_tenant: TenantId,
}

/// A key and the shop it belongs to.
#[derive(Clone)]
pub struct KeyEntry {
    pub tenant: String,
    pub key: String,
}

impl std::fmt::Debug for KeyEntry {
    /// Omits the key, so that logging a config does not leak it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyEntry").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

impl AuthConfig {
    /// Describes who may call, on one line and without the keys.
    pub fn describe(&self) -> String {
        let Some(keys) = &self.keys else {
            return "only programs on this machine may call, without a key; requests through a proxy are refused. For \
                    customers, set X_API_KEYS and use `frontdesk serve --production`"
                .to_owned();
        };
        let mut tenants: BTreeMap<&str, usize> = BTreeMap::new();
        for KeyEntry { tenant, .. } in keys {
            *tenants.entry(tenant).or_default() += 1;
        }
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (count, of) = (keys.len(), tenants.len());
        let tenants: Vec<String> = tenants.iter().map(|(tenant, count)| format!("{tenant} ({count})")).collect();
        let visitors = match self.web_chat {
            true => "; visitors of the chat page need none (WEB_CHAT=on)",
            false => "",
        };
        format!("{count} key{} for tenant{} {}{visitors}", plural(count), plural(of), tenants.join(", "))
    }

    /// Reads the settings. `shop_keys` are those of the `shop.toml` files.
    pub(super) fn read(env: &mut Env, shop_keys: Vec<KeyEntry>) -> Self {
        let mut keys = env.raw("X_API_KEYS").map(|list| {
            list.split(',')
                .map(str::trim)
                .filter(|entry| !entry.is_empty())
                .map(|entry| match entry.split_once(':') {
                    Some((tenant, key)) => KeyEntry { tenant: tenant.trim().to_owned(), key: key.trim().to_owned() },
                    None => KeyEntry { tenant: "default".to_owned(), key: entry.to_owned() },
                })
                .collect::<Vec<_>>()
        });
        if keys.as_ref().is_some_and(Vec::is_empty) {
            env.refuse("X_API_KEYS", "is set but empty: give at least one key, or unset it for development".to_owned());
        }
        refuse_short(env, "X_API_KEYS", keys.iter().flatten());
        refuse_short(env, "api_keys in a shop.toml", &shop_keys);
        if !shop_keys.is_empty() {
            keys.get_or_insert_default().extend(shop_keys);
        }
        if let Some(keys) = &keys {
            let mut shops: HashMap<&str, &str> = HashMap::new();
            if keys
                .iter()
                .any(|entry| shops.insert(&entry.key, &entry.tenant).is_some_and(|other| other != entry.tenant))
            {
                env.refuse("X_API_KEYS", "two shops have the same key: give each shop a different key".to_owned());
            }
            for entry in keys {
                if entry.tenant.parse::<TenantId>().is_err() {
                    env.refuse(
                        "X_API_KEYS",
                        format!("'{}' is not a valid tenant name: use a-z, 0-9, '-' and '_'", entry.tenant),
                    );
                }
            }
        }
        let token_secret = env.find("TOKEN_SECRET");
        if token_secret.as_ref().is_some_and(|secret| secret.len() < 32) {
            env.refuse("TOKEN_SECRET", "must have at least 32 characters, or be unset".to_owned());
        }
        let development = keys.is_none();
        let web_chat = env.choice("WEB_CHAT", &[("on", true), ("off", false)], development);
        let web_chat_tenant = env.number("WEB_CHAT_TENANT", TenantId::default());
        Self { keys, web_chat, web_chat_tenant, token_ttl: env.seconds_of_hours("TOKEN_TTL_HOURS", 24), token_secret }
    }
}

/// Refuses keys that could be guessed.
fn refuse_short<'a>(env: &mut Env, name: &str, keys: impl IntoIterator<Item = &'a KeyEntry>) {
    for (number, KeyEntry { key, .. }) in (1..).zip(keys) {
        let length = key.chars().count();
        if length < KEY_MIN_CHARS {
            let hint = "make one with `openssl rand -hex 32`";
            let problem =
                format!("key {number} has {length} characters, but a key needs at least {KEY_MIN_CHARS}: {hint}");
            env.refuse(name, problem);
        }
    }
}

impl Env {
    pub(super) fn seconds_of_hours(&mut self, name: &str, default: u32) -> Duration {
        let ttl = self.hours(name, default);
        if ttl.is_zero() {
            self.refuse(name, "must be a number of hours above 0".to_owned());
        }
        ttl
    }
}
