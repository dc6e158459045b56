//! `import policies`: a shop's own return policies, which take the place of those that it has.
//!
//! Exit codes as those of `import orders`.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use chrono::Utc;

use crate::app::list_file::{Column, Refusals, Table};
use crate::cli::lists::{Destination, write_refused};
use crate::domain::returns::policy_list::{BadPolicy, PolicyField, PolicyRow, policies_of};
use crate::domain::returns::{Policy, Scope};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The list: CSV in UTF-8 with the columns name, scope (vip, category or general), category, return_days and refund_days
    #[arg(long, value_name = "PATH")]
    pub file: PathBuf,
    #[command(flatten)]
    pub destination: Destination,
}

/// Rows were refused, and nothing was written.
const REFUSED: u8 = 1;
const FAILED: u8 = 2;
/// Who changed them, in the record.
const WHO: &str = "import";

/// Runs the command, prints what it found or what went wrong, and gives the exit code.
pub async fn run(args: &Args) -> ExitCode {
    import(args).await.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(FAILED)
    })
}

async fn import(args: &Args) -> anyhow::Result<ExitCode> {
    let path = args.file.clone();
    let read = tokio::task::spawn_blocking(move || -> anyhow::Result<_> { Ok(Table::read(File::open(path)?)?) });
    let table: Table<PolicyField> = read.await?.with_context(|| args.file.display().to_string())?;
    if table.rows.is_empty() && table.ragged.is_empty() {
        bail!(
            "{}: the list names no policy, and nothing was written; a shop that goes by RETURN_WINDOW_DAYS and \
             REFUND_WINDOW_DAYS alone lists one policy with the scope general and those days",
            args.file.display()
        );
    }
    let rows: Vec<PolicyRow> =
        table.rows.into_iter().map(|row| PolicyRow { line: row.line, fields: row.fields }).collect();
    let mut refusals = Refusals::new(usize::MAX);
    for row in &table.ragged {
        refusals.add_ragged(row.line, row.fields, row.expected, &row.first);
    }
    let (policies, bad) = policies_of(&rows);
    for BadPolicy { line, field, value, hint } in bad {
        refusals.add(line, || (Some(field.as_str()), value, hint));
    }
    let (store, _scratch) = args.destination.open().await?;
    let door = store.tenant(&args.destination.tenant);
    let write = refusals.count() == 0 && !args.destination.dry_run;
    let before = match write {
        true => door.replace_policies(&policies, WHO, Utc::now()).await?,
        false => door.list_policies().await?,
    };
    let refused = refusals.count();
    match print(&before, &policies, refusals) {
        // Whoever read the first lines and went away, as `head` does, has what they wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed.context("the report cannot be printed")?,
    }
    match (refused, args.destination.dry_run) {
        (0, true) => eprintln!("dry run: nothing was written"),
        (0, false) => eprintln!("written: {} policies", policies.len()),
        (_, true) => eprintln!("dry run: nothing was written, and nothing would be until the refused rows are fixed"),
        (_, false) => eprintln!("nothing was written; fix the refused rows"),
    }
    if !table.ignored_columns.is_empty() {
        eprintln!("ignored columns: {}", table.ignored_columns.join(", "));
    }
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}

/// What the list changes, a line each: `+` new, `~` changed, `-` gone.
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
    // A row that is refused may be the one that keeps a policy.
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
    let whom = match &policy.scope {
        Scope::Vip => "VIP customers".to_owned(),
        Scope::Category(category) => format!("category {category}"),
        Scope::General => "everything".to_owned(),
    };
    let refund = policy.refund_days.map_or("REFUND_WINDOW_DAYS".to_owned(), |days| format!("{days} days"));
    format!("{}: {whom}, returns {} days, refunds {refund}", policy.name, policy.return_days)
}

impl Column for PolicyField {
    const NEEDED: &'static [Self] = &Self::NEEDED;

    fn as_str(self) -> &'static str {
        Self::as_str(self)
    }

    fn parse(name: &str) -> Option<Self> {
        Self::parse(&name.to_ascii_lowercase())
    }
}
