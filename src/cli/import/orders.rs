//! `frontdesk import orders`: imports a list of orders, as CSV with one row per item or as JSON with items inside orders.
//!
//! `file` reads the rows from CSV or JSON.
//!
//! The list is held in memory, about a kilobyte per order. Exit codes: 0, success; 1, rows were refused and nothing was written;
//! 2, an error in the command line, the file or the database, and nothing was written.

use std::collections::{HashMap, HashSet};

use anyhow::Context;
use chrono::Utc;
use chrono_tz::Tz;

use crate::app::list_file::Refusals;
use crate::cli::lists::{ImportOptions, ImportReport, ListArgs};
use crate::cli::output;
use crate::config::{Config, Env};
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::listing::{BadRow, Field, Row, orders_of};
use crate::store::orders_import::Conflict;

mod file;

/// The arguments of `frontdesk import orders`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub list: ListArgs,
    #[command(flatten)]
    pub options: ImportOptions,
    /// The time zone of the list, as an IANA name [default: the shop's]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<Tz>,
}

/// Reads the list, compares it with the shop's orders, and writes it unless rows were refused.
pub(super) async fn import(args: &Args) -> anyhow::Result<ImportReport> {
    let tenant = &args.list.tenant;
    let time_zone = match args.time_zone {
        Some(zone) => zone,
        None => {
            let config =
                Config::read(Env::from_process()).context("cannot read the shop's time zone: set --time-zone")?;
            config.shops.time_zone_of(tenant)
        }
    };
    let path = args.list.file.clone();
    let listed = tokio::task::spawn_blocking(move || file::read(output::open(&path)?, &path)).await?;
    let file::Listed { rows, ragged, ignored_columns, place } =
        listed.with_context(|| args.list.file.display().to_string())?;
    let mut refusals = Refusals::new(args.options.output.max_refused_shown);
    let half: HashSet<String> = ragged.iter().map(|row| row.first.to_ascii_uppercase()).collect();
    let (mut orders, bad) = orders_of(&rows, tenant, time_zone);
    // A row with missing fields refuses its whole order.
    orders.retain(|listed| !half.contains(listed.order.number.as_str()));
    for row in &ragged {
        refusals.add_ragged(row.line, row.fields, row.expected, &row.first);
    }
    refusals.add_values(&bad);
    let skip_invalid = args.options.skip_invalid;
    let (store, _scratch) = args.list.open().await?;
    let door = store.tenant(&args.list.tenant);
    let mut comparison = door.compare_orders(&orders).await?;
    add_conflicts(&mut refusals, &comparison.conflicts, &rows);
    let write = !args.list.dry_run && (refusals.count() == 0 || skip_invalid);
    if write && comparison.new + comparison.changed > 0 {
        let compared = std::mem::take(&mut comparison.conflicts);
        comparison = door.import_orders(&orders, skip_invalid, Utc::now()).await?;
        // Conflicts with returns that were created since the comparison.
        let since: Vec<_> = comparison.conflicts.iter().filter(|found| !compared.contains(found)).cloned().collect();
        add_conflicts(&mut refusals, &since, &rows);
    }
    Ok(ImportReport {
        new: comparison.new,
        changed: comparison.changed,
        unchanged: comparison.unchanged,
        // A return that was created during the comparison prevents the whole import.
        written: write && (comparison.conflicts.is_empty() || skip_invalid),
        place,
        skip_invalid,
        entries: "orders",
        may_skip_invalid: true,
        ..ImportReport::new(&args.list, refusals, ignored_columns)
    })
}

/// Refuses the orders that conflict with the database, at their first row.
fn add_conflicts(refusals: &mut Refusals, conflicts: &[(OrderNumber, Conflict)], rows: &[Row]) {
    let mut places: HashMap<String, u64> = HashMap::new();
    if !conflicts.is_empty() {
        for (row, number) in rows.iter().filter_map(|row| Some((row, row.fields.get(&Field::OrderNumber)?))) {
            places.entry(number.to_ascii_uppercase()).or_insert(row.place);
        }
    }
    for (number, conflict) in conflicts {
        let place = places.get(number.as_str()).copied().unwrap_or_default();
        let (field, value, hint) = match conflict {
            Conflict::InRma(line) => {
                let hint = format!(
                    "line {line} of the order is part of an RMA, so its quantity and price cannot change; list the earlier values"
                );
                (Field::OrderNumber, number.to_string(), hint)
            }
            Conflict::Backward { from, to } => {
                let hint =
                    format!("order {number} is already {from}, and an order cannot go back; list its current status");
                (Field::Status, to.to_string(), hint)
            }
        };
        refusals.add_values(&[BadRow { place, field, value, hint }]);
    }
}
