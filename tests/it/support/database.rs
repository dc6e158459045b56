//! Databases of the tests: an SQLite file each, or, where `TEST_POSTGRES_URL` names a server, a database there each.

use std::path::Path;

use sea_orm::sqlx::{self, Connection, PgConnection, SqliteConnection};
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
