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
}

/// How customers pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentMode {
    /// At a provider inside the program, for trying things out. It never serves a shop with credentials of a real provider.
    Sandbox,
    /// Not at all.
    Off,
}

impl CommerceConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let secret = env.find("TENANT_SECRET_KEY");
        if secret.as_ref().is_some_and(|secret| secret.chars().count() < SECRET_MIN_CHARS) {
            let hint =
                format!("must have at least {SECRET_MIN_CHARS} characters: make one with `openssl rand -hex 32`");
            env.refuse("TENANT_SECRET_KEY", hint);
        }
        let modes = [("sandbox", PaymentMode::Sandbox), ("off", PaymentMode::Off)];
        let payments = env.choice("PAYMENTS", &modes, PaymentMode::Sandbox);
        Self { tenant_key: secret.as_deref().and_then(SealingKey::new), payments }
    }
}
