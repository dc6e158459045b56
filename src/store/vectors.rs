//! Vectors of texts. A collection contains vectors of one embedding model that are searched together.
//!
//! Every write takes the collection's next version in its transaction, and marks the written rows with it. A reader
//! with a copy in memory therefore detects changes of any process with one point read, and reads only the newer rows.

use std::collections::BTreeMap;

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, Query};
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    Select,
};
use serde_json::Value;
use uuid::Uuid;

use super::entities::{TenantEntity, vector_collections, vectors};
use super::{Result, StoreError, TenantStore};
use crate::domain::{ConversationId, TenantId};

/// The number of rows in one statement. Each has 8 values, and SQLite accepts 32,766.
const ROWS_AT_ONCE: usize = 500;

/// The state of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorCollection {
    /// The embedding model, and the length of its vectors.
    pub model: String,
    pub dimension: usize,
    /// Changes when the collection is dropped and created again.
    pub generation: Uuid,
    /// Grows with every write.
    pub version: i64,
    /// The last version that removed vectors.
    pub removed_version: i64,
}

/// A vector with its text and labels.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorRow {
    pub id: String,
    /// The conversation with which it is removed.
    pub conversation_id: Option<String>,
    pub vector: Vec<f32>,
    pub text: String,
    /// Labels by name, without the conversation.
    pub labels: BTreeMap<String, String>,
}

/// A row of [`TenantStore::list_vectors`]. It has no text, which search does not need.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVector {
    pub id: String,
    pub conversation_id: Option<String>,
    pub vector: Vec<f32>,
    pub labels: BTreeMap<String, String>,
}

/// Which rows of a collection to list.
#[derive(Clone, Copy, Debug)]
pub enum VectorScope<'a> {
    All,
    /// Rows written after this version.
    Since(i64),
    Conversation(&'a str),
}

