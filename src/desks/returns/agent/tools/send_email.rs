use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OrderId, ToolError};
use crate::agent::Tool;
use crate::desks::returns::agent::context::ReturnsContext;
use crate::desks::returns::mail::Template;
use crate::domain::returns::RmaNumber;

/// Sends the customer an e-mail about a return, to the address on the order. Its words are fixed: choose the template. The same one twice is sent once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SendEmail {
    /// The number of the order.
    order_id: OrderId,
    /// return_approved after create_rma, label_ready after generate_return_label, return_rejected after a refusal.
    template_name: TemplateName,
    /// The rma_number that create_rma gave; left out for return_rejected.
    rma_number: Option<String>,
    /// Can be left out: the mail goes to the address on the order.
    customer_email: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TemplateName {
    ReturnApproved,
    ReturnRejected,
    LabelReady,
}

impl From<TemplateName> for Template {
    fn from(name: TemplateName) -> Self {
        match name {
            TemplateName::ReturnApproved => Self::ReturnApproved,
            TemplateName::ReturnRejected => Self::ReturnRejected,
            TemplateName::LabelReady => Self::LabelReady,
        }
    }
}

impl<'t> Tool<ReturnsContext<'t>> for SendEmail {
    const NAME: &'static str = "send_email";
    const ACTS: bool = true;

    fn recorded(&self) -> Value {
        let rma: Option<RmaNumber> = self.rma_number.as_deref().and_then(|number| number.parse().ok());
        let template = Template::from(self.template_name).as_str();
        json!({ "order_id": self.order_id.number(), "template_name": template, "rma_number": rma })
    }

    async fn run(&self, context: &mut ReturnsContext<'t>) -> Result<Value, ToolError> {
        let order = context.open(&self.order_id).await?;
        // Masked, as the model sees it, or as the customer wrote it.
        let named = self.customer_email.as_deref().map(str::trim).filter(|email| !email.is_empty());
        if named.is_some_and(|email| email != order.email.masked() && !email.eq_ignore_ascii_case(order.email.as_str()))
        {
            return Err(ToolError::OtherAddress);
        }
        let named = self.rma_number.as_deref().map(str::trim).filter(|number| !number.is_empty());
        let rma = match named {
            Some(number) => Some(context.rma_of(&order, number).await?),
            None => None,
        };
        let sent = context.mail(&order, rma.as_ref(), self.template_name.into()).await?;
        let message = match sent.status {
            "failed" => "the mail could not be sent yet and is tried again; do not say that it was sent",
            _ => "on its way",
        };
        Ok(json!({
            "success": sent.status != "failed", "message_id": sent.number, "preview": sent.preview, "status": sent.status,
            "message": message,
        }))
    }
}
