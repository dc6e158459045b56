//! Databases of the tests: an SQLite file each, or, where `TEST_POSTGRES_URL` names a server, a database there each.

use std::path::Path;

use sea_orm::sqlx::{self, Connection, PgConnection};

/// The address of a new, empty database.
pub async fn fresh(folder: &Path) -> String {
    let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
        return format!("sqlite://{}", folder.join("frontdesk.db").display());
    };
    let name = format!("fd_{}", uuid::Uuid::now_v7().simple());
    let mut connection = PgConnection::connect(&format!("{server}/postgres")).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await.unwrap();
    format!("{server}/{name}")
}
