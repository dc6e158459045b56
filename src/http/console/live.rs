//! `GET /console/api/events`: changes of the shop's conversations, live.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use futures_util::Stream;
use serde::Serialize;
use utoipa::ToSchema;

use super::owner::Owner;
use crate::app::App;
use crate::domain::{ConversationId, ConversationStatus, TenantId};
use crate::http::access::Access;
use crate::http::error::Result;
use crate::http::refusals::RefusedConsole;
use crate::http::sse::{self, Lease};

/// A change of one of the shop's conversations.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type")]
pub(super) enum News {
    /// It has a new message, a turn has ended, or its status has changed.
    #[serde(rename = "conversation.changed")]
    ConversationChanged { conversation_id: ConversationId, status: ConversationStatus },
    /// It was deleted.
    #[serde(rename = "conversation.deleted")]
    ConversationDeleted { conversation_id: ConversationId },
}

/// Streams changes of the shop's conversations, as server-sent events that end with the session.
///
/// Each `data:` line is one `News`; the first frame is `{"debug":"stream-open"}`. Missed events are not
/// replayed: list the conversations whenever the stream opens.
#[utoipa::path(
    get, path = "/console/api/events", operation_id = "console_events", tag = "console",
    responses(
        (status = 200, description = "the changes", body = News, content_type = "text/event-stream"),
        RefusedConsole,
        (status = 429, description = "`rate_limited`: the key has too many streams open"),
    )
)]
pub(super) async fn get(owner: Owner, State(app): State<Arc<App>>) -> Result<Response> {
    let key = (owner.access == Access::Key).then(|| owner.tenant.clone());
    let lease = Lease::new(app.streams.open(None, key)?, owner.access.expires_at(), owner.signed_out);
    let config = app.config.clone();
    Ok(sse::news(news(app, owner.tenant), lease, &config.http))
}

/// Returns the shop's changes from now on. Ends if the store fails, so that the page reconnects and reads everything.
fn news(app: Arc<App>, tenant: TenantId) -> impl Stream<Item = News> + Send {
    // Listen before the stream is first polled.
    let mut listener = app.engine.listen(&tenant);
    async_stream::stream! {
        while let Some(conversation_id) = listener.next().await {
            match app.store.tenant(&tenant).find_conversation(conversation_id).await {
                Ok(Some(found)) => yield News::ConversationChanged { conversation_id, status: found.status },
                Ok(None) => yield News::ConversationDeleted { conversation_id },
                Err(_) => break,
            }
        }
    }
}
