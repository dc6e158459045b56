//! Erases a conversation, a customer, or everything before a date, as described in [`TABLES`].

use chrono::{DateTime, Utc};
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, LockType, Query, SimpleExpr};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Set,
};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::person::{Named, Person, VALUES_AT_ONCE, find_person};
use super::tables::{Blank, Key, Rows, TABLES, Table};
use crate::domain::identity::ERASED_DOMAIN;
use crate::domain::{AuditEntry, ConversationId, TenantId, TurnStatus};
use crate::store::audit::record;
use crate::store::entities::{audit, conversations, turns};
use crate::store::jobs::{FORGET_CONVERSATION, NewJob, enqueue};
use crate::store::vectors::delete_vectors_of;
use crate::store::{Result, Store, TenantStore};

/// The effect of an erasure on one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Erased {
    pub table: &'static str,
    /// The number of removed rows.
    pub rows: u64,
    /// The number of values cleared in rows that stay.
    pub values: u64,
}

/// The result of [`TenantStore::erase_person`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Erasure {
    Done {
        /// The tables that changed.
        erased: Vec<Erased>,
        /// The customer, as the erasure found them.
        person: Box<Person>,
    },
    /// A turn of this conversation has not ended. Nothing was changed.
    TurnRuns(ConversationId),
}

/// How much to erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Reach {
    /// The customer's words.
    Words,
    /// The customer's words and identity.
    Person,
}

impl TenantStore<'_> {
    /// Erases the customer in one transaction. Orders, RMAs and tickets stay with their states and amounts. `dry_run`
    /// only counts.
    pub async fn erase_person(&self, named: &Named, who: &str, dry_run: bool, now: DateTime<Utc>) -> Result<Erasure> {
        let transaction = self.store.begin().await?;
        let mut person = find_person(&transaction, self.tenant, named).await?;
        if person.is_unknown() {
            return Ok(Erasure::Done { erased: Vec::new(), person: Box::new(person) });
        }
        // A message that arrives now waits for this lock, and then finds its conversation deleted.
        self.lock_conversations(&transaction, &person).await?;
        if !dry_run && let Some(running) = self.find_running(&transaction, &person).await? {
            return Ok(Erasure::TurnRuns(running));
        }
        // Only now, because a turn that ended meanwhile may have joined one.
        person.add_joined_tickets(&transaction, self.tenant).await?;
        let erased = erase(&transaction, self.tenant, &person, Reach::Person).await?;
        if dry_run {
            return Ok(Erasure::Done { erased, person: Box::new(person) });
        }
        if self.store.enqueues_forgetting() {
            for id in &person.conversations {
                self.enqueue_forgetting(&transaction, ConversationId(*id), now).await?;
            }
        }
        let counts: serde_json::Map<String, Value> =
            erased.iter().map(|erased| (erased.table.to_owned(), json!(erased.rows + erased.values))).collect();
        let entry =
            AuditEntry { after: Some(Value::Object(counts)), ..AuditEntry::system(who, "customer.erased", now) };
        record(&transaction, self.tenant, &[entry]).await?;
        transaction.commit().await?;
        Ok(Erasure::Done { erased, person: Box::new(person) })
    }

    /// Stores a job that removes the conversation's vectors from an external index.
    pub(in crate::store) async fn enqueue_forgetting(
        &self,
        transaction: &DatabaseTransaction,
        id: ConversationId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let forget = NewJob::new(FORGET_CONVERSATION, id.0, self.tenant, now).in_conversation(id);
        enqueue(transaction, &[forget]).await
    }

    async fn lock_conversations(&self, transaction: &DatabaseTransaction, person: &Person) -> Result<()> {
        let ids: Vec<Uuid> = person.conversations.iter().copied().collect();
        for ids in ids.chunks(VALUES_AT_ONCE) {
            conversations::Entity::find()
                .filter(conversations::Column::Id.is_in(ids.iter().copied()))
                .order_by_asc(conversations::Column::Id)
                .lock(LockType::Update)
                .all(transaction)
                .await?;
        }
        Ok(())
    }

    /// Returns a conversation with a turn that has not ended.
    async fn find_running(&self, transaction: &DatabaseTransaction, person: &Person) -> Result<Option<ConversationId>> {
        let open = [TurnStatus::Queued, TurnStatus::Running].map(TurnStatus::as_str);
        let ids: Vec<Uuid> = person.conversations.iter().copied().collect();
        for ids in ids.chunks(VALUES_AT_ONCE) {
            let running = turns::Entity::find()
                .filter(turns::Column::ConversationId.is_in(ids.iter().copied()))
                .filter(turns::Column::Status.is_in(open))
                .one(transaction)
                .await?;
            if let Some(turn) = running {
                return Ok(Some(ConversationId(turn.conversation_id)));
            }
        }
        Ok(None)
    }
}

