//! Lending rows of a shop to another store, as they were at a moment: what was asked then is asked there again, and whatever
//! follows from it happens to copies.
//!
//! What was made later is left out, and what the record tells of later changes is taken back (`past`). What nothing tells of,
//! such as an order's address that a list has changed, is lent as it is now; so are the shop's policies, which are its rules
//! and no customer's.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder,
    QuerySelect,
};
use uuid::Uuid;

use crate::domain::commerce::OrderNumber;
use crate::domain::identity::Email;
use crate::domain::identity::attempts::AttemptSubject;
use crate::domain::{ConversationId, TenantId};
use crate::store::entities::{
    audit, customers, labels, mails, order_items, order_misses, orders, return_policies, rma_items, rmas, tickets,
};
use crate::store::jobs::{NewJob, enqueue};
use crate::store::mails::{MailId, MailStatus};
use crate::store::orders::ORDERS_LISTED;
use crate::store::{Store, StoreError, TenantStore};

mod past;

/// So many rows are written by one statement: databases take some ten thousands of values at once.
const ROWS_AT_ONCE: usize = 500;

/// What a conversation is about, as somebody asked in it at a moment.
#[derive(Clone, Debug)]
pub struct Asked {
    pub conversation: ConversationId,
    pub at: DateTime<Utc>,
    /// The customer whom the shop's own system named.
    pub user_id: Option<String>,
    /// The orders that it speaks of, whether or not the shop has them.
    pub orders: Vec<OrderNumber>,
    /// The addresses that it speaks of.
    pub emails: Vec<Email>,
}

/// Rows of one shop, as they were at a moment.
#[derive(Clone, Debug, Default)]
pub struct Loan {
    customers: Vec<customers::Model>,
    orders: Vec<orders::Model>,
    items: Vec<order_items::Model>,
    policies: Vec<return_policies::Model>,
    rmas: Vec<rmas::Model>,
    rma_items: Vec<rma_items::Model>,
    labels: Vec<labels::Model>,
    tickets: Vec<tickets::Model>,
    mails: Vec<mails::Model>,
    misses: Vec<order_misses::Model>,
}

