//! The orders of the commerce desk.
//!
//! A draft holds its prices and reserves its goods until `held_until`. Every change of an order runs in one transaction that writes,
//! with its goods locked, so that two customers cannot reserve the same piece.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{ExprTrait, LockType, OnConflict, Query};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

use super::catalog::read_item;
use super::entities::{TenantEntity, catalog_items, offers, payment_requests, sales};
use super::offers::read_offer;
use super::transaction::Transaction;
use super::{Result, TenantStore, unreadable};
use crate::domain::commerce::payment::PaymentStatus;
use crate::domain::commerce::sale::{CannotOrder, CouponRefused, PRICE_HOLD, SaleLine, SaleStatus, Totals, price};
use crate::domain::commerce::{CartLine, CatalogItem, ItemId, Money, Sale, SaleId};
use crate::domain::{ConversationId, ShopperId, TenantId};

/// Orders that a customer is shown.
const LISTED: u64 = 5;

/// Whose order it is.
#[derive(Clone, Copy, Debug)]
pub struct SaleOwner {
    pub shopper: ShopperId,
    pub conversation: ConversationId,
}

/// The result of [`TenantStore::place_sale`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placing {
    Done(Box<Sale>),
    Refused(CannotOrder),
    /// The order that was to change is being paid, or is paid.
    Settled,
}

