//! Search for conversations.

use chrono::Utc;
use frontdesk::domain::ConversationId;
use frontdesk::store::Store;
use frontdesk::store::acceptance::NewTurn;
use frontdesk::store::inbox::InboxQuery;
use sea_orm::sqlx::{self, Connection, PgConnection, SqliteConnection};

use super::{accept, open, opened, tenant, turn_of};
use crate::support::database;

/// Reverts the tables to the schema before handoffs and search.
const BACK: &str = "
    DROP INDEX conversations_by_activity; DROP INDEX conversations_by_status; DROP INDEX turns_by_day;
    ALTER TABLE conversations DROP COLUMN agent; ALTER TABLE conversations DROP COLUMN waiting_since;
    ALTER TABLE conversations DROP COLUMN last_activity_at; ALTER TABLE conversations DROP COLUMN folded_user;
    ALTER TABLE messages DROP COLUMN folded;
    ALTER TABLE turns DROP COLUMN sender; ALTER TABLE turns DROP COLUMN intent; ALTER TABLE turns DROP COLUMN kind;
    ALTER TABLE turns DROP COLUMN first_text_ms; ALTER TABLE turns DROP COLUMN asked_person;
    ALTER TABLE turns DROP COLUMN model_failed;
    DELETE FROM seaql_migrations WHERE version = 'm0006_handoff'";

async fn found(store: &Store, text: &str) -> Vec<ConversationId> {
    let query = InboxQuery { text: Some(text), limit: 10, ..InboxQuery::default() };
    let found = store.tenant(&tenant("acme")).list_inbox(&query).await.unwrap();
    found.into_iter().map(|(conversation, _)| conversation.id).collect()
}

#[tokio::test]
async fn migration_makes_old_messages_searchable() {
    let folder = tempfile::tempdir().unwrap();
    let url = database::fresh(folder.path()).await;
    let store = open(&url).await;
    let shop = tenant("acme");
    let (first, second) = (opened(&store, &shop).await, opened(&store, &shop).await);
    // More rows than the migration folds at a time.
    for n in 0..1100 {
        let text = if n == 1099 { "Đổi trả ở đâu" } else { "" };
        let id = if n == 1099 { first } else { second };
        accept(&store, &shop, &NewTurn { waiting_max: 2000, ..turn_of(id, text, Utc::now()) }).await;
    }
    drop(store);
    if url.starts_with("sqlite:") {
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        sqlx::raw_sql(BACK).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    } else {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        sqlx::raw_sql(BACK).execute(&mut connection).await.unwrap();
    }
    let store = open(&url).await;
    assert_eq!(found(&store, "DOI TRA").await, [first]);
    assert_eq!(found(&store, "Em chào").await, [first, second], "the one with the last message first");
    assert_eq!(found(&store, "U-1").await, [first, second]);
    let (conversation, last) = store.tenant(&shop).find_in_inbox(first).await.unwrap().unwrap();
    assert_eq!(conversation.last_activity_at, last.unwrap().created_at);
}
