//! Databases of the tests: an SQLite file each, or, where `TEST_POSTGRES_URL` names a server, a database there each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sea_orm::sqlx::{self, Connection, PgConnection, SqliteConnection};
use sea_orm::{ConnectionTrait, Database, DbBackend, Statement};
use tokio::sync::OnceCell;

/// The address of a new, empty database.
pub async fn fresh(folder: &Path) -> String {
    match std::env::var("TEST_POSTGRES_URL") {
        Ok(server) => format!("{server}/{}", create(&server, "").await),
        Err(_) => format!("sqlite://{}", folder.join("frontdesk.db").display()),
    }
}

/// A database that is filled once, since creating all tables takes longer than most tests.
pub struct Template(OnceCell<Content>);

enum Content {
    /// The bytes of the file.
    Sqlite(Vec<u8>),
    /// The name of the database.
    Postgres(String),
}

impl Template {
    pub const fn new() -> Self {
        Self(OnceCell::const_new())
    }

    /// The address of a new database with the content that `fill` gives to the first one.
    pub async fn copy(&self, folder: &Path, fill: impl AsyncFnOnce(&str)) -> String {
        match self.0.get_or_init(|| make(fill)).await {
            Content::Sqlite(bytes) => {
                let file = folder.join("frontdesk.db");
                std::fs::write(&file, bytes).unwrap();
                format!("sqlite://{}", file.display())
            }
            Content::Postgres(template) => {
                let server = std::env::var("TEST_POSTGRES_URL").unwrap();
                format!("{server}/{}", create(&server, &format!("TEMPLATE {template}")).await)
            }
        }
    }
}

async fn make(fill: impl AsyncFnOnce(&str)) -> Content {
    let folder = tempfile::tempdir().unwrap();
    let url = fresh(folder.path()).await;
    fill(&url).await;
    if let Some((_, name)) = url.strip_prefix("postgres").and_then(|url| url.rsplit_once('/')) {
        return Content::Postgres(name.to_owned());
    }
    // One file, also of what is still in the write-ahead log.
    let file = folder.path().join("whole.db");
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    sqlx::query("VACUUM INTO ?").bind(file.display().to_string()).execute(&mut connection).await.unwrap();
    Content::Sqlite(std::fs::read(file).unwrap())
}

/// Creates a database on the server, and gives its name.
async fn create(server: &str, options: &str) -> String {
    let name = format!("fd_{}", uuid::Uuid::now_v7().simple());
    let mut connection = PgConnection::connect(&format!("{server}/postgres")).await.unwrap();
    let statement = format!("CREATE DATABASE {name} {options}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
    name
}

/// Lists the columns of each table with text, JSON or bytes. SQLite stores uuids as bytes, but declares them as uuid.
pub async fn text_columns(url: &str) -> BTreeMap<String, BTreeSet<String>> {
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

/// Checks that no text in the database has control or bidirectional characters. In JSON, some of them are escaped.
pub async fn assert_clean(url: &str) {
    let connection = Database::connect(url).await.unwrap();
    let backend = connection.get_database_backend();
    let is_unwanted = |c: char| (c.is_control() && !"\n\t".contains(c)) || "\u{202e}\u{feff}".contains(c);
    let mut read = 0;
    for (table, columns) in text_columns(url).await {
        for column in columns {
            let texts = format!(r#"SELECT CAST("{column}" AS text) AS t FROM "{table}" WHERE "{column}" IS NOT NULL"#);
            for row in connection.query_all_raw(Statement::from_string(backend, texts)).await.unwrap() {
                // Bytes need not be text.
                let Ok(text) = row.try_get::<String>("", "t") else { continue };
                assert!(!text.contains(is_unwanted) && !text.contains("\\u00"), "{table}.{column}: {text:?}");
                read += 1;
            }
        }
    }
    assert!(read > 10, "the database has only {read} texts");
}
