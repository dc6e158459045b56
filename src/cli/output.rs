//! Prints reports: text or JSON to stdout, remarks to stderr.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;

/// The result of a command. Its JSON is what `--json` prints.
pub trait Report: Serialize {
    /// Prints the result for people.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Prints remarks. `json` is set if the result was printed as JSON.
    fn write_remarks(&self, _err: &mut dyn Write, _json: bool) -> io::Result<()> {
        Ok(())
    }
}

/// Prints the report. A closed pipe, as in `frontdesk … | head`, is not an error.
pub(super) fn print(report: &impl Report, json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let printed = match json {
        true => serde_json::to_writer(&mut out, report).map_err(io::Error::from).and_then(|()| writeln!(out)),
        false => report.write_text(&mut out),
    };
    let printed = printed.and_then(|()| out.flush());
    report.write_remarks(&mut io::stderr().lock(), json)?;
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot print the report"),
        _ => Ok(()),
    }
}

/// Prints the error of a failed command and returns its exit code.
pub(super) fn exit_code(result: anyhow::Result<ExitCode>, on_error: u8) -> ExitCode {
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(on_error)
    })
}

/// Seconds, rounded to milliseconds.
pub(super) fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}
