//! Reads the person's messages.

use std::io::{self, IsTerminal};

use anyhow::Context;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, DefaultEditor, Editor};
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};
use tokio::task::spawn_blocking;

const PROMPT: &str = "> ";

/// A terminal with line editing and history, or a pipe.
pub(super) enum Input {
    Terminal(MemHistory),
    Pipe(BufReader<Stdin>),
}

impl Input {
    pub fn of_process() -> Self {
        if is_terminal() { Self::Terminal(MemHistory::new()) } else { Self::Pipe(BufReader::new(tokio::io::stdin())) }
    }

    /// Returns the next non-empty line, trimmed, or `None` at the end of the input.
    pub async fn next(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            let line = match self {
                Self::Terminal(history) => read_terminal(history).await?,
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

/// Returns whether both input and output are a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Returns the number of columns of the terminal.
pub(super) fn width() -> usize {
    let columns = DefaultEditor::new().ok().and_then(|mut editor| editor.dimensions()).map(|(columns, _)| columns);
    columns.map_or(80, |columns| usize::from(columns).max(20))
}

/// Reads a line with a new editor. While an editor exists, rustyline handles Ctrl-C, which `Signals` must receive between lines.
async fn read_terminal(history: &mut MemHistory) -> anyhow::Result<Option<String>> {
    let earlier = std::mem::take(history);
    let read = spawn_blocking(move || {
        let config = Config::builder().auto_add_history(true).build();
        let mut editor = Editor::<(), _>::with_history(config, earlier)?;
        let line = editor.readline(PROMPT);
        Ok::<_, ReadlineError>((std::mem::take(editor.history_mut()), line))
    });
    let (earlier, line) = read.await?.context("cannot use the terminal")?;
    *history = earlier;
    match line {
        Ok(line) => Ok(Some(line)),
        Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
        Err(error) => Err(error).context("cannot read from the terminal"),
    }
}

async fn read_pipe(pipe: &mut BufReader<Stdin>) -> anyhow::Result<Option<String>> {
    let mut line = Vec::new();
    let read = pipe.read_until(b'\n', &mut line).await.context("cannot read the input")?;
    // Keep the rest of a line with invalid UTF-8.
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}
