//! Orders and returns of a conversation, steps of RMAs, and decisions on escalations.
//!
//! - [`views`]: their JSON form

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::owner::{Owner, notify, why};
use crate::app::App;
use crate::desks::ConsolePanel;
use crate::domain::returns::{
    DamageWords, Resolution, Rma, RmaNumber, RmaStatus, Ticket, TicketNumber, TrackingNumber,
};
use crate::domain::{ConsoleAct, ConsoleDeed};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Body, ConversationPath, PathParameters, cut_page, sentence};
use crate::http::refusals::{RefusedRead, RefusedWrite};
use crate::store::audit::Actor;
use crate::store::returns::advance::{Advance, LabelOutcome};
use crate::store::returns::resolve::{Resolving, Verdict};
use crate::store::{StoreError, TenantStore};

mod views;

use views::{ReturnsView, RmaView, TicketView};

/// The state to move an RMA to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NextStep {
    to: RmaStatus,
}

/// A person's decision.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Decided {
    decision: Resolution,
    /// The reason, for the audit log. With `more_info`, it is the question to the customer. 1 to 2,000 characters after trimming.
    #[schema(min_length = 1, max_length = 2000, pattern = r"\S")]
    why: String,
}

/// An RMA after the step.
#[derive(Serialize, ToSchema)]
pub(super) struct Advanced {
    rma: RmaView,
}

/// An escalation after the decision, and its RMAs.
#[derive(Serialize, ToSchema)]
pub(super) struct ResolvedView {
    ticket: TicketView,
    rmas: Vec<RmaView>,
}

/// The open tickets without a conversation.
#[derive(Serialize, ToSchema)]
pub(super) struct LooseTickets {
    /// Oldest first; at most 200.
    tickets: Vec<TicketView>,
    /// Whether there are more.
    has_more: bool,
}

/// Lists the tickets of the shop that wait for a decision and belong to no conversation: it was deleted, or there was none, as for a
/// payment that names no order.
#[utoipa::path(
    get, path = "/console/api/tickets", operation_id = "console_tickets", tag = "console",
    responses((status = 200, description = "the tickets, oldest first", body = LooseTickets), RefusedRead)
)]
pub(super) async fn loose_tickets(owner: Owner, State(app): State<Arc<App>>) -> Result<Json<LooseTickets>> {
    const MOST: u64 = 200;
    let store = app.store.tenant(&owner.tenant);
    let mut tickets = with_store_timeout(&app, store.list_loose_tickets(MOST + 1)).await?;
    let has_more = cut_page(&mut tickets, MOST, |_| String::new()).is_some();
    Ok(Json(LooseTickets { tickets: tickets.into_iter().map(TicketView::from).collect(), has_more }))
}

/// Lists the orders and returns of a conversation: what was created in it, the orders that it mentions, and their RMAs, tickets,
/// mails and audit log. Returns the newest 20 of each and the newest 200 rows of the audit log; `has_more` is true if there are
/// more.
#[utoipa::path(
    get, path = "/console/api/conversations/{id}/returns", operation_id = "console_returns", tag = "console",
    params(("id" = String, Path)),
    responses((status = 200, description = "the lists, which may be empty", body = ReturnsView), RefusedRead)
)]
pub(super) async fn get(
    owner: Owner,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
) -> Result<Json<ReturnsView>> {
    let store = app.store.tenant(&owner.tenant);
    let reading = async {
        let Some(conversation) = store.find_conversation(id).await? else { return Ok(None) };
        Ok::<_, StoreError>(Some((conversation, store.overview_of_returns(id).await?)))
    };
    let (conversation, overview) = with_store_timeout(&app, reading).await?.ok_or(ApiError::NotFound)?;
    let panel = app.shops.get(&owner.tenant).console_panel(&conversation.persona);
    let takes_returns = matches!(panel, Some(ConsolePanel::Orders));
    Ok(Json(ReturnsView::new(overview, takes_returns)))
}

/// Moves an RMA to its next state in the name of the signed-in person. `Label_Sent` creates the label. Idempotent.
#[utoipa::path(
    post, path = "/console/api/rmas/{number}/advance", operation_id = "console_advance_rma", tag = "console",
    params(("number" = String, Path, description = "such as `RMA-1701234567-ABCD`")),
    request_body = NextStep,
    responses(
        (status = 200, description = "the updated RMA", body = Advanced),
        RefusedWrite,
        (status = 409, description = "`illegal_step`: the detail names both states"),
    )
)]
pub(super) async fn advance(
    owner: Owner,
    State(app): State<Arc<App>>,
    PathParameters(number): PathParameters<String>,
    body: Body<NextStep>,
) -> Result<Json<Advanced>> {
    let number: RmaNumber = number.parse().map_err(|_| ApiError::NotFound)?;
    let act = ConsoleAct {
        subject: Some(number.to_string()),
        detail: Some(body.value.to.to_string()),
        ..owner.act(ConsoleDeed::RmaAdvanced)
    };
    let store = app.store.tenant(&owner.tenant).noting(Some(&act));
    let rma = with_store_timeout(&app, take_step(&store, &number, body.value.to, &owner.author())).await?;
    notify(&app, &owner.tenant, rma.conversation);
    Ok(Json(Advanced { rma: rma.into() }))
}

