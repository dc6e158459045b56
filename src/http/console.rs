//! The API of the owner's console, all under `/console`.
//!
//! - [`owner`]: who may call it, and who may change what belongs to the whole server
//! - [`knowledge`], [`questions`]: what is indexed, and what was asked without an answer
//! - [`warranty_files`]: lists of warranties; [`personas`]: the personas' files
//! - [`wrong`]: answers that are kept to be given again
//! - [`session`]: signing in and out; [`me`]: who is signed in
//! - [`inbox`]: the shop's conversations; [`live`]: what happens in them
//! - [`handoff`]: a person takes one over, answers and gives it back
//! - [`returns`]: orders and returns beside a conversation, their later steps, and what is decided on escalations
//! - [`panel`]: what the conversation's desk shows next to it
//! - [`figures`]: the turns of each day
//! - [`audit`]: who did what, when, and from where
//!
//! The rest of what the console shows (histories, events of one conversation) are the shop's own routes.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::http::error::ApiError;

mod audit;
mod figures;
mod handoff;
mod inbox;
mod knowledge;
mod live;
mod me;
mod owner;
mod panel;
mod personas;
mod questions;
mod returns;
mod session;
mod warranty_files;
mod wrong;

pub(super) use me::Me;
pub(super) use owner::console_act;

/// The console's routes.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(session::begin, session::end))
        .routes(routes!(me::get))
        .routes(routes!(inbox::list))
        .routes(routes!(live::get))
        .routes(routes!(handoff::take))
        .routes(routes!(handoff::give_back))
        .routes(routes!(handoff::close))
        .routes(routes!(handoff::reopen))
        .routes(routes!(handoff::answer))
        .routes(routes!(panel::get))
        .routes(routes!(returns::get))
        .routes(routes!(returns::advance))
        .routes(routes!(returns::resolve))
        .routes(routes!(figures::get))
        .routes(routes!(audit::get))
        .routes(routes!(knowledge::get))
        .routes(routes!(questions::get))
        .routes(routes!(personas::list))
        .routes(routes!(personas::get, personas::put))
        .routes(routes!(personas::version))
        .routes(routes!(personas::check))
        .routes(routes!(wrong::post))
}

/// The routes that take files, each by a limit of its own.
pub(super) fn file_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(warranty_files::post))
}

/// The most days that are looked back at once, and how many unless the request says so.
const DAYS_MAX: u32 = 366;
const DAYS: u32 = 30;

/// How many days to look back, with today.
fn days_wanted(days: Option<u32>) -> Result<u32, ApiError> {
    let days = days.unwrap_or(DAYS);
    if (1..=DAYS_MAX).contains(&days) {
        return Ok(days);
    }
    Err(ApiError::InvalidRequest(format!("days must lie between 1 and {DAYS_MAX}.")))
}
