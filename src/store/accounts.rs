//! Telecom accounts: plans, subscriptions and invoices.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LockType};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::entities::{audit, invoices, plans, subscriptions};
use super::{Result, TenantStore, unreadable};
use crate::domain::commerce::{Currency, Money};
use crate::domain::telecom::{Account, Invoice, InvoiceNumber, Plan, Subscription, SubscriptionStatus};
use crate::domain::{Conversation, TenantId};

/// The number of invoices in an [`Account`].
const INVOICES_LISTED: u64 = 3;

impl TenantStore<'_> {
    /// Returns the account with this `user_id`, exactly as written: its subscription, last three invoices and refund cases.
    pub async fn find_account(&self, user_id: &str) -> Result<Option<Account>> {
        let read = &self.store.read;
        let found = subscriptions::Entity::find_by_id((self.tenant.to_string(), user_id.to_owned())).one(read).await?;
        let Some(row) = found else { return Ok(None) };
        let plan = plans::Entity::find_by_id((self.tenant.to_string(), row.plan_code.clone())).one(read).await?;
        let subscription = read_subscription(row, plan)?;
        let invoices = self
            .rows::<invoices::Entity>()
            .filter(invoices::Column::UserId.eq(user_id))
            .order_by_desc(invoices::Column::IssuedOn)
            .order_by_desc(invoices::Column::Number)
            .limit(INVOICES_LISTED)
            .all(read)
            .await?;
        let cases = self.list_refund_cases_of(user_id).await?;
        let invoices = invoices.into_iter().map(read_invoice).collect::<Result<_>>()?;
        Ok(Some(Account { subscription, invoices, cases }))
    }

    /// Returns the shop's plans, the cheapest first.
    pub async fn list_plans(&self) -> Result<Vec<Plan>> {
        let plans = self.rows::<plans::Entity>().order_by_asc(plans::Column::PriceMonthly);
        Ok(plans.all(&self.store.read).await?.into_iter().map(read_plan).collect())
    }

    /// Returns the `user_id` of the account that the conversation is about: the one that the shop named, else the one that the customer
    /// proved last.
    pub async fn find_account_of(&self, conversation: &Conversation) -> Result<Option<String>> {
        if let Some(user_id) = &conversation.user_id {
            return Ok(Some(user_id.clone()));
        }
        let proved = self
            .rows::<audit::Entity>()
            .filter(audit::Column::ConversationId.eq(conversation.id.0))
            .filter(audit::Column::UserId.is_not_null())
            .order_by_desc(audit::Column::Id)
            .one(&self.store.read)
            .await?;
        Ok(proved.and_then(|row| row.user_id))
    }

    /// Returns the customer's invoice that this number means ([`InvoiceNumber::is_meant_by`]): the one with exactly this number, else
    /// the only one.
    pub async fn find_invoice_of(&self, user_id: &str, named: &InvoiceNumber) -> Result<Option<Invoice>> {
        self.invoice_of(&self.store.read, user_id, named).await
    }

    pub(super) async fn invoice_of(
        &self,
        connection: &impl ConnectionTrait,
        user_id: &str,
        named: &InvoiceNumber,
    ) -> Result<Option<Invoice>> {
        let of_user =
            self.rows::<invoices::Entity>().filter(invoices::Column::UserId.eq(user_id)).all(connection).await?;
        let meant = of_user.into_iter().map(read_invoice).filter(|invoice| match invoice {
            Ok(invoice) => invoice.number.is_meant_by(named),
            Err(_) => true,
        });
        let mut meant: Vec<Invoice> = meant.collect::<Result<_>>()?;
        let exact = meant.iter().position(|invoice| invoice.number == *named);
        Ok(match (exact, meant.len()) {
            (Some(at), _) => Some(meant.swap_remove(at)),
            (None, 1) => meant.pop(),
            (None, _) => None,
        })
    }

    /// Returns the `user_id` of the account with this id. Case does not count, unless two ids differ only in it.
    pub(super) async fn user_id_like(
        &self,
        connection: &impl ConnectionTrait,
        claimed: &str,
    ) -> Result<Option<String>> {
        let user_id = Func::lower(Expr::col(subscriptions::Column::UserId));
        let rows = self.rows::<subscriptions::Entity>().filter(Expr::expr(user_id).eq(claimed.to_ascii_lowercase()));
        let mut ids: Vec<String> = rows.all(connection).await?.into_iter().map(|row| row.user_id).collect();
        let exact = ids.iter().position(|id| id == claimed);
        Ok(exact.map(|at| ids.swap_remove(at)).or_else(|| ids.pop()))
    }
}

/// Returns the invoice and locks it until the transaction ends. Every change of its cases takes this lock first.
pub(super) async fn lock_invoice(
    transaction: &impl ConnectionTrait,
    tenant: &TenantId,
    number: &InvoiceNumber,
) -> Result<Option<Invoice>> {
    let found = invoices::Entity::find_by_id((tenant.to_string(), number.to_string()));
    found.lock(LockType::Update).one(transaction).await?.map(read_invoice).transpose()
}

pub(super) fn plan_row(tenant: &TenantId, plan: &Plan) -> plans::ActiveModel {
    plans::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        code: Set(plan.code.clone()),
        name: Set(plan.name.clone()),
        price_monthly: Set(plan.price_monthly.minor),
    }
}

pub(super) fn subscription_row(tenant: &TenantId, subscription: &Subscription) -> subscriptions::ActiveModel {
    subscriptions::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        user_id: Set(subscription.user_id.clone()),
        plan_code: Set(subscription.plan.code.clone()),
        status: Set(subscription.status.as_str().to_owned()),
        start_date: Set(subscription.start_date),
    }
}

pub(super) fn invoice_row(tenant: &TenantId, invoice: &Invoice) -> invoices::ActiveModel {
    invoices::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        number: Set(invoice.number.to_string()),
        user_id: Set(Some(invoice.user_id.clone())),
        amount: Set(invoice.amount.minor),
        issued_on: Set(invoice.issued_on),
    }
}

fn read_plan(row: plans::Model) -> Plan {
    Plan { code: row.code, name: row.name, price_monthly: grosze(row.price_monthly) }
}

fn read_subscription(row: subscriptions::Model, plan: Option<plans::Model>) -> Result<Subscription> {
    let unreadable = |reason| unreadable("subscriptions", reason);
    Ok(Subscription {
        user_id: row.user_id,
        plan: plan.map(read_plan).ok_or_else(|| unreadable("plan_code"))?,
        status: SubscriptionStatus::parse(&row.status).ok_or_else(|| unreadable("status"))?,
        start_date: row.start_date,
    })
}

fn read_invoice(row: invoices::Model) -> Result<Invoice> {
    Ok(Invoice {
        number: row.number.parse().map_err(|error| unreadable("invoices", error))?,
        user_id: row.user_id.unwrap_or_default(),
        amount: grosze(row.amount),
        issued_on: row.issued_on,
    })
}

/// Returns the amount in a column.
pub(super) fn grosze(minor: i64) -> Money {
    Money::new(minor, Currency::Pln)
}
