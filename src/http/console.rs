//! The API of the console, under `/console`.
//!
//! - [`owner`]: who may call it, and who may change files of the whole server
//! - [`session`]: signing in and out, and who is signed in
//! - [`inbox`]: the shop's conversations; [`live`]: their changes as events
//! - [`handoff`]: a person takes a conversation, answers and returns it to the bot
//! - [`returns`]: orders and returns of a conversation, steps of RMAs, decisions on escalations
//! - [`sales`]: payments and the consent log of a shop; [`catalog`]: its goods
//! - [`accounts`]: the telecom account of a conversation, and decisions on refund cases
//! - [`knowledge`]: the indexed documents, and the questions that they did not answer
//! - [`warranty_files`]: imports of warranties; [`personas`]: the personas' files
//! - [`wrong`]: wrong answers, stored as evaluation cases
//! - [`panel`]: the rows that a conversation's desk shows next to it
//! - [`figures`]: the turns of each day
//! - [`audit`]: who did what, when, and from which address
//!
//! For histories and the events of a conversation, the console uses the shop's routes.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::http::error::{ApiError, Result};

mod accounts;
mod audit;
mod catalog;
mod figures;
mod handoff;
mod inbox;
mod knowledge;
mod live;
mod owner;
mod panel;
mod personas;
mod returns;
mod sales;
mod session;
mod warranty_files;
mod wrong;

pub(super) use owner::console_act;
pub(super) use session::Me;

/// The console's routes.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(session::begin, session::end))
        .routes(routes!(session::me))
        .routes(routes!(inbox::list))
        .routes(routes!(live::get))
        .routes(routes!(handoff::take))
        .routes(routes!(handoff::give_back))
        .routes(routes!(handoff::close))
        .routes(routes!(handoff::reopen))
        .routes(routes!(handoff::answer))
        .routes(routes!(panel::get))
        .routes(routes!(panel::put_tags))
        .routes(routes!(returns::get))
        .routes(routes!(returns::advance))
        .routes(routes!(returns::resolve))
        .routes(routes!(accounts::get))
        .routes(routes!(accounts::decide))
        .routes(routes!(catalog::get))
        .routes(routes!(sales::payments))
        .routes(routes!(sales::consent_changes))
        .routes(routes!(returns::loose_tickets))
        .routes(routes!(figures::get))
        .routes(routes!(audit::get))
        .routes(routes!(knowledge::documents))
        .routes(routes!(knowledge::questions))
        .routes(routes!(personas::list))
        .routes(routes!(personas::get, personas::put))
        .routes(routes!(personas::version))
        .routes(routes!(personas::check))
        .routes(routes!(wrong::post))
}

/// The routes that take files and limit the body themselves.
pub(super) fn file_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(warranty_files::post))
}

/// The most days of one request, and the default.
const DAYS_MAX: u32 = 366;
const DAYS: u32 = 30;

/// Returns the number of days to report, including today.
fn days_wanted(days: Option<u32>) -> Result<u32> {
    let days = days.unwrap_or(DAYS);
    if (1..=DAYS_MAX).contains(&days) {
        return Ok(days);
    }
    Err(ApiError::InvalidRequest(format!("days must be between 1 and {DAYS_MAX}.")))
}
