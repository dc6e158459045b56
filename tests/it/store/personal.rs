//! The description of personal data, compared with the schema.

use std::collections::{BTreeMap, BTreeSet};

use frontdesk::store::personal::TABLES;
use sea_orm::{ConnectionTrait, Database, DbBackend, Statement};

use super::open;
use crate::support::database;

/// Lists the columns of each table with text, JSON or bytes. SQLite stores uuids as bytes, but declares them as uuid.
async fn text_columns(url: &str) -> BTreeMap<String, BTreeSet<String>> {
    let connection = Database::connect(url).await.unwrap();
    let (backend, query) = match connection.get_database_backend() {
        DbBackend::Sqlite => (
            DbBackend::Sqlite,
            "SELECT m.name AS t, c.name AS c, lower(c.type) AS k FROM sqlite_master m JOIN pragma_table_info(m.name) c \
             WHERE m.type = 'table'",
        ),
        backend => (
            backend,
            "SELECT CAST(table_name AS text) AS t, CAST(column_name AS text) AS c, CAST(data_type AS text) AS k \
             FROM information_schema.columns WHERE table_schema = 'public'",
        ),
    };
    let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in connection.query_all_raw(Statement::from_string(backend, query)).await.unwrap() {
        let get = |name: &str| row.try_get::<String>("", name).unwrap();
        let (table, column, kind) = (get("t"), get("c"), get("k"));
        if table == "seaql_migrations" {
            continue;
        }
        let columns = tables.entry(table).or_default();
        let other = ["uuid", "int", "bool", "date", "time", "real", "double"].iter().any(|other| kind.contains(other));
        if !other && column != "tenant_id" {
            columns.insert(column);
        }
    }
    tables
}

#[tokio::test]
async fn every_text_column_has_its_erasure() {
    let folder = tempfile::tempdir().unwrap();
    let url = database::fresh(folder.path()).await;
    drop(open(&url).await);
    let described: BTreeMap<String, BTreeSet<String>> = TABLES
        .iter()
        .map(|table| {
            let erased = table.words.iter().chain(table.person).map(|(column, _)| *column);
            let columns = table.kept.iter().chain(table.hidden).copied().chain(erased);
            (table.name.to_owned(), columns.map(str::to_owned).collect())
        })
        .collect();
    assert_eq!(
        described,
        text_columns(&url).await,
        "src/store/personal/tables.rs (left) and the schema (right) differ"
    );
}