impl TenantStore<'_> {
    /// Creates the collection if it does not exist. Returns the existing one even if its model differs.
    pub async fn open_vector_collection(&self, name: &str, model: &str, dimension: usize) -> Result<VectorCollection> {
        let row = vector_collections::ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            name: Set(name.to_owned()),
            model: Set(model.to_owned()),
            dimension: Set(i32::try_from(dimension).unwrap_or(i32::MAX)),
            generation: Set(Uuid::now_v7()),
            version: Set(0),
            removed_version: Set(0),
        };
        vector_collections::Entity::insert(row)
            .on_conflict_do_nothing()
            .exec_without_returning(self.store.writer()?)
            .await?;
        let made = self.collection(name).one(&self.store.write).await?.map(read_collection);
        made.ok_or(StoreError::Conflict { table: "vector_collections" })
    }

    pub async fn find_vector_collection(&self, name: &str) -> Result<Option<VectorCollection>> {
        Ok(self.collection(name).one(&self.store.read).await?.map(read_collection))
    }

    /// Inserts or replaces rows in one transaction. Of rows with the same id, the last one is stored. Returns `false`
    /// if the collection does not exist.
    pub async fn upsert_vectors(&self, name: &str, rows: &[VectorRow]) -> Result<bool> {
        // A statement cannot write a row twice.
        let rows: BTreeMap<&str, &VectorRow> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
        let rows: Vec<&VectorRow> = rows.into_values().collect();
        let transaction = self.store.begin().await?;
        let Some(version) = self.next_version(&transaction, name).await? else { return Ok(false) };
        for rows in rows.chunks(ROWS_AT_ONCE) {
            vectors::Entity::insert_many(rows.iter().map(|row| self.vector_row(name, version, row)))
                .on_conflict(vectors::Entity::replace_existing())
                .exec_without_returning(&transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Lists at most `limit` rows sorted by id, after the id `after`.
    pub async fn list_vectors(
        &self,
        name: &str,
        scope: VectorScope<'_>,
        after: Option<&str>,
        limit: u64,
    ) -> Result<Vec<StoredVector>> {
        use vectors::Column;
        let mut rows = self.vectors(name).order_by_asc(Column::Id).limit(limit);
        match scope {
            VectorScope::All => {}
            VectorScope::Since(version) => rows = rows.filter(Column::Version.gt(version)),
            VectorScope::Conversation(id) => rows = rows.filter(Column::ConversationId.eq(id)),
        }
        if let Some(after) = after {
            rows = rows.filter(Column::Id.gt(after));
        }
        let rows: Vec<(String, Option<String>, Vec<u8>, Value)> = rows
            .select_only()
            .columns([Column::Id, Column::ConversationId, Column::Vector, Column::Metadata])
            .into_tuple()
            .all(&self.store.read)
            .await?;
        rows.into_iter()
            .map(|(id, conversation_id, vector, labels)| {
                Ok(StoredVector { id, conversation_id, vector: numbers(&vector)?, labels: read_labels(labels) })
            })
            .collect()
    }

    /// Lists the vectors with these ids. Unknown ids are left out.
    pub async fn list_vectors_by_id(&self, name: &str, ids: &[String]) -> Result<Vec<(String, Vec<f32>)>> {
        let rows: Vec<(String, Vec<u8>)> = self
            .vectors(name)
            .filter(vectors::Column::Id.is_in(ids.iter().map(String::as_str)))
            .select_only()
            .columns([vectors::Column::Id, vectors::Column::Vector])
            .into_tuple()
            .all(&self.store.read)
            .await?;
        rows.into_iter().map(|(id, vector)| Ok((id, numbers(&vector)?))).collect()
    }

    /// Lists the ids of all rows.
    pub async fn list_vector_ids(&self, name: &str) -> Result<Vec<String>> {
        let ids = self.vectors(name).select_only().column(vectors::Column::Id).into_tuple();
        Ok(ids.all(&self.store.read).await?)
    }

    pub async fn count_vectors(&self, name: &str) -> Result<u64> {
        Ok(self.vectors(name).count(&self.store.read).await?)
    }

    /// Removes rows in one transaction. Unknown ids are ignored.
    pub async fn delete_vectors(&self, name: &str, ids: &[String]) -> Result<()> {
        let transaction = self.store.begin().await?;
        self.remove(&transaction, name, ids).await?;
        transaction.commit().await
    }

    /// Removes the rows with all these labels, of one conversation or of all.
    pub async fn delete_labelled_vectors(
        &self,
        name: &str,
        conversation_id: Option<&str>,
        labels: &BTreeMap<String, String>,
    ) -> Result<()> {
        use vectors::Column;
        let transaction = self.store.begin().await?;
        let mut rows = self.vectors(name);
        if let Some(id) = conversation_id {
            rows = rows.filter(Column::ConversationId.eq(id));
        }
        // Filtered here, because the databases query JSON differently.
        let rows: Vec<(String, Value)> =
            rows.select_only().columns([Column::Id, Column::Metadata]).into_tuple().all(&transaction).await?;
        let has_all = |row: &Value| labels.iter().all(|(name, value)| row[name] == value.as_str());
        let ids: Vec<String> = rows.into_iter().filter(|(_, row)| has_all(row)).map(|(id, _)| id).collect();
        self.remove(&transaction, name, &ids).await?;
        transaction.commit().await
    }

    /// Removes the collection with its rows.
    pub async fn drop_vector_collection(&self, name: &str) -> Result<()> {
        let transaction = self.store.begin().await?;
        // The collection's row first, as in every write, to prevent deadlocks.
        vector_collections::Entity::delete_of(self.tenant)
            .filter(vector_collections::Column::Name.eq(name))
            .exec(&transaction)
            .await?;
        vectors::Entity::delete_many().filter(self.of_collection(name)).exec(&transaction).await?;
        transaction.commit().await
    }

    async fn remove(&self, transaction: &DatabaseTransaction, name: &str, ids: &[String]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let Some(version) = self.next_version(transaction, name).await? else { return Ok(()) };
        for ids in ids.chunks(ROWS_AT_ONCE) {
            vectors::Entity::delete_many()
                .filter(self.of_collection(name))
                .filter(vectors::Column::Id.is_in(ids))
                .exec(transaction)
                .await?;
        }
        vector_collections::Entity::update_of(self.tenant)
            .col_expr(vector_collections::Column::RemovedVersion, Expr::value(version))
            .filter(vector_collections::Column::Name.eq(name))
            .exec(transaction)
            .await?;
        Ok(())
    }

    /// Takes the collection's next version and locks its row until the transaction ends, so that versions are committed
    /// in order. Returns `None` if the collection does not exist.
    async fn next_version(&self, transaction: &DatabaseTransaction, name: &str) -> Result<Option<i64>> {
        use vector_collections::Column;
        vector_collections::Entity::update_of(self.tenant)
            .col_expr(Column::Version, Expr::col(Column::Version).add(1))
            .filter(Column::Name.eq(name))
            .exec(transaction)
            .await?;
        Ok(self.collection(name).one(transaction).await?.map(|row| row.version))
    }

    fn collection(&self, name: &str) -> Select<vector_collections::Entity> {
        vector_collections::Entity::find_by_id((self.tenant.to_string(), name.to_owned()))
    }

    fn vectors(&self, name: &str) -> Select<vectors::Entity> {
        vectors::Entity::find().filter(self.of_collection(name))
    }

    fn of_collection(&self, name: &str) -> Condition {
        Condition::all()
            .add(vectors::Column::TenantId.eq(self.tenant.as_str()))
            .add(vectors::Column::Collection.eq(name))
    }

    fn vector_row(&self, name: &str, version: i64, row: &VectorRow) -> vectors::ActiveModel {
        let labels = row.labels.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        vectors::ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            collection: Set(name.to_owned()),
            id: Set(row.id.clone()),
            conversation_id: Set(row.conversation_id.clone()),
            version: Set(version),
            vector: Set(row.vector.iter().flat_map(|number| number.to_le_bytes()).collect()),
            text: Set(row.text.clone()),
            metadata: Set(Value::Object(labels.collect())),
        }
    }
}

/// Removes a conversation's vectors from all of the shop's collections.
pub(super) async fn delete_vectors_of(
    transaction: &DatabaseTransaction,
    tenant: &TenantId,
    conversation: ConversationId,
) -> Result<()> {
    let of_conversation = vectors::Column::ConversationId.eq(conversation.to_string());
    delete_rows(transaction, tenant, Condition::all().add(of_conversation)).await
}

/// Removes the vectors of messages from all of the shop's collections.
pub(super) async fn delete_vectors_of_messages(
    transaction: &DatabaseTransaction,
    tenant: &TenantId,
    messages: &[(Uuid, ConversationId)],
) -> Result<()> {
    use vectors::Column;
    // The index is by conversation.
    let of_messages = Condition::all()
        .add(Column::ConversationId.is_in(messages.iter().map(|(_, conversation)| conversation.to_string())))
        .add(Column::Id.is_in(messages.iter().map(|(id, _)| id.to_string())));
    delete_rows(transaction, tenant, of_messages).await
}

async fn delete_rows(transaction: &DatabaseTransaction, tenant: &TenantId, rows: Condition) -> Result<()> {
    use vector_collections::Column;
    let rows = rows.add(vectors::Column::TenantId.eq(tenant.as_str()));
    let collections =
        Query::select().column(vectors::Column::Collection).from(vectors::Entity).cond_where(rows.clone()).to_owned();
    vector_collections::Entity::update_of(tenant)
        .col_expr(Column::Version, Expr::col(Column::Version).add(1))
        .col_expr(Column::RemovedVersion, Expr::col(Column::Version).add(1))
        .filter(Column::Name.in_subquery(collections))
        .exec(transaction)
        .await?;
    vectors::Entity::delete_many().filter(rows).exec(transaction).await?;
    Ok(())
}

fn read_collection(row: vector_collections::Model) -> VectorCollection {
    VectorCollection {
        model: row.model,
        dimension: usize::try_from(row.dimension).unwrap_or(0),
        generation: row.generation,
        version: row.version,
        removed_version: row.removed_version,
    }
}

fn read_labels(labels: Value) -> BTreeMap<String, String> {
    let Value::Object(labels) = labels else { return BTreeMap::new() };
    labels.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
}

fn numbers(bytes: &[u8]) -> Result<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(StoreError::Unreadable { table: "vectors", reason: format!("{} bytes", bytes.len()) });
    }
    Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}
