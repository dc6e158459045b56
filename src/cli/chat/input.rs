//! Reads the person's messages.

use std::io::{self, IsTerminal};
use std::mem::take;

use anyhow::Context;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, DefaultEditor, Editor};
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};
use tokio::task::{JoinHandle, spawn_blocking};

pub(super) const PROMPT: &str = "> ";

/// A terminal with line editing and history, or a pipe.
pub(super) enum Input {
    Terminal(Terminal),
    Pipe(BufReader<Stdin>),
}

/// The lines of a terminal. Each is read by a thread with a new editor: while an editor exists, rustyline handles Ctrl-C, which
/// `Signals` must receive between lines.
#[derive(Default)]
pub(super) struct Terminal {
    history: MemHistory,
    /// The thread that reads a line. It cannot be stopped, so it outlives a cancelled [`Input::next`], and the next call awaits it.
    reading: Option<JoinHandle<rustyline::Result<Line>>>,
}

/// The history with the line, and the line.
type Line = (MemHistory, rustyline::Result<String>);

impl Input {
    pub fn of_process() -> Self {
        if is_terminal() { Self::Terminal(Terminal::default()) } else { Self::Pipe(BufReader::new(tokio::io::stdin())) }
    }

    /// Returns the next non-empty line, trimmed, or `None` at the end of the input. A terminal's line is not lost if the call is cancelled.
    pub async fn next(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            let line = match self {
                Self::Terminal(terminal) => terminal.read().await?,
                Self::Pipe(pipe) => read_pipe(pipe).await?,
            };
            match line.as_deref().map(str::trim) {
                None => return Ok(None),
                Some("") => {}
                Some(line) => return Ok(Some(line.to_owned())),
            }
        }
    }
}

impl Terminal {
    async fn read(&mut self) -> anyhow::Result<Option<String>> {
        let reading = self.reading.get_or_insert_with(|| {
            let history = take(&mut self.history);
            spawn_blocking(move || read_line(history))
        });
        let read = reading.await;
        self.reading = None;
        let (history, line) = read?.context("cannot use the terminal")?;
        self.history = history;
        match line {
            Ok(line) => Ok(Some(line)),
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
            Err(error) => Err(error).context("cannot read from the terminal"),
        }
    }
}

fn read_line(history: MemHistory) -> rustyline::Result<Line> {
    let config = Config::builder().auto_add_history(true).build();
    let mut editor = Editor::<(), _>::with_history(config, history)?;
    let line = editor.readline(PROMPT);
    Ok((take(editor.history_mut()), line))
}

/// Returns whether both input and output are a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Returns the number of columns of the terminal.
pub(super) fn width() -> usize {
    let columns = DefaultEditor::new().ok().and_then(|mut editor| editor.dimensions()).map(|(columns, _)| columns);
    columns.map_or(80, |columns| usize::from(columns).max(20))
}

async fn read_pipe(pipe: &mut BufReader<Stdin>) -> anyhow::Result<Option<String>> {
    let mut line = Vec::new();
    let read = pipe.read_until(b'\n', &mut line).await.context("cannot read the input")?;
    // Keep the rest of a line with invalid UTF-8.
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}
