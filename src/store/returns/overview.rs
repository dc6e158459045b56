//! The orders, RMAs, tickets and mails of a conversation, for people of the shop.

use std::collections::BTreeSet;

use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use serde_json::Value;

use super::rows::{load_rmas, read_ticket};
use crate::domain::commerce::{Order, OrderNumber};
use crate::domain::returns::{Rma, Ticket};
use crate::domain::{AuditEntry, ConversationId};
use crate::store::audit::read_entry;
use crate::store::entities::{audit, mails, rmas, tickets};
use crate::store::mails::{Mail, read_mail};
use crate::store::orders::list_orders_with;
use crate::store::{Result, TenantStore};

/// The maximum number of orders, and of RMAs, tickets and mails each, in an overview.
pub const LISTED_AT_MOST: usize = 20;
/// The maximum number of audit entries in an overview.
pub const RECORD_AT_MOST: usize = 200;

/// The returns of a conversation: the newest entries of each kind, sorted from oldest to newest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Sorted by when they last came up in the conversation.
    pub orders: Vec<Order>,
    pub rmas: Vec<Rma>,
    pub tickets: Vec<Ticket>,
    pub mails: Vec<Mail>,
    /// Audit entries of the conversation, and later ones of its orders from outside.
    pub record: Vec<AuditEntry>,
    /// Whether a list was shortened.
    pub has_more: bool,
}

