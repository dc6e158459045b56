//! `frontdesk doctor`: looks at everything that a server stands on, and says in one line each how it is and what to
//! mend. It changes nothing, creates nothing, and goes on after a failure.
//!
//! - `settings`: the configuration, the keys, the log
//! - `files`: prompts and documents
//! - `database`: the store, the warranty records, the server that may run, the port
//! - `mail`: mails to customers
//! - `model`: the language model
//! - `vectors`: the embedding model

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use crate::config::{Config, ConfigError, Env};

mod database;
mod files;
mod mail;
mod model;
mod settings;
mod vectors;

/// How long one service may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The arguments of `frontdesk doctor`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Ok,
    /// A server runs all the same, with less.
    Warn,
    /// A server does not start.
    Fail,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    outcome: Outcome,
    /// What is the case, and what to mend: one line.
    line: String,
}

impl Check {
    fn new(name: &'static str, outcome: Outcome, line: impl Into<String>) -> Self {
        let line: String = line.into();
        let line = line.lines().map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        Self { name, outcome, line }
    }

    fn ok(name: &'static str, line: impl Into<String>) -> Self {
        Self::new(name, Outcome::Ok, line)
    }

    fn warn(name: &'static str, line: impl Into<String>) -> Self {
        Self::new(name, Outcome::Warn, line)
    }

    fn fail(name: &'static str, line: impl Into<String>) -> Self {
        Self::new(name, Outcome::Fail, line)
    }
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
    // A reader that has gone changes nothing about what was found.
    let _ = print(&checks, ok, args.json, &mut io::stdout().lock());
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Looks at everything. Where a value cannot be used, what stands on it is looked at under the default.
async fn examine(mut config: Config, mistakes: &[String]) -> Vec<Check> {
    config.store.timeout = config.store.timeout.min(PATIENCE);
    config.llm.probe_timeout = config.llm.probe_timeout.min(PATIENCE);
    let mut checks = settings::examine(&config, mistakes);
    let (found, prompts) = files::examine(&config);
    checks.extend(found);
    checks.extend(database::examine(&config, mistakes).await);
    if let Some(prompts) = &prompts {
        checks.extend(mail::examine(&config, prompts).await);
    }
    checks.extend(model::examine(&config.llm, prompts.as_ref()).await);
    checks.extend(vectors::examine(&config.embed).await);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_one_line_for_people_and_an_object_for_machines() {
        let checks = [Check::ok("keys", "2 keys"), Check::fail("store", "cannot open\n  mend it\n")];
        let mut text = Vec::new();
        print(&checks, false, false, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "ok    keys: 2 keys\nfail  store: cannot open; mend it\n");
        let mut json = Vec::new();
        print(&checks, false, true, &mut json).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(
            json,
            serde_json::json!({"ok": false, "checks": [
                {"name": "keys", "outcome": "ok", "line": "2 keys"},
                {"name": "store", "outcome": "fail", "line": "cannot open; mend it"},
            ]})
        );
    }
}
