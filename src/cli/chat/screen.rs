//! Prints the chat. A pipe gets only the messages; remarks go to stderr.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::input;
use super::typeset::Typesetter;

const DIM: &str = "\x1b[2m";
pub(super) const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
pub(super) const PLAIN: &str = "\x1b[0m";
/// Moves to the start of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// A terminal, or a pipe and stderr.
pub(super) struct Screen {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// Whether the output is a terminal, which shows styles.
    terminal: bool,
    /// A temporary line is shown, which the next output clears.
    passing: bool,
    /// A message is being printed.
    writing: bool,
    /// Formats the message for a terminal.
    typesetter: Option<Typesetter>,
    /// Returns the number of columns of the terminal. It must not be called while a line is being read: it replaces rustyline's handlers
    /// of signals.
    width: fn() -> usize,
    /// The number of columns at the last message of the chat.
    columns: usize,
}

impl Screen {
    pub fn of_process() -> Self {
        Self::new(Box::new(io::stdout()), Box::new(io::stderr()), input::is_terminal(), input::width)
    }

    fn new(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>, terminal: bool, width: fn() -> usize) -> Self {
        Self { out, err, terminal, passing: false, writing: false, typesetter: None, width, columns: 0 }
    }

    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Prints a complete message.
    pub fn message(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.settle()?;
        self.measure();
        let message = self.format_message(name, text);
        write!(self.out, "{message}")?;
        self.out.flush()
    }

    /// Prints a complete message in place of the line that is being typed, which is kept, and shows the prompt again. With rustyline's own
    /// printer, a pasted line would stop after its first letter (`ExternalPrinter` waits for the terminal before it looks at what was read).
    pub fn interrupt(&mut self, name: &str, text: &str) -> io::Result<()> {
        let message = self.format_message(name, text);
        write!(self.out, "{CLEAR_LINE}{message}{}", input::PROMPT)?;
        self.out.flush()
    }

    /// Formats a complete message, with an empty line after it.
    fn format_message(&self, name: &str, text: &str) -> String {
        let text = self.clean(text);
        if !self.terminal {
            return format!("{name}: {text}\n\n");
        }
        let mut typesetter = Typesetter::new(self.columns, name.width() + 1, "");
        let set = typesetter.push(&text) + &typesetter.finish();
        format!("{BOLD}{name}:{PLAIN}{set}\n\n")
    }

    /// Starts a message whose text follows in pieces.
    pub fn begin(&mut self, kind: &str) -> io::Result<()> {
        self.settle()?;
        self.measure();
        self.writing = true;
        let base = if kind == "follow_up" { self.style(DIM) } else { "" };
        self.typesetter = self.terminal.then(|| Typesetter::new(self.columns, 0, base));
        write!(self.out, "{base}")
    }

    pub fn piece(&mut self, text: &str) -> io::Result<()> {
        if !self.writing {
            self.begin("")?;
        }
        let mut text = self.clean(text);
        if let Some(typesetter) = &mut self.typesetter {
            text = typesetter.push(&text);
        }
        write!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Ends the message. `cut` marks an incomplete one.
    pub fn end(&mut self, cut: bool) -> io::Result<()> {
        self.finish_text()?;
        if cut && self.writing {
            write!(self.out, " […]")?;
        }
        self.settle()
    }

    /// Shows a temporary line on a terminal.
    pub fn passing(&mut self, text: &str) -> io::Result<()> {
        if self.terminal && !self.writing {
            write!(self.out, "{CLEAR_LINE}{DIM}{text}{PLAIN}")?;
            self.passing = true;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Prints a remark about the chat.
    pub fn remark(&mut self, text: &str) -> io::Result<()> {
        self.settle()?;
        let text = self.clean(text);
        if self.terminal { write!(self.out, "{DIM}{text}{PLAIN}\n\n") } else { writeln!(self.err, "{text}") }
    }

    /// Prints an error. `from_server` marks an error text for the customer, which is part of the chat.
    pub fn error(&mut self, text: &str, from_server: bool) -> io::Result<()> {
        self.settle()?;
        let text = self.clean(text);
        if self.terminal {
            write!(self.out, "{RED}{text}{PLAIN}\n\n")
        } else if from_server {
            write!(self.out, "{text}\n\n")
        } else {
            writeln!(self.err, "{text}")
        }
    }

    /// Prints an empty line.
    pub fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Finishes the current message or temporary line.
    pub fn settle(&mut self) -> io::Result<()> {
        if self.passing {
            write!(self.out, "{CLEAR_LINE}")?;
            self.passing = false;
        }
        self.finish_text()?;
        if self.writing {
            let plain = self.style(PLAIN);
            write!(self.out, "{plain}\n\n")?;
            self.writing = false;
        }
        self.out.flush()
    }

    fn measure(&mut self) {
        if self.terminal {
            self.columns = (self.width)();
        }
    }

    fn finish_text(&mut self) -> io::Result<()> {
        match self.typesetter.take() {
            Some(mut typesetter) => write!(self.out, "{}", typesetter.finish()),
            None => Ok(()),
        }
    }

    fn style(&self, code: &'static str) -> &'static str {
        if self.terminal { code } else { "" }
    }

    /// Removes control characters, so that text cannot control the terminal.
    fn clean(&self, text: &str) -> String {
        let shown = |c: &char| !self.terminal || !c.is_control() || matches!(c, '\n' | '\t');
        text.chars().filter(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Buffer {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn show(terminal: bool) -> (String, String) {
        let (out, err) = (Buffer::default(), Buffer::default());
        let mut screen = Screen::new(Box::new(out.clone()), Box::new(err.clone()), terminal, || 80);
        screen.message("SSTC", "Chào!").unwrap();
        screen.passing("queued").unwrap();
        screen.begin("reply").unwrap();
        screen.piece("Một\x1b[2J ").unwrap();
        screen.piece("hai").unwrap();
        screen.end(true).unwrap();
        screen.begin("follow_up").unwrap();
        screen.piece("Gì nữa?").unwrap();
        screen.end(false).unwrap();
        screen.error("Xin lỗi.", true).unwrap();
        screen.remark("by the way").unwrap();
        (out.text(), err.text())
    }

    #[test]
    fn pipe_gets_messages_and_stderr_gets_remarks() {
        let (out, err) = show(false);
        assert_eq!(out, "SSTC: Chào!\n\nMột\x1b[2J hai […]\n\nGì nữa?\n\nXin lỗi.\n\n");
        assert_eq!(err, "by the way\n");
    }

    #[test]
    fn terminal_gets_styles_without_foreign_control_characters() {
        let (out, err) = show(true);
        let expected = format!(
            "{BOLD}SSTC:{PLAIN} Chào!\n\n{CLEAR_LINE}{DIM}queued{PLAIN}{CLEAR_LINE}Một[2J hai […]{PLAIN}\n\n\
             {DIM}Gì nữa?{PLAIN}\n\n{RED}Xin lỗi.{PLAIN}\n\n{DIM}by the way{PLAIN}\n\n"
        );
        assert_eq!((out, err), (expected, String::new()));
    }
}
