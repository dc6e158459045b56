//! Shared arguments and output of the commands that import a list.

use std::convert::Infallible;
use std::io::{self, Write};
use std::time::Duration;

use crate::app::list_file::{Refused, VALUE_SHOWN, quoted};
use crate::domain::TenantId;
use crate::store::{Store, StoreOptions};

/// The same default as the server's.
const DEFAULT_DATABASE_URL: &str = "sqlite://database/frontdesk.db";

/// How long to wait for the database.
const STORE_TIMEOUT: Duration = Duration::from_secs(60);

/// The shop and database that a list is imported into.
#[derive(Clone, Debug, clap::Args)]
pub struct Destination {
    /// Compare and report without writing anything
    #[arg(long)]
    pub dry_run: bool,
    /// The shop to import into
    #[arg(long, value_name = "NAME", default_value_t)]
    pub tenant: TenantId,
    /// The database: sqlite://PATH or postgres://…
    #[arg(
        long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL",
        default_value = DEFAULT_DATABASE_URL, value_parser = database_url
    )]
    pub database_url: String,
}

impl Destination {
    /// Creates a destination without `--dry-run`.
    pub fn new(tenant: TenantId, database_url: impl Into<String>) -> Self {
        Self { dry_run: false, tenant, database_url: database_url.into() }
    }

    /// Opens the database. See [`open_store`].
    pub(super) async fn open(&self) -> anyhow::Result<(Store, Option<tempfile::TempDir>)> {
        open_store(&self.database_url, STORE_TIMEOUT, self.dry_run).await
    }
}

/// Opens the database. A dry run does not create one: it gets an empty database in the returned temporary folder instead.
pub(super) async fn open_store(
    url: &str,
    timeout: Duration,
    dry_run: bool,
) -> anyhow::Result<(Store, Option<tempfile::TempDir>)> {
    let mut options = StoreOptions { url: url.to_owned(), timeout, connections: 1 };
    let mut scratch = None;
    if dry_run && options.would_create()? {
        let folder = tempfile::tempdir()?;
        options.url = format!("sqlite://{}", folder.path().join("empty.db").display());
        scratch = Some(folder);
    }
    Ok((Store::open(&options).await?, scratch))
}

/// Reads DATABASE_URL. An empty value counts as unset, as on the server.
fn database_url(text: &str) -> Result<String, Infallible> {
    let text = text.trim();
    Ok(if text.is_empty() { DEFAULT_DATABASE_URL } else { text }.to_owned())
}

/// Prints each refused row on one line. `place` names what the row numbers count, such as "line".
pub(super) fn write_refused(
    out: &mut (impl Write + ?Sized),
    place: &str,
    rows: &[Refused],
    not_shown: u64,
) -> io::Result<()> {
    for Refused { line, column, value, reason, .. } in rows {
        let column = column.unwrap_or("row");
        writeln!(out, "{place} {line}: {column} {}: {reason}", quoted(value, VALUE_SHOWN + 1))?;
    }
    match not_shown {
        0 => Ok(()),
        more => writeln!(out, "… and {more} more refused (--max-refused-shown shows more)"),
    }
}