impl TenantStore<'_> {
    /// Prices a cart and reserves its goods, as a new order or in place of the customer's unpaid one. A coupon of the unpaid one
    /// stays if it still counts.
    pub async fn place_sale(
        &self,
        owner: SaleOwner,
        cart: &[CartLine],
        instead_of: Option<&SaleId>,
        now: DateTime<Utc>,
    ) -> Result<Placing> {
        let transaction = self.store.begin_fenced().await?;
        let before = match instead_of {
            Some(id) => lock_sale(&transaction, self.tenant, id).await?.filter(|sale| sale.0 == owner.shopper),
            None => None,
        };
        let before = before.map(|(_, sale)| sale);
        if let Some(sale) = &before
            && (sale.status != SaleStatus::Draft || has_open_payment(&transaction, self.tenant, &sale.id).await?)
        {
            return Ok(Placing::Settled);
        }
        let except = before.as_ref().map(|sale| &sale.id);
        let (goods, priced) = price_goods(&transaction, self.tenant, cart, except, now).await?;
        let (lines, subtotal) = match priced {
            Ok(priced) => priced,
            Err(refused) => return Ok(Placing::Refused(refused)),
        };
        let mut coupon = before.as_ref().and_then(|sale| sale.coupon.clone());
        let discount = match &coupon {
            Some(code) => discount_of(&transaction, self.tenant, code, &goods, &lines, now).await?.ok(),
            None => None,
        };
        coupon = coupon.filter(|_| discount.is_some());
        let Ok(totals) = Totals::new(subtotal, discount.unwrap_or(Money::zero(subtotal.currency))) else {
            return Ok(Placing::Refused(CannotOrder::Empty));
        };
        let id = match before {
            Some(sale) => sale.id,
            None => free_id(&transaction, self.tenant).await?,
        };
        let conversation = Some(owner.conversation);
        let held_until = now + PRICE_HOLD;
        let sale =
            Sale { id, status: SaleStatus::Draft, lines, totals, coupon, held_until, conversation, updated_at: now };
        write_sale(&transaction, self.tenant, owner.shopper, &sale, now).await?;
        transaction.commit().await?;
        Ok(Placing::Done(Box::new(sale)))
    }

    /// Gives up the customer's unpaid order, so that its goods are free again. An order that is being paid stays.
    pub async fn cancel_sale(&self, owner: SaleOwner, id: &SaleId, now: DateTime<Utc>) -> Result<bool> {
        let transaction = self.store.begin_fenced().await?;
        let found = lock_sale(&transaction, self.tenant, id).await?.filter(|(shopper, _)| *shopper == owner.shopper);
        let Some((_, sale)) = found else { return Ok(false) };
        if sale.status != SaleStatus::Draft || has_open_payment(&transaction, self.tenant, id).await? {
            return Ok(false);
        }
        let sale = Sale { status: SaleStatus::Cancelled, held_until: now, updated_at: now, ..sale };
        write_sale(&transaction, self.tenant, owner.shopper, &sale, now).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Counts a coupon on the customer's unpaid order.
    pub async fn apply_coupon(
        &self,
        owner: SaleOwner,
        id: &SaleId,
        code: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<std::result::Result<Sale, CouponRefused>>> {
        let transaction = self.store.begin_fenced().await?;
        let found = lock_sale(&transaction, self.tenant, id).await?.filter(|(shopper, _)| *shopper == owner.shopper);
        let Some((_, sale)) = found.filter(|(_, sale)| sale.status == SaleStatus::Draft) else { return Ok(None) };
        if has_open_payment(&transaction, self.tenant, id).await? {
            return Ok(None);
        }
        let goods = lock_goods(&transaction, self.tenant, &sale.cart()).await?;
        let discount = match discount_of(&transaction, self.tenant, code, &goods, &sale.lines, now).await? {
            Ok(discount) => discount,
            Err(refused) => return Ok(Some(Err(refused))),
        };
        let Ok(totals) = Totals::new(sale.totals.subtotal, discount) else { return Ok(None) };
        let sale = Sale { totals, coupon: Some(code.to_ascii_uppercase()), updated_at: now, ..sale };
        write_sale(&transaction, self.tenant, owner.shopper, &sale, now).await?;
        transaction.commit().await?;
        Ok(Some(Ok(sale)))
    }

    /// Returns the customer's order.
    pub async fn find_sale(&self, shopper: ShopperId, id: &SaleId) -> Result<Option<Sale>> {
        let own = sales::Column::SaleId.eq(id.as_str()).and(sales::Column::ShopperId.eq(shopper.0));
        self.rows::<sales::Entity>().filter(own).one(&self.store.read).await?.map(read_sale).transpose()
    }

    /// Returns the order with this number, of any customer.
    pub async fn find_any_sale(&self, id: &SaleId) -> Result<Option<Sale>> {
        let row = self.rows::<sales::Entity>().filter(sales::Column::SaleId.eq(id.as_str()));
        row.one(&self.store.read).await?.map(read_sale).transpose()
    }

    /// Lists the customer's last orders that were not given up, newest first.
    pub async fn list_sales(&self, shopper: ShopperId) -> Result<Vec<Sale>> {
        let own = sales::Column::ShopperId.eq(shopper.0);
        let rows = self.rows::<sales::Entity>().filter(own);
        let rows = rows.filter(sales::Column::Status.ne(SaleStatus::Cancelled.as_str()));
        let rows = rows.order_by_desc(sales::Column::UpdatedAt).limit(LISTED).all(&self.store.read).await?;
        rows.into_iter().map(read_sale).collect()
    }

    /// Lists the numbers of the customer's orders that were given up.
    pub async fn list_cancelled_sales(&self, shopper: ShopperId) -> Result<Vec<SaleId>> {
        let status = sales::Column::Status.eq(SaleStatus::Cancelled.as_str());
        let rows = self.rows::<sales::Entity>().filter(sales::Column::ShopperId.eq(shopper.0)).filter(status);
        let rows = rows.all(&self.store.read).await?;
        rows.into_iter().map(|row| read_sale(row).map(|sale| sale.id)).collect()
    }
}

/// Returns the order with its customer, and locks it.
pub(super) async fn lock_sale(
    transaction: &Transaction,
    tenant: &TenantId,
    id: &SaleId,
) -> Result<Option<(ShopperId, Sale)>> {
    let row = sales::Entity::of(tenant).filter(sales::Column::SaleId.eq(id.as_str())).lock(LockType::Update);
    row.one(transaction).await?.map(|row| Ok((ShopperId(row.shopper_id), read_sale(row)?))).transpose()
}

/// Writes an order. `created_at` counts for a new one.
pub(super) async fn write_sale(
    transaction: &Transaction,
    tenant: &TenantId,
    shopper: ShopperId,
    sale: &Sale,
    created_at: DateTime<Utc>,
) -> Result<()> {
    use sales::Column as C;
    let row = sales::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        sale_id: Set(sale.id.to_string()),
        shopper_id: Set(shopper.0),
        conversation_id: Set(sale.conversation.map(|id| id.0)),
        status: Set(sale.status.as_str().to_owned()),
        lines: Set(json!(sale.lines)),
        totals: Set(json!(sale.totals)),
        coupon: Set(sale.coupon.clone()),
        held_until: Set(sale.held_until),
        created_at: Set(created_at),
        updated_at: Set(sale.updated_at),
    };
    let mut replace = OnConflict::columns([C::TenantId, C::SaleId]);
    replace.update_columns([C::ConversationId, C::Status, C::Lines, C::Totals, C::Coupon, C::HeldUntil, C::UpdatedAt]);
    sales::Entity::insert(row).on_conflict(replace).exec_without_returning(transaction).await?;
    Ok(())
}

