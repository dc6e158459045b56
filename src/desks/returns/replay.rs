//! Copies the rows of a case: orders, RMAs, tickets and mails.

use async_trait::async_trait;
use chrono::Utc;
use serde_json::Value;

use crate::desks::{AskedTurn, FixtureError, ReplayFixture, Restoring};
use crate::domain::commerce::OrderNumber;
use crate::domain::identity::Contact;
use crate::nlu::entities::find_contacts;
use crate::store::returns::snapshot::Asked;
use crate::store::{Store, StoreError};

/// Order numbers, and e-mail addresses, that are looked up for a copy.
const NAMED_MAX: usize = 200;

/// The rows of the conversation's orders.
pub(super) struct Rows;

#[async_trait]
impl ReplayFixture for Rows {
    async fn copy(&self, shop: &Store, turn: &AskedTurn) -> Result<Option<Value>, StoreError> {
        Ok(serde_json::to_value(shop.tenant(&turn.tenant).snapshot(&asked_of(turn)).await?).ok())
    }

    async fn restore(&self, case: Restoring<'_>) -> Result<(), FixtureError> {
        let Some(rows) = case.rows else { return Ok(()) };
        case.to.restore(serde_json::from_value(rows)?, Utc::now()).await?;
        let tenant = &case.turn.tenant;
        if let Some(shop) = case.shop.map(|shop| shop.tenant(tenant)) {
            case.to.tenant(tenant).replace_policies(&shop.list_policies().await?, "replay", Utc::now()).await?;
        }
        Ok(())
    }
}

/// Describes the question for a copy. Every word that could be an order number counts, whether or not today's rules recognize it,
/// so that a replay with improved rules finds its order.
fn asked_of(turn: &AskedTurn) -> Asked {
    let state = turn.state.to_string();
    let texts = turn.texts.iter().rev().map(String::as_str).chain([state.as_str()]);
    let (mut orders, mut emails) = (Vec::new(), Vec::new());
    for text in texts {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        orders.extend(words.filter_map(|word| word.parse::<OrderNumber>().ok()));
        emails.extend(find_contacts(text, &[]).into_iter().filter_map(|contact| match contact {
            Contact::Email(email) => Some(email),
            Contact::Phone(_) => None,
        }));
    }
    orders.truncate(NAMED_MAX);
    emails.truncate(NAMED_MAX);
    emails.sort_unstable();
    emails.dedup();
    Asked { conversation: turn.conversation, at: turn.asked_at, user_id: turn.user_id.clone(), orders, emails }
}
