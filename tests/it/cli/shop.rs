//! A shop's folder as a newcomer has it, and the real program in it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::{LIMIT, copy};

/// A folder with copies of the repository's prompts and documents.
pub struct Shop {
    folder: TempDir,
}

/// The result of a command.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A command that runs. It is killed when dropped.
pub struct Running {
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

/// What a stream has said so far.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<String>>);

impl Shop {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in ["prompts", "knowledge"] {
            copy(&root.join(name), &folder.path().join(name));
        }
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// Puts `to` in the place of `from` in a file.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let content = std::fs::read_to_string(self.path(name)).unwrap();
        assert!(content.contains(from), "{name} has no {from}");
        self.write(name, &content.replacen(from, to, 1));
    }

    /// The command in this folder, with no variables but these and without a language model.
    pub fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.current_dir(self.folder.path()).args(arguments).env_clear();
        command.env("LLM", "offline").env("BIND_ADDR", "127.0.0.1:0").envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        self.run_with_input(arguments, variables, "")
    }

    pub fn run_with_input(&self, arguments: &[&str], variables: &[(&str, &str)], input: &str) -> Run {
        let mut running = Running::start(self.command(arguments, variables).stdin(Stdio::piped()));
        running.say(input);
        running.ends()
    }

    /// Starts `serve` and waits until it listens; gives its address as well.
    pub fn serve(&self, variables: &[(&str, &str)]) -> (Running, String) {
        let running = Running::start(&mut self.command(&["serve"], variables));
        let listening = running.stdout_line("listening on http://");
        let address = listening.strip_prefix("listening on ").unwrap().to_owned();
        (running, address)
    }
}

impl Run {
    pub fn is_refused_with(&self, words: &[&str]) {
        assert_eq!(self.code, Some(1), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word} is missing: {self:?}");
        }
        assert!(!self.stdout.contains("listening on"), "{self:?}");
    }
}

impl Running {
    /// Starts it. A stdout that is no pipe stays empty.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().map(Lines::of).unwrap_or_default();
        let stderr = Lines::of(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// Writes to its stdin and closes it.
    pub fn say(&mut self, input: &str) {
        // It may have ended without reading.
        let _ = self.child.stdin.take().unwrap().write_all(input.as_bytes());
    }

    /// Waits for a line of its stdout that begins so.
    pub fn stdout_line(&self, beginning: &str) -> String {
        self.stdout.wait_for(beginning, &self.stderr, |line| line.starts_with(beginning))
    }

    /// Waits for a line of its log that has the words.
    pub fn log_line(&self, words: &str) -> String {
        self.stderr.wait_for(words, &self.stdout, |line| line.contains(words))
    }

    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Waits for its end.
    pub fn ends(mut self) -> Run {
        let status = wait(&mut self.child);
        // The readers end with the streams.
        let deadline = Instant::now() + LIMIT;
        while Arc::strong_count(&self.stdout.0) > 1 || Arc::strong_count(&self.stderr.0) > 1 {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(5));
        }
        Run { code: status.code(), stdout: self.stdout.text(), stderr: self.stderr.text() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let lines = Self(Arc::default());
        let text = lines.0.clone();
        thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|read| read > 0) {
                text.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        lines
    }

    fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }

    fn wait_for(&self, what: &str, other: &Self, is_it: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + LIMIT;
        loop {
            let text = self.text();
            if let Some(line) = text.lines().find(|line| is_it(line)) {
                return line.to_owned();
            }
            assert!(Instant::now() < deadline, "no line '{what}' came: {text}\n{}", other.text());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A port that somebody holds.
pub fn taken_port() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn wait(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(Instant::now() < deadline, "the command does not end");
        thread::sleep(Duration::from_millis(10));
    }
}