impl TenantStore<'_> {
    /// What the desk could see when that was asked: the orders that the conversation speaks of and those that were looked up
    /// in it, the newest orders of their customers, and what had been asked for of all these. Changes nothing.
    pub async fn lend(&self, asked: &Asked) -> Result<Loan, StoreError> {
        let mut named: BTreeSet<String> = asked.orders.iter().map(ToString::to_string).collect();
        named.extend(self.looked_up_in(asked.conversation).await?);
        let mut loan = self.lend_orders(asked, &named).await?;
        self.lend_returns(asked, &mut loan).await?;
        loan.policies = return_policies::Entity::find()
            .filter(return_policies::Column::TenantId.eq(self.tenant.as_str()))
            .all(&self.store.read)
            .await?;
        loan.misses = self.lend_misses(asked, named).await?;
        // Read last: whatever changes meanwhile stands in it.
        let later = self.changes_since(asked.at, &loan).await?;
        past::take_back(&mut loan, &later);
        Ok(loan)
    }

    /// The orders that were looked up in the conversation: those too whose numbers only a model has read.
    async fn looked_up_in(&self, conversation: ConversationId) -> Result<Vec<String>, StoreError> {
        let numbers = audit::Entity::find()
            .select_only()
            .column(audit::Column::OrderNumber)
            .distinct()
            .filter(audit::Column::TenantId.eq(self.tenant.as_str()))
            .filter(audit::Column::ConversationId.eq(conversation.0))
            .filter(audit::Column::OrderNumber.is_not_null());
        Ok(numbers.into_tuple().all(&self.store.read).await?)
    }

    /// The named orders, and the newest ones of each customer and of each address, which a desk may list.
    async fn lend_orders(&self, asked: &Asked, named: &BTreeSet<String>) -> Result<Loan, StoreError> {
        // A day that a list names stands for its noon, which may lie behind the question.
        let before = asked.at + TimeDelta::days(1);
        let of_shop = || orders::Entity::find().filter(orders::Column::TenantId.eq(self.tenant.as_str()));
        let newest = |which: sea_orm::sea_query::SimpleExpr| {
            let found = of_shop().filter(which).filter(orders::Column::OrderedAt.lt(before));
            found.order_by_desc(orders::Column::OrderedAt).order_by_desc(orders::Column::Number).limit(ORDERS_LISTED)
        };
        let read = &self.store.read;
        let is_named = orders::Column::Number.is_in(named.iter().map(String::as_str));
        let mut found = of_shop().filter(is_named).all(read).await?;
        for email in &asked.emails {
            found.extend(newest(orders::Column::Email.eq(email.as_str())).all(read).await?);
        }
        let mut buyers = Condition::any().add(customers::Column::Id.is_in(found.iter().map(|order| order.customer_id)));
        if let Some(user) = &asked.user_id {
            buyers = buyers.add(customers::Column::UserId.eq(user.as_str()));
        }
        let of_shop = customers::Entity::find().filter(customers::Column::TenantId.eq(self.tenant.as_str()));
        let buyers = of_shop.filter(buyers).all(read).await?;
        for buyer in &buyers {
            found.extend(newest(orders::Column::CustomerId.eq(buyer.id)).all(read).await?);
        }
        let orders: BTreeMap<String, orders::Model> =
            found.into_iter().map(|order| (order.number.clone(), order)).collect();
        let items = order_items::Entity::find()
            .filter(order_items::Column::TenantId.eq(self.tenant.as_str()))
            .filter(order_items::Column::OrderNumber.is_in(orders.keys().map(String::as_str)))
            .all(read)
            .await?;
        Ok(Loan { customers: buyers, orders: orders.into_values().collect(), items, ..Loan::default() })
    }

    /// What had been asked for of the orders and by their customers, with whatever belongs to it.
    async fn lend_returns(&self, asked: &Asked, loan: &mut Loan) -> Result<(), StoreError> {
        let (read, tenant) = (&self.store.read, self.tenant.as_str());
        let numbers = || loan.orders.iter().map(|order| order.number.as_str());
        let buyers = loan.customers.iter().map(|customer| customer.id);
        let of_order = rmas::Column::OrderNumber.is_in(numbers());
        loan.rmas = rmas::Entity::find()
            .filter(rmas::Column::TenantId.eq(tenant))
            .filter(Condition::any().add(of_order).add(rmas::Column::CustomerId.is_in(buyers)))
            .filter(rmas::Column::CreatedAt.lt(asked.at))
            .all(read)
            .await?;
        let ids: Vec<Uuid> = loan.rmas.iter().map(|rma| rma.id).collect();
        let rma_numbers = || loan.rmas.iter().map(|rma| rma.number.as_str());
        loan.rma_items =
            rma_items::Entity::find().filter(rma_items::Column::RmaId.is_in(ids.iter().copied())).all(read).await?;
        loan.labels = labels::Entity::find()
            .filter(labels::Column::RmaId.is_in(ids))
            .filter(labels::Column::CreatedAt.lt(asked.at))
            .all(read)
            .await?;
        let about = Condition::any()
            .add(tickets::Column::OrderNumber.is_in(numbers()))
            .add(tickets::Column::RmaNumber.is_in(rma_numbers()))
            .add(tickets::Column::ConversationId.eq(asked.conversation.0));
        loan.tickets = tickets::Entity::find()
            .filter(tickets::Column::TenantId.eq(tenant))
            .filter(about)
            .filter(tickets::Column::CreatedAt.lt(asked.at))
            .order_by_asc(tickets::Column::CreatedAt)
            .all(read)
            .await?;
        let about = Condition::any()
            .add(mails::Column::OrderNumber.is_in(numbers()))
            .add(mails::Column::RmaNumber.is_in(rma_numbers()));
        loan.mails = mails::Entity::find()
            .filter(mails::Column::TenantId.eq(tenant))
            .filter(about)
            .filter(mails::Column::CreatedAt.lt(asked.at))
            .all(read)
            .await?;
        for ticket in &mut loan.tickets {
            past::reopen(ticket, asked.at);
        }
        Ok(())
    }

    /// How often somebody had guessed whose order it is; a count that has changed since tells nothing of the one before.
    async fn lend_misses(
        &self,
        asked: &Asked,
        named: BTreeSet<String>,
    ) -> Result<Vec<order_misses::Model>, StoreError> {
        let of_orders = named.iter().filter_map(|number| number.parse().ok()).map(AttemptSubject::Order);
        let subjects =
            of_orders.chain([AttemptSubject::Conversation(asked.conversation)]).map(|subject| subject.name());
        let counts = order_misses::Entity::find()
            .filter(order_misses::Column::TenantId.eq(self.tenant.as_str()))
            .filter(order_misses::Column::Subject.is_in(subjects))
            .filter(order_misses::Column::LastAt.lt(asked.at));
        Ok(counts.all(&self.store.read).await?)
    }

    /// The record of what has happened to the lent orders since, oldest first.
    async fn changes_since(&self, at: DateTime<Utc>, loan: &Loan) -> Result<Vec<audit::Model>, StoreError> {
        let of_rmas = loan.rmas.iter().map(|rma| rma.order_number.as_str());
        let numbers: BTreeSet<&str> = loan.orders.iter().map(|order| order.number.as_str()).chain(of_rmas).collect();
        let changes = audit::Entity::find()
            .filter(audit::Column::TenantId.eq(self.tenant.as_str()))
            .filter(audit::Column::OrderNumber.is_in(numbers))
            .filter(audit::Column::At.gte(at))
            .order_by_asc(audit::Column::Id);
        Ok(changes.all(&self.store.read).await?)
    }
}

