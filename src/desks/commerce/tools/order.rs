//! `order_create`, `offers_get_applicable`, `order_apply_coupon` and `order_get_status`.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallError, Tool, ToolContext};
use crate::domain::commerce::payment::PaymentStatus;
use crate::domain::commerce::sale::{CannotOrder, Choices, CouponRefused, Offer, SaleStatus, Totals};
use crate::domain::commerce::{CartLine, Sale, SaleId};
use crate::store::StoreError;
use crate::store::sales::Placing;

/// Makes an order of a cart, or changes the customer's unpaid one: prices hold and goods are reserved for 30 minutes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderCreate {
    pub items: Vec<OrderedItem>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderedItem {
    pub item_id: String,
    /// 1 to 99.
    pub qty: u32,
    #[serde(default)]
    pub variant_selection: Choices,
}

#[derive(Debug, Serialize)]
pub struct OrderCreated {
    pub order_id: SaleId,
    pub totals: Totals,
}

impl OrderCreate {
    /// Makes an order of a cart, and replaces an unpaid order.
    pub async fn place(
        context: &ToolContext<'_>,
        cart: &[CartLine],
        instead_of: Option<&SaleId>,
    ) -> Result<Placing, StoreError> {
        context.door().place_sale(context.owner(), cart, instead_of, context.now).await
    }
}

impl Tool for OrderCreate {
    const NAME: &'static str = "order_create";
    type Output = OrderCreated;

    async fn run(&self, context: &ToolContext<'_>) -> Result<OrderCreated, CallError> {
        let line = |item: &OrderedItem| {
            let id = item.item_id.parse().map_err(|_| CallError::refused("no_such_item"))?;
            Ok(CartLine { item: id, quantity: item.qty, choices: item.variant_selection.clone() })
        };
        let cart: Vec<CartLine> = self.items.iter().map(line).collect::<Result<_, CallError>>()?;
        match Self::place(context, &cart, None).await? {
            Placing::Done(sale) => Ok(OrderCreated { order_id: sale.id, totals: sale.totals }),
            refused => Err(CallError::refused(code_of(&refused).unwrap_or_default())),
        }
    }
}

/// Returns why a cart is no order.
pub fn code_of(placed: &Placing) -> Option<&'static str> {
    Some(match placed {
        Placing::Done(_) => return None,
        Placing::Refused(CannotOrder::Empty) => "empty_cart",
        Placing::Refused(CannotOrder::TooManyLines) => "too_many_lines",
        Placing::Refused(CannotOrder::Quantity(_)) => "quantity_out_of_range",
        Placing::Refused(CannotOrder::NoItem(_)) => "no_such_item",
        Placing::Refused(CannotOrder::Choice { .. }) => "variant_missing",
        Placing::Refused(CannotOrder::Stock { .. }) => "out_of_stock",
        Placing::Refused(CannotOrder::Amount(_)) => "amount_out_of_range",
        Placing::Settled => "order_settled",
    })
}

/// Returns the offers that hold for an order, or for goods.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OffersGetApplicable {
    pub order_id: Option<String>,
    pub item_ids: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
pub struct OffersFound {
    pub offers: Vec<Offer>,
}

impl Tool for OffersGetApplicable {
    const NAME: &'static str = "offers_get_applicable";
    type Output = OffersFound;

    async fn run(&self, context: &ToolContext<'_>) -> Result<OffersFound, CallError> {
        let door = context.door();
        let mut offers = door.list_offers(context.now).await?;
        let mut goods = Vec::new();
        let sale = match &self.order_id {
            Some(order) => Some(find_sale(context, order).await?),
            None => None,
        };
        let ordered = sale.iter().flat_map(|sale| &sale.lines);
        let mut wanted: Vec<_> = ordered.map(|line| (line.line.item.clone(), line.line.quantity)).collect();
        let named = self.item_ids.iter().flatten().filter_map(|id| id.parse().ok());
        wanted.extend(named.map(|id| (id, 1)));
        for (id, quantity) in &wanted {
            if let Some(item) = door.find_catalog_item(id).await?
                && let Ok(price) = item.price.times(*quantity)
            {
                goods.push((item.category, price));
            }
        }
        if !wanted.is_empty() {
            let goods: Vec<_> = goods.iter().map(|(category, price)| (category.as_str(), *price)).collect();
            offers.retain(|offer| offer.discount_on(&goods, context.now).is_ok());
        }
        // A coupon that counts already is no news.
        offers.retain(|offer| sale.as_ref().is_none_or(|sale| sale.coupon.as_ref() != Some(&offer.code)));
        Ok(OffersFound { offers })
    }
}

/// Counts a coupon on an order, or says why not.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderApplyCoupon {
    pub order_id: String,
    pub code: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CouponApplied {
    Totals(Box<Sale>),
    Reason(CouponRefused),
}

impl Tool for OrderApplyCoupon {
    const NAME: &'static str = "order_apply_coupon";
    type Output = CouponApplied;

    async fn run(&self, context: &ToolContext<'_>) -> Result<CouponApplied, CallError> {
        let id: SaleId = self.order_id.parse().map_err(|_| CallError::refused("no_such_order"))?;
        let applied = context.door().apply_coupon(context.owner(), &id, &self.code, context.now).await?;
        match applied.ok_or_else(|| CallError::refused("order_settled"))? {
            Ok(sale) => Ok(CouponApplied::Totals(Box::new(sale))),
            Err(reason) => Ok(CouponApplied::Reason(reason)),
        }
    }
}

/// Returns where one order stands, or the customer's last ones.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderGetStatus {
    pub order_id: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct OrdersFound {
    pub orders: Vec<OrderView>,
}

/// An order as the customer sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OrderView {
    pub order_id: SaleId,
    pub status: SaleStatus,
    /// Of the last payment; `None` before the first.
    pub payment_status: Option<PaymentStatus>,
    pub receipt: Option<String>,
    pub updated_at: DateTime<Utc>,
    #[serde(skip)]
    pub sale: Sale,
}

impl Tool for OrderGetStatus {
    const NAME: &'static str = "order_get_status";
    type Output = OrdersFound;

    async fn run(&self, context: &ToolContext<'_>) -> Result<OrdersFound, CallError> {
        let door = context.door();
        let sales = match &self.order_id {
            Some(order) => vec![find_sale(context, order).await?],
            None => door.list_sales(context.owner().shopper).await?,
        };
        let mut orders = Vec::new();
        for sale in sales {
            let payments = door.list_payments(&sale.id).await?;
            let paid = payments.iter().find(|payment| payment.request.status == PaymentStatus::Paid);
            let last = paid.or(payments.last());
            orders.push(OrderView {
                order_id: sale.id.clone(),
                status: sale.status,
                payment_status: last.map(|payment| payment.request.status),
                receipt: last.and_then(|payment| payment.shown_receipt().map(str::to_owned)),
                updated_at: sale.updated_at,
                sale,
            });
        }
        Ok(OrdersFound { orders })
    }
}

/// Returns the customer's own order. Another customer's does not exist.
pub(super) async fn find_sale(context: &ToolContext<'_>, order: &str) -> Result<Sale, CallError> {
    let id: SaleId = order.parse().map_err(|_| CallError::refused("no_such_order"))?;
    let found = context.door().find_sale(context.owner().shopper, &id).await?;
    found.ok_or_else(|| CallError::refused("no_such_order"))
}
