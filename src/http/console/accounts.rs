//! The telecom account of a conversation, and decisions on its refund cases.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::owner::{Owner, notify, why};
use crate::app::App;
use crate::desks::ConsolePanel;
use crate::domain::calendar::time;
use crate::domain::commerce::Money;
use crate::domain::telecom::{
    Account, CaseId, CaseStatus, Decided, Invoice, RefundCase, RefundReason, SubscriptionStatus, Verdict,
};
use crate::domain::{ConsoleAct, ConsoleDeed};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Body, ConversationPath, PathParameters};
use crate::http::refusals::{RefusedRead, RefusedWrite};
use crate::store::StoreError;
use crate::store::refund_cases::Deciding;

/// The account of a conversation.
#[derive(Serialize, ToSchema)]
#[schema(as = ConversationAccount)]
pub(super) struct AccountView {
    /// Whether the conversation's desk handles accounts. If not, the rest stays empty.
    has_accounts: bool,
    /// The customer's id: named by the shop, or proved in the conversation.
    user_id: Option<String>,
    subscription: Option<SubscriptionView>,
    /// The last three, newest first.
    invoices: Vec<Invoice>,
    /// The account's refund cases, newest first.
    cases: Vec<CaseView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Subscription)]
struct SubscriptionView {
    plan_code: String,
    plan_name: String,
    price_monthly: Money,
    status: SubscriptionStatus,
    start_date: NaiveDate,
}

/// A refund case.
#[derive(Serialize, ToSchema)]
#[schema(as = RefundCase)]
pub(super) struct CaseView {
    id: String,
    invoice: String,
    reason: RefundReason,
    amount: Money,
    /// In the customer's words.
    description: Option<String>,
    status: CaseStatus,
    /// Whether it waits for a decision.
    is_open: bool,
    /// The day by which the shop decides.
    eta_date: NaiveDate,
    #[serde(serialize_with = "time")]
    opened_at: DateTime<Utc>,
    decided: Option<Decided>,
}

/// A person's decision on a refund case.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecideRefund {
    decision: Verdict,
    /// The reason, for the audit log. 1 to 2,000 characters after trimming.
    #[schema(min_length = 1, max_length = 2000, pattern = r"\S")]
    why: String,
}

/// The refund case after the decision.
#[derive(Serialize, ToSchema)]
pub(super) struct RefundDecided {
    case: CaseView,
}

/// The telecom account that a conversation is about, with its last invoices and its refund cases.
#[utoipa::path(
    get, path = "/console/api/conversations/{id}/account", operation_id = "console_account", tag = "console",
    params(("id" = String, Path)),
    responses((status = 200, description = "the account, if it is known", body = AccountView), RefusedRead)
)]
pub(super) async fn get(
    owner: Owner,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
) -> Result<Json<AccountView>> {
    let store = app.store.tenant(&owner.tenant);
    let reading = async {
        let Some(conversation) = store.find_conversation(id).await? else { return Ok(None) };
        let panel = app.shops.get(&owner.tenant).console_panel(&conversation.persona);
        if !matches!(panel, Some(ConsolePanel::Account)) {
            return Ok(Some(AccountView::new(false, None, None)));
        }
        let user_id = store.find_account_of(&conversation).await?;
        let account = match &user_id {
            Some(user_id) => store.find_account(user_id).await?,
            None => None,
        };
        Ok::<_, StoreError>(Some(AccountView::new(true, user_id, account)))
    };
    with_store_timeout(&app, reading).await?.map(Json).ok_or(ApiError::NotFound)
}

/// Stores a decision on a refund case in the name of the signed-in person. The customer reads it in the chat. Idempotent for the same
/// decision by the same person.
#[utoipa::path(
    post, path = "/console/api/refund-cases/{id}/decide", operation_id = "console_decide_refund", tag = "console",
    params(("id" = String, Path, description = "such as `R10001`")),
    request_body = DecideRefund,
    responses(
        (status = 200, description = "the updated case", body = RefundDecided),
        RefusedWrite,
        (status = 409, description = "`already_resolved`"),
    )
)]
pub(super) async fn decide(
    owner: Owner,
    State(app): State<Arc<App>>,
    PathParameters(id): PathParameters<String>,
    body: Body<DecideRefund>,
) -> Result<Json<RefundDecided>> {
    let id: CaseId = id.parse().map_err(|_| ApiError::NotFound)?;
    let (why, verdict) = (why(&body.value.why)?, body.value.decision);
    let act = ConsoleAct {
        subject: Some(id.to_string()),
        detail: Some(verdict.to_string()),
        ..owner.act(ConsoleDeed::RefundDecided)
    };
    let store = app.store.tenant(&owner.tenant).noting(Some(&act));
    let by = owner.author();
    let case = match with_store_timeout(&app, store.decide_refund_case(id, verdict, &why, &by)).await? {
        Deciding::Done(case) => *case,
        Deciding::Decided(case) if is_same_decision(&case, verdict, &why, by.who) => *case,
        Deciding::Decided(case) => return Err(ApiError::AlreadyResolved(decided_by(&case))),
        Deciding::NotFound => return Err(ApiError::NotFound),
    };
    // A background job informs the customer.
    app.jobs.wake();
    notify(&app, &owner.tenant, case.conversation);
    Ok(Json(RefundDecided { case: case.into() }))
}

fn is_same_decision(case: &RefundCase, verdict: Verdict, why: &str, who: &str) -> bool {
    let is_same_person = case.decided.as_ref().is_some_and(|decided| (&*decided.by, &*decided.why) == (who, why));
    is_same_person && case.status == verdict.into()
}

fn decided_by(case: &RefundCase) -> String {
    let who = case.decided.as_ref().map(|decided| format!(", by {}", decided.by)).unwrap_or_default();
    format!("{} was already decided: {}{who}.", case.id, case.status)
}

impl AccountView {
    fn new(has_accounts: bool, user_id: Option<String>, account: Option<Account>) -> Self {
        let (subscription, invoices, cases) = match account {
            Some(Account { subscription, invoices, cases }) => (Some(subscription), invoices, cases),
            None => (None, Vec::new(), Vec::new()),
        };
        let subscription = subscription.map(|subscription| SubscriptionView {
            plan_code: subscription.plan.code,
            plan_name: subscription.plan.name,
            price_monthly: subscription.plan.price_monthly,
            status: subscription.status,
            start_date: subscription.start_date,
        });
        Self { has_accounts, user_id, subscription, invoices, cases: cases.into_iter().map(CaseView::from).collect() }
    }
}

impl From<RefundCase> for CaseView {
    fn from(case: RefundCase) -> Self {
        Self {
            id: case.id.into(),
            invoice: case.invoice.into(),
            reason: case.reason,
            amount: case.amount,
            description: case.description,
            status: case.status,
            is_open: case.status.is_open(),
            eta_date: case.eta,
            opened_at: case.opened_at,
            decided: case.decided,
        }
    }
}
