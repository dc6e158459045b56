//! Checks of the database, the warranty records, a running server, and the port.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::time::timeout;

use super::{TIMEOUT, payments};
use crate::app::whatsapp::WEBHOOK;
use crate::cli::{chat, serve, tenant};
use crate::config::Config;
use crate::config::paths::{may_create_in, nearest_folder};
use crate::domain::TenantId;
use crate::domain::check::Check;
use crate::domain::commerce::Tenant;
use crate::domain::returns::Ticket;
use crate::jobs::deliver::Deliver;
use crate::persona::Prompts;
use crate::store::settings::SERVING_AT;
use crate::store::{Outage, Schema, Store, StoreError, StoreOptions, lock};

/// A server that uses the database, and the address that it stored there.
enum Server {
    None,
    At(Option<String>),
}

pub(super) async fn examine(config: &Config, mistakes: &[String]) -> Vec<Check> {
    let options = serve::store_options(config);
    let mut checks = Vec::new();
    let mut server = Server::None;
    match options.sqlite_file() {
        Err(error) => checks.push(Check::fail("store", error.to_string())),
        Ok(Some(file)) if !file.exists() => {
            let folder = nearest_folder(&file);
            let shown = file.display();
            checks.push(match may_create_in(&folder) {
                Ok(()) => {
                    Check::ok("store", format!("SQLite ({shown}) does not exist yet: the first start creates it"))
                }
                Err(error) => Check::fail(
                    "store",
                    format!("SQLite ({shown}) does not exist and cannot be created in {}: {error}", folder.display()),
                ),
            });
            checks.push(no_records_yet(config));
        }
        Ok(_) => {
            let looked = timeout(TIMEOUT * 2, look(config, &options, &mut checks, &mut server)).await;
            if let Err(why) = looked
                .map_err(|_| "the database does not answer in time".to_owned())
                .and_then(|looked| looked.map_err(|error| error.to_string()))
            {
                checks.push(Check::fail("store", format!("{why}; check DATABASE_URL")));
            }
        }
    }
    if let Ok(Some(file)) = options.sqlite_file() {
        checks.extend(readable_by_others(&file));
    }
    checks.push(running(&server).await);
    let bad_address = mistakes.iter().any(|mistake| mistake.starts_with("BIND_ADDR:"));
    if !bad_address {
        checks.push(port(config, &server));
    }
    checks
}

/// Warns if other users of this machine can read or change the database.
fn readable_by_others(file: &Path) -> Option<Check> {
    let mode = file.metadata().ok()?.permissions().mode() & 0o777;
    let line = || {
        let shown = file.display();
        format!(
            "every user of this machine can open {shown} (mode {mode:o}), with customers' data and the key that signs \
             tokens: run `chmod 600 {shown}*`"
        )
    };
    (mode & 0o007 != 0).then(|| Check::warn("permissions", line()))
}

async fn look(
    config: &Config,
    options: &StoreOptions,
    checks: &mut Vec<Check>,
    server: &mut Server,
) -> Result<(), StoreError> {
    let store = Store::open_as_is(options).await?;
    let looked = look_into(config, options, &store, checks, server).await;
    store.close().await?;
    looked
}

async fn look_into(
    config: &Config,
    options: &StoreOptions,
    store: &Store,
    checks: &mut Vec<Check>,
    server: &mut Server,
) -> Result<(), StoreError> {
    let schema = store.look_at_schema().await?;
    let shown = store.describe();
    let writable = match store.try_write().await {
        // `NoAnswer`: another process is writing.
        Err(error) if !error.is_unavailable() || error.outage() != Outage::NoAnswer => Some(error),
        _ => None,
    };
    checks.push(match (&schema, writable) {
        (_, Some(error)) => Check::fail("store", format!("{shown} cannot be written to: {error}")),
        (Schema::Current, None) => Check::ok("store", format!("{shown}, its tables are up to date")),
        (Schema::Older { pending }, None) => {
            Check::ok("store", format!("{shown}; the next start runs {pending} migration(s) on it"))
        }
        (Schema::Newer { migration }, None) => {
            let why = StoreError::NewerSchema { migration: migration.clone() };
            Check::fail("store", format!("{shown}: {why}"))
        }
    });
    let served = lock::is_served(options).await?;
    // An older schema may not have the tables that are read below.
    if schema != Schema::Current {
        if served {
            *server = Server::At(None);
        }
        return Ok(());
    }
    if served {
        *server = Server::At(store.find_setting(SERVING_AT).await?);
    }
    checks.push(records(config, store).await?);
    checks.extend(shop_credentials(config, store).await?);
    checks.extend(whatsapp(config, store).await?);
    checks.extend(payments::examine(config, store).await?);
    checks.extend(loose_tickets(store).await?);
    Ok(())
}

