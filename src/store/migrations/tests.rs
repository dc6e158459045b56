//! Interrupted migrations on SQLite. `tests/it/store/migrations.rs` tests them on PostgreSQL.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::*;

/// The last migration that a version without transactions may have run.
const LAST_WITHOUT_TRANSACTION: &str = "m0008_orders";

/// The files that remain after a SIGKILL: the database and its write-ahead log, without the index in shared memory.
#[derive(Clone, Debug, Default, PartialEq)]
struct Files {
    database: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    fn read(database: &Path) -> Self {
        let read = |path: &Path| std::fs::read(path).unwrap_or_default();
        Self { database: read(database), log: read(&log_of(database)) }
    }
}

fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

struct TestDatabase {
    store: Store,
    path: PathBuf,
    options: StoreOptions,
    _folder: TempDir,
}

impl TestDatabase {
    async fn open(files: &Files) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        std::fs::write(&path, &files.database).unwrap();
        std::fs::write(log_of(&path), &files.log).unwrap();
        let url = format!("sqlite://{}", path.display());
        let options = StoreOptions { url, timeout: Duration::from_secs(30), connections: 1 };
        Self { store: Store::connect(&options).await.unwrap(), path, options, _folder: folder }
    }

    /// Records the files after every step of every statement, if they have changed.
    async fn watch(&self) -> Arc<Mutex<Vec<Files>>> {
        let seen = Arc::new(Mutex::new(vec![Files::read(&self.path)]));
        let (recorded, path) = (seen.clone(), self.path.clone());
        let mut connection = self.store.write.get_sqlite_connection_pool().acquire().await.unwrap();
        connection.lock_handle().await.unwrap().set_progress_handler(1, move || {
            let (now, mut seen) = (Files::read(&path), recorded.lock().unwrap());
            if seen.last() != Some(&now) {
                seen.push(now);
            }
            true
        });
        seen
    }

    async fn migrate(&self, migrations: &[Migration]) {
        run(&self.store.write, migrations).await.unwrap();
    }

    async fn execute(&self, sql: &str) {
        self.store.write.execute_unprepared(sql).await.unwrap();
    }

    async fn texts(&self, sql: &str) -> Vec<String> {
        let statement = sea_orm::Statement::from_string(DbBackend::Sqlite, sql);
        let rows = self.store.write.query_all_raw(statement).await.unwrap();
        rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
    }

    async fn tables(&self) -> Vec<String> {
        self.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name != 'seaql_migrations'").await
    }

    /// Dumps the schema and all rows.
    async fn dump(&self) -> Vec<String> {
        let mut dump = self
            .texts("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name != 'seaql_migrations' ORDER BY name")
            .await;
        for table in self.tables().await {
            let columns =
                self.texts(&format!("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('{table}')")).await;
            dump.extend(self.texts(&format!("SELECT {} FROM {table} ORDER BY 1", columns.join("||','||"))).await);
        }
        dump.extend(super::applied(&self.store.write).await.unwrap());
        dump
    }
}

/// Returns sample rows of the version with this migration.
fn fixture(migration: &str) -> String {
    let path = format!("{}/tests/data/migrations/{migration}.sql", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|_| {
        panic!(
            "tests/data/migrations/{migration}.sql is missing: write INSERT statements there, one row or more for each table \
             of this migration (UPDATE for new columns), so that later migrations are tested on a database with data"
        )
    })
}

#[tokio::test]
async fn killed_migration_is_undone_and_runs_again() {
    let migrations = ALL;
    let mut base = Files::default();
    for (index, migration) in migrations.iter().enumerate() {
        let (name, up_to) = (migration.name, &migrations[..=index]);
        let before = TestDatabase::open(&base).await.dump().await;
        let whole = TestDatabase::open(&base).await;
        whole.migrate(up_to).await;
        let after = whole.dump().await;

        let killed = TestDatabase::open(&base).await;
        let seen = killed.watch().await;
        killed.migrate(up_to).await;
        let seen = with_torn_commits(&seen.lock().unwrap());
        for files in seen {
            let left = TestDatabase::open(&files).await;
            let dump = left.dump().await;
            assert!(dump == before || dump == after, "{name} is not atomic: {dump:#?}");
            left.migrate(up_to).await;
            assert_eq!(left.dump().await, after, "{name}");
        }

        // Earlier versions committed each statement of these alone.
        if name <= LAST_WITHOUT_TRANSACTION {
            let killed = TestDatabase::open(&base).await;
            let seen = killed.watch().await;
            (migration.up)(&SchemaManager::new(&killed.store.write)).await.unwrap();
            let seen = std::mem::take(&mut *seen.lock().unwrap());
            assert!(seen.len() > 2, "{name}: {} moments", seen.len());
            for files in seen {
                let left = TestDatabase::open(&files).await;
                left.migrate(up_to).await;
                assert_eq!(left.dump().await, after, "{name}");
            }
        }

        whole.execute(&fixture(name)).await;
        base = Files::read(&whole.path);
    }
    let last = TestDatabase::open(&base).await;
    for table in last.tables().await {
        let rows = last.texts(&format!("SELECT 'row' FROM {table}")).await;
        assert!(!rows.is_empty(), "no fixture in tests/data/migrations has a row of {table}: add one");
    }
}

/// Returns the recorded files, and between each two of them files with half of the data that was appended to the log.
fn with_torn_commits(seen: &[Files]) -> Vec<Files> {
    let torn = seen.windows(2).filter(|pair| pair[0].log.len() < pair[1].log.len()).map(|pair| {
        let half = pair[0].log.len().midpoint(pair[1].log.len());
        Files { database: pair[0].database.clone(), log: pair[1].log[..half].to_vec() }
    });
    seen.iter().cloned().chain(torn).collect()
}

#[tokio::test]
async fn first_start_can_be_killed_at_any_moment() {
    let migrations = ALL;
    let whole = TestDatabase::open(&Files::default()).await;
    let seen = whole.watch().await;
    whole.migrate(migrations).await;
    let after = whole.dump().await;
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert!(seen.len() > migrations.len());
    for files in seen {
        let left = TestDatabase::open(&files).await;
        upgrade(&left.store, &left.options, Duration::ZERO).await.unwrap();
        assert_eq!(left.dump().await, after);
    }
}

#[tokio::test]
async fn leftover_table_with_rows_is_refused() {
    let database = TestDatabase::open(&Files::default()).await;
    database.execute("CREATE TABLE conversations (id INTEGER); INSERT INTO conversations VALUES (1)").await;
    let before = database.dump().await;
    let error = run(&database.store.write, ALL).await.unwrap_err().to_string();
    assert!(
        error.contains("m0001_initial failed") && error.contains("conversations is there already and holds rows"),
        "{error}"
    );
    assert_eq!(database.dump().await, before);
}

#[tokio::test]
async fn only_the_holder_of_the_lock_migrates() {
    let database = TestDatabase::open(&Files::default()).await;
    let (store, options) = (&database.store, &database.options);
    let lock = ServingLock::acquire(options, Duration::ZERO).await.unwrap().unwrap();
    let error = upgrade(store, options, Duration::ZERO).await.unwrap_err().to_string();
    assert!(error.contains("older schema") && error.contains("stop that server"), "{error}");
    assert_eq!(schema(&store.write).await.unwrap(), Schema::Older { pending: ALL.len() });
    upgrade_locked(store, &lock).await.unwrap();
    // Up to date: no lock is needed.
    upgrade(store, options, Duration::ZERO).await.unwrap();
}
