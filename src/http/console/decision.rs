//! What every decision of a person at the console needs.

use chrono::Utc;

use super::owner::Owner;
use crate::app::App;
use crate::domain::returns::Hand;
use crate::domain::{ConversationId, TenantId};
use crate::http::error::{ApiError, Result};
use crate::store::returns::By;

/// The longest reason for a decision, in characters.
const WHY_MAX_CHARS: usize = 2_000;

/// Checks the reason for a decision and returns it trimmed.
pub(super) fn why(text: &str) -> Result<&str> {
    let text = text.trim();
    let length = text.chars().count();
    if (1..=WHY_MAX_CHARS).contains(&length) {
        return Ok(text);
    }
    let detail = format!("why must have 1 to {WHY_MAX_CHARS} characters after trimming; this one has {length}.");
    Err(ApiError::InvalidRequest(detail))
}

/// Returns the signed-in person as the author of a change, now.
pub(super) fn by(owner: &Owner) -> By<'_> {
    By { hand: Hand::Person, who: owner.signature(), conversation: None, now: Utc::now() }
}

/// Lets open consoles read the conversation again.
pub(super) fn notify(app: &App, tenant: &TenantId, conversation: Option<ConversationId>) {
    if let Some(conversation) = conversation {
        app.engine.notify_changed(tenant, conversation);
    }
}
