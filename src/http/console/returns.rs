//! Orders and returns beside a conversation; the later steps of RMAs; what a person decides on an escalation.
//!
//! - [`views`]: all that as the console shows it

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::Utc;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::owner::Owner;
use crate::app::App;
use crate::desks::ConsolePanel;
use crate::domain::returns::{
    DamageWords, Hand, Resolution, Rma, RmaNumber, RmaStatus, Ticket, TicketNumber, TrackingNumber,
};
use crate::domain::{ConsoleAct, ConsoleDeed, ConversationId, TenantId};
use crate::http::error::ApiError;
use crate::http::extract::{Body, ConversationPath, Known};
use crate::http::in_time::in_time;
use crate::http::problem::Problem;
use crate::http::refusals::{RefusedRead, RefusedWrite};
use crate::store::returns::By;
use crate::store::returns::advance::{Advance, LabelOutcome};
use crate::store::returns::resolve::{Resolving, Verdict};
use crate::store::{StoreError, TenantStore};

mod views;

use views::{ReturnsView, RmaView, TicketView};

/// The longest reason for a decision, in characters.
const WHY_MAX_CHARS: usize = 2_000;

/// Which state an RMA is to be in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NextStep {
    to: RmaStatus,
}

/// What a person decided.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Decided {
    decision: Resolution,
    /// For the audit log; with `more_info` it is the question that the customer reads. 1 to 2,000 characters after trimming.
    #[schema(min_length = 1, max_length = 2000, pattern = r"\S")]
    why: String,
}

/// An RMA after a step.
#[derive(Serialize, ToSchema)]
pub(super) struct Advanced {
    rma: RmaView,
}

/// An escalation after a decision, and the RMAs that it was about.
#[derive(Serialize, ToSchema)]
pub(super) struct ResolvedView {
    ticket: TicketView,
    rmas: Vec<RmaView>,
}

/// What the conversation has to do with orders and returns: what was made in it, the orders that it is about, whatever became
/// of those elsewhere, and the record of all that. At most the newest 20 orders, RMAs, tickets and mails and the newest 200 rows
/// of the record; `has_more` says that there is more.
#[utoipa::path(
    get, path = "/console/api/conversations/{id}/returns", operation_id = "console_returns", tag = "console",
    params(("id" = String, Path)),
    responses(
        (status = 200, description = "all of it; empty lists where there is nothing", body = ReturnsView),
        RefusedRead,
    )
)]
pub(super) async fn get(
    owner: Owner,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
) -> Result<Json<ReturnsView>, ApiError> {
    let store = app.store.tenant(&owner.tenant);
    let reading = async {
        let Some(conversation) = store.find_conversation(id).await? else { return Ok(None) };
        Ok::<_, StoreError>(Some((conversation, store.overview_of_returns(id).await?)))
    };
    let (conversation, overview) = in_time(&app, reading).await?.ok_or(ApiError::NotFound)?;
    let panel = app.desks().console_panel(&conversation.persona);
    let takes_returns = matches!(panel, Some(ConsolePanel::Orders));
    Ok(Json(ReturnsView::new(overview, takes_returns)))
}