impl Store {
    /// Clears columns of some rows older than `before` that retention keeps: desks' memory, reasons of RMAs and
    /// tickets, mails. Rows that are still needed at `now` wait. Returns `false` when none are left.
    pub async fn forget_aged(&self, before: DateTime<Utc>, now: DateTime<Utc>) -> Result<bool> {
        let mut cleared = 0;
        for (table, aged) in TABLES.iter().filter_map(|table| Some((table, table.aged?))) {
            let person = table.person.iter().filter(|_| aged.person);
            let mut old = Condition::all().add(Expr::col(aged.since).lt(before));
            if let Some(needed) = aged.needed {
                old = old.add(needed(now).not());
            }
            for (column, blank) in table.words.iter().chain(person) {
                cleared += self.clear_aged(table, &old, column, *blank).await?;
            }
        }
        Ok(cleared > 0)
    }

    async fn clear_aged(&self, table: &Table, old: &Condition, column: &'static str, blank: Blank) -> Result<u64> {
        let backend = self.write.get_database_backend();
        // Neither database supports `LIMIT` in updates, and the tables have different keys.
        let row = if backend == DbBackend::Sqlite { "rowid" } else { "ctid" };
        let some = Query::select()
            .expr(Expr::cust(row))
            .from(table.name)
            .cond_where(old.clone().add(blank.is_left(column, backend)))
            .limit(VALUES_AT_ONCE as u64)
            .to_owned();
        // Check first, without the lock that writers wait for.
        if self.read.query_one(&some.clone().limit(1).to_owned()).await?.is_none() {
            return Ok(0);
        }
        let update = Query::update()
            .table(table.name)
            .value(column, blank.value(column, backend))
            .and_where(Expr::cust(row).in_subquery(some))
            .to_owned();
        Ok(self.writer()?.execute(&update).await?.rows_affected())
    }
}

/// Erases the person's rows and columns. Returns the tables that changed.
pub(in crate::store) async fn erase(
    transaction: &DatabaseTransaction,
    tenant: &TenantId,
    person: &Person,
    reach: Reach,
) -> Result<Vec<Erased>> {
    let mut all = Vec::new();
    for table in TABLES {
        let mut erased = Erased { table: table.name, rows: 0, values: 0 };
        for rows in table.rows_of(tenant, person) {
            match table.rows {
                Rows::Vectors | Rows::Removed => erased.rows += delete(transaction, table, rows).await?,
                Rows::RemovedIf(is_removed) => {
                    erased.rows += delete(transaction, table, rows.clone().add(is_removed())).await?;
                    erased.values += clear(transaction, table, &rows, reach).await?;
                }
                Rows::Kept | Rows::Detached => erased.values += clear(transaction, table, &rows, reach).await?,
            }
        }
        match table.rows {
            Rows::Vectors => {
                for id in &person.conversations {
                    delete_vectors_of(transaction, tenant, ConversationId(*id)).await?;
                }
            }
            Rows::Detached => detach(transaction, table, tenant, person).await?,
            Rows::Kept | Rows::Removed | Rows::RemovedIf(_) => {}
        }
        all.push(erased);
    }
    all.retain(|erased| erased.rows + erased.values > 0);
    Ok(all)
}

