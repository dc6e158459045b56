//! `frontdesk eval conversations`: answers that were called wrong in the console, given again with today's personas, documents
//! and settings.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;

use crate::app::evals::{Answer, Case, Difference, FOLDER, ReplayError, Replayer, compare, holds};
use crate::cli::signals::Signals;
use crate::config::{Config, Env};
use crate::domain::Kind;

/// The arguments of `frontdesk eval conversations`.
///
/// Each case is a turn of a conversation, which is played again on what was said before it; no real conversation is touched. Returns
/// are decided on copies of the orders as they were when it was asked; nothing is made in the shop, and no mail is sent. What is
/// compared: intent, kinds of the messages, their sources, and their words, but for numbers that are new each time. A language model words a reply anew each time,
/// so with one, "text" alone says little; what the case expects is looked for in the words.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of the cases instead of conversations below EVALS_PATH
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<()> {
    let config = Config::read(Env::from_process())?;
    let folder = args.folder.clone().unwrap_or_else(|| config.evals.folder.join(FOLDER));
    let cases = Case::read_all(&folder)?;
    if cases.is_empty() {
        eprintln!("{} holds no cases: in the console, call an answer wrong to make one", folder.display());
    }
    // Whoever ends it early leaves no copies of the shop's rows behind either.
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    let report = tokio::select! {
        report = replay(config, cases) => report?,
        _ = signals.next() => anyhow::bail!("stopped before the end"),
    };
    let mut out = io::stdout().lock();
    let printed = if args.json { report.write_json(&mut out) } else { report.write_text(&mut out) };
    match printed.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("the result cannot be printed"),
        _ => Ok(()),
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
            // The case's own fault; anything else is everybody's.
            Err(cause @ (ReplayError::NoPersona(_) | ReplayError::NoQuestion)) => Played::failed(file, case, &cause),
            Err(cause) => return Err(cause.into()),
        };
        report.add(played);
    }
    Ok(report)
}

/// How a case fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Same,
    Changed,
    /// It cannot be played any more.
    Failed,
}

/// A case that was played.
#[derive(Debug, Serialize)]
struct Played {
    case: String,
    outcome: Outcome,
    asked: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// What is different.
    changed: Vec<Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    /// Whether the words that were expected are there now.
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
            asked: case.question().to_owned(),
            now: Some(now),
            changed,
            expected_found,
            ..Self::empty(file, case)
        }
    }

    fn failed(file: String, case: Case, cause: &ReplayError) -> Self {
        Self { problem: Some(cause.to_string()), asked: case.question().to_owned(), ..Self::empty(file, case) }
    }

    fn empty(file: String, case: Case) -> Self {
        Self {
            case: file,
            outcome: Outcome::Failed,
            asked: String::new(),
            note: case.note,
            changed: Vec::new(),
            now: None,
            expected: case.expected,
            expected_found: None,
            problem: None,
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let names: Vec<&str> = self.changed.iter().map(Difference::name).collect();
        match self.outcome {
            Outcome::Same => writeln!(out, "{}  same", self.case)?,
            Outcome::Changed => writeln!(out, "{}  changed: {}", self.case, names.join(", "))?,
            Outcome::Failed => writeln!(out, "{}  not played", self.case)?,
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

/// All cases.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// Whether a language model worded the replies.
    model: bool,
    same: usize,
    changed: usize,
    failed: usize,
    /// Cases that expect words, and those of them that have them now.
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

    fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        for played in &self.cases {
            played.write_text(out)?;
        }
        let Self { same, changed, failed, expecting, expected_found, .. } = self;
        let model = if self.model { "with the language model" } else { "without a language model" };
        let cases = match self.cases.len() {
            1 => "1 case".to_owned(),
            several => format!("{several} cases"),
        };
        write!(out, "{cases}, played {model}: {same} same, {changed} changed")?;
        if *failed > 0 {
            write!(out, ", {failed} not played")?;
        }
        if *expecting > 0 {
            write!(out, "; the words that were expected are there in {expected_found} of {expecting}")?;
        }
        writeln!(out)
    }
}

/// Line breaks become spaces, so that a case is easy to skim.
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
