//! Where the person's lines come from.
//!
//! rustyline's feature `signal-hook` matters: without it, it takes Ctrl-C for itself between the lines, too.

use std::io::{self, IsTerminal};

use anyhow::Context;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};
use tokio::task::spawn_blocking;

const PROMPT: &str = "> ";

/// A terminal, with line editing and the earlier lines at the arrow keys; or a pipe.
pub(super) enum Input {
    /// `None` while a line is being read.
    Terminal(Option<Box<DefaultEditor>>),
    Pipe(BufReader<Stdin>),
}

impl Input {
    pub fn of_process() -> anyhow::Result<Self> {
        if is_terminal() {
            let editor = DefaultEditor::new().context("the terminal cannot be used")?;
            return Ok(Self::Terminal(Some(Box::new(editor))));
        }
        Ok(Self::Pipe(BufReader::new(tokio::io::stdin())))
    }

    /// The next line that is not empty, trimmed. `None`: there will be no more.
    pub async fn next(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            let line = match self {
                Self::Terminal(editor) => read_terminal(editor).await?,
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

async fn read_terminal(slot: &mut Option<Box<DefaultEditor>>) -> anyhow::Result<Option<String>> {
    let Some(mut editor) = slot.take() else { return Ok(None) };
    let (editor, line) = spawn_blocking(move || {
        let line = editor.readline(PROMPT);
        (editor, line)
    })
    .await?;
    let editor = slot.insert(editor);
    match line {
        Ok(line) => {
            // Refused for a line that is empty or stands there already.
            let _ = editor.add_history_entry(&line);
            Ok(Some(line))
        }
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
