//! The settings of a shop that sells over WhatsApp.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Money;
use crate::domain::identity::e164::E164;
use crate::domain::string_enum::string_enum;
use crate::domain::{Language, TenantId};

mod value;

pub(super) use value::has_user;
pub use value::{
    CatalogLink, ChattinessLevel, ContentSid, InvalidCatalogLink, InvalidChattinessLevel, InvalidContentSid,
    InvalidLabel, Label,
};

/// A shop of the commerce desk, and how it speaks and sells. It is the shop that [`TenantId`] names everywhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    pub settings: TenantSettings,
    /// The number at which its customers write. No two shops have the same one.
    pub whatsapp_number: Option<E164>,
}

/// The settings of a [`Tenant`]. They are stored as JSON; a field that an earlier version did not have gets its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TenantSettings {
    /// The shop's name, as customers know it.
    pub name: Label<60>,
    pub bot_name: Label<40>,
    /// How the bot introduces itself. Without it, it says its name and the shop's.
    pub bot_intro: Option<Label<300>>,
    pub tone_style: ToneStyle,
    pub languages: ShopLanguages,
    pub max_chattiness_level: ChattinessLevel,
    /// The shop's page with all goods, which links in replies start with. Without it, the bot asks
    /// another question instead.
    pub catalog_link_base: Option<CatalogLink>,
    pub payments_enabled: BTreeSet<PaymentMethod>,
    pub escalation_rules: EscalationRules,
    pub handoff: HandoffSettings,
    pub compliance: Compliance,
    pub whatsapp: WhatsAppSettings,
}

string_enum! {
    /// How the bot words its sentences.
    pub enum ToneStyle {
        FriendlyConcise = "friendly_concise",
        Professional = "professional",
        Casual = "casual",
    }
}

string_enum! {
    /// A way to pay.
    pub enum PaymentMethod {
        /// M-PESA asks for the PIN on the customer's phone.
        MpesaStk = "mpesa_stk",
        /// The customer pays to the shop's paybill or till number.
        MpesaC2b = "mpesa_c2b",
        /// A card, on PesaPal's page.
        Pesapal = "pesapal",
    }
}

/// M-PESA's largest payment, in shillings.
const MPESA_MAX: i64 = 250_000;

impl PaymentMethod {
    /// Whether an amount can be paid in this way: at least a shilling, in whole shillings.
    pub fn takes(self, amount: Money) -> bool {
        let is_whole = Money::from_whole(amount.whole(), amount.currency) == Some(amount);
        let is_small_enough = match self {
            Self::MpesaStk | Self::MpesaC2b => amount.whole() <= MPESA_MAX,
            Self::Pesapal => true,
        };
        is_whole && amount.minor > 0 && is_small_enough
    }
}

string_enum! {
    /// A credential of a shop's provider, which is stored sealed.
    pub enum CredentialName {
        TwilioAccountSid = "twilio_account_sid",
        TwilioAuthToken = "twilio_auth_token",
        /// Valid as well while the shop replaces the other token.
        TwilioSecondAuthToken = "twilio_second_auth_token",
        DarajaShortcode = "daraja_shortcode",
        DarajaConsumerKey = "daraja_consumer_key",
        DarajaConsumerSecret = "daraja_consumer_secret",
        DarajaPasskey = "daraja_passkey",
        /// What the shortcode is: `paybill` (the default) or `till`.
        DarajaType = "daraja_type",
        /// The number to which customers pay, where it is not the shortcode: a till of a store.
        DarajaTillNumber = "daraja_till_number",
        /// The user who may ask for the status of a transaction, and its encrypted password.
        DarajaInitiator = "daraja_initiator",
        DarajaSecurityCredential = "daraja_security_credential",
        PesapalConsumerKey = "pesapal_consumer_key",
        PesapalConsumerSecret = "pesapal_consumer_secret",
        /// A notification address that is registered at PesaPal already. Without it, the server registers one.
        PesapalIpnId = "pesapal_ipn_id",
    }
}

impl CredentialName {
    /// Whether it belongs to a provider of payments.
    pub fn is_for_payments(self) -> bool {
        self.as_str().starts_with("daraja_") || self.as_str().starts_with("pesapal_")
    }

    /// Returns what is wrong with a value, without quoting it.
    pub fn problem_of(self, value: &str) -> Option<&'static str> {
        let is_number = || value.len() <= 10 && value.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::DarajaShortcode | Self::DarajaTillNumber if !is_number() => Some("write digits only, such as 174379"),
            Self::DarajaType if !matches!(value, "paybill" | "till") => Some("write paybill or till"),
            _ => None,
        }
    }
}

/// The languages that a shop speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ListedLanguages")]
pub struct ShopLanguages {
    /// The language of customers who have not shown or named another one.
    default: Language,
    allowed: Vec<Language>,
}

/// Languages that were not checked.
#[derive(Deserialize)]
struct ListedLanguages {
    default: Language,
    allowed: Vec<Language>,
}

/// After how many failures in a row a conversation is handed off to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EscalationRules {
    pub tool_errors: u8,
    pub clarifications: u8,
    /// Turns of a frustrated customer that solved nothing.
    pub unresolved_turns: u8,
}

/// How a handoff works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffSettings {
    /// The expected wait for a person, as announced to customers.
    pub expected_wait_minutes: u32,
}

/// What the bot must leave to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compliance {
    /// Topics that the bot does not discuss.
    pub topics: BTreeSet<Label<40>>,
}

/// How the shop uses WhatsApp.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WhatsAppSettings {
    /// Who speaks: the name of a persona. Without it, the shop's default one.
    pub persona: Option<Label<60>>,
    /// Carries messages that are sent later than 24 hours after the customer's last one. Without it, they are not delivered.
    pub template: Option<ContentSid>,
}

