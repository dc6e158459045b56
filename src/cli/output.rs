//! Prints reports: text or JSON to stdout, remarks to stderr.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow};
use serde::Serialize;

/// The result of a command. Its JSON is what `--json` prints.
pub trait Report: Serialize {
    /// Prints the result for people.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Prints remarks. `json` is set if the result was printed as JSON.
    fn write_remarks(&self, _err: &mut dyn Write, _json: bool) -> io::Result<()> {
        Ok(())
    }

    /// Returns the exit code of a command with this result.
    fn exit_code(&self) -> ExitCode {
        ExitCode::SUCCESS
    }
}

/// The exit code of a command that refused a part of its input.
pub(super) const REFUSED: u8 = 1;
/// The exit code of a command that failed.
pub(super) const FAILED: u8 = 2;

/// Prints the result or the error of a command, and returns the exit code.
pub(super) fn finish<R: Report>(result: anyhow::Result<R>, json: bool) -> ExitCode {
    exit_code(result.and_then(|report| print(&report, json).map(|()| report.exit_code())))
}

/// Prints the report. A closed pipe, as in `frontdesk … | head`, is not an error.
fn print(report: &impl Report, json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let printed = match json {
        true => serde_json::to_writer(&mut out, report).map_err(io::Error::from).and_then(|()| writeln!(out)),
        false => report.write_text(&mut out),
    };
    let printed = printed.and_then(|()| out.flush());
    report.write_remarks(&mut io::stderr().lock(), json)?;
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot print the report"),
        _ => Ok(()),
    }
}

/// Prints the error of a failed command and returns its exit code.
pub(super) fn exit_code(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(FAILED)
    })
}

/// Opens a file for reading. The error includes the fix.
pub(super) fn open(path: &Path) -> anyhow::Result<File> {
    let opened = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    opened.map_err(explain)
}

/// Describes a frequent error of a file, with its fix.
pub(super) fn explain(error: io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::NotFound => anyhow!("there is no such file or folder; check the path"),
        ErrorKind::PermissionDenied => anyhow!("this user may not open it; change its permissions"),
        ErrorKind::IsADirectory => anyhow!("it is a folder; name a file"),
        _ => error.into(),
    }
}

/// Seconds, rounded to milliseconds.
pub(super) fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}
