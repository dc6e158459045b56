//! Converts rows to RMAs and tickets.

use std::collections::HashMap;

use sea_orm::sea_query::SimpleExpr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::Deserialize;
use uuid::Uuid;

use crate::domain::commerce::{Currency, Money};
use crate::domain::returns::ticket::Resolved;
use crate::domain::returns::{
    Action, Claim, Label, Priority, ReasonCode, Resolution, Rma, RmaId, RmaLine, RmaStatus, Ticket, TicketKind,
};
use crate::domain::{ConversationId, TenantId};
use crate::store::entities::{TenantEntity, labels, rma_items, rmas, tickets};
use crate::store::{Result, StoreError, from_db, unreadable};

/// Lists the shop's RMAs that meet the condition, oldest first.
pub(in crate::store) async fn list_rmas(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    which: SimpleExpr,
) -> Result<Vec<Rma>> {
    let found = rmas::Entity::of(tenant)
        .filter(which)
        .order_by_asc(rmas::Column::CreatedAt)
        .order_by_asc(rmas::Column::Id)
        .all(connection)
        .await?;
    load_rmas(connection, found).await
}

/// Loads the lines and labels of RMAs. Keeps the order of the rows.
pub(super) async fn load_rmas(connection: &impl ConnectionTrait, found: Vec<rmas::Model>) -> Result<Vec<Rma>> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = found.iter().map(|row| row.id).collect();
    let lines = rma_items::Entity::find()
        .filter(rma_items::Column::RmaId.is_in(ids.iter().copied()))
        .order_by_asc(rma_items::Column::Line)
        .all(connection)
        .await?;
    let mut lines_of: HashMap<Uuid, Vec<rma_items::Model>> = HashMap::new();
    for line in lines {
        lines_of.entry(line.rma_id).or_default().push(line);
    }
    let labels = labels::Entity::find().filter(labels::Column::RmaId.is_in(ids)).all(connection).await?;
    let mut labels: HashMap<Uuid, labels::Model> = labels.into_iter().map(|row| (row.rma_id, row)).collect();
    found
        .into_iter()
        .map(|row| {
            let label = labels.remove(&row.id);
            let lines = lines_of.remove(&row.id).unwrap_or_default();
            read_rma(row, lines, label)
        })
        .collect()
}

fn read_rma(row: rmas::Model, lines: Vec<rma_items::Model>, label: Option<labels::Model>) -> Result<Rma> {
    let unreadable = |reason| unreadable("rmas", reason);
    let currency = Currency::parse(&row.currency).ok_or_else(|| unreadable("currency"))?;
    let label = label.map(|label| {
        let tracking = label.tracking.parse().map_err(|_| unreadable("tracking"))?;
        Ok::<_, StoreError>(Label { tracking, created_at: label.created_at })
    });
    Ok(Rma {
        id: RmaId(row.id),
        number: row.number.parse().map_err(|_| unreadable("number"))?,
        order: row.order_number.parse().map_err(|_| unreadable("order_number"))?,
        action: Action::parse(&row.action).ok_or_else(|| unreadable("action"))?,
        status: RmaStatus::parse(&row.status).ok_or_else(|| unreadable("status"))?,
        lines: lines
            .into_iter()
            .map(|line| RmaLine { line: from_db(line.line), amount: Money::new(line.amount, currency) })
            .collect(),
        refund: Money::new(row.refund, currency),
        reason: row.reason,
        reason_code: ReasonCode::parse(&row.reason_code).ok_or_else(|| unreadable("reason_code"))?,
        escalated: row.escalated,
        escalation_reason: row.escalation_reason,
        conversation: row.conversation_id.map(ConversationId),
        label: label.transpose()?,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

pub(super) fn read_ticket(row: tickets::Model) -> Result<Ticket> {
    let unreadable = |reason| unreadable("tickets", reason);
    let decision =
        row.resolution.as_deref().map(|text| Resolution::parse(text).ok_or_else(|| unreadable("resolution")));
    let (resolved, question) = match (decision.transpose()?, row.resolved_by, row.resolved_why, row.resolved_at) {
        (Some(decision), Some(by), Some(why), Some(at)) => (Some(Resolved { decision, by, why, at }), None),
        (Some(Resolution::MoreInfo), _, why, None) => (None, why),
        _ => (None, None),
    };
    let claim = row.claim.map(Claim::deserialize).transpose().map_err(|_| unreadable("claim"))?;
    Ok(Ticket {
        id: row.id,
        kind: TicketKind::parse(&row.kind).ok_or_else(|| unreadable("kind"))?,
        order: row.order_number.map(|number| number.parse()).transpose().map_err(|_| unreadable("order_number"))?,
        rma: row.rma_number.map(|number| number.parse()).transpose().map_err(|_| unreadable("rma_number"))?,
        conversation: row.conversation_id.map(ConversationId),
        priority: row.priority.as_deref().and_then(Priority::parse),
        reason: row.reason,
        summary: row.summary,
        claim,
        question,
        created_at: row.created_at,
        resolved,
    })
}
