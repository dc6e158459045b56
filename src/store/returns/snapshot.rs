//! Snapshots of the rows that a conversation's returns depend on, to play one of its turns again on another store.
//!
//! A snapshot holds the rows as of the question. Rows that were created later are left out, and statuses that changed
//! between the question and the snapshot are reset from the audit log. Everything else, such as an address that an
//! import has changed, is stored as of the snapshot.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder,
    QuerySelect,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::domain::commerce::{OrderNumber, OrderStatus};
use crate::domain::identity::Email;
use crate::domain::identity::attempts::AttemptSubject;
use crate::domain::{ConversationId, TenantId};
use crate::store::entities::{
    TenantEntity, audit, customers, labels, mails, order_items, order_misses, orders, rma_items, rmas, tickets,
};
use crate::store::jobs::{NewJob, enqueue};
use crate::store::mails::{MailId, MailStatus};
use crate::store::orders::ORDERS_LISTED;
use crate::store::{Result, Store, TenantStore};

/// Rows per INSERT statement; databases limit the values of one statement to some ten thousands.
const ROWS_AT_ONCE: usize = 500;

/// The question that a snapshot is for.
#[derive(Clone, Debug)]
pub struct Asked {
    pub conversation: ConversationId,
    pub at: DateTime<Utc>,
    /// The customer, as named by the shop's own system.
    pub user_id: Option<String>,
    /// Order numbers in the conversation, whether or not the shop has such orders.
    pub orders: Vec<OrderNumber>,
    /// E-mail addresses in the conversation.
    pub emails: Vec<Email>,
}

/// Rows of one shop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Snapshot {
    customers: Vec<customers::Model>,
    orders: Vec<orders::Model>,
    items: Vec<order_items::Model>,
    rmas: Vec<rmas::Model>,
    rma_items: Vec<rma_items::Model>,
    labels: Vec<labels::Model>,
    tickets: Vec<tickets::Model>,
    mails: Vec<mails::Model>,
    misses: Vec<order_misses::Model>,
}

