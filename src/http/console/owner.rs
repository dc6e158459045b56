//! Who may use the console's API, their entries in its audit log, and what each of their decisions needs.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::Utc;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::app::App;
use crate::domain::audit::OPERATOR;
use crate::domain::text::clean;
use crate::domain::{ActorKind, ConsoleAct, ConsoleDeed, ConversationId, TenantId};
use crate::http::access::{Access, Shop};
use crate::http::client::ClientAddress;
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::store::audit::Actor;

/// The longest reason for a decision, in characters.
const WHY_MAX_CHARS: usize = 2_000;

/// A person of the shop at the console. With `CONSOLE=off`, every route of the console is not found.
pub(in crate::http) struct Owner {
    pub tenant: TenantId,
    /// The name that customers see when the person answers.
    pub name: Option<String>,
    pub access: Access,
    /// Cancelled when the person signs out; `None` without a session.
    pub signed_out: Option<CancellationToken>,
    /// The client's address.
    client: Option<IpAddr>,
}

impl Owner {
    /// Returns whether the person's shop has a folder: personas, documents and evaluation cases.
    pub fn may_edit(&self, app: &App) -> bool {
        match app.shops.has_one() {
            true => self.tenant == app.config.auth.web_chat_tenant,
            false => app.shops.get(&self.tenant).config().tenant == self.tenant,
        }
    }

    /// Returns the name for the audit log; `operator`, as with `frontdesk rma`, if the person gave none.
    pub fn signature(&self) -> &str {
        self.name.as_deref().unwrap_or(OPERATOR)
    }

    /// Returns the person as the author of a change, now.
    pub fn author(&self) -> Actor<'_> {
        Actor { kind: ActorKind::Person, who: self.signature(), conversation: None, now: Utc::now() }
    }

    /// Makes an entry of the audit log in this person's name.
    pub fn act(&self, what: ConsoleDeed) -> ConsoleAct {
        console_act(self.signature(), what, self.client)
    }
}

impl FromRequestParts<Arc<App>> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        if !app.config.console.on {
            return Err(ApiError::NotFound);
        }
        let Shop { tenant, access, name, signed_out } = Shop::from_request_parts(parts, app).await?;
        let Ok(ClientAddress(client)) = ClientAddress::from_request_parts(parts, app).await;
        Ok(Self { tenant, name, access, signed_out, client })
    }
}

/// A person who may read and change the shop's files. For others, these routes are not found.
pub(in crate::http) struct Editor(pub Owner);

impl FromRequestParts<Arc<App>> for Editor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let owner = Owner::from_request_parts(parts, app).await?;
        if owner.may_edit(app) { Ok(Self(owner)) } else { Err(ApiError::NotFound) }
    }
}

/// Makes an entry of the audit log with the current time.
pub(in crate::http) fn console_act(who: &str, what: ConsoleDeed, client: Option<IpAddr>) -> ConsoleAct {
    ConsoleAct {
        who: who.to_owned(),
        what,
        client: client.map(|address| address.to_string()),
        conversation: None,
        subject: None,
        detail: None,
        at: Utc::now(),
    }
}

/// Stores an entry of the audit log. A failure is logged and does not fail the request.
pub(super) async fn record(app: &App, tenant: &TenantId, act: &ConsoleAct) {
    if let Err(cause) = with_store_timeout(app, app.store.tenant(tenant).record_console_act(act)).await {
        error!(error = ?cause, what = act.what.as_str(), "Could not store an entry of the audit log");
    }
}

/// Checks the reason for a decision and returns it cleaned and trimmed.
pub(super) fn why(text: &str) -> Result<String> {
    let text = clean(text);
    let text = text.trim();
    let length = text.chars().count();
    if (1..=WHY_MAX_CHARS).contains(&length) {
        return Ok(text.to_owned());
    }
    let detail = format!("why must have 1 to {WHY_MAX_CHARS} characters after trimming; this one has {length}.");
    Err(ApiError::InvalidRequest(detail))
}

/// Lets open consoles read the conversation of a decision again.
pub(super) fn notify(app: &App, tenant: &TenantId, conversation: Option<ConversationId>) {
    if let Some(conversation) = conversation {
        app.engine.notify_changed(tenant, conversation);
    }
}
