//! What the console shows next to a conversation: the customer's consent, orders and payments.

use chrono::{DateTime, Utc};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::situation::shopper_key;
use crate::desks::PanelRow;
use crate::domain::Conversation;
use crate::domain::commerce::consent::{Consent, ConsentChange};
use crate::domain::commerce::payment::Payment;
use crate::domain::commerce::sale::Sale;
use crate::store::{Store, StoreError};

/// The most changes of the consent and orders that are shown, the latest ones.
const SHOWN: usize = 5;

/// Reads the rows of a conversation. There are none before the customer's first message.
pub(super) fn read(store: Store, conversation: Conversation) -> BoxFuture<'static, Result<Vec<PanelRow>, StoreError>> {
    async move {
        let door = store.tenant(&conversation.tenant);
        let Some(shopper) = door.find_shopper(&shopper_key(&conversation)).await? else { return Ok(Vec::new()) };
        let mut rows = vec![
            row("marketing", on(shopper.consent.marketing)),
            row("notifications", on(shopper.consent.notifications)),
            row("last_seen", shown(shopper.last_seen)),
            row("tags", shopper.tags.as_slice().join(", ")),
        ];
        let changes = door.list_consent_changes(shopper.id).await?;
        rows.extend(changes.iter().rev().take(SHOWN).map(|change| row("consent_change", changed(change))));
        for sale in door.list_sales(shopper.id).await?.iter().take(SHOWN) {
            rows.push(row("order", ordered(sale)));
            let payments = door.list_payments(&sale.id).await?;
            rows.extend(payments.iter().map(|payment| row("payment", paid(payment))));
        }
        Ok(rows)
    }
    .boxed()
}

fn row(name: &str, value: impl Into<String>) -> PanelRow {
    PanelRow { name: name.to_owned(), value: value.into() }
}

fn on(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn shown(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// Returns when, by whom and what was changed.
fn changed(change: &ConsentChange) -> String {
    let consent = |of: &Consent| format!("marketing {}, notifications {}", on(of.marketing), on(of.notifications));
    format!("{}, {}: {} → {}", shown(change.at), change.who.as_str(), consent(&change.from), consent(&change.to))
}

fn ordered(sale: &Sale) -> String {
    let goods: Vec<String> = sale.lines.iter().map(|line| format!("{} × {}", line.line.quantity, line.name)).collect();
    format!("{}, {}, {}: {}", sale.id, sale.status, sale.totals.total, goods.join(", "))
}

fn paid(payment: &Payment) -> String {
    let receipt = payment.shown_receipt().map(|receipt| format!(", {receipt}")).unwrap_or_default();
    let Payment { sale, method, provider, request, .. } = payment;
    format!("{sale}, {method} ({provider}), {}, {}{receipt}", request.status, request.amount)
}
