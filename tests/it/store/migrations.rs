//! Interrupted migrations on PostgreSQL. `src/store/migrations/tests.rs` tests them on SQLite.

use frontdesk::store::Store;
use regex::Regex;
use sea_orm::sqlx::{self, AssertSqlSafe, Connection, PgConnection};

use super::options;
use crate::support::database;

/// Kills the session during its n-th statement on the schema or on rows of [`WATCH`]ed tables.
const KILLER: &str = "CREATE SCHEMA killer; CREATE SEQUENCE killer.statements; CREATE TABLE killer.plan (n bigint); \
     CREATE SEQUENCE killer.killed_changes; \
     INSERT INTO killer.plan VALUES (0); \
     CREATE FUNCTION killer.count() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
       IF nextval('killer.statements') = (SELECT n FROM killer.plan) THEN \
         PERFORM pg_terminate_backend(pg_backend_pid()); \
       END IF; END $$; \
     CREATE FUNCTION killer.count_changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
       IF nextval('killer.statements') = (SELECT n FROM killer.plan) THEN \
         PERFORM nextval('killer.killed_changes'); \
         PERFORM pg_terminate_backend(pg_backend_pid()); \
       END IF; \
       RETURN NULL; END $$; \
     CREATE EVENT TRIGGER killer ON ddl_command_end EXECUTE FUNCTION killer.count()";
/// Counts statements that change rows of the tables so far.
const WATCH: &str = "DO $$ DECLARE watched text; BEGIN \
     FOR watched IN SELECT table_name FROM information_schema.tables \
       WHERE table_schema = 'public' AND table_name != 'seaql_migrations' LOOP \
       EXECUTE format('DROP TRIGGER IF EXISTS killer ON public.%I', watched); \
       EXECUTE format('CREATE TRIGGER killer AFTER INSERT OR UPDATE OR DELETE ON public.%I \
         EXECUTE FUNCTION killer.count_changes()', watched); \
     END LOOP; END $$";
/// Keeps the triggers from firing in this session.
const UNWATCHED: &str = "SET session_replication_role = replica";
const TABLES: &str = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1";

/// Returns the recorded migrations, and all tables with their columns.
async fn look(connection: &mut PgConnection) -> (Vec<String>, Vec<String>) {
    let schema: Vec<String> = sqlx::query_scalar(
        "SELECT table_name || '.' || column_name FROM information_schema.columns \
         WHERE table_schema = 'public' AND table_name != 'seaql_migrations' \
         UNION ALL SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public' AND tablename != 'seaql_migrations' ORDER BY 1",
    )
    .fetch_all(&mut *connection)
    .await
    .unwrap();
    let applied = sqlx::query_scalar("SELECT version FROM seaql_migrations ORDER BY version");
    (applied.fetch_all(connection).await.unwrap_or_default(), schema)
}

async fn execute(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

/// Inserts the fixture of this migration, which is written for SQLite.
async fn insert_fixture(connection: &mut PgConnection, migration: &str) {
    let path = format!("{}/tests/data/migrations/{migration}.sql", env!("CARGO_MANIFEST_DIR"));
    let sql = std::fs::read_to_string(&path).unwrap();
    let sql = Regex::new("X'([0-9a-f]{32})'").unwrap().replace_all(&sql, "'$1'").into_owned();
    execute(connection, Regex::new("X'([0-9A-Fa-f]+)'").unwrap().replace_all(&sql, r"'\x$1'").into_owned()).await;
}

#[tokio::test]
async fn interrupted_migration_is_rolled_back_and_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&database::fresh(folder.path()).await);
    if options.url.starts_with("sqlite:") {
        return;
    }
    let mut other = PgConnection::connect(&options.url).await.unwrap();
    execute(&mut other, KILLER.to_owned()).await;
    execute(&mut other, UNWATCHED.to_owned()).await;
    let (mut before, mut statement, mut kills) = (look(&mut other).await, 1, 0);
    loop {
        execute(
            &mut other,
            format!("SELECT setval('killer.statements', 1, false); UPDATE killer.plan SET n = {statement}"),
        )
        .await;
        let opened = Store::open(&options).await;
        let now = look(&mut other).await;
        if now.0 == before.0 {
            assert!(opened.is_err() && statement < 1000, "statement {statement}");
            assert_eq!(now, before, "a part of a migration is left");
            statement += 1;
        } else {
            // Killed in the first statement after a migration.
            for migration in &now.0[before.0.len()..] {
                insert_fixture(&mut other, migration).await;
            }
            execute(&mut other, WATCH.to_owned()).await;
            (before, statement) = (now, 1);
        }
        if opened.is_ok() {
            break;
        }
        kills += 1;
    }
    let changes = sqlx::query_scalar("SELECT last_value FROM killer.killed_changes");
    let changes: i64 = changes.fetch_one(&mut other).await.unwrap();
    assert!(kills > 60 && changes > 2, "{kills} statements, of which {changes} change rows");
    let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(&mut other).await.unwrap();
    for table in tables {
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}")))
            .fetch_one(&mut other)
            .await
            .unwrap();
        assert!(rows > 0, "{table}");
    }
}