async fn take_step(store: &TenantStore<'_>, number: &RmaNumber, to: RmaStatus, by: &Actor<'_>) -> Result<Rma> {
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
    // The RMA has moved on since its label was issued.
    match refusal.or_else(|| rma.step(to).err()) {
        Some(refusal) => Err(ApiError::IllegalStep(sentence(&refusal.to_string()))),
        None => Ok(rma),
    }
}

/// Stores a decision on an escalation in the name of the signed-in person. `approve` creates the return that the ticket requests
/// and unlocks its RMAs, `reject` refuses it, and `more_info` asks the customer. The customer is informed in the chat and by mail.
/// Idempotent for the same decision by the same person.
#[utoipa::path(
    post, path = "/console/api/escalations/{id}/resolve", operation_id = "console_resolve_escalation", tag = "console",
    params(("id" = String, Path, description = "the number of the ticket, or of its RMA")),
    request_body = Decided,
    responses(
        (status = 200, description = "the escalation and its updated RMAs", body = ResolvedView),
        RefusedWrite,
        (status = 409, description = "`already_resolved`, or `illegal_step` if the return rules refuse the approval"),
    )
)]
pub(super) async fn resolve(
    owner: Owner,
    State(app): State<Arc<App>>,
    PathParameters(id): PathParameters<String>,
    body: Body<Decided>,
) -> Result<Json<ResolvedView>> {
    let id = escalation_id(&id)?;
    let why = why(&body.value.why)?;
    let decision = body.value.decision;
    let act = ConsoleAct {
        subject: Some(id.clone()),
        detail: Some(decision.to_string()),
        ..owner.act(ConsoleDeed::EscalationResolved)
    };
    let store = app.store.tenant(&owner.tenant).noting(Some(&act));
    let by = owner.author();
    let zone = app.config.shops.time_zone_of(&owner.tenant);
    let terms = app.config.returns.terms(DamageWords::default(), zone);
    let verdict = Verdict { decision, why: &why, terms: &terms, random: rand::random() };
    let (ticket, rmas) = match with_store_timeout(&app, Box::pin(store.resolve_escalation(&id, &verdict, &by))).await? {
        Resolving::Done(ticket, rmas) => (*ticket, rmas),
        Resolving::Resolved(ticket) if is_same_decision(&ticket, decision, &why, by.who) => (*ticket, Vec::new()),
        Resolving::Resolved(ticket) => return Err(ApiError::AlreadyResolved(resolved_by(&ticket))),
        Resolving::NotFound => return Err(ApiError::NotFound),
        refusal @ (Resolving::Refused(_) | Resolving::BadAmounts) => {
            return Err(ApiError::IllegalStep(sentence(&refusal.why_not(&id))));
        }
    };
    // Background jobs send labels, mails and messages.
    app.jobs.wake();
    for conversation in rmas.iter().map(|rma| rma.conversation).chain([ticket.conversation]) {
        notify(&app, &owner.tenant, conversation);
    }
    Ok(Json(ResolvedView { ticket: ticket.into(), rmas: rmas.into_iter().map(RmaView::from).collect() }))
}

/// Parses the number of a ticket or an RMA and returns its stored spelling.
fn escalation_id(text: &str) -> Result<String> {
    let ticket = text.parse().map(|number: TicketNumber| number.to_string());
    ticket.or_else(|_| text.parse().map(|number: RmaNumber| number.to_string())).map_err(|_| ApiError::NotFound)
}

fn is_same_decision(ticket: &Ticket, decision: Resolution, why: &str, who: &str) -> bool {
    ticket
        .resolved
        .as_ref()
        .is_some_and(|earlier| (earlier.decision, &*earlier.why, &*earlier.by) == (decision, why, who))
}

fn resolved_by(ticket: &Ticket) -> String {
    match &ticket.resolved {
        Some(earlier) => format!("{} was already resolved: {}, by {}.", ticket.id, earlier.decision, earlier.by),
        None => format!("{} was already resolved.", ticket.id),
    }
}
