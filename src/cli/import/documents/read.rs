//! Reads the text of a file in a separate process: `frontdesk read-document`, which `--help` does not list.
//!
//! Files come from anywhere. One that makes a parser loop, recurse or fill the memory ends that process, and the import reports it.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};

use super::{docx, pdf};
use crate::cli::output;
use crate::domain::string_enum;

/// The largest file.
const FILE_MAX_BYTES: u64 = 20_000_000;
/// The most that a file may hold once it is unpacked, and the most text.
pub(super) const EXPANDED_MAX_BYTES: u64 = 100_000_000;
/// Refuses a file that holds more than [`EXPANDED_MAX_BYTES`].
pub(super) const EXPANDED_TOO_MUCH: &str = "it holds more than 100 MB once it is unpacked";
/// How long a file may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Memory of the process that reads a file: the unpacked file a few times, and the program itself.
const MEMORY_MAX_BYTES: u64 = 2_000_000_000;

string_enum! {
    /// A kind of file.
    pub enum Format {
        Pdf = "pdf",
        Docx = "docx",
        Text = "text",
        Markdown = "markdown",
    }
}

/// The arguments of `frontdesk read-document`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Args {
    format: Format,
}

impl Format {
    /// Returns the format by the ending of the file's name.
    pub(super) fn of(file: &Path) -> anyhow::Result<Self> {
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "pdf" => Ok(Self::Pdf),
            "docx" => Ok(Self::Docx),
            "txt" => Ok(Self::Text),
            "md" => Ok(Self::Markdown),
            "doc" => bail!("this is the format of Word before 2007: save it as .docx"),
            _ => bail!("the name must end in .pdf, .docx, .txt or .md"),
        }
    }
}

/// Reads a file, within the limits.
///
/// # Errors
/// What is wrong with the file, for the person who has it.
pub(super) fn in_own_process(path: &Path, format: Format) -> anyhow::Result<String> {
    let file = output::open(path)?;
    let size = file.metadata()?.len();
    if size > FILE_MAX_BYTES {
        bail!("the file has {size} bytes, more than 20 MB: split it");
    }
    let (mut said, mut failed) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = Command::new(std::env::current_exe()?)
        .args(["read-document", format.as_str()])
        .stdin(Stdio::from(file))
        .stdout(Stdio::from(said.try_clone()?))
        .stderr(Stdio::from(failed.try_clone()?))
        .spawn()
        .context("cannot start the program that reads the file")?;
    let Some(status) = wait(&mut child)? else {
        bail!("it takes more than {} s to read: it may be damaged, or too large", TIME_LIMIT.as_secs());
    };
    if !status.success() {
        return Err(anyhow!(problem_of(status, &text_of(&mut failed)?)));
    }
    text_of(&mut said)
}

/// Waits for the end of the process. `None`: it took too long and was killed.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > TIME_LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn text_of(file: &mut File) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Describes why the process failed: its message if it refused the file, else what ended it.
fn problem_of(status: ExitStatus, said: &str) -> String {
    match status.code() {
        Some(1) if !said.trim().is_empty() => said.trim().to_owned(),
        // Rust aborts when memory ends, and where a stack overflows.
        None => "it needs too much memory to read: it may be made to do so, or damaged".to_owned(),
        _ => "it is damaged, or has something that this program cannot read".to_owned(),
    }
}

/// Runs `frontdesk read-document`: reads a file from the standard input and prints its text.
pub(in crate::cli) fn run(args: Args) -> ExitCode {
    let printed = limit_process().map_err(anyhow::Error::from).and_then(|()| {
        let mut bytes = Vec::new();
        io::stdin().lock().take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes)?;
        let text = text(args.format, bytes)?;
        Ok(io::stdout().lock().write_all(text.as_bytes())?)
    });
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Limits this process: its memory, its processor time and the size of what it prints.
fn limit_process() -> io::Result<()> {
    use rlimit::Resource;
    Resource::AS.set(MEMORY_MAX_BYTES, MEMORY_MAX_BYTES)?;
    Resource::CPU.set(TIME_LIMIT.as_secs(), TIME_LIMIT.as_secs())?;
    Resource::FSIZE.set(EXPANDED_MAX_BYTES, EXPANDED_MAX_BYTES)
}

fn text(format: Format, bytes: Vec<u8>) -> anyhow::Result<String> {
    match format {
        Format::Pdf => pdf::text(&bytes),
        Format::Docx => docx::text(&bytes),
        Format::Text | Format::Markdown => {
            String::from_utf8(bytes).map_err(|_| anyhow!("it is not text in UTF-8: save it as UTF-8"))
        }
    }
}