impl Store {
    /// Takes lent rows in; they stay their shop's. A mail that had not been sent is to be sent. Meant for a store that holds
    /// nothing else: a row that is there already is an error.
    pub async fn take_loan(&self, loan: Loan, now: DateTime<Utc>) -> Result<(), StoreError> {
        let transaction = self.begin().await?;
        self.check_fence(&transaction).await?;
        let queued = loan.mails.iter().filter(|mail| mail.status == MailStatus::Queued.as_str());
        let queued: Vec<(TenantId, MailId)> =
            queued.filter_map(|mail| Some((mail.tenant_id.parse().ok()?, MailId(mail.id)))).collect();
        let sending: Vec<NewJob<'_>> = queued.iter().map(|(tenant, mail)| NewJob::mail(tenant, *mail, now)).collect();
        insert::<customers::Entity>(&transaction, loan.customers).await?;
        insert::<orders::Entity>(&transaction, loan.orders).await?;
        insert::<order_items::Entity>(&transaction, loan.items).await?;
        insert::<return_policies::Entity>(&transaction, loan.policies).await?;
        insert::<rmas::Entity>(&transaction, loan.rmas).await?;
        insert::<rma_items::Entity>(&transaction, loan.rma_items).await?;
        insert::<labels::Entity>(&transaction, loan.labels).await?;
        insert::<tickets::Entity>(&transaction, loan.tickets).await?;
        insert::<mails::Entity>(&transaction, loan.mails).await?;
        insert::<order_misses::Entity>(&transaction, loan.misses).await?;
        enqueue(&transaction, &sending).await?;
        transaction.commit().await
    }
}

/// Writes whole rows, as they were read from wherever.
async fn insert<E>(connection: &impl ConnectionTrait, rows: Vec<E::Model>) -> Result<(), StoreError>
where
    E: EntityTrait,
    E::Model: IntoActiveModel<E::ActiveModel>,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
    for part in rows.chunks(ROWS_AT_ONCE) {
        let part = part.iter().cloned().map(IntoActiveModel::into_active_model);
        E::insert_many(part).exec_without_returning(connection).await?;
    }
    Ok(())
}