/// Whether the goods of an unpaid order can still be sold, next to the pieces that other drafts hold. Locks the goods.
pub(super) async fn can_be_sold(
    transaction: &Transaction,
    tenant: &TenantId,
    sale: &Sale,
    now: DateTime<Utc>,
) -> Result<bool> {
    Ok(price_goods(transaction, tenant, &sale.cart(), Some(&sale.id), now).await?.1.is_ok())
}

/// Takes the goods of a paid order out of stock. Returns whether all of its pieces were there.
pub(super) async fn take_stock(transaction: &Transaction, tenant: &TenantId, sale: &Sale) -> Result<bool> {
    let cart = sale.cart();
    let goods = lock_goods(transaction, tenant, &cart).await?;
    let mut is_complete = cart.iter().all(|line| goods.contains_key(&line.item));
    for item in goods.values() {
        let sold: u32 = cart.iter().filter(|line| line.item == item.id).map(|line| line.quantity).sum();
        is_complete &= sold <= item.stock;
        let left = item.stock.saturating_sub(sold);
        let row = catalog_items::ActiveModel { stock: Set(super::to_db(left)), ..Default::default() };
        let update = catalog_items::Entity::update_of(tenant).set(row);
        update.filter(catalog_items::Column::ItemId.eq(item.id.as_str())).exec(transaction).await?;
    }
    Ok(is_complete)
}

type Goods = BTreeMap<ItemId, CatalogItem>;
type Priced = std::result::Result<(Vec<SaleLine>, Money), CannotOrder>;

/// Prices a cart by the goods that other drafts than `except` leave, and locks the goods.
async fn price_goods(
    transaction: &Transaction,
    tenant: &TenantId,
    cart: &[CartLine],
    except: Option<&SaleId>,
    now: DateTime<Utc>,
) -> Result<(Goods, Priced)> {
    let goods = lock_goods(transaction, tenant, cart).await?;
    let reserved = reserved(transaction, tenant, except, now).await?;
    let available = |id: &ItemId| {
        let item = goods.get(id)?;
        Some((item, item.stock.saturating_sub(reserved.get(id).copied().unwrap_or(0))))
    };
    let priced = price(cart, available);
    Ok((goods, priced))
}

/// Returns the goods of a cart and locks them, sorted to prevent deadlocks.
async fn lock_goods(transaction: &Transaction, tenant: &TenantId, cart: &[CartLine]) -> Result<Goods> {
    let ids: BTreeSet<&str> = cart.iter().map(|line| line.item.as_str()).collect();
    let rows = catalog_items::Entity::of(tenant).filter(catalog_items::Column::ItemId.is_in(ids));
    let rows = rows.order_by_asc(catalog_items::Column::ItemId).lock(LockType::Update).all(transaction).await?;
    rows.into_iter().map(|row| read_item(row).map(|item| (item.id.clone(), item))).collect()
}