impl Table {
    /// Returns conditions that select exactly the person's rows, each with a limited number of values.
    pub(super) fn rows_of(&self, tenant: &TenantId, person: &Person) -> Vec<Condition> {
        let values = |(column, key): &(&'static str, Key)| (*column, person.values(*key));
        let by_key = self.found_by.iter().map(values);
        let conditions = by_key.flat_map(|(column, values)| {
            let some: Vec<Condition> = values
                .chunks(VALUES_AT_ONCE)
                .map(|some| {
                    Condition::all()
                        .add(Expr::col("tenant_id").eq(tenant.as_str()))
                        .add(Expr::col(column).is_in(some.iter().cloned()))
                })
                .collect();
            some
        });
        conditions.collect()
    }
}

/// Removes the conversation from rows that outlive it.
async fn detach(transaction: &DatabaseTransaction, table: &Table, tenant: &TenantId, person: &Person) -> Result<()> {
    for ids in person.values(Key::Conversation).chunks(VALUES_AT_ONCE) {
        let update = Query::update()
            .table(table.name)
            .value("conversation_id", Expr::cust("NULL"))
            .and_where(Expr::col("tenant_id").eq(tenant.as_str()))
            .and_where(Expr::col("conversation_id").is_in(ids.iter().cloned()))
            .to_owned();
        transaction.execute(&update).await?;
    }
    Ok(())
}

/// Removes the rows, or counts them if [`delete_vectors_of`] removes them.
async fn delete(transaction: &DatabaseTransaction, table: &Table, rows: Condition) -> Result<u64> {
    if matches!(table.rows, Rows::Vectors) {
        use crate::store::entities::vectors;
        return Ok(vectors::Entity::find().filter(rows).count(transaction).await?);
    }
    let delete = Query::delete().from_table(table.name).cond_where(rows).to_owned();
    Ok(transaction.execute(&delete).await?.rows_affected())
}

async fn clear(transaction: &DatabaseTransaction, table: &Table, rows: &Condition, reach: Reach) -> Result<u64> {
    let customers_words = match table.shops_words {
        Some(shops_words) => rows.clone().add(shops_words().not()),
        None => rows.clone(),
    };
    let words = table.words.iter().map(|column| (column, &customers_words));
    let person = table.person.iter().filter(|_| reach == Reach::Person).map(|column| (column, rows));
    let mut cleared = 0;
    for ((column, blank), rows) in words.chain(person) {
        if *blank == Blank::Facts {
            // This clears both columns of the audit log, so the second one has nothing left.
            cleared += keep_facts(transaction, rows).await?;
            continue;
        }
        let backend = transaction.get_database_backend();
        let update = Query::update()
            .table(table.name)
            .value(*column, blank.value(column, backend))
            .cond_where(rows.clone().add(blank.is_left(column, backend)))
            .to_owned();
        cleared += transaction.execute(&update).await?.rows_affected();
    }
    Ok(cleared)
}

/// Removes text and addresses from entries of the audit log.
async fn keep_facts(transaction: &DatabaseTransaction, rows: &Condition) -> Result<u64> {
    let mut changed = 0;
    for row in audit::Entity::find().filter(rows.clone()).all(transaction).await? {
        let (before, after) = (row.before.as_ref().map(facts_of), row.after.as_ref().map(facts_of));
        if (&before, &after) == (&row.before, &row.after) {
            continue;
        }
        let update =
            audit::ActiveModel { id: Set(row.id), before: Set(before), after: Set(after), ..Default::default() };
        update.update(transaction).await?;
        changed += 1;
    }
    Ok(changed)
}

/// Returns the value without members that contain free text or an address.
fn facts_of(value: &Value) -> Value {
    let is_fact = |name: &str, value: &Value| match value {
        Value::String(text) => !["to", "why"].contains(&name) && !text.contains(['@', '*', ' ', '\n']),
        _ => true,
    };
    match value {
        Value::Object(members) => {
            let facts = members.iter().filter(|(name, value)| is_fact(name, value));
            Value::Object(facts.map(|(name, value)| (name.clone(), facts_of(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().filter(|item| is_fact("", item)).map(facts_of).collect()),
        other => other.clone(),
    }
}

impl Blank {
    fn value(self, column: &str, backend: DbBackend) -> SimpleExpr {
        match self {
            Self::Empty => Expr::value(""),
            Self::Null => Expr::cust("NULL"),
            Self::Object => Expr::cust("'{}'"),
            Self::JsonNull | Self::Facts => Expr::cust("'null'"),
            Self::Reason => Expr::cust(match backend {
                DbBackend::Sqlite => format!("json_set({column}, '$.reason', '')"),
                _ => format!("jsonb_set({column}, '{{reason}}', '\"\"')"),
            }),
            // Random in each row: a predictable address would give access to the orders that have it.
            Self::Address => {
                let random = match backend {
                    DbBackend::Sqlite => "lower(hex(randomblob(16)))",
                    _ => "replace(CAST(gen_random_uuid() AS text), '-', '')",
                };
                Expr::cust(format!("'erased-' || {random} || '@{ERASED_DOMAIN}'"))
            }
        }
    }

    /// The condition for rows that are not cleared yet.
    fn is_left(self, column: &'static str, backend: DbBackend) -> SimpleExpr {
        let text = || Expr::col(column).cast_as("text");
        match self {
            Self::Empty => Expr::col(column).ne(""),
            Self::Null => Expr::col(column).is_not_null(),
            Self::Address => Expr::col(column).not_like(format!("%@{ERASED_DOMAIN}")),
            Self::Object => text().ne("{}"),
            Self::JsonNull | Self::Facts => text().ne("null"),
            Self::Reason => Expr::cust(match backend {
                DbBackend::Sqlite => format!("json_extract({column}, '$.reason') <> ''"),
                _ => format!("{column} ->> 'reason' <> ''"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audit_keeps_facts_and_drops_text() {
        let before = json!({
            "mail": "MSG-1700000000-ab12cd34", "template": "return_approved", "to": "j***@example.com", "status": "sent",
            "why": "ok", "decision": "approve", "lines": [1, 2], "note": "she called twice", "deep": {"contact": "a@b.vn", "n": 1},
        });
        let after = json!({
            "mail": "MSG-1700000000-ab12cd34", "template": "return_approved", "status": "sent", "decision": "approve",
            "lines": [1, 2], "deep": {"n": 1},
        });
        assert_eq!(facts_of(&before), after);
    }
}
