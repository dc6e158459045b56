//! `GET /console/api/me`

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::owner::Owner;
use crate::app::App;
use crate::domain::TenantId;
use crate::http::access::Access;
use crate::http::error::ApiError;
use crate::http::problem::Problem;
use crate::http::views::optional_time;

/// Who is signed in.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Me {
    /// Always true; who is not signed in gets a 401.
    signed_in: bool,
    /// No keys are set, so nobody needs to sign in.
    development: bool,
    #[schema(value_type = String)]
    tenant: TenantId,
    /// How the person wants to be called.
    name: Option<String>,
    /// When the session ends; null: it is none.
    #[serde(serialize_with = "optional_time")]
    expires_at: Option<DateTime<Utc>>,
    /// Whether personas, documents and evals may be seen and changed: they belong to the whole server.
    may_edit: bool,
}

impl Me {
    fn new(owner: Owner, app: &App) -> Self {
        Self {
            signed_in: true,
            development: owner.access == Access::Development,
            may_edit: owner.may_edit(app),
            expires_at: owner.expires_at(),
            tenant: owner.tenant,
            name: owner.name,
        }
    }

    /// Who sends a request, for a page that shows itself to everybody; `None`: nobody who is signed in.
    pub async fn of(parts: &mut Parts, app: &Arc<App>) -> Option<Self> {
        let owner = Owner::from_request_parts(parts, app).await.ok()?;
        Some(Self::new(owner, app))
    }
}

/// Who is signed in.
#[utoipa::path(
    get, path = "/console/api/me", operation_id = "console_me", tag = "console",
    responses(
        (status = 200, description = "who is signed in", body = Me),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: there is no console", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(owner: Owner, State(app): State<Arc<App>>) -> Result<Json<Me>, ApiError> {
    Ok(Json(Me::new(owner, &app)))
}
