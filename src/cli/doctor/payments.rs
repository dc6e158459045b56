//! Checks of the shops that have credentials of a payment provider.

use tokio::time::timeout;

use super::TIMEOUT;
use crate::config::{Config, PaymentMode};
use crate::domain::TenantId;
use crate::domain::check::Check;
use crate::domain::commerce::tenant::PaymentMethod;
use crate::providers::payment::daraja::{Daraja, DarajaAccount, refused_word};
use crate::providers::payment::pesapal::{Pesapal, PesapalAccount};
use crate::store::{Store, StoreError};
use crate::tools::payment_callback::PaymentCallbacks;

const NAME: &str = "payments";

pub(super) async fn examine(config: &Config, store: &Store) -> Result<Vec<Check>, StoreError> {
    let shops = store.list_shops_with_payments().await?;
    let mut checks = Vec::new();
    if shops.is_empty() {
        return Ok(checks);
    }
    if config.commerce.payments == PaymentMode::Sandbox {
        let names: Vec<&str> = shops.iter().map(TenantId::as_str).collect();
        let names = names.join(", ");
        let line = format!("PAYMENTS=sandbox, but {names} have credentials of a payment provider: set PAYMENTS=auto");
        checks.push(Check::fail(NAME, line));
    }
    checks.extend(public_address(config));
    for shop in &shops {
        checks.push(match problems_of(config, store, shop).await?.as_slice() {
            [] => Check::ok(NAME, format!("shop {shop}: its providers accept its credentials")),
            problems => Check::fail(NAME, format!("shop {shop}: {}", problems.join("; "))),
        });
        checks.extend(other_addresses(config, store, shop).await?);
    }
    Ok(checks)
}

fn public_address(config: &Config) -> Option<Check> {
    let Some(url) = &config.http.public_url else {
        let line = "payment providers cannot call back and may refuse requests: set PUBLIC_URL";
        return Some(Check::warn(NAME, line.to_owned()));
    };
    let word = refused_word(url)?;
    let line =
        format!("Daraja refuses callbacks at {url}, since it contains \"{word}\": use another host in PUBLIC_URL");
    Some(Check::fail(NAME, line))
}

/// Warns if Daraja reports payments to the shop's paybill or till to another server.
async fn other_addresses(config: &Config, store: &Store, shop: &TenantId) -> Result<Option<Check>, StoreError> {
    let callbacks = PaymentCallbacks::new(store, config);
    let Some(account) = DarajaAccount::of(&callbacks.credentials(shop).await?) else { return Ok(None) };
    let is_elsewhere = callbacks.is_reported_elsewhere(shop, &account).await?;
    let line = || {
        format!(
            "shop {shop}: Daraja keeps earlier addresses for payments to {}, and may not report them to this server: delete them at \
             Safaricom",
            account.pay_to()
        )
    };
    Ok(is_elsewhere.then(|| Check::warn(NAME, line())))
}

/// Returns what keeps a shop's ways to pay from working.
async fn problems_of(config: &Config, store: &Store, shop: &TenantId) -> Result<Vec<String>, StoreError> {
    let credentials = PaymentCallbacks::new(store, config).credentials(shop).await?;
    let enabled = store.tenant(shop).find_tenant().await?.map(|tenant| tenant.settings.payments_enabled);
    let has = |method| enabled.as_ref().is_some_and(|methods| methods.contains(&method));
    let (daraja, pesapal) = (DarajaAccount::of(&credentials), PesapalAccount::of(&credentials));
    let mut problems = Vec::new();
    let missing = |method: PaymentMethod, names: &str| format!("{method} needs the credentials {names}");
    if has(PaymentMethod::MpesaStk) && !daraja.as_ref().is_some_and(DarajaAccount::can_push) {
        let names = "daraja_consumer_key, daraja_consumer_secret, daraja_shortcode and daraja_passkey";
        problems.push(missing(PaymentMethod::MpesaStk, names));
    }
    if has(PaymentMethod::MpesaC2b) && !daraja.as_ref().is_some_and(DarajaAccount::can_check) {
        let names = "daraja_consumer_key, daraja_consumer_secret, daraja_shortcode, daraja_initiator and \
                     daraja_security_credential";
        problems.push(missing(PaymentMethod::MpesaC2b, names));
    }
    if has(PaymentMethod::Pesapal) && pesapal.is_none() {
        problems.push(missing(PaymentMethod::Pesapal, "pesapal_consumer_key and pesapal_consumer_secret"));
    }
    let providers = &config.commerce.providers;
    if let (Some(url), Some(account)) = (&providers.daraja, &daraja) {
        let client = Daraja::new(url.clone(), providers);
        let check =
            async { client.map_err(|error| error.to_string())?.check(shop, account).await.map_err(|e| e.to_string()) };
        problems.extend(in_time(check).await.err().map(|why| format!("Daraja at {url}: {why}")));
    }
    if let (Some(url), Some(account)) = (&providers.pesapal, &pesapal) {
        let client = Pesapal::new(url.clone(), providers);
        let check =
            async { client.map_err(|error| error.to_string())?.check(shop, account).await.map_err(|e| e.to_string()) };
        problems.extend(in_time(check).await.err().map(|why| format!("PesaPal at {url}: {why}")));
    }
    Ok(problems)
}

async fn in_time(check: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    timeout(TIMEOUT, check).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
}
