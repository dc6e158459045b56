//! `POST /console/api/conversations/{id}/…`: a person takes a conversation, answers in it and returns it to the bot.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::inbox::{InboxItem, items};
use super::owner::Owner;
use crate::app::App;
use crate::domain::{Author, ConsoleAct, ConsoleDeed, Handoff};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Body, ConversationPath, EmptyBody, idempotency};
use crate::http::limit::OnlyRepeats;
use crate::http::messages::{MessageAccepted, PostMessage, accept_message};
use crate::http::refusals::RefusedWrite;
use crate::store::StoreError;
use crate::turn::Message;

/// A conversation after a handoff.
#[derive(Serialize, ToSchema)]
pub(super) struct HandedOver {
    conversation: InboxItem,
}

/// Defines one handoff route.
macro_rules! hand_over {
    ($(#[$doc:meta])* $name:ident, $path:literal, $operation:literal, $deed:ident, $owner:ident => $handoff:expr) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, operation_id = $operation, tag = "console", params(("id" = String, Path)),
            responses((status = 200, description = "the updated conversation", body = HandedOver), RefusedWrite)
        )]
        pub(super) async fn $name(
            $owner: Owner,
            path: ConversationPath,
            State(app): State<Arc<App>>,
            _: Body<EmptyBody>,
        ) -> Result<Json<HandedOver>> {
            let handoff = $handoff;
            hand_over(&app, &$owner, path, handoff, ConsoleDeed::$deed).await
        }
    };
}

hand_over!(
    /// Assigns the conversation to the person. A running reply is cancelled, and the bot does not answer any more.
    take, "/console/api/conversations/{id}/take", "console_take", Taken, owner => Handoff::Take { agent: owner.name.clone() }
);
hand_over!(
    /// Returns the conversation to the bot.
    give_back, "/console/api/conversations/{id}/give-back", "console_give_back", GivenBack, owner => Handoff::GiveBack
);
hand_over!(
    /// Closes the conversation until the customer writes again.
    close, "/console/api/conversations/{id}/close", "console_close", Closed, owner => Handoff::Close
);
hand_over!(
    /// Reopens a closed conversation for the bot.
    reopen, "/console/api/conversations/{id}/reopen", "console_reopen", Reopened, owner => Handoff::Reopen
);

async fn hand_over(
    app: &App,
    owner: &Owner,
    ConversationPath(id): ConversationPath,
    handoff: Handoff,
    deed: ConsoleDeed,
) -> Result<Json<HandedOver>> {
    let act = ConsoleAct { conversation: Some(id), ..owner.act(deed) };
    let changing = async {
        match app.engine.hand_over(&owner.tenant, id, handoff, Some(act)).await? {
            Some(_) => {
                let store = app.store.tenant(&owner.tenant);
                let found = store.find_in_inbox(id).await?;
                Ok(items(&store, found.into_iter().collect()).await?.pop())
            }
            None => Ok::<_, StoreError>(None),
        }
    };
    let conversation = with_store_timeout(app, changing).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(HandedOver { conversation }))
}

/// Sends a person's answer in a taken conversation.
#[utoipa::path(
    post, path = "/console/api/conversations/{id}/answers", operation_id = "console_answer", tag = "console",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body return the same turn for 24 h"),
    ),
    request_body = PostMessage,
    responses(
        (status = 202, description = "stored", body = MessageAccepted),
        RefusedWrite,
        (status = 409, description = "`not_taken`"),
        (status = 503, description = "`draining` or `unavailable`"),
    )
)]
pub(super) async fn answer(
    owner: Owner,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<PostMessage>,
) -> Result<(StatusCode, Json<MessageAccepted>)> {
    let act = ConsoleAct { conversation: Some(id), ..owner.act(ConsoleDeed::Answered) };
    let (text, idempotency) = (body.value.trimmed(&app)?, idempotency(&headers, &body.hash)?);
    let message = Message {
        new: repeats.is_none(),
        act: Some(act),
        ..Message::new(Author::Agent { name: owner.name }, text, idempotency)
    };
    let accepted = accept_message(&app, &owner.tenant, id, message, repeats.map(|repeats| repeats.0)).await?;
    Ok((StatusCode::ACCEPTED, Json(accepted.into())))
}
