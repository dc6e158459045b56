//! `GET /console/api/events`: what happens in the shop's conversations, live.

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
use crate::http::error::ApiError;
use crate::http::problem::Problem;
use crate::http::sse::{self, Lease};

/// Something happened in a conversation of the shop.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type")]
pub(super) enum News {
    /// It has a new message, a turn of it has ended, or another one answers.
    #[serde(rename = "conversation.changed")]
    ConversationChanged { conversation_id: ConversationId, status: ConversationStatus },
    /// It is gone.
    #[serde(rename = "conversation.deleted")]
    ConversationDeleted { conversation_id: ConversationId },
}

/// What happens in the shop's conversations, as server-sent events that end with the session.
///
/// Each `data:` line is one `News`; the first frame is `{"debug":"stream-open"}`. What was missed is not told again: list the
/// conversations whenever the stream opens.
#[utoipa::path(
    get, path = "/console/api/events", operation_id = "console_events", tag = "console",
    responses(
        (status = 200, description = "the news", body = News, content_type = "text/event-stream"),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: there is no console", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`: the key has too many streams open", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(owner: Owner, State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let key = (owner.access == Access::Key).then(|| owner.tenant.clone());
    let lease = Lease::new(app.streams.open_turn(key)?, owner.expires_at(), owner.signed_out);
    let config = app.config.clone();
    Ok(sse::news(news(app, owner.tenant), lease, &config.http))
}

/// The shop's news from now on. They end where one of them cannot be told, so that the page comes back and looks at everything.
fn news(app: Arc<App>, tenant: TenantId) -> impl Stream<Item = News> + Send {
    // From now on, and not from the first time that somebody asks.
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
