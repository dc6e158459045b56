//! A database that a newer version has updated.

use sea_orm::sqlx::{self, Connection, SqliteConnection};

use super::shop::Shop;

#[tokio::test]
async fn every_command_refuses_a_newer_schema() {
    let shop = Shop::new();
    assert_eq!(shop.run(&["seed", "returns"], &[]).code, Some(0));
    let url = format!("sqlite://{}", shop.path("database/frontdesk.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    sqlx::raw_sql("INSERT INTO seaql_migrations VALUES ('m9999_future', 0)").execute(&mut connection).await.unwrap();
    for command in [
        ["serve"].as_slice(),
        &["chat"],
        &["doctor"],
        &["seed", "returns"],
        &["rma", "advance", "RMA-1-AAAA", "received"],
        &["upsert-warranty", "--file", "knowledge/warranty.csv"],
        &["upsert-warranty", "--dry-run", "--file", "knowledge/warranty.csv"],
    ] {
        let run = shop.run(command, &[]);
        let said = run.stdout.clone() + &run.stderr;
        assert_ne!(run.code, Some(0), "{command:?}: {run:?}");
        assert!(said.contains("its migration m9999_future is unknown to this version"), "{command:?}: {run:?}");
        assert!(said.contains("install that version or a later one, or restore the backup"), "{command:?}: {run:?}");
    }
}
