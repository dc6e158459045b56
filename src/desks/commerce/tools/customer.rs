//! `tenant_get_context`, `customer_get_or_create` and `customer_update_preferences`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CallError, Tool, ToolContext};
use crate::domain::MessageId;
use crate::domain::commerce::TenantSettings;
use crate::domain::identity::e164::E164;
use crate::store::shoppers::{PreferenceChange, Shopper, ShopperKey};

/// Returns the shop's settings. They hold no credentials.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantGetContext {}

#[derive(Debug, Serialize)]
pub struct TenantFound {
    pub tenant: TenantSettings,
}

impl Tool for TenantGetContext {
    const NAME: &'static str = "tenant_get_context";
    type Output = TenantFound;

    async fn run(&self, context: &ToolContext<'_>) -> Result<TenantFound, CallError> {
        Ok(TenantFound { tenant: context.tenant.settings.clone() })
    }
}

/// Returns the shop's customer with this number, who is new if there was none.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomerGetOrCreate {
    /// Without a number, the conversation names the customer.
    pub phone_e164: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct CustomerFound {
    pub customer: Shopper,
    pub created: bool,
}

impl Tool for CustomerGetOrCreate {
    const NAME: &'static str = "customer_get_or_create";
    type Output = CustomerFound;

    async fn run(&self, context: &ToolContext<'_>) -> Result<CustomerFound, CallError> {
        let key = match &self.phone_e164 {
            // Only the channel can say who writes.
            Some(phone) => match phone.parse::<E164>().ok().filter(|phone| Some(phone) == context.phone) {
                Some(phone) => ShopperKey::Phone(phone),
                None => return Err(CallError::refused("not_the_conversations_number")),
            },
            None => ShopperKey::Conversation(context.conversation),
        };
        let (customer, created) = context.door().find_or_create_shopper(&key, context.now).await?;
        Ok(CustomerFound { customer, created })
    }
}

/// Changes what the customer receives, and in which language. What is not given stays.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomerUpdatePreferences {
    pub language: Option<String>,
    pub marketing_opt_in: Option<bool>,
    pub notification_prefs: Option<bool>,
    /// The message that asks for it: the request's.
    #[schemars(with = "String")]
    pub source_message_id: Uuid,
}

#[derive(Debug, Serialize)]
pub struct CustomerUpdated {
    pub customer: Shopper,
    /// The row of the consent log; `None` if nothing changed.
    pub audit_id: Option<Uuid>,
}

impl Tool for CustomerUpdatePreferences {
    const NAME: &'static str = "customer_update_preferences";
    type Output = CustomerUpdated;

    async fn run(&self, context: &ToolContext<'_>) -> Result<CustomerUpdated, CallError> {
        if self.source_message_id != context.request.0 {
            return Err(CallError::refused("other_message"));
        }
        let language = self.language.as_ref().map(|language| language.parse()).transpose();
        let language = language.map_err(|_| CallError::refused("unknown_language"))?;
        if language.is_some_and(|language| !context.tenant.settings.languages.allowed().contains(&language)) {
            return Err(CallError::refused("language_not_allowed"));
        }
        let change = PreferenceChange::Set {
            language,
            marketing: self.marketing_opt_in,
            notifications: self.notification_prefs,
        };
        let (shopper, message) = (context.owner().shopper, Some(MessageId(self.source_message_id)));
        let changed = context.door().change_preferences(shopper, change, message, context.said_at).await?;
        let (customer, audit_id) = changed.ok_or_else(|| CallError::refused("no_customer"))?;
        Ok(CustomerUpdated { customer, audit_id })
    }
}
