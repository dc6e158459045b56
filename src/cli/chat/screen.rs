//! What the person sees: paragraphs as they come. A pipe gets the messages alone; remarks go to its stderr.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::input;
use super::typeset::Typesetter;

const DIM: &str = "\x1b[2m";
pub(super) const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
pub(super) const PLAIN: &str = "\x1b[0m";
/// To the beginning of the line, and the line away.
const AWAY: &str = "\r\x1b[K";

/// A terminal, or the two ends of a pipe.
pub(super) struct Screen {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// Whether it can show more than text.
    terminal: bool,
    /// A passing line stands there, to be wiped out by what comes next.
    passing: bool,
    /// A message is being written.
    writing: bool,
    /// What a terminal shows of it.
    typesetter: Option<Typesetter>,
    /// How many columns a terminal has.
    width: fn() -> usize,
}

impl Screen {
    pub fn of_process() -> Self {
        Self::new(Box::new(io::stdout()), Box::new(io::stderr()), input::is_terminal(), input::width)
    }

    fn new(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>, terminal: bool, width: fn() -> usize) -> Self {
        Self { out, err, terminal, passing: false, writing: false, typesetter: None, width }
    }

    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// A message that is there as a whole.
    pub fn message(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.settle()?;
        let (bold, plain) = (self.style(BOLD), self.style(PLAIN));
        let text = self.clean(text);
        if self.terminal {
            let mut typesetter = Typesetter::new((self.width)(), name.width() + 1, "");
            let set = typesetter.push(&text) + &typesetter.finish();
            write!(self.out, "{bold}{name}:{plain}{set}\n\n")?;
        } else {
            write!(self.out, "{name}: {text}\n\n")?;
        }
        self.out.flush()
    }

    /// A message begins; its text comes piece by piece.
    pub fn begin(&mut self, kind: &str) -> io::Result<()> {
        self.settle()?;
        self.writing = true;
        let base = if kind == "follow_up" { self.style(DIM) } else { "" };
        self.typesetter = self.terminal.then(|| Typesetter::new((self.width)(), 0, base));
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

    /// The message ends; `cut`: before its time.
    pub fn end(&mut self, cut: bool) -> io::Result<()> {
        self.finish_text()?;
        if cut && self.writing {
            write!(self.out, " […]")?;
        }
        self.settle()
    }

    /// A passing line, for a terminal alone.
    pub fn passing(&mut self, text: &str) -> io::Result<()> {
        if self.terminal && !self.writing {
            write!(self.out, "{AWAY}{DIM}{text}{PLAIN}")?;
            self.passing = true;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Something about the conversation that is not part of it.
    pub fn remark(&mut self, text: &str) -> io::Result<()> {
        self.settle()?;
        let text = self.clean(text);
        if self.terminal { write!(self.out, "{DIM}{text}{PLAIN}\n\n") } else { writeln!(self.err, "{text}") }
    }

    /// Something went wrong; said by the server for the customer's eyes (`spoken`), or by us.
    pub fn trouble(&mut self, text: &str, spoken: bool) -> io::Result<()> {
        self.settle()?;
        let text = self.clean(text);
        if self.terminal {
            write!(self.out, "{RED}{text}{PLAIN}\n\n")
        } else if spoken {
            write!(self.out, "{text}\n\n")
        } else {
            writeln!(self.err, "{text}")
        }
    }

    /// An empty line between what was typed and what comes.
    pub fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Ends what stands open, so that a new line begins.
    pub fn settle(&mut self) -> io::Result<()> {
        if self.passing {
            write!(self.out, "{AWAY}")?;
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

    fn finish_text(&mut self) -> io::Result<()> {
        match self.typesetter.take() {
            Some(mut typesetter) => write!(self.out, "{}", typesetter.finish()),
            None => Ok(()),
        }
    }

    fn style(&self, code: &'static str) -> &'static str {
        if self.terminal { code } else { "" }
    }

    /// Text from elsewhere must not steer the terminal.
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
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Paper {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn show(terminal: bool) -> (String, String) {
        let (out, err) = (Paper::default(), Paper::default());
        let mut screen = Screen::new(Box::new(out.clone()), Box::new(err.clone()), terminal, || 80);
        screen.message("SSTC", "Chào!").unwrap();
        screen.passing("in line").unwrap();
        screen.begin("reply").unwrap();
        screen.piece("Một\x1b[2J ").unwrap();
        screen.piece("hai").unwrap();
        screen.end(true).unwrap();
        screen.begin("follow_up").unwrap();
        screen.piece("Gì nữa?").unwrap();
        screen.end(false).unwrap();
        screen.trouble("Xin lỗi.", true).unwrap();
        screen.remark("by the way").unwrap();
        (out.text(), err.text())
    }

    #[test]
    fn a_pipe_gets_clean_paragraphs_and_remarks_beside_them() {
        let (out, err) = show(false);
        assert_eq!(out, "SSTC: Chào!\n\nMột\x1b[2J hai […]\n\nGì nữa?\n\nXin lỗi.\n\n");
        assert_eq!(err, "by the way\n");
    }

    #[test]
    fn a_terminal_gets_styles_and_is_steered_by_nobody_else() {
        let (out, err) = show(true);
        let expected = format!(
            "{BOLD}SSTC:{PLAIN} Chào!\n\n{AWAY}{DIM}in line{PLAIN}{AWAY}Một[2J hai […]{PLAIN}\n\n\
             {DIM}Gì nữa?{PLAIN}\n\n{RED}Xin lỗi.{PLAIN}\n\n{DIM}by the way{PLAIN}\n\n"
        );
        assert_eq!((out, err), (expected, String::new()));
    }
}
