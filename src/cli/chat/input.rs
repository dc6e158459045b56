//! Where the person's lines come from.

use std::io::{self, IsTerminal};

use anyhow::Context;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, DefaultEditor, Editor};
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};
use tokio::task::spawn_blocking;

const PROMPT: &str = "> ";

/// A terminal, with line editing and the earlier lines at the arrow keys; or a pipe.
pub(super) enum Input {
    Terminal(MemHistory),
    Pipe(BufReader<Stdin>),
}

impl Input {
    pub fn of_process() -> Self {
        if is_terminal() { Self::Terminal(MemHistory::new()) } else { Self::Pipe(BufReader::new(tokio::io::stdin())) }
    }

    /// The next line that is not empty, trimmed. `None`: there will be no more.
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

/// Whether a person sits at both ends.
pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// How many columns the terminal has.
pub(super) fn width() -> usize {
    let columns = DefaultEditor::new().ok().and_then(|mut editor| editor.dimensions()).map(|(columns, _)| columns);
    columns.map_or(80, |columns| usize::from(columns).max(20))
}

/// Reads with an editor for this line alone: while one lives, rustyline takes every Ctrl-C for itself, and between the
/// lines it is ours.
async fn read_terminal(history: &mut MemHistory) -> anyhow::Result<Option<String>> {
    let earlier = std::mem::take(history);
    let read = spawn_blocking(move || {
        let config = Config::builder().auto_add_history(true).build();
        let mut editor = Editor::<(), _>::with_history(config, earlier)?;
        let line = editor.readline(PROMPT);
        Ok::<_, ReadlineError>((std::mem::take(editor.history_mut()), line))
    });
    let (earlier, line) = read.await?.context("the terminal cannot be used")?;
    *history = earlier;
    match line {
        Ok(line) => Ok(Some(line)),
        Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
        Err(error) => Err(error).context("the terminal cannot be read"),
    }
}

async fn read_pipe(pipe: &mut BufReader<Stdin>) -> anyhow::Result<Option<String>> {
    let mut line = Vec::new();
    let read = pipe.read_until(b'\n', &mut line).await.context("the input cannot be read")?;
    // One bad byte is no reason to lose the rest of the line.
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}
