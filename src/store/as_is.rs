//! Looking at a database without touching it, also while another process serves it.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::{ConnectOptions, Database};
use sea_orm_migration::MigratorTrait;

use super::{Store, StoreError, StoreOptions, migrations, sqlite_path};

/// How the tables stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// As this version wants them.
    Current,
    /// So many migrations are to run; the next start runs them.
    Older { pending: usize },
    /// The database knows migrations that this version does not.
    Newer,
}

impl Store {
    /// Opens a database that is there, as it is: creates nothing, migrates nothing.
    pub async fn open_as_is(options: &StoreOptions) -> Result<Self, StoreError> {
        let path = sqlite_path(&options.url)?;
        let Some(path) = path else { return Self::open_postgres(options).await };
        let file = path.clone();
        let timeout = options.timeout;
        let mut connect = ConnectOptions::new("sqlite::memory:".to_owned());
        connect
            .max_connections(1)
            .acquire_timeout(timeout)
            .idle_timeout(None::<Duration>)
            .max_lifetime(None::<Duration>)
            .sqlx_logging(false)
            .map_sqlx_sqlite_opts(move |sqlite| {
                sqlite
                    .filename(&file)
                    .in_memory(false)
                    .shared_cache(false)
                    .create_if_missing(false)
                    .busy_timeout(timeout)
            });
        let connection = Database::connect(connect)
            .await
            .map_err(|error| StoreError::Open(format!("cannot open the database file {}: {error}", path.display())))?;
        let (write, health) = (connection.clone(), Arc::default());
        Ok(Self { write, read: connection, url: options.url.clone(), embeds: false, fence: None, health })
    }

    /// How its tables stand; changes nothing.
    pub async fn look_at_schema(&self) -> Result<Schema, StoreError> {
        let applied = migrations::Migrator::get_applied_migrations_read_only(&self.read).await;
        match migrations::Migrator::get_pending_migrations_read_only(&self.read).await {
            Ok(pending) if pending.is_empty() => Ok(Schema::Current),
            Ok(pending) => Ok(Schema::Older { pending: pending.len() }),
            // A migration in the table that has no file here.
            Err(sea_orm::DbErr::Custom(_)) if applied.is_err() => Ok(Schema::Newer),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a statement may write; writes nothing.
    pub async fn try_write(&self) -> Result<(), StoreError> {
        self.begin().await?.rollback().await
    }

    /// Closes it, so that nothing of ours is left beside the database.
    pub async fn close(self) -> Result<(), StoreError> {
        self.read.close().await?;
        Ok(())
    }
}
