//! `tenant_get_context`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallError, Tool, ToolContext};
use crate::domain::commerce::TenantSettings;

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
