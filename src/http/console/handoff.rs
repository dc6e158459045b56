//! `POST /console/api/conversations/{id}/…`: a person takes a conversation over, answers in it and gives it back.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::inbox::{InboxItem, items};
use super::owner::Owner;
use crate::app::App;
use crate::desks::Caller;
use crate::domain::{Author, ConsoleAct, ConsoleDeed, Handoff};
use crate::http::error::ApiError;
use crate::http::extract::{Body, ConversationPath, Nothing, idempotency};
use crate::http::in_time::in_time;
use crate::http::limit::OnlyRepeats;
use crate::http::messages::{MessageAccepted, PostMessage, take_in};
use crate::http::problem::Problem;
use crate::http::refusals::RefusedWrite;
use crate::store::StoreError;
use crate::turn::Message;

/// A conversation after it changed hands.
#[derive(Serialize, ToSchema)]
pub(super) struct HandedOver {
    conversation: InboxItem,
}

/// What each of these routes may answer, in the words of the API's description.
macro_rules! hand_over {
    ($(#[$doc:meta])* $name:ident, $path:literal, $operation:literal, $deed:ident, $owner:ident => $handoff:expr) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, operation_id = $operation, tag = "console", params(("id" = String, Path)),
            responses(
                (status = 200, description = "the conversation as it is now", body = HandedOver),
                RefusedWrite,
            )
        )]
        pub(super) async fn $name(
            $owner: Owner,
            path: ConversationPath,
            State(app): State<Arc<App>>,
            _: Body<Nothing>,
        ) -> Result<Json<HandedOver>, ApiError> {
            let handoff = $handoff;
            hand_over(&app, &$owner, path, handoff, ConsoleDeed::$deed).await
        }
    };
}

hand_over!(
    /// Takes the conversation: a reply that is being given is cut off, and from now on only a person answers.
    take, "/console/api/conversations/{id}/take", "console_take", Taken, owner => Handoff::Take { agent: owner.name.clone() }
);
hand_over!(
    /// Gives the conversation back to the bot.
    give_back, "/console/api/conversations/{id}/give-back", "console_give_back", GivenBack, owner => Handoff::GiveBack
);
hand_over!(
    /// Closes the conversation until the customer writes again.
    close, "/console/api/conversations/{id}/close", "console_close", Closed, owner => Handoff::Close
);
hand_over!(
    /// Opens a closed conversation again, for the bot.
    reopen, "/console/api/conversations/{id}/reopen", "console_reopen", Reopened, owner => Handoff::Reopen
);

async fn hand_over(
    app: &App,
    owner: &Owner,
    ConversationPath(id): ConversationPath,
    handoff: Handoff,
    deed: ConsoleDeed,
) -> Result<Json<HandedOver>, ApiError> {
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
    let conversation = in_time(app, changing).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(HandedOver { conversation }))
}

/// Answers as a person, in a conversation that is taken.
#[utoipa::path(
    post, path = "/console/api/conversations/{id}/answers", operation_id = "console_answer", tag = "console",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body give the same turn for 24 h"),
    ),
    request_body = PostMessage,
    responses(
        (status = 202, description = "stored", body = MessageAccepted),
        RefusedWrite,
        (status = 409, description = "`not_taken`", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "`draining` or `unavailable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn answer(
    owner: Owner,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<PostMessage>,
) -> Result<(StatusCode, Json<MessageAccepted>), ApiError> {
    let act = ConsoleAct { conversation: Some(id), ..owner.act(ConsoleDeed::Answered) };
    let message = Message {
        text: body.value.trimmed(&app)?,
        author: Author::Agent { name: owner.name },
        idempotency: idempotency(&headers, &body.hash)?,
        caller: Caller::default(),
        new: repeats.is_none(),
        act: Some(act),
    };
    let accepted = take_in(&app, &owner.tenant, id, message, repeats.map(|repeats| repeats.0)).await?;
    Ok((StatusCode::ACCEPTED, Json(accepted.into())))
}