/// Lists the escalations that no conversation leads to, such as those of deleted ones.
async fn loose_tickets(store: &Store) -> Result<Vec<Check>, StoreError> {
    let describe = |(shop, ticket): (TenantId, Ticket)| {
        let about = ticket.order.map(|order| format!(" about order {order}")).unwrap_or_default();
        let what = ticket.summary.lines().next().map(|line| format!(": {line}")).unwrap_or_default();
        let line = format!(
            "shop {shop}: {}{about} belongs to no conversation{what}: decide it with `frontdesk rma resolve {} DECISION \
             --tenant {shop}`",
            ticket.id, ticket.id
        );
        Check::warn("tickets", line)
    };
    Ok(store.list_loose_tickets().await?.into_iter().map(describe).collect())
}

/// Checks that `TENANT_SECRET_KEY` opens the credentials of the shops that sell over WhatsApp, if there are such shops.
async fn shop_credentials(config: &Config, store: &Store) -> Result<Option<Check>, StoreError> {
    const NAME: &str = "shops";
    let shops = match store.list_tenants().await {
        Ok(shops) => shops,
        Err(cause) => return Ok(Some(Check::fail(NAME, cause.to_string()))),
    };
    let key = config.commerce.tenant_key.as_ref();
    let (count, mut closed) = (shops.len(), Vec::new());
    for shop in shops {
        let credentials = tenant::credentials(store, &shop.id, key).await?;
        if credentials.iter().any(|(_, opens)| !opens) {
            closed.push(shop.id.to_string());
        }
    }
    let names = closed.join(", ");
    Ok(match (count, closed.as_slice()) {
        (0, _) => None,
        (_, []) => Some(Check::ok(NAME, format!("on WhatsApp: {count}"))),
        _ if key.is_none() => Some(Check::fail(
            NAME,
            format!(
                "TENANT_SECRET_KEY is not set, but {names} have credentials: set the key with which they were stored"
            ),
        )),
        _ => Some(Check::fail(
            NAME,
            format!(
                "TENANT_SECRET_KEY does not open the credentials of {names}: set the key with which they were stored, or store \
                 them again with `frontdesk tenant set NAME --credentials FILE`"
            ),
        )),
    })
}

/// Checks what shops with a WhatsApp number need, if there are such shops.
async fn whatsapp(config: &Config, store: &Store) -> Result<Option<Check>, StoreError> {
    const NAME: &str = "whatsapp";
    // A failure is reported with the credentials.
    let Ok(mut shops) = store.list_tenants().await else { return Ok(None) };
    shops.retain(|shop| shop.whatsapp_number.is_some());
    if shops.is_empty() {
        return Ok(None);
    }
    let unknown: Vec<String> = shops.iter().filter_map(|shop| unknown_persona(config, shop)).collect();
    let mut without = Vec::new();
    for shop in &shops {
        if Deliver::account(&store.tenant(&shop.id), config.commerce.tenant_key.as_ref()).await?.is_none() {
            without.push(shop.id.to_string());
        }
    }
    let public_url = config.http.public_url.as_deref();
    Ok(Some(match public_url {
        _ if !unknown.is_empty() => Check::fail(NAME, unknown.join("; ")),
        _ if !without.is_empty() => Check::warn(
            NAME,
            format!(
                "{} cannot send or receive messages: store twilio_account_sid and twilio_auth_token with `frontdesk tenant set NAME \
                 --credentials FILE`, and set TENANT_SECRET_KEY",
                without.join(", ")
            ),
        ),
        None => Check::fail(
            NAME,
            "PUBLIC_URL is not set, so no message of Twilio's is accepted: set it to the address that Twilio calls, such as \
             https://chat.example.com",
        ),
        Some(url) if !url.starts_with("https://") => {
            Check::warn(NAME, format!("PUBLIC_URL={url} is not encrypted: put a proxy with https in front"))
        }
        Some(url) => Check::ok(NAME, format!("webhook {url}{WEBHOOK}, shops: {}", shops.len())),
    }))
}

