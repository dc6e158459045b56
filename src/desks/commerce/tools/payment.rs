//! `payment_get_methods`, `payment_get_c2b_instructions`, `payment_initiate_stk_push` and `payment_create_pesapal_checkout`.
//!
//! Each payment is stored before its provider is asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::order::find_sale;
use super::{CallError, Tool, ToolContext};
use crate::domain::PaymentId;
use crate::domain::commerce::Money;
use crate::domain::commerce::catalog::CATALOG_CURRENCY;
use crate::domain::commerce::payment::PaymentStatus;
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::identity::e164::E164;

/// Returns the ways to pay an order: those that take its total.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaymentGetMethods {
    pub order_id: String,
}

#[derive(Debug, Serialize)]
pub struct MethodsFound {
    pub methods: Vec<PaymentMethod>,
}

impl Tool for PaymentGetMethods {
    const NAME: &'static str = "payment_get_methods";
    type Output = MethodsFound;

    async fn run(&self, context: &ToolContext<'_>) -> Result<MethodsFound, CallError> {
        let total = find_sale(context, &self.order_id).await?.totals.total;
        let mut methods = context.payments.offers(context.tenant, context.has_number()).await?.methods;
        methods.retain(|method| method.takes(total));
        Ok(MethodsFound { methods })
    }
}

/// Returns where to pay an order from the M-PESA menu.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaymentGetC2bInstructions {
    pub order_id: String,
}

#[derive(Debug, Serialize)]
pub struct C2bInstructions {
    /// The number to pay to: of a paybill, or of a till.
    #[serde(flatten)]
    pub pay_to: PayTo,
    /// `None` for a till, which takes none: the customer sends the receipt's code.
    pub account_reference: Option<String>,
    pub amount: Money,
    #[serde(skip)]
    pub started: Started,
}

/// The number to which customers pay from the M-PESA menu.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PayTo {
    Paybill(String),
    Till(String),
}

/// A payment that was stored, and what its provider said at once.
#[derive(Clone, Debug, Serialize)]
pub struct Started {
    pub payment_request_id: PaymentId,
    pub status: PaymentStatus,
    /// The page on which the customer pays.
    #[serde(skip)]
    pub page: Option<String>,
}

impl PaymentGetC2bInstructions {
    /// Runs the tool for the amount to which the customer said yes.
    pub async fn begin(
        &self,
        context: &ToolContext<'_>,
        confirmed: Option<Money>,
    ) -> Result<C2bInstructions, CallError> {
        let sale = find_sale(context, &self.order_id).await?;
        let amount = confirmed.unwrap_or(sale.totals.total);
        let started = context.payments.start(context, &sale.id, PaymentMethod::MpesaC2b, None, amount).await?;
        let offers = context.payments.offers(context.tenant, context.has_number()).await?;
        let account_reference = (!offers.is_till).then(|| sale.id.to_string());
        let pay_to = if offers.is_till { PayTo::Till(offers.pay_to) } else { PayTo::Paybill(offers.pay_to) };
        Ok(C2bInstructions { pay_to, account_reference, amount, started })
    }
}

impl Tool for PaymentGetC2bInstructions {
    const NAME: &'static str = "payment_get_c2b_instructions";
    type Output = C2bInstructions;

    async fn run(&self, context: &ToolContext<'_>) -> Result<C2bInstructions, CallError> {
        self.begin(context, None).await
    }
}

/// Asks for the M-PESA PIN on the customer's own phone.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaymentInitiateStkPush {
    pub order_id: String,
    /// Only the number of the conversation.
    pub phone_e164: String,
    /// The shillings to which the customer said yes.
    pub confirmed_amount: i64,
}

impl Tool for PaymentInitiateStkPush {
    const NAME: &'static str = "payment_initiate_stk_push";
    type Output = Started;

    async fn run(&self, context: &ToolContext<'_>) -> Result<Started, CallError> {
        let phone: E164 = self.phone_e164.parse().map_err(|_| CallError::refused("invalid_phone"))?;
        if context.phone != Some(&phone) {
            return Err(CallError::refused("not_the_conversations_number"));
        }
        let sale = find_sale(context, &self.order_id).await?;
        let amount = confirmed(self.confirmed_amount)?;
        context.payments.start(context, &sale.id, PaymentMethod::MpesaStk, Some(&phone), amount).await
    }
}

/// Opens a page on which the customer pays by card.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaymentCreatePesapalCheckout {
    pub order_id: String,
    pub confirmed_amount: i64,
}

#[derive(Debug, Serialize)]
pub struct Checkout {
    pub payment_request_id: PaymentId,
    /// `None` if the order was refused, and at the sandbox, which has no page.
    pub redirect_url: Option<String>,
    #[serde(skip)]
    pub started: Started,
}

impl Tool for PaymentCreatePesapalCheckout {
    const NAME: &'static str = "payment_create_pesapal_checkout";
    type Output = Checkout;

    async fn run(&self, context: &ToolContext<'_>) -> Result<Checkout, CallError> {
        let sale = find_sale(context, &self.order_id).await?;
        let amount = confirmed(self.confirmed_amount)?;
        let started = context.payments.start(context, &sale.id, PaymentMethod::Pesapal, context.phone, amount).await?;
        let redirect_url = started.page.clone();
        Ok(Checkout { payment_request_id: started.payment_request_id, redirect_url, started })
    }
}

fn confirmed(shillings: i64) -> Result<Money, CallError> {
    let amount = Money::from_whole(shillings, CATALOG_CURRENCY).filter(|amount| amount.minor > 0);
    amount.ok_or_else(|| CallError::refused("amount_out_of_range"))
}
