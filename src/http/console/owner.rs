//! Who may use the console's API.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::domain::audit::OPERATOR;
use crate::domain::{ConsoleAct, ConsoleDeed, TenantId};
use crate::http::access::{Access, Shop};
use crate::http::client::ClientAddress;
use crate::http::error::ApiError;

/// Somebody of the shop at the console. Where `CONSOLE` is off, there is nothing to be found.
pub(in crate::http) struct Owner {
    pub tenant: TenantId,
    /// What customers are told of who answers.
    pub name: Option<String>,
    pub access: Access,
    /// Cancelled when the person signs out; `None` without a session.
    pub signed_out: Option<CancellationToken>,
    /// Where the request comes from.
    client: Option<IpAddr>,
}

impl Owner {
    /// Whether this is the shop that the server's own files (personas, documents, evals) belong to.
    pub fn may_edit(&self, app: &App) -> bool {
        self.tenant == app.config.auth.web_chat_tenant
    }

    /// Who it is in the shop's records; `operator`, as with `frontdesk rma`, where nobody has said a name.
    pub fn signature(&self) -> &str {
        self.name.as_deref().unwrap_or(OPERATOR)
    }

    /// An entry of the audit log in this person's name.
    pub fn act(&self, what: ConsoleDeed) -> ConsoleAct {
        console_act(self.signature(), what, self.client)
    }

    /// When the session ends; `None`: it is none.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        self.access.expires_at()
    }
}

impl FromRequestParts<Arc<App>> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        if !app.config.console.on {
            return Err(ApiError::NotFound);
        }
        let Shop { tenant, access, name, signed_out } = Shop::from_request_parts(parts, app).await?;
        let Ok(ClientAddress(client)) = ClientAddress::from_request_parts(parts, app).await;
        Ok(Self { tenant, name, access, signed_out, client })
    }
}

/// An owner who may see and change what belongs to the whole server; for others it is not there.
pub(in crate::http) struct Editor(pub Owner);

impl FromRequestParts<Arc<App>> for Editor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let owner = Owner::from_request_parts(parts, app).await?;
        if owner.may_edit(app) { Ok(Self(owner)) } else { Err(ApiError::NotFound) }
    }
}

/// An entry of the audit log, of now.
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