impl TenantStore<'_> {
    /// Reads the orders that the conversation names or looked up, the newest orders of their customers, and the RMAs,
    /// tickets and mails about all of them.
    pub async fn snapshot(&self, asked: &Asked) -> Result<Snapshot> {
        let mut named: BTreeSet<String> = asked.orders.iter().map(ToString::to_string).collect();
        named.extend(self.looked_up_in(asked.conversation).await?);
        let mut snapshot = self.snapshot_orders(asked, &named).await?;
        self.snapshot_returns(asked, &mut snapshot).await?;
        snapshot.misses = self.snapshot_misses(asked, named).await?;
        // Read last, so that it includes every change to the rows above.
        let later = self.changes_since(asked.at, &snapshot).await?;
        snapshot.reset(asked.at, &later);
        Ok(snapshot)
    }

    /// Lists the orders that were looked up in the conversation, including numbers that only a model recognized.
    async fn looked_up_in(&self, conversation: ConversationId) -> Result<Vec<String>> {
        let numbers = self
            .rows::<audit::Entity>()
            .select_only()
            .column(audit::Column::OrderNumber)
            .distinct()
            .filter(audit::Column::ConversationId.eq(conversation.0))
            .filter(audit::Column::OrderNumber.is_not_null());
        Ok(numbers.into_tuple().all(&self.store.read).await?)
    }

    /// Reads the named orders, and the newest orders of each customer and e-mail address, which a desk may list.
    async fn snapshot_orders(&self, asked: &Asked, named: &BTreeSet<String>) -> Result<Snapshot> {
        // A list may give only the day of an order, which is stored as its noon: up to half a day after the question.
        let before = asked.at + TimeDelta::days(1);
        let of_shop = || self.rows::<orders::Entity>();
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
        let of_shop = self.rows::<customers::Entity>();
        let buyers = of_shop.filter(buyers).all(read).await?;
        for buyer in &buyers {
            found.extend(newest(orders::Column::CustomerId.eq(buyer.id)).all(read).await?);
        }
        let orders: BTreeMap<String, orders::Model> =
            found.into_iter().map(|order| (order.number.clone(), order)).collect();
        let items = self
            .rows::<order_items::Entity>()
            .filter(order_items::Column::OrderNumber.is_in(orders.keys().map(String::as_str)))
            .all(read)
            .await?;
        Ok(Snapshot { customers: buyers, orders: orders.into_values().collect(), items, ..Snapshot::default() })
    }

    /// Reads the RMAs, labels, tickets and mails about the orders and their customers.
    async fn snapshot_returns(&self, asked: &Asked, snapshot: &mut Snapshot) -> Result<()> {
        let (read, tenant) = (&self.store.read, self.tenant);
        let numbers = || snapshot.orders.iter().map(|order| order.number.as_str());
        let buyers = snapshot.customers.iter().map(|customer| customer.id);
        let of_order = rmas::Column::OrderNumber.is_in(numbers());
        snapshot.rmas = rmas::Entity::of(tenant)
            .filter(Condition::any().add(of_order).add(rmas::Column::CustomerId.is_in(buyers)))
            .filter(rmas::Column::CreatedAt.lt(asked.at))
            .all(read)
            .await?;
        let ids: Vec<Uuid> = snapshot.rmas.iter().map(|rma| rma.id).collect();
        let rma_numbers = || snapshot.rmas.iter().map(|rma| rma.number.as_str());
        snapshot.rma_items =
            rma_items::Entity::find().filter(rma_items::Column::RmaId.is_in(ids.iter().copied())).all(read).await?;
        snapshot.labels = labels::Entity::find()
            .filter(labels::Column::RmaId.is_in(ids))
            .filter(labels::Column::CreatedAt.lt(asked.at))
            .all(read)
            .await?;
        let about = Condition::any()
            .add(tickets::Column::OrderNumber.is_in(numbers()))
            .add(tickets::Column::RmaNumber.is_in(rma_numbers()))
            .add(tickets::Column::ConversationId.eq(asked.conversation.0));
        snapshot.tickets = tickets::Entity::of(tenant)
            .filter(about)
            .filter(tickets::Column::CreatedAt.lt(asked.at))
            .order_by_asc(tickets::Column::CreatedAt)
            .all(read)
            .await?;
        let about = Condition::any()
            .add(mails::Column::OrderNumber.is_in(numbers()))
            .add(mails::Column::RmaNumber.is_in(rma_numbers()));
        snapshot.mails =
            mails::Entity::of(tenant).filter(about).filter(mails::Column::CreatedAt.lt(asked.at)).all(read).await?;
        Ok(())
    }

    /// Reads the counts of failed contact checks. A count that changed after the question is left out, since its earlier value is
    /// not stored.
    async fn snapshot_misses(&self, asked: &Asked, named: BTreeSet<String>) -> Result<Vec<order_misses::Model>> {
        let of_orders = named.iter().filter_map(|number| number.parse().ok()).map(AttemptSubject::Order);
        let subjects =
            of_orders.chain([AttemptSubject::Conversation(asked.conversation)]).map(|subject| subject.name());
        let counts = self
            .rows::<order_misses::Entity>()
            .filter(order_misses::Column::Subject.is_in(subjects))
            .filter(order_misses::Column::LastAt.lt(asked.at));
        Ok(counts.all(&self.store.read).await?)
    }

    /// Reads the audit log of the snapshot's orders since then, oldest first.
    async fn changes_since(&self, at: DateTime<Utc>, snapshot: &Snapshot) -> Result<Vec<audit::Model>> {
        let of_rmas = snapshot.rmas.iter().map(|rma| rma.order_number.as_str());
        let numbers: BTreeSet<&str> =
            snapshot.orders.iter().map(|order| order.number.as_str()).chain(of_rmas).collect();
        let changes = self
            .rows::<audit::Entity>()
            .filter(audit::Column::OrderNumber.is_in(numbers))
            .filter(audit::Column::At.gte(at))
            .order_by_asc(audit::Column::Id);
        Ok(changes.all(&self.store.read).await?)
    }
}

