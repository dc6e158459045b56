use std::time::Duration;

use url::Url;

use super::Env;
use crate::domain::sealed::SealingKey;

/// The shortest `TENANT_SECRET_KEY`.
const SECRET_MIN_CHARS: usize = 32;

/// The commerce desk.
#[derive(Clone, Debug)]
pub struct CommerceConfig {
    /// `TENANT_SECRET_KEY`: seals the credentials of the shops' providers; `None` = no shop can have credentials.
    pub tenant_key: Option<SealingKey>,
    /// `PAYMENTS`
    pub payments: PaymentMode,
    pub providers: PaymentProvidersConfig,
    /// `WORDING_TIMEOUT_MS`: how long the language model may take to word a reply before the text is sent.
    pub wording_timeout: Duration,
}

/// How customers pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentMode {
    /// At the providers of which the shop has credentials; a shop without any at the sandbox.
    Auto,
    /// At the providers of which the shop has credentials, and never at the sandbox.
    Live,
    /// At a provider inside the program, for trying things out. No shop may have credentials of a real provider.
    Sandbox,
    /// Not at all.
    Off,
}

/// The providers of payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentProvidersConfig {
    /// `DARAJA_URL`; `None` = the value is not an address, which was reported.
    pub daraja: Option<Url>,
    /// `PESAPAL_URL`
    pub pesapal: Option<Url>,
    /// `PAYMENT_CONNECT_SECONDS`
    pub connect_timeout: Duration,
    /// `PAYMENT_TIMEOUT_SECONDS`: how long a provider may take to answer.
    pub timeout: Duration,
    /// `PAYMENT_POLL_SECONDS`: how soon a provider is asked about an open payment. Later queries are further apart.
    pub poll: Duration,
    /// `STK_WAIT_SECONDS`: how long an M-PESA prompt may stay unanswered.
    pub stk_wait: Duration,
    /// `CHECKOUT_WAIT_SECONDS`: how long a customer may take to pay to the paybill or by card.
    pub checkout_wait: Duration,
}

impl CommerceConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let secret = env.find("TENANT_SECRET_KEY");
        if secret.as_ref().is_some_and(|secret| secret.chars().count() < SECRET_MIN_CHARS) {
            let hint =
                format!("must have at least {SECRET_MIN_CHARS} characters: make one with `openssl rand -hex 32`");
            env.refuse("TENANT_SECRET_KEY", hint);
        }
        let modes = [
            ("auto", PaymentMode::Auto),
            ("live", PaymentMode::Live),
            ("sandbox", PaymentMode::Sandbox),
            ("off", PaymentMode::Off),
        ];
        let payments = env.choice("PAYMENTS", &modes, PaymentMode::Auto);
        let providers = PaymentProvidersConfig {
            daraja: base_url(env, "DARAJA_URL", "https://api.safaricom.co.ke"),
            pesapal: base_url(env, "PESAPAL_URL", "https://pay.pesapal.com/v3"),
            connect_timeout: env.seconds("PAYMENT_CONNECT_SECONDS", 5),
            timeout: env.seconds("PAYMENT_TIMEOUT_SECONDS", 20),
            poll: env.interval("PAYMENT_POLL_SECONDS", 5),
            stk_wait: env.seconds("STK_WAIT_SECONDS", 180),
            checkout_wait: env.seconds("CHECKOUT_WAIT_SECONDS", 1800),
        };
        let wording_timeout = env.milliseconds("WORDING_TIMEOUT_MS", 8000);
        Self { tenant_key: secret.as_deref().and_then(SealingKey::new), payments, providers, wording_timeout }
    }
}

/// Returns the address of an API, with a slash at its end.
fn base_url(env: &mut Env, name: &str, default: &str) -> Option<Url> {
    let text = env.text(name, default);
    let url = Url::parse(&format!("{}/", text.trim_end_matches('/'))).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none());
    if url.is_none() {
        env.refuse(name, format!("must be an http:// or https:// address without a query (got \"{text}\")"));
    }
    url
}