impl TenantStore<'_> {
    /// Returns what was created in the conversation, its orders, and what happened to them elsewhere. An order that the
    /// customer named without proof appears only in `record`.
    ///
    /// The number of queries is constant: three for a conversation without returns.
    pub async fn overview_of_returns(&self, conversation: ConversationId) -> Result<Overview> {
        let mut has_more = false;
        let own = self.audit_rows(Condition::all().add(audit::Column::ConversationId.eq(conversation.0))).await?;
        let named = self.orders_named_by(conversation, &own).await?;
        if own.is_empty() && named.is_empty() {
            return Ok(Overview::default());
        }
        let numbers = newest(named, LISTED_AT_MOST, &mut has_more);
        let numbers: Vec<&OrderNumber> = numbers.iter().collect();
        let found = self.rma_rows(conversation, &numbers).await?;
        let found = newest(found, LISTED_AT_MOST, &mut has_more);
        let found_tickets = self.ticket_rows(conversation, &found, &numbers).await?;
        let found_mails = self.mail_rows(&own, &found).await?;
        let mut record = self.audit_rows_elsewhere(&numbers).await?;
        record.extend(own);
        record.sort_by_key(|row| row.id);
        let found_tickets = newest(found_tickets, LISTED_AT_MOST, &mut has_more).into_iter().map(read_ticket);
        let found_mails = newest(found_mails, LISTED_AT_MOST, &mut has_more).into_iter().map(read_mail);
        let record = newest(record, RECORD_AT_MOST, &mut has_more).into_iter().map(read_entry);
        let mut orders = list_orders_with(&self.store.read, self.tenant, &numbers).await?;
        orders.sort_by_key(|order| numbers.iter().position(|number| **number == order.number));
        Ok(Overview {
            orders,
            rmas: load_rmas(&self.store.read, found).await?,
            tickets: found_tickets.collect::<Result<_, _>>()?,
            mails: found_mails.collect::<Result<_, _>>()?,
            record: record.collect::<Result<_, _>>()?,
            has_more,
        })
    }

    /// Returns the numbers of the conversation's orders, sorted by when they last came up.
    async fn orders_named_by(&self, conversation: ConversationId, own: &[audit::Model]) -> Result<Vec<OrderNumber>> {
        let of_rmas: Vec<String> = self
            .rows::<rmas::Entity>()
            .select_only()
            .column(rmas::Column::OrderNumber)
            .filter(rmas::Column::ConversationId.eq(conversation.0))
            .order_by_desc(rmas::Column::CreatedAt)
            .limit(one_more(LISTED_AT_MOST))
            .into_tuple()
            .all(&self.store.read)
            .await?;
        let of_tickets: Vec<Option<String>> = self
            .rows::<tickets::Entity>()
            .select_only()
            .column(tickets::Column::OrderNumber)
            .filter(tickets::Column::ConversationId.eq(conversation.0))
            .order_by_desc(tickets::Column::CreatedAt)
            .limit(one_more(LISTED_AT_MOST))
            .into_tuple()
            .all(&self.store.read)
            .await?;
        let seen = own.iter().filter(|row| !withholds_order(row)).filter_map(|row| row.order_number.clone());
        let all = seen.chain(of_tickets.into_iter().rev().flatten()).chain(of_rmas.into_iter().rev());
        let mut seen = BTreeSet::new();
        let mut named: Vec<OrderNumber> = all.filter_map(|number| number.parse().ok()).collect();
        named.reverse();
        named.retain(|number| seen.insert(number.clone()));
        named.reverse();
        Ok(named)
    }

    async fn rma_rows(&self, conversation: ConversationId, orders: &[&OrderNumber]) -> Result<Vec<rmas::Model>> {
        let of_orders = rmas::Column::OrderNumber.is_in(orders.iter().map(|number| number.as_str()));
        let either = Condition::any().add(rmas::Column::ConversationId.eq(conversation.0)).add(of_orders);
        let of_shop = self.rows::<rmas::Entity>();
        let by_time = of_shop.filter(either).order_by_desc(rmas::Column::CreatedAt);
        self.last(by_time.order_by_desc(rmas::Column::Id), LISTED_AT_MOST).await
    }

    /// Lists the tickets of the conversation, its orders and the RMAs, including those that lock them.
    async fn ticket_rows(
        &self,
        conversation: ConversationId,
        rmas: &[rmas::Model],
        orders: &[&OrderNumber],
    ) -> Result<Vec<tickets::Model>> {
        let of_orders = tickets::Column::OrderNumber.is_in(orders.iter().map(|number| number.as_str()));
        let of_rmas = tickets::Column::RmaNumber.is_in(rmas.iter().map(|rma| rma.number.as_str()));
        let locking = tickets::Column::Id.is_in(rmas.iter().filter_map(|rma| rma.escalation_ticket.as_deref()));
        let own = tickets::Column::ConversationId.eq(conversation.0);
        let of_shop = self.rows::<tickets::Entity>();
        let either = of_shop.filter(Condition::any().add(own).add(of_orders).add(of_rmas).add(locking));
        let by_time = either.order_by_desc(tickets::Column::CreatedAt);
        self.last(by_time.order_by_desc(tickets::Column::Id), LISTED_AT_MOST).await
    }

    /// Lists the mails that the conversation's audit entries name, and those about the RMAs.
    async fn mail_rows(&self, own: &[audit::Model], rmas: &[rmas::Model]) -> Result<Vec<mails::Model>> {
        let named = own.iter().filter_map(|row| row.after.as_ref()?.get("mail")?.as_str());
        let named = mails::Column::Number.is_in(named.collect::<BTreeSet<_>>());
        let of_rmas = mails::Column::RmaNumber.is_in(rmas.iter().map(|rma| rma.number.as_str()));
        let of_shop = self.rows::<mails::Entity>();
        let by_time = of_shop.filter(Condition::any().add(named).add(of_rmas)).order_by_desc(mails::Column::CreatedAt);
        self.last(by_time.order_by_desc(mails::Column::Id), LISTED_AT_MOST).await
    }

    /// Lists the audit entries of the orders outside of conversations, by jobs and people of the shop.
    async fn audit_rows_elsewhere(&self, orders: &[&OrderNumber]) -> Result<Vec<audit::Model>> {
        if orders.is_empty() {
            return Ok(Vec::new());
        }
        let of_orders = audit::Column::OrderNumber.is_in(orders.iter().map(|number| number.as_str()));
        self.audit_rows(Condition::all().add(of_orders).add(audit::Column::ConversationId.is_null())).await
    }

    /// Lists the newest audit entries, oldest first.
    async fn audit_rows(&self, which: Condition) -> Result<Vec<audit::Model>> {
        let of_shop = self.rows::<audit::Entity>();
        self.last(of_shop.filter(which).order_by_desc(audit::Column::Id), RECORD_AT_MOST).await
    }

    /// Lists the first `most` rows and one more if there is one, in reverse order.
    async fn last<E: EntityTrait>(&self, newest_first: Select<E>, most: usize) -> Result<Vec<E::Model>> {
        let mut found = newest_first.limit(one_more(most)).all(&self.store.read).await?;
        found.reverse();
        Ok(found)
    }
}

/// Whether the entry is about an order that was not shown, because the customer did not prove whose it is.
pub(in crate::store) fn withholds_order(row: &audit::Model) -> bool {
    let found = row.after.as_ref().and_then(|after| after.get("found"));
    row.what == "order.locked" || found == Some(&Value::Bool(false))
}

fn one_more(most: usize) -> u64 {
    most as u64 + 1
}

/// Returns the last `most` rows, and sets `has_more` if it leaves out others.
fn newest<T>(mut rows: Vec<T>, most: usize, has_more: &mut bool) -> Vec<T> {
    *has_more |= rows.len() > most;
    rows.split_off(rows.len().saturating_sub(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_sets_has_more_when_it_shortens() {
        let mut has_more = false;
        assert_eq!(newest(vec![1, 2], 2, &mut has_more), [1, 2]);
        assert!(!has_more);
        assert_eq!(newest(vec![1, 2, 3], 2, &mut has_more), [2, 3]);
        assert!(has_more);
        assert!(newest(Vec::<u8>::new(), 2, &mut has_more).is_empty());
        assert!(has_more, "it is never reset");
    }
}
