//! Parts of a shop's audit log, oldest entry first.

use std::collections::BTreeSet;

use frontdesk::domain::commerce::OrderNumber;
use frontdesk::domain::{AuditEntry, ConversationId};
use frontdesk::store::TenantStore;

/// The entries of the conversation, and later changes to its orders from outside.
pub async fn of_conversation(store: &TenantStore<'_>, id: ConversationId) -> Vec<AuditEntry> {
    let mut entries = store.list_audit().await.unwrap();
    let own = entries.iter().filter(|entry| entry.conversation == Some(id));
    let orders: BTreeSet<OrderNumber> = own.filter_map(|entry| entry.order.clone()).collect();
    entries.retain(|entry| match entry.conversation {
        Some(conversation) => conversation == id,
        None => entry.order.as_ref().is_some_and(|order| orders.contains(order)),
    });
    entries
}

/// The entries of the order.
pub async fn of_order(store: &TenantStore<'_>, number: &OrderNumber) -> Vec<AuditEntry> {
    let mut entries = store.list_audit().await.unwrap();
    entries.retain(|entry| entry.order.as_ref() == Some(number));
    entries
}

/// The entries without an order and a conversation.
pub async fn of_shop(store: &TenantStore<'_>) -> Vec<AuditEntry> {
    let mut entries = store.list_audit().await.unwrap();
    entries.retain(|entry| entry.order.is_none() && entry.conversation.is_none());
    entries
}