/// Describes the shop's WhatsApp persona if it does not exist. Prompts that cannot be read are reported with the files.
fn unknown_persona(config: &Config, shop: &Tenant) -> Option<String> {
    let name = shop.settings.whatsapp.persona.as_ref()?;
    let prompts = Prompts::load_shop(&config.prompts, &config.shop(&shop.id)).ok()?;
    prompts.find_persona(name.as_str()).is_none().then(|| {
        let id = &shop.id;
        format!(
            "{id} has the persona '{name}', which does not exist, so the default one answers: choose another one with `frontdesk tenant \
             set {id} --whatsapp-persona NAME`"
        )
    })
}

/// Counts the warranty records of each shop that has a key.
async fn records(config: &Config, store: &Store) -> Result<Check, StoreError> {
    let keys = config.auth.keys.iter().flatten();
    let tenants: BTreeSet<TenantId> = keys.filter_map(|entry| entry.tenant.parse().ok()).collect();
    let tenants = if tenants.is_empty() { BTreeSet::from([TenantId::default()]) } else { tenants };
    let (mut counts, mut without) = (Vec::new(), Vec::new());
    for tenant in &tenants {
        let count = store.tenant(tenant).count_warranties().await?;
        counts.push(format!("{count} records of tenant {tenant}"));
        if count == 0 {
            without.push(tenant.as_str());
        }
    }
    let default_is_next = without == [TenantId::DEFAULT] && first_list(config);
    Ok(match without.is_empty() {
        true => Check::ok("warranties", counts.join(", ")),
        false if default_is_next => no_records_yet(config),
        false => Check::warn(
            "warranties",
            format!(
                "{}: import a list with {}",
                counts.join(", "),
                without.into_iter().map(import_command).collect::<Vec<_>>().join(" and ")
            ),
        ),
    })
}

/// Returns the command that imports warranties into a shop.
fn import_command(tenant: &str) -> String {
    let option = if tenant == TenantId::DEFAULT { String::new() } else { format!(" --tenant {tenant}") };
    format!("`frontdesk upsert-warranty --file warranty.csv{option}`")
}

fn first_list(config: &Config) -> bool {
    config.knowledge.folder.join("warranty.csv").exists()
}

fn no_records_yet(config: &Config) -> Check {
    let list = config.knowledge.folder.join("warranty.csv");
    if first_list(config) {
        return Check::ok("warranties", format!("none yet: the first start reads {}", list.display()));
    }
    Check::warn(
        "warranties",
        "none, so no serial number is found: import a list with `frontdesk upsert-warranty --file warranty.csv`",
    )
}

async fn running(server: &Server) -> Check {
    const NAME: &str = "server";
    match server {
        Server::None => Check::ok(NAME, "none runs on this database"),
        Server::At(None) => Check::warn(NAME, "one runs on this database, at an unknown address"),
        Server::At(Some(address)) => match chat::answers(address).await {
            true => Check::ok(NAME, format!("one runs on this database, at {address}")),
            false => Check::warn(
                NAME,
                format!("one runs on this database, at {address}, but does not answer: check its log"),
            ),
        },
    }
}

/// Checks that the port is free, or in use by the running server.
fn port(config: &Config, server: &Server) -> Check {
    const NAME: &str = "port";
    let bind = config.http.bind;
    if let Server::At(Some(address)) = server
        && *address == format!("http://{bind}")
    {
        return Check::ok(NAME, format!("BIND_ADDR={bind} is the running server's"));
    }
    match TcpListener::bind(bind) {
        Ok(_) => Check::ok(NAME, format!("BIND_ADDR={bind} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Check::fail(
            NAME,
            format!("BIND_ADDR={bind} is in use by another program: stop it, or set BIND_ADDR to another port"),
        ),
        Err(error) => Check::fail(
            NAME,
            format!(
                "BIND_ADDR={bind} cannot be used ({error}): name an address of this machine, such as 127.0.0.1:8080"
            ),
        ),
    }
}