/// Takes the next step of an RMA, in the name of whoever is signed in. `Label_Sent` makes its label. A step that has been taken
/// already is answered as if it were taken now.
#[utoipa::path(
    post, path = "/console/api/rmas/{number}/advance", operation_id = "console_advance_rma", tag = "console",
    params(("number" = String, Path, description = "such as `RMA-1701234567-ABCD`")),
    request_body = NextStep,
    responses(
        (status = 200, description = "the RMA as it is now", body = Advanced),
        RefusedWrite,
        (status = 409, description = "`illegal_step`: the detail names both states", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn advance(
    owner: Owner,
    State(app): State<Arc<App>>,
    Known(number): Known<String>,
    body: Body<NextStep>,
) -> Result<Json<Advanced>, ApiError> {
    let number: RmaNumber = number.parse().map_err(|_| ApiError::NotFound)?;
    let act = ConsoleAct {
        subject: Some(number.to_string()),
        detail: Some(body.value.to.to_string()),
        ..owner.act(ConsoleDeed::RmaAdvanced)
    };
    let store = app.store.tenant(&owner.tenant).noting(Some(&act));
    let rma = in_time(&app, take_step(&store, &number, body.value.to, &by(&owner))).await?;
    tell(&app, &owner.tenant, rma.conversation);
    Ok(Json(Advanced { rma: rma.into() }))
}

async fn take_step(store: &TenantStore<'_>, number: &RmaNumber, to: RmaStatus, by: &By<'_>) -> Result<Rma, ApiError> {
    let refusal = if to == RmaStatus::LabelSent {
        match store.issue_label(number, &TrackingNumber::new(rand::random()), by).await? {
            LabelOutcome::Issued(_) | LabelOutcome::Repeated(_) => None,
            LabelOutcome::Refused(refusal) => Some(refusal),
            LabelOutcome::NotFound => return Err(ApiError::NotFound),
        }
    } else {
        match store.advance_rma(number, to, by).await? {
            Advance::Done(rma) => return Ok(*rma),
            Advance::Refused(refusal) => Some(refusal),
            Advance::NotFound => return Err(ApiError::NotFound),
        }
    };
    let rma = store.find_rma(number).await?.ok_or(ApiError::NotFound)?;
    if rma.status == to {
        return Ok(rma);
    }
    // The label of one that has gone on since is there already, and no step.
    match refusal.or_else(|| rma.step(to).err()) {
        Some(refusal) => Err(ApiError::IllegalStep(sentence(&refusal.to_string()))),
        None => Ok(rma),
    }
}

/// Stores what a person decided on an escalation, in the name of the person who is signed in. `approve` makes the return that the
/// ticket asks for and releases locked RMAs, `reject` refuses it, `more_info` asks the customer. The customer reads it in the chat
/// and in a mail. The same decision by the same person again is answered as if it were made now.
#[utoipa::path(
    post, path = "/console/api/escalations/{id}/resolve", operation_id = "console_resolve_escalation", tag = "console",
    params(("id" = String, Path, description = "the number of the ticket, or of its RMA")),
    request_body = Decided,
    responses(
        (status = 200, description = "the escalation, and its RMAs as they are now", body = ResolvedView),
        RefusedWrite,
        (status = 409, description = "`already_resolved`, or `illegal_step` where the return rules refuse what is approved", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn resolve(
    owner: Owner,
    State(app): State<Arc<App>>,
    Known(id): Known<String>,
    body: Body<Decided>,
) -> Result<Json<ResolvedView>, ApiError> {
    let id = escalation_id(&id)?;
    let why = why(&body.value.why)?;
    let decision = body.value.decision;
    let act = ConsoleAct {
        subject: Some(id.clone()),
        detail: Some(decision.to_string()),
        ..owner.act(ConsoleDeed::EscalationResolved)
    };
    let store = app.store.tenant(&owner.tenant).noting(Some(&act));
    let by = by(&owner);
    let terms = app.config.returns.terms(DamageWords::default());
    let verdict = Verdict { decision, why, terms: &terms, random: rand::random() };
    let (ticket, rmas) = match in_time(&app, Box::pin(store.resolve_escalation(&id, &verdict, &by))).await? {
        Resolving::Done(ticket, rmas) => (*ticket, rmas),
        Resolving::Resolved(ticket) if is_the_same(&ticket, decision, why, by.who) => (*ticket, Vec::new()),
        Resolving::Resolved(ticket) => return Err(ApiError::AlreadyResolved(resolved_by(&ticket))),
        Resolving::NotFound => return Err(ApiError::NotFound),
        refusal @ (Resolving::Refused(_) | Resolving::BadAmounts) => {
            return Err(ApiError::IllegalStep(sentence(&refusal.why_not(&id))));
        }
    };
    // Labels, mails and messages are jobs.
    app.jobs.wake();
    for conversation in rmas.iter().map(|rma| rma.conversation).chain([ticket.conversation]) {
        tell(&app, &owner.tenant, conversation);
    }
    Ok(Json(ResolvedView { ticket: ticket.into(), rmas: rmas.into_iter().map(RmaView::from).collect() }))
}

/// The number of a ticket or an RMA, as it is stored.
fn escalation_id(text: &str) -> Result<String, ApiError> {
    let ticket = text.parse().map(|number: TicketNumber| number.to_string());
    ticket.or_else(|_| text.parse().map(|number: RmaNumber| number.to_string())).map_err(|_| ApiError::NotFound)
}

fn why(text: &str) -> Result<&str, ApiError> {
    let text = text.trim();
    let length = text.chars().count();
    if (1..=WHY_MAX_CHARS).contains(&length) {
        return Ok(text);
    }
    let detail = format!("why must have 1 to {WHY_MAX_CHARS} characters after trimming; this one has {length}.");
    Err(ApiError::InvalidRequest(detail))
}

fn by(owner: &Owner) -> By<'_> {
    By { hand: Hand::Person, who: owner.signature(), conversation: None, now: Utc::now() }
}

fn is_the_same(ticket: &Ticket, decision: Resolution, why: &str, who: &str) -> bool {
    ticket
        .resolved
        .as_ref()
        .is_some_and(|earlier| (earlier.decision, &*earlier.why, &*earlier.by) == (decision, why, who))
}

fn resolved_by(ticket: &Ticket) -> String {
    match &ticket.resolved {
        Some(earlier) => format!("{} was decided already: {}, by {}.", ticket.id, earlier.decision, earlier.by),
        None => format!("{} was decided already.", ticket.id),
    }
}

fn tell(app: &App, tenant: &TenantId, conversation: Option<ConversationId>) {
    if let Some(conversation) = conversation {
        app.engine.notify_changed(tenant, conversation);
    }
}

/// An error's words as a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
