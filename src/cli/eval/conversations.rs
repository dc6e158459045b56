//! `frontdesk eval conversations`: replays answers that were marked as wrong in the console with today's personas, documents
//! and settings.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;

use crate::app::evals::{Answer, Case, Difference, FOLDER, ReplayError, Replayer, compare, holds};
use crate::cli::output;
use crate::cli::signals::Signals;
use crate::config::{Config, Env};
use crate::domain::Kind;

/// The arguments of `frontdesk eval conversations`.
///
/// Each case is a turn of a conversation, which is replayed on the messages before it. Replays change no conversation, create
/// nothing in the shop and send no mail: returns are decided on the copies of orders that the case stores. The comparison covers
/// the intent, the kinds of messages, their sources and their text, except for generated numbers. A language model writes a
/// different text each time, so look at the expected words rather than at "text".
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of the cases [default: conversations below EVALS_PATH]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<impl output::Report> {
    let config = Config::read(Env::from_process())?;
    let folder = args.folder.clone().unwrap_or_else(|| config.evals.folder.join(FOLDER));
    let cases = Case::read_all(&folder)?;
    if cases.is_empty() {
        eprintln!("{} has no cases: mark an answer as wrong in the console to create one", folder.display());
    }
    // On a signal, drop the replay, which deletes its temporary databases.
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    tokio::select! {
        report = replay(config, cases) => report,
        _ = signals.next() => anyhow::bail!("interrupted"),
    }
}

async fn replay(config: Config, cases: Vec<(String, Case)>) -> anyhow::Result<Report> {
    let replayer = Replayer::open(config).await?;
    for remark in &replayer.remarks {
        eprintln!("{remark}");
    }
    let mut report = Report { model: replayer.has_model(), ..Report::default() };
    for (file, case) in cases {
        let played = match Box::pin(replayer.replay(&case)).await {
            Ok(now) => Played::of(file, case, now),
            // Other errors would fail every case.
            Err(cause @ (ReplayError::NoPersona(_) | ReplayError::NoQuestion | ReplayError::Rows(_))) => {
                Played::failed(file, case, &cause)
            }
            Err(cause) => return Err(cause.into()),
        };
        report.add(played);
    }
    Ok(report)
}

/// The outcome of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Same,
    Changed,
    /// The case cannot be replayed.
    Failed,
}

/// A replayed case.
#[derive(Debug, Serialize)]
struct Played {
    case: String,
    outcome: Outcome,
    asked: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    changed: Vec<Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    /// Whether the answer now contains the expected words.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_found: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Played {
    fn of(file: String, case: Case, now: Answer) -> Self {
        let changed = compare(&case.answered, &now, case.asked_at);
        let expected_found = case.expected.as_ref().map(|expected| holds(&now, expected));
        Self {
            outcome: if changed.is_empty() { Outcome::Same } else { Outcome::Changed },
            now: Some(now),
            changed,
            expected_found,
            ..Self::empty(file, case)
        }
    }

    fn failed(file: String, case: Case, cause: &ReplayError) -> Self {
        Self { problem: Some(cause.to_string()), ..Self::empty(file, case) }
    }

    fn empty(file: String, case: Case) -> Self {
        Self {
            case: file,
            outcome: Outcome::Failed,
            asked: case.question().to_owned(),
            note: case.note,
            changed: Vec::new(),
            now: None,
            expected: case.expected,
            expected_found: None,
            problem: None,
        }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<&str> = self.changed.iter().map(Difference::name).collect();
        match self.outcome {
            Outcome::Same => writeln!(out, "{}  same", self.case)?,
            Outcome::Changed => writeln!(out, "{}  changed: {}", self.case, names.join(", "))?,
            Outcome::Failed => writeln!(out, "{}  not replayed", self.case)?,
        }
        let mut line = |name: &str, text: &str| writeln!(out, "  {name:<9} {}", on_one_line(text));
        line("asked", &self.asked)?;
        if let Some(note) = &self.note {
            line("note", note)?;
        }
        if let Some(problem) = &self.problem {
            line("problem", problem)?;
        }
        for difference in &self.changed {
            match difference {
                Difference::Error { was, is } => line("error", &format!("{was:?} -> {is:?}"))?,
                Difference::Intent { was, is } => line("intent", &format!("{} -> {}", or_none(was), or_none(is)))?,
                Difference::Kind { was, is } => line("kind", &format!("{} -> {}", kinds(was), kinds(is)))?,
                Difference::Sources { gone, new } => {
                    for source in gone {
                        line("sources", &format!("- {source}"))?;
                    }
                    for source in new {
                        line("sources", &format!("+ {source}"))?;
                    }
                }
                Difference::Text { was, is } => {
                    line("was", was)?;
                    line("now", is)?;
                }
            }
        }
        match (&self.expected, self.expected_found) {
            (Some(expected), Some(true)) => line("expected", &format!("found: {expected}")),
            (Some(expected), _) => line("expected", &format!("not found: {expected}")),
            (None, _) => Ok(()),
        }
    }
}

/// The results of all cases.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// Whether a language model wrote the replies.
    model: bool,
    same: usize,
    changed: usize,
    failed: usize,
    /// Cases with expected words.
    expecting: usize,
    expected_found: usize,
    cases: Vec<Played>,
}

impl Report {
    fn add(&mut self, played: Played) {
        match played.outcome {
            Outcome::Same => self.same += 1,
            Outcome::Changed => self.changed += 1,
            Outcome::Failed => self.failed += 1,
        }
        self.expecting += usize::from(played.expected.is_some());
        self.expected_found += usize::from(played.expected_found == Some(true));
        self.cases.push(played);
    }
}

impl output::Report for Report {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for played in &self.cases {
            played.write_text(out)?;
        }
        let Self { same, changed, failed, expecting, expected_found, .. } = self;
        let model = if self.model { "with the language model" } else { "without a language model" };
        let cases = match self.cases.len() {
            1 => "1 case".to_owned(),
            several => format!("{several} cases"),
        };
        write!(out, "{cases}, replayed {model}: {same} same, {changed} changed")?;
        if *failed > 0 {
            write!(out, ", {failed} not replayed")?;
        }
        if *expecting > 0 {
            write!(out, "; expected words found in {expected_found} of {expecting}")?;
        }
        writeln!(out)
    }
}

/// Replaces line breaks by spaces.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn or_none(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("none")
}

fn kinds(kinds: &[Kind]) -> String {
    if kinds.is_empty() {
        "none".to_owned()
    } else {
        kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")
    }
}