impl TenantSettings {
    /// Returns the settings of a new shop: it speaks English, and takes no payments until they are set up.
    pub fn new(name: Label<60>) -> Self {
        Self { name, ..Self::default() }
    }
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self {
            name: Label("Shop".to_owned()),
            bot_name: Label("Assistant".to_owned()),
            bot_intro: None,
            tone_style: ToneStyle::FriendlyConcise,
            languages: ShopLanguages { default: Language::EN, allowed: vec![Language::EN] },
            max_chattiness_level: ChattinessLevel(2),
            catalog_link_base: None,
            payments_enabled: BTreeSet::new(),
            escalation_rules: EscalationRules::default(),
            handoff: HandoffSettings::default(),
            compliance: Compliance::default(),
            whatsapp: WhatsAppSettings::default(),
        }
    }
}

impl Default for EscalationRules {
    fn default() -> Self {
        Self { tool_errors: 2, clarifications: 3, unresolved_turns: 2 }
    }
}

impl Default for HandoffSettings {
    fn default() -> Self {
        Self { expected_wait_minutes: 60 }
    }
}

impl Default for Compliance {
    fn default() -> Self {
        Self { topics: ["legal", "medical"].map(|topic| Label(topic.to_owned())).into() }
    }
}

impl ShopLanguages {
    /// The default language is always allowed.
    pub fn new(default: Language, mut allowed: Vec<Language>) -> Self {
        let mut seen = BTreeSet::new();
        allowed.retain(|language| seen.insert(*language));
        if seen.insert(default) {
            allowed.insert(0, default);
        }
        Self { default, allowed }
    }

    pub fn default_language(&self) -> Language {
        self.default
    }

    /// Returns the languages to which a conversation may switch, the default one included.
    pub fn allowed(&self) -> &[Language] {
        &self.allowed
    }
}

impl From<ListedLanguages> for ShopLanguages {
    fn from(listed: ListedLanguages) -> Self {
        Self::new(listed.default, listed.allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_storage() {
        let mut settings = TenantSettings::new("Savanna Shoes".parse().expect("a name"));
        settings.bot_intro = Some("Hi, I'm Zuri!".parse().expect("an intro"));
        settings.catalog_link_base = Some("https://savanna.example/shop".parse().expect("a link"));
        settings.payments_enabled = [PaymentMethod::MpesaStk, PaymentMethod::Pesapal].into();
        let languages = ["sw", "en", "sheng", "en"].map(|code| code.parse().expect("a language"));
        settings.languages = ShopLanguages::new(languages[0], languages.to_vec());
        assert_eq!(settings.languages.allowed(), &languages[..3]);
        let stored = serde_json::to_value(&settings).expect("JSON");
        assert_eq!(serde_json::from_value::<TenantSettings>(stored).expect("settings"), settings);
    }

    #[test]
    fn fields_of_later_versions_have_defaults() {
        let stored = serde_json::json!({"name": "Savanna Shoes"});
        let settings: TenantSettings = serde_json::from_value(stored).expect("settings");
        assert_eq!(settings, TenantSettings::new("Savanna Shoes".parse().expect("a name")));
    }

    #[test]
    fn invalid_settings_cannot_be_made() {
        let json = |field: &str, value: serde_json::Value| {
            let stored = serde_json::json!({ field: value });
            serde_json::from_value::<TenantSettings>(stored).map_err(|error| error.to_string())
        };
        for (field, value, problem) in [
            ("name", serde_json::json!(""), "write 1 to 60 characters"),
            ("bot_name", serde_json::json!("x".repeat(41)), "write 1 to 40 characters"),
            ("bot_intro", serde_json::json!("a\nb"), "on one line"),
            ("max_chattiness_level", serde_json::json!(4), "from 0"),
            ("tone_style", serde_json::json!("rude"), "unknown variant"),
            ("languages", serde_json::json!({"default": "English", "allowed": []}), "lower-case letters"),
            ("catalog_link_base", serde_json::json!("shop.example"), "https://"),
            ("payments_enabled", serde_json::json!(["cash"]), "unknown variant"),
            ("whatsapp", serde_json::json!({"template": "HX12"}), "starts with HX"),
        ] {
            let error = json(field, value).expect_err(problem);
            assert!(error.contains(problem), "{field}: {error}");
        }
    }

    #[test]
    fn catalog_link_is_a_plain_address() {
        for good in ["https://shop.example/", "http://localhost:8080/goods"] {
            assert_eq!(good.parse().map(|link: CatalogLink| link.to_string()).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "shop.example",
            "ftp://shop.example/",
            "javascript:alert(1)",
            "https://",
            "https://s.example/?a=1",
            "https://s.example/#a",
            "https://u@s.example/",
            "https://:secret@s.example/",
        ] {
            assert_eq!(bad.parse::<CatalogLink>(), Err(InvalidCatalogLink), "{bad}");
        }
    }

    #[test]
    fn default_language_is_allowed() {
        let [en, sw] = ["en", "sw"].map(|code| code.parse().expect("a language"));
        assert_eq!(ShopLanguages::new(sw, vec![en]).allowed(), [sw, en]);
        assert_eq!(ShopLanguages::new(sw, vec![en, sw]).allowed(), [en, sw]);
    }

    #[test]
    fn chattiness_level_is_at_most_three() {
        assert_eq!(["0", "3"].map(|text| text.parse().map(|level: ChattinessLevel| u8::from(level))), [Ok(0), Ok(3)]);
        for bad in ["4", "-1", "", "two"] {
            assert_eq!(bad.parse::<ChattinessLevel>(), Err(InvalidChattinessLevel), "{bad}");
        }
    }
}
