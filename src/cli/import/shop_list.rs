//! What the imports of a shop's lists have in common: the goods and the offers of a shop that sells over WhatsApp.

use anyhow::bail;

use crate::app::list_file::{Refusals, Table};
use crate::cli::lists::{ImportReport, ListArgs, Output, read_table};
use crate::cli::tenant;
use crate::domain::list::Column;
use crate::store::Store;
use crate::store::catalog::{ListComparison, Unlisted};

/// The arguments of these imports.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub list: ListArgs,
    /// Remove what the shop has and the list lacks
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub output: Output,
}

impl Args {
    pub(super) fn unlisted(&self) -> Unlisted {
        if self.replace { Unlisted::Remove } else { Unlisted::Keep }
    }
}

/// The actor in the audit log.
pub(super) const WHO: &str = "import";

/// A list that was read, and the open database of its shop.
pub(super) struct ShopList<'a, C: Column> {
    args: &'a Args,
    entries: &'static str,
    pub table: Table<C>,
    pub refusals: Refusals,
    pub store: Store,
    _scratch: Option<tempfile::TempDir>,
}

impl<'a, C: Column + Send + 'static> ShopList<'a, C> {
    /// Reads the list and opens the database.
    ///
    /// # Errors
    /// The file cannot be read, the shop does not exist, or an empty list would remove everything.
    pub(super) async fn read(args: &'a Args, entries: &'static str) -> anyhow::Result<Self> {
        let list = &args.list;
        let (table, refusals) = read_table::<C>(&list.file, args.output.max_refused_shown).await?;
        if args.replace && table.rows.is_empty() && table.ragged.is_empty() {
            bail!(
                "{}: nothing was written, since the list has no {entries} and --replace would remove all",
                list.file.display()
            );
        }
        let (store, _scratch) = list.open().await?;
        if store.tenant(&list.tenant).find_tenant().await?.is_none() {
            return Err(tenant::no_tenant(&list.tenant));
        }
        Ok(Self { args, entries, table, refusals, store, _scratch })
    }

    /// Whether the list is written: all of it, or nothing.
    pub(super) fn is_written(&self) -> bool {
        self.refusals.count() == 0 && !self.args.list.dry_run
    }

    /// Reports what was written, or would have been.
    pub(super) fn report(self, comparison: ListComparison) -> ImportReport {
        let (written, is_complete) = (self.is_written(), self.refusals.count() == 0);
        ImportReport {
            new: comparison.new,
            changed: comparison.changed,
            unchanged: comparison.unchanged,
            // A refused row may be one of an entry that seems removed.
            removed: (self.args.replace && is_complete).then_some(comparison.removed),
            written,
            entries: self.entries,
            ..ImportReport::new(&self.args.list, self.refusals, self.table.ignored_columns)
        }
    }
}
