//! `frontdesk import policies`: replaces the shop's return policies.
//!
//! Exit codes are those of `import orders`.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use chrono::Utc;

use crate::app::list_file::Refusals;
use crate::cli::lists::{ListArgs, read_table, write_refused};
use crate::cli::output::REFUSED;
use crate::domain::returns::policy_list::{PolicyField, policies_of};
use crate::domain::returns::{Policy, Scope};

/// The arguments of `frontdesk import policies`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub list: ListArgs,
}

/// The actor in the audit log.
const WHO: &str = "import";

/// Reads the list, prints the changes, and writes them unless rows were refused. Returns the exit code.
pub(super) async fn import(args: &Args) -> anyhow::Result<ExitCode> {
    let list = &args.list;
    let (table, mut refusals) = read_table::<PolicyField>(&list.file, usize::MAX).await?;
    if table.rows.is_empty() && table.ragged.is_empty() {
        bail!(
            "{}: nothing was written, since the list has no policies. To use only RETURN_WINDOW_DAYS and \
            REFUND_WINDOW_DAYS, list one policy with the scope general and those days",
            list.file.display()
        );
    }
    let (policies, bad) = policies_of(&table.rows);
    refusals.add_values(&bad);
    let (store, _scratch) = list.open().await?;
    let door = store.tenant(&list.tenant);
    let write = refusals.count() == 0 && !list.dry_run;
    let before = match write {
        true => door.replace_policies(&policies, WHO, Utc::now()).await?,
        false => door.list_policies().await?,
    };
    let refused = refusals.count();
    match print(&before, &policies, refusals) {
        // `head` closes the pipe after the first lines.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed.context("cannot print the report")?,
    }
    match (refused, list.dry_run) {
        (0, true) => eprintln!("dry run: nothing was written"),
        (0, false) => eprintln!("written: {} policies", policies.len()),
        (_, true) => eprintln!("dry run: nothing was written; fix the refused rows first"),
        (_, false) => eprintln!("nothing was written; fix the refused rows"),
    }
    if !table.ignored_columns.is_empty() {
        eprintln!("ignored columns: {}", table.ignored_columns.join(", "));
    }
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}

/// Prints each policy on one line: `+` new, `~` changed, `-` removed.
fn print(before: &[Policy], policies: &[Policy], refusals: Refusals) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for policy in policies {
        let sign = match before.iter().find(|earlier| earlier.name == policy.name) {
            None => '+',
            Some(earlier) if earlier != policy => '~',
            Some(_) => ' ',
        };
        writeln!(out, "{sign} {}", shown(policy))?;
    }
    // A refused row may be the one of a policy that seems removed.
    if refusals.count() == 0 {
        for gone in before.iter().filter(|earlier| policies.iter().all(|policy| policy.name != earlier.name)) {
            writeln!(out, "- {}", shown(gone))?;
        }
    }
    let (first, more) = refusals.into_first();
    write_refused(&mut out, "line", &first, more)?;
    out.flush()
}

fn shown(policy: &Policy) -> String {
    let applies_to = match &policy.scope {
        Scope::Vip => "VIP customers".to_owned(),
        Scope::Category(category) => format!("category {category}"),
        Scope::General => "everything".to_owned(),
    };
    let refund = policy.refund_days.map_or("REFUND_WINDOW_DAYS".to_owned(), |days| format!("{days} days"));
    format!("{}: {applies_to}, returns {} days, refunds {refund}", policy.name, policy.return_days)
}
