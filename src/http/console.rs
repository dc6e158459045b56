//! The API of the owner's console, all under `/console`.
//!
//! - [`owner`]: who may call it, and who may change what belongs to the whole server
//! - [`session`]: signing in and out; [`me`]: who is signed in
//! - [`inbox`]: the shop's conversations; [`live`]: what happens in them
//! - [`handoff`]: a person takes one over, answers and gives it back
//! - [`figures`]: the turns of each day
//!
//! The rest of what the console shows (histories, events of one conversation) are the shop's own routes.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

mod figures;
mod handoff;
mod inbox;
mod live;
mod me;
mod owner;
mod session;

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
        .routes(routes!(figures::get))
}
