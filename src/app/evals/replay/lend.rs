//! Lending what a case speaks of: its desk finds the shop's rows as they were when the case's question was asked.

use chrono::Utc;
use serde::Deserialize;

use super::ReplayError;
use crate::app::evals::case::Case;
use crate::desks::returns::rules::ReturnsRules;
use crate::desks::returns::state::State;
use crate::domain::identity::Contact;
use crate::domain::serial::find_serials;
use crate::domain::{Serial, TenantId};
use crate::store::Store;
use crate::store::returns::loan::Asked;
use crate::store::warranty_import::{ImportRow, RowSorter, WarrantyImport};

/// So many order numbers, and so many addresses, are looked for at most; what was said last counts first.
const NAMED_AT_MOST: usize = 200;

/// Copies the warranties that the case speaks of.
pub(super) async fn warranties(shop: &Store, to: &Store, tenant: &TenantId, case: &Case) -> Result<(), ReplayError> {
    let runs = case.messages.iter().flat_map(|message| find_serials(&message.text));
    let serials: Vec<Serial> = runs.filter_map(|run| run.parse().ok()).collect();
    if serials.is_empty() {
        return Ok(());
    }
    let mut rows = RowSorter::default();
    for record in shop.tenant(tenant).list_warranties(&serials).await? {
        rows.push(ImportRow { record, line: 0 })?;
    }
    let mut import = WarrantyImport::begin(to, tenant).await?;
    import.compare(rows, |_| {}).await?;
    import.apply().await?;
    Ok(())
}

/// Copies the orders that the case speaks of, with their customers and what had been asked for.
pub(super) async fn returns(
    shop: &Store,
    to: &Store,
    tenant: &TenantId,
    case: &Case,
    rules: &ReturnsRules,
) -> Result<(), ReplayError> {
    // As the desk itself reads it.
    let state = State::deserialize(&case.state).unwrap_or_default();
    let (mut orders, mut emails) = (state.order_numbers().cloned().collect::<Vec<_>>(), Vec::new());
    emails.extend(state.meta.contact.as_deref().and_then(|contact| contact.parse().ok()));
    for message in case.messages.iter().rev() {
        let (numbers, contacts) = rules.find(&message.text);
        orders.extend(numbers.into_iter().map(|found| found.number));
        emails.extend(contacts.into_iter().filter_map(|contact| match contact {
            Contact::Email(email) => Some(email),
            Contact::Phone(_) => None,
        }));
    }
    orders.truncate(NAMED_AT_MOST);
    emails.truncate(NAMED_AT_MOST);
    emails.sort_unstable();
    emails.dedup();
    let (conversation, user_id) = (case.conversation, case.user_id.clone());
    let asked = Asked { conversation, at: case.asked_at, user_id, orders, emails };
    let loan = shop.tenant(tenant).lend(&asked).await?;
    Ok(to.take_loan(loan, Utc::now()).await?)
}