/// Counts the pieces of other drafts that are held, or of which a payment is open.
async fn reserved(
    transaction: &Transaction,
    tenant: &TenantId,
    except: Option<&SaleId>,
    now: DateTime<Utc>,
) -> Result<BTreeMap<ItemId, u32>> {
    use payment_requests::Column as P;
    let open = PaymentStatus::ALL.iter().filter(|status| status.is_open()).map(|status| status.as_str());
    let paid_now = Query::select()
        .column(P::SaleId)
        .from(payment_requests::Entity)
        .and_where(P::TenantId.eq(tenant.as_str()))
        .and_where(P::Status.is_in(open))
        .to_owned();
    let held = sales::Column::HeldUntil.gt(now).or(sales::Column::SaleId.in_subquery(paid_now));
    let held = held.and(sales::Column::Status.eq(SaleStatus::Draft.as_str()));
    let rows = sales::Entity::of(tenant).filter(held).all(transaction).await?;
    let mut reserved = BTreeMap::new();
    for sale in rows.into_iter().map(read_sale) {
        let sale = sale?;
        for SaleLine { line, .. } in sale.lines.iter().filter(|_| Some(&sale.id) != except) {
            *reserved.entry(line.item.clone()).or_default() += line.quantity;
        }
    }
    Ok(reserved)
}

/// Returns the discount of a code on these goods.
async fn discount_of(
    transaction: &Transaction,
    tenant: &TenantId,
    code: &str,
    goods: &BTreeMap<ItemId, CatalogItem>,
    lines: &[SaleLine],
    now: DateTime<Utc>,
) -> Result<std::result::Result<Money, CouponRefused>> {
    let row = offers::Entity::of(tenant).filter(offers::Column::Code.eq(code.to_ascii_uppercase()));
    let Some(row) = row.one(transaction).await? else { return Ok(Err(CouponRefused::Unknown)) };
    let offer = read_offer(row)?;
    let of = |line: &SaleLine| {
        let category = goods.get(&line.line.item).map_or("", |item| item.category.as_str());
        Some((category, line.price.times(line.line.quantity).ok()?))
    };
    let priced: Vec<(&str, Money)> = lines.iter().filter_map(of).collect();
    Ok(offer.discount_on(&priced, now))
}

async fn has_open_payment(connection: &impl ConnectionTrait, tenant: &TenantId, id: &SaleId) -> Result<bool> {
    let rows = payment_requests::Entity::of(tenant).filter(payment_requests::Column::SaleId.eq(id.as_str()));
    let rows = rows.all(connection).await?;
    Ok(rows.iter().filter_map(|row| PaymentStatus::parse(&row.status)).any(PaymentStatus::is_open))
}

async fn free_id(transaction: &Transaction, tenant: &TenantId) -> Result<SaleId> {
    loop {
        let id = SaleId::new(rand::random());
        let taken = sales::Entity::of(tenant).filter(sales::Column::SaleId.eq(id.as_str())).one(transaction).await?;
        if taken.is_none() {
            return Ok(id);
        }
    }
}

fn read_sale(row: sales::Model) -> Result<Sale> {
    Ok(Sale {
        id: row.sale_id.parse().map_err(|error| unreadable("sales", error))?,
        status: SaleStatus::parse(&row.status).ok_or_else(|| unreadable("sales", "status"))?,
        lines: serde_json::from_value(row.lines).map_err(|error| unreadable("sales", error))?,
        totals: serde_json::from_value(row.totals).map_err(|error| unreadable("sales", error))?,
        coupon: row.coupon,
        held_until: row.held_until,
        conversation: row.conversation_id.map(ConversationId),
        updated_at: row.updated_at,
    })
}
