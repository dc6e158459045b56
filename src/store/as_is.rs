//! Looking at a database without touching it, also while another process serves it.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::{ConnectOptions, Database};

use super::{Store, StoreError, StoreOptions, migrations, sqlite_path};

/// How the database's schema compares with this version's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schema {
    /// It is the same.
    Current,
    /// The next start runs this many migrations.
    Older { pending: usize },
    /// It has migrations that this version does not know; this is the newest of them.
    Newer { migration: String },
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

    /// Compares the database's schema with this version's; writes nothing.
    pub async fn look_at_schema(&self) -> Result<Schema, StoreError> {
        migrations::schema(&self.read).await
    }

    /// Returns the store if its schema is this version's, an error with a hint otherwise.
    pub async fn with_current_schema(self) -> Result<Self, StoreError> {
        match self.look_at_schema().await? {
            Schema::Current => Ok(self),
            Schema::Older { .. } => Err(StoreError::Open(
                "the database has an older schema: start `frontdesk serve` of this version once, which updates it"
                    .to_owned(),
            )),
            Schema::Newer { migration } => Err(StoreError::NewerSchema { migration }),
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
