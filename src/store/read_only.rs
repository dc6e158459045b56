//! Opens a database without changing it, even while another process serves it.

use std::sync::Arc;

use sea_orm::Database;

use super::{Result, Store, StoreError, StoreOptions, migrations, sqlite_connection, sqlite_path};

/// The database's schema compared with this version's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schema {
    Current,
    /// The next start runs this many migrations.
    Older {
        pending: usize,
    },
    /// It has migrations that this version does not know. `migration` is the newest of them.
    Newer {
        migration: String,
    },
}

impl Store {
    /// Opens an existing database. Creates and migrates nothing.
    pub async fn open_as_is(options: &StoreOptions) -> Result<Self> {
        let path = sqlite_path(&options.url)?;
        let Some(path) = path else { return Self::open_postgres(options).await };
        let connect = sqlite_connection(&path, options.timeout, 1, |sqlite| sqlite.create_if_missing(false));
        let connection = Database::connect(connect)
            .await
            .map_err(|error| StoreError::Open(format!("cannot open the database file {}: {error}", path.display())))?;
        Ok(Self::new(options, connection.clone(), connection, Arc::default()))
    }

    /// Compares the database's schema with this version's. Writes nothing.
    pub async fn look_at_schema(&self) -> Result<Schema> {
        migrations::schema(&self.read).await
    }

    /// Returns the store if its schema is current, else an error with a hint.
    pub async fn with_current_schema(self) -> Result<Self> {
        match self.look_at_schema().await? {
            Schema::Current => Ok(self),
            Schema::Older { .. } => Err(StoreError::Open(
                "the database has an older schema: start `frontdesk serve` of this version once to update it"
                    .to_owned(),
            )),
            Schema::Newer { migration } => Err(StoreError::NewerSchema { migration }),
        }
    }

    /// Checks that a transaction can be started for writing. Writes nothing.
    pub async fn try_write(&self) -> Result<()> {
        self.begin().await?.rollback().await
    }

    /// Closes the connection and removes SQLite's auxiliary files.
    pub async fn close(self) -> Result<()> {
        self.read.close().await?;
        Ok(())
    }
}
