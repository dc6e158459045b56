//! `frontdesk customer`: exports or erases the personal data of one customer.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use chrono::Utc;
use clap::Subcommand;
use serde_json::{Value, json};

use super::output::explain;
use super::{open_store, store_options};
use crate::app::personal_files::{PersonalFile, PersonalFiles, remove};
use crate::config::Config;
use crate::domain::TenantId;
use crate::domain::audit::OPERATOR;
use crate::domain::identity::Email;
use crate::store::Store;
use crate::store::personal::erase::{Erased, Erasure};
use crate::store::personal::person::{Named, Person};

/// How long an erasure waits for running turns, and how often it checks.
const WAIT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(250);

#[derive(Clone, Debug, Subcommand)]
pub enum What {
    /// Write all data about a customer as JSON
    Export {
        #[command(flatten)]
        customer: Customer,
        /// The file to write [default: standard output]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Erase a customer's conversations, evaluation cases and mails, and their name and address in orders. Orders, RMAs and
    /// tickets stay with their status and amounts
    Erase {
        #[command(flatten)]
        customer: Customer,
        /// Count what would be erased without changing anything
        #[arg(long)]
        dry_run: bool,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Clone, Debug, clap::Args)]
pub struct Customer {
    #[command(flatten)]
    named: By,
    /// The customer's shop
    #[arg(long, value_name = "NAME", default_value_t)]
    tenant: TenantId,
}

#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct By {
    /// The customer's id in the shop's own system: the `user_id` of conversations and orders
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// The customer's e-mail address
    #[arg(long, value_name = "ADDRESS")]
    email: Option<Email>,
}

impl Customer {
    fn named(&self) -> anyhow::Result<Named> {
        match (&self.named.user, &self.named.email) {
            (Some(user), _) => Ok(Named::User(user.clone())),
            (None, Some(email)) => Ok(Named::Email(email.clone())),
            (None, None) => bail!("name the customer with --user or --email"),
        }
    }
}

/// Runs the command and prints what it found or erased.
pub async fn run(config: Config, what: &What) -> anyhow::Result<()> {
    if store_options(&config).would_create()? {
        bail!("no database at {}: set DATABASE_URL, or run the command in the server's folder", config.store.url);
    }
    let store = open_store(&config).await?;
    let store = store.embedding(config.embed.on).external_vectors(config.vectors.chroma_url.is_some());
    match what {
        What::Export { customer, output } => export(&config, &store, customer, output.as_ref()).await,
        What::Erase { customer, dry_run, yes } => erase(&config, &store, customer, *dry_run, *yes).await,
    }
}

async fn export(config: &Config, store: &Store, customer: &Customer, output: Option<&PathBuf>) -> anyhow::Result<()> {
    let (person, tables) = store.tenant(&customer.tenant).export_person(&customer.named()?).await?;
    let (mut cases, mut mails) = (Vec::new(), Vec::new());
    for PersonalFile { path, is_case } in PersonalFiles::new(config).of_person(&customer.tenant, &person)? {
        let text = std::fs::read_to_string(&path)
            .map_err(explain)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match is_case {
            true => cases.push(json!({"file": file, "case": serde_json::from_str::<Value>(&text)?})),
            false => mails.push(json!({"file": file, "text": text})),
        }
    }
    let mut export = serde_json::to_string_pretty(&json!({
        "tenant": customer.tenant, "exported_at": Utc::now(), "tables": tables, "cases": cases, "mail_files": mails,
    }))?;
    export.push('\n');
    match output {
        Some(file) => {
            std::fs::write(file, export).map_err(explain).with_context(|| format!("cannot write {}", file.display()))?
        }
        None => std::io::stdout().write_all(export.as_bytes())?,
    }
    if tables.is_empty() && cases.is_empty() {
        eprintln!("the shop {} has nothing about this customer", customer.tenant);
    }
    Ok(())
}

async fn erase(config: &Config, store: &Store, customer: &Customer, dry_run: bool, yes: bool) -> anyhow::Result<()> {
    let (named, door) = (customer.named()?, store.tenant(&customer.tenant));
    let files = PersonalFiles::new(config);
    let person = door.find_person(&named).await?;
    let mut found = files.of_person(&customer.tenant, &person)?;
    if dry_run || !yes {
        let Erasure::Done { erased: planned, .. } = door.erase_person(&named, OPERATOR, true, Utc::now()).await? else {
            bail!("the dry run found a running turn, which it does not wait for")
        };
        if planned.is_empty() && found.is_empty() {
            println!("the shop {} has nothing about this customer", customer.tenant);
            return Ok(());
        }
        print_summary("to be erased", &planned, &found);
        if dry_run {
            return Ok(());
        }
        if !confirmed()? {
            bail!("nothing was erased");
        }
    }
    // Before the database, so that a repeated command still finds the files after a crash.
    remove(&found)?;
    let (erased, person) = erase_rows(store, customer, &named).await?;
    // Mails that the server has written since, also those that it had not queued before.
    let late = files.of_person(&customer.tenant, &person)?;
    remove(&late)?;
    found.extend(late.into_iter().filter(|file| !found.contains(file)).collect::<Vec<_>>());
    print_summary("erased", &erased, &found);
    if config.embed.on && config.vectors.chroma_url.is_some() {
        println!("The running server removes the conversations' vectors from Chroma. Start it if it is not running.");
    }
    if !store.truncate_log().await? {
        println!(
            "The database's log still contains erased text, since another process is reading it. Run this command again later."
        );
    }
    Ok(())
}

/// Erases the customer from the database after their running turns have ended. Returns the customer as they were then.
async fn erase_rows(store: &Store, customer: &Customer, named: &Named) -> anyhow::Result<(Vec<Erased>, Box<Person>)> {
    let deadline = tokio::time::Instant::now() + WAIT;
    loop {
        match store.tenant(&customer.tenant).erase_person(named, OPERATOR, false, Utc::now()).await? {
            Erasure::Done { erased, person } => return Ok((erased, person)),
            Erasure::TurnRuns(id) if tokio::time::Instant::now() > deadline => bail!(
                "the database was not changed, since a turn of conversation {id} is running: retry when it has ended, or \
                start the server, which ends turns of an earlier process"
            ),
            Erasure::TurnRuns(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

/// Asks for confirmation. Fails without a terminal.
fn confirmed() -> anyhow::Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        bail!("nothing was erased: confirmation needs a terminal, or --yes");
    }
    print!("Erase this customer? This cannot be undone. [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}

fn print_summary(title: &str, tables: &[Erased], files: &[PersonalFile]) {
    println!("{title}:");
    for Erased { table, rows, values } in tables {
        println!("  {table}: {rows} rows removed, {values} values cleared");
    }
    let cases = files.iter().filter(|file| file.is_case).count();
    println!("  cases: {cases} files removed\n  mails: {} files removed", files.len() - cases);
}