impl Snapshot {
    /// Resets statuses to what they were at `at`, from the changes since then. Usually these are the effects of the turn itself.
    fn reset(&mut self, at: DateTime<Utc>, later: &[audit::Model]) {
        let of_order = |change: &audit::Model| change.order_number.clone();
        let of_rma = |change: &audit::Model| change.rma_number.clone();
        let of_mail = |change: &audit::Model| Some(change.after.as_ref()?.get("mail")?.as_str()?.to_owned());
        let order_statuses = earliest(later, "order.status", "status", of_order);
        let rma_statuses = earliest(later, "rma.status", "status", of_rma);
        let locks = earliest(later, "rma.escalated", "escalated", of_rma);
        let mail_statuses = earliest(later, "mail.", "status", of_mail);
        for order in &mut self.orders {
            if let Some(status) = order_statuses.get(&order.number).and_then(|status| status.as_str()) {
                status.clone_into(&mut order.status);
                let status = OrderStatus::parse(status);
                if status.is_some_and(|status| status < OrderStatus::Delivered) {
                    order.delivered_at = None;
                }
                if status == Some(OrderStatus::Pending) {
                    (order.shipped_at, order.tracking) = (None, None);
                }
            }
        }
        for rma in &mut self.rmas {
            if let Some(status) = rma_statuses.get(&rma.number).and_then(|status| status.as_str()) {
                status.clone_into(&mut rma.status);
            }
            if let Some(escalated) = locks.get(&rma.number).and_then(|escalated| escalated.as_bool()) {
                rma.escalated = escalated;
                rma.escalation_ticket.take_if(|id| !self.tickets.iter().any(|ticket| ticket.id == *id));
            }
        }
        for ticket in self.tickets.iter_mut().filter(|ticket| ticket.resolved_at >= Some(at)) {
            (ticket.resolution, ticket.resolved_by, ticket.resolved_why) = (None, None, None);
            ticket.resolved_at = None;
        }
        for mail in &mut self.mails {
            if let Some(status) = mail_statuses.get(&mail.number).and_then(|status| status.as_str()) {
                status.clone_into(&mut mail.status);
            }
        }
    }
}

/// The value of `field` before the first change of each subject. `changes` are ordered oldest first.
fn earliest<'a>(
    changes: &'a [audit::Model],
    action: &str,
    field: &str,
    subject: impl Fn(&audit::Model) -> Option<String>,
) -> HashMap<String, &'a Value> {
    let mut values = HashMap::new();
    for change in changes.iter().filter(|change| change.what.starts_with(action)) {
        let before = change.before.as_ref().and_then(|before| before.get(field));
        if let (Some(subject), Some(before)) = (subject(change), before) {
            values.entry(subject).or_insert(before);
        }
    }
    values
}

impl Store {
    /// Inserts the rows under their own shop, and queues the mails that were not sent. Meant for an empty store: a row that exists is an
    /// error.
    pub async fn restore(&self, snapshot: Snapshot, now: DateTime<Utc>) -> Result<()> {
        let transaction = self.begin_fenced().await?;
        let queued = snapshot.mails.iter().filter(|mail| mail.status == MailStatus::Queued.as_str());
        let queued: Vec<(TenantId, MailId)> =
            queued.filter_map(|mail| Some((mail.tenant_id.parse().ok()?, MailId(mail.id)))).collect();
        let sending: Vec<NewJob<'_>> = queued.iter().map(|(tenant, mail)| NewJob::mail(tenant, *mail, now)).collect();
        insert::<customers::Entity>(&transaction, snapshot.customers).await?;
        insert::<orders::Entity>(&transaction, snapshot.orders).await?;
        insert::<order_items::Entity>(&transaction, snapshot.items).await?;
        insert::<rmas::Entity>(&transaction, snapshot.rmas).await?;
        insert::<rma_items::Entity>(&transaction, snapshot.rma_items).await?;
        insert::<labels::Entity>(&transaction, snapshot.labels).await?;
        insert::<tickets::Entity>(&transaction, snapshot.tickets).await?;
        insert::<mails::Entity>(&transaction, snapshot.mails).await?;
        insert::<order_misses::Entity>(&transaction, snapshot.misses).await?;
        enqueue(&transaction, &sending).await?;
        transaction.commit().await
    }
}

pub(in crate::store) async fn insert<E>(connection: &impl ConnectionTrait, rows: Vec<E::Model>) -> Result<()>
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
