use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OrderId, ToolError};
use crate::agent::Tool;
use crate::desks::returns::agent::context::ReturnsContext;
use crate::domain::identity::Email;

/// Looks an order up, by its number or, for a customer who is signed in, by the e-mail address. Call this before anything else that concerns an order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetOrderDetails {
    /// The order number as the customer wrote it, such as 77893 or ABC-123456. Leave email out then.
    order_id: Option<OrderId>,
    /// The customer's e-mail address: lists the ten newest orders. Leave order_id out then.
    email: Option<String>,
}

impl<'t> Tool<ReturnsContext<'t>> for GetOrderDetails {
    const NAME: &'static str = "get_order_details";
    const ACTS: bool = false;

    fn recorded(&self) -> Value {
        let number = self.order_id.as_ref().and_then(OrderId::number);
        json!({ "order_id": number, "by_email": self.email().is_some() })
    }

    async fn run(&self, context: &mut ReturnsContext<'t>) -> Result<Value, ToolError> {
        let number = self.order_id.as_ref().filter(|id| !id.is_blank());
        match (number, self.email()) {
            (Some(id), None) => {
                let number = id.number().ok_or(ToolError::NoNumber)?;
                let order = context.look_up(&number).await?;
                Ok(json!({ "success": true, "order": context.shown(&order), "message": "found" }))
            }
            (None, Some(email)) => {
                let email: Email = email.parse().map_err(|_| ToolError::OtherCustomer)?;
                let orders = context.list_orders(&email).await?;
                let shown: Vec<Value> = orders.iter().map(|order| context.shown(order)).collect();
                let message = format!("{} orders, the newest first", shown.len());
                Ok(json!({ "success": true, "orders": shown, "message": message }))
            }
            (Some(_), Some(_)) | (None, None) => Err(ToolError::OneOf),
        }
    }
}

impl GetOrderDetails {
    fn email(&self) -> Option<&str> {
        self.email.as_deref().map(str::trim).filter(|email| !email.is_empty())
    }
}
