//! Copies the rows of a case: plans, the customer's account, invoices and refund cases.

use std::collections::HashSet;

use async_trait::async_trait;
use serde_json::Value;

use crate::desks::{AskedTurn, FixtureError, ReplayFixture, Restoring};
use crate::domain::telecom::InvoiceNumber;
use crate::store::account_snapshot::AskedAccount;
use crate::store::{Store, StoreError};

/// Words of the state, and words of the texts, that are looked up for a copy, as user ids and as invoice numbers.
const NAMED_MAX: usize = 200;

/// The rows of the conversation's accounts.
pub(super) struct Rows;

#[async_trait]
impl ReplayFixture for Rows {
    async fn copy(&self, shop: &Store, turn: &AskedTurn) -> Result<Option<Value>, StoreError> {
        Ok(serde_json::to_value(shop.tenant(&turn.tenant).snapshot_accounts(&asked_of(turn)).await?).ok())
    }

    async fn restore(&self, case: Restoring<'_>) -> Result<(), FixtureError> {
        let Some(rows) = case.rows else { return Ok(()) };
        Ok(case.to.restore_accounts(serde_json::from_value(rows)?).await?)
    }
}

/// Describes the question for a copy. Every word that could be a user id or an invoice number counts, whether or not today's rules
/// recognize it, so that a replay with improved rules finds its account. The account of the state comes before its quotes and
/// decisions, the newest texts before others.
fn asked_of(turn: &AskedTurn) -> AskedAccount {
    let (account, state) = (turn.state["account"].to_string(), turn.state.to_string());
    let of_state = words_of([account.as_str(), state.as_str()].into_iter());
    let words: Vec<&str> = of_state.chain(words_of(turn.texts.iter().rev().map(String::as_str))).collect();
    AskedAccount {
        conversation: turn.conversation,
        at: turn.asked_at,
        users: turn.user_id.iter().map(String::as_str).chain(words.iter().copied()).map(str::to_owned).collect(),
        invoices: words.iter().filter_map(|word| word.parse::<InvoiceNumber>().ok()).collect(),
    }
}

/// Returns the first different words of the texts.
fn words_of<'a>(texts: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-/_.@".contains(c);
    let words = texts.flat_map(move |text| text.split(move |c| !is_part(c)));
    let words = words.map(|word| word.trim_matches(['.', '-', '/'])).filter(|word| !word.is_empty());
    let mut seen = HashSet::new();
    words.filter(move |word| seen.insert(*word)).take(NAMED_MAX)
}
