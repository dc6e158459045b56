//! `frontdesk doctor`: checks everything that a server needs, and prints each result and its fix on one line. It changes
//! nothing, creates nothing, and continues after a failure.
//!
//! - `settings`: the configuration, the keys, the log
//! - `files`: prompts and documents
//! - `database`: the store, the warranty records, the server that may run, the port
//! - `models`: the language model and the embedding model
//!
//! Desks add their own checks: [`crate::desks::DeskFactory::doctor_checks`].

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use crate::config::{Config, ConfigError, Env};
use crate::desks::DeskRegistry;
use crate::domain::check::{Check, Outcome};

mod database;
mod files;
mod models;
mod payments;
mod settings;

/// How long to wait for one service.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The arguments of `frontdesk doctor`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Findings<'a> {
    ok: bool,
    checks: &'a [Check],
}

pub(super) async fn run(args: &Args) -> ExitCode {
    let (config, mut mistakes) = Config::read_all(Env::from_process());
    if let Err(error) = ConfigError::check_dotenv() {
        mistakes.splice(0..0, error.lines().iter().cloned());
    }
    let checks = examine(config, &mistakes).await;
    let ok = checks.iter().all(|check| check.outcome != Outcome::Fail);
    // A closed pipe does not change the result.
    let _ = print(&checks, ok, args.json, &mut io::stdout().lock());
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs all checks. Checks that depend on an invalid setting use its default.
async fn examine(mut config: Config, mistakes: &[String]) -> Vec<Check> {
    config.store.timeout = config.store.timeout.min(TIMEOUT);
    config.mail.deadline = config.mail.deadline.min(TIMEOUT);
    config.llm.probe_timeout = config.llm.probe_timeout.min(TIMEOUT);
    let mut checks = settings::examine(&config, mistakes);
    let (found, prompts) = files::examine(&config);
    checks.extend(found);
    checks.extend(database::examine(&config, mistakes).await);
    let registry = DeskRegistry::built_in();
    for desk in registry.iter().filter(|desk| prompts.iter().any(|prompts| prompts.has_desk(desk.name()))) {
        checks.extend(desk.doctor_checks(&config).await);
    }
    checks.extend(models::examine_language_model(&config.llm, &prompts).await);
    checks.extend(models::examine_embedding_model(&config.embed).await);
    checks
}

fn print(checks: &[Check], ok: bool, json: bool, out: &mut impl Write) -> io::Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, &Findings { ok, checks })?;
        return writeln!(out);
    }
    for Check { name, outcome, line } in checks {
        let outcome = match outcome {
            Outcome::Ok => "ok",
            Outcome::Warn => "warn",
            Outcome::Fail => "fail",
        };
        writeln!(out, "{outcome:<4}  {name}: {line}")?;
    }
    Ok(())
}
