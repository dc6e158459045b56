//! What commands that bring a list into the database have in common.

use std::convert::Infallible;
use std::io::{self, Write};
use std::time::Duration;

use crate::app::list_file::{Refused, VALUE_SHOWN, quoted};
use crate::domain::TenantId;
use crate::store::{Store, StoreOptions};

/// The server's default as well.
const DEFAULT_DATABASE_URL: &str = "sqlite://database/frontdesk.db";

/// How long the database may keep us waiting.
const STORE_TIMEOUT: Duration = Duration::from_secs(60);

/// Where a list goes.
#[derive(Clone, Debug, clap::Args)]
pub struct Destination {
    /// Compare and report, but write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The shop whose list it is
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
    /// That shop in that database, to be written.
    pub fn new(tenant: TenantId, database_url: impl Into<String>) -> Self {
        Self { dry_run: false, tenant, database_url: database_url.into() }
    }

    /// The shop's database. A dry run does not create one: it compares with an empty one in a temporary folder, which
    /// vanishes with the second value.
    pub(super) async fn open(&self) -> anyhow::Result<(Store, Option<tempfile::TempDir>)> {
        open_store(&self.database_url, STORE_TIMEOUT, self.dry_run).await
    }
}

/// The database of that URL; for a dry run that would create it, an empty one that vanishes with the second value.
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

/// A variable that is set to nothing counts as unset, as it does for the server.
fn database_url(text: &str) -> Result<String, Infallible> {
    let text = text.trim();
    Ok(if text.is_empty() { DEFAULT_DATABASE_URL } else { text }.to_owned())
}

/// A line for each refused row; `place` is what their numbers count.
pub(super) fn write_refused(out: &mut impl Write, place: &str, rows: &[Refused], not_shown: u64) -> io::Result<()> {
    for Refused { line, column, value, reason, .. } in rows {
        let column = column.unwrap_or("row");
        writeln!(out, "{place} {line}: {column} {}: {reason}", quoted(value, VALUE_SHOWN + 1))?;
    }
    match not_shown {
        0 => Ok(()),
        more => writeln!(out, "… and {more} more refused (--max-refused-shown shows more)"),
    }
}
