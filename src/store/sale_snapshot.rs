//! Snapshots of a shop with one customer's orders, to play a turn of the commerce desk again on another store.
//!
//! A snapshot holds the customer's rows as of the question: later orders and payments are left out, and those that were settled
//! later are open. The shop's settings, offers and goods are stored as of the snapshot, its credentials not at all.

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};

use super::entities::{catalog_items, offers, payment_requests, sales, shoppers, tenants};
use super::returns::snapshot::insert;
use super::shoppers::ShopperKey;
use super::{Result, Store, TenantStore};
use crate::domain::commerce::payment::PaymentStatus;
use crate::domain::commerce::sale::{PRICE_HOLD, SaleStatus};
use crate::domain::text::words;

/// The most goods and words of a snapshot.
const GOODS: u64 = 500;
const WORDS: usize = 60;
/// Shorter words are in most goods.
const SHORTEST: usize = 3;

/// Rows of one shop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SaleSnapshot {
    tenants: Vec<tenants::Model>,
    offers: Vec<offers::Model>,
    items: Vec<catalog_items::Model>,
    shoppers: Vec<shoppers::Model>,
    sales: Vec<sales::Model>,
    payments: Vec<payment_requests::Model>,
}

impl TenantStore<'_> {
    /// Copies what a turn of this customer depends on, as of the question. `said`: the texts by which its goods are found.
    pub async fn snapshot_sales(&self, who: &ShopperKey, said: &str, at: DateTime<Utc>) -> Result<SaleSnapshot> {
        let read = &self.store.read;
        let shopper = self.find_shopper(who).await?.map(|shopper| shopper.id.0);
        let shoppers = self.rows::<shoppers::Entity>().filter(shoppers::Column::Id.is_in(shopper)).all(read).await?;
        let of_customer = sales::Column::ShopperId.is_in(shopper);
        let sales = self.rows::<sales::Entity>().filter(of_customer).filter(sales::Column::CreatedAt.lt(at));
        let sales = sales.all(read).await?;
        let ids = sales.iter().map(|sale| sale.sale_id.clone());
        let of_sales = payment_requests::Column::SaleId.is_in(ids);
        let payments = self.rows::<payment_requests::Entity>().filter(of_sales);
        let payments = payments.filter(payment_requests::Column::CreatedAt.lt(at)).all(read).await?;
        Ok(SaleSnapshot {
            tenants: self.rows::<tenants::Entity>().all(read).await?,
            offers: self.rows::<offers::Entity>().all(read).await?,
            items: self.goods_of(said).await?,
            shoppers,
            sales: sales.into_iter().map(|sale| sale_as_of(sale, at)).collect(),
            payments: payments.into_iter().map(|payment| payment_as_of(payment, at)).collect(),
        })
    }

    /// Returns the goods with words of the texts first, then others, up to the limit.
    async fn goods_of(&self, said: &str) -> Result<Vec<catalog_items::Model>> {
        use catalog_items::Column as C;
        let said = words(said).into_iter().filter(|word| word.len() >= SHORTEST).take(WORDS);
        let any = said.fold(Condition::any(), |any, word| any.add(C::Searched.contains(word)));
        let rows = || self.rows::<catalog_items::Entity>().order_by_asc(C::ItemId).limit(GOODS);
        let mut goods = rows().filter(any).all(&self.store.read).await?;
        for other in rows().all(&self.store.read).await? {
            if goods.len() as u64 == GOODS {
                break;
            }
            if goods.iter().all(|item| item.item_id != other.item_id) {
                goods.push(other);
            }
        }
        Ok(goods)
    }
}

/// Returns the order as of the question.
fn sale_as_of(sale: sales::Model, at: DateTime<Utc>) -> sales::Model {
    let status = if sale.updated_at < at { sale.status } else { SaleStatus::Draft.as_str().to_owned() };
    sales::Model { status, ..sale }
}

/// Returns the payment as of the question.
fn payment_as_of(payment: payment_requests::Model, at: DateTime<Utc>) -> payment_requests::Model {
    if payment.updated_at < at {
        return payment;
    }
    payment_requests::Model {
        status: PaymentStatus::Pending.as_str().to_owned(),
        receipts: serde_json::json!([]),
        ..payment
    }
}

impl Store {
    /// Inserts the rows under their own shop. Prices and offers that held when the question was asked hold from now on. Meant for an
    /// empty store: a row that exists is an error.
    pub async fn restore_sales(
        &self,
        snapshot: SaleSnapshot,
        asked_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let until = |end: DateTime<Utc>| if end > asked_at { end.max(now + PRICE_HOLD) } else { end };
        let held = snapshot.sales.into_iter().map(|sale| sales::Model { held_until: until(sale.held_until), ..sale });
        let offers = snapshot.offers.into_iter();
        let running = offers.map(|offer| offers::Model { ends_at: until(offer.ends_at), ..offer });
        let transaction = self.begin_fenced().await?;
        insert::<tenants::Entity>(&transaction, snapshot.tenants).await?;
        insert::<offers::Entity>(&transaction, running.collect()).await?;
        insert::<catalog_items::Entity>(&transaction, snapshot.items).await?;
        insert::<shoppers::Entity>(&transaction, snapshot.shoppers).await?;
        insert::<sales::Entity>(&transaction, held.collect()).await?;
        insert::<payment_requests::Entity>(&transaction, snapshot.payments).await?;
        transaction.commit().await
    }
}
