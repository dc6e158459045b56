//! `frontdesk chat` in a terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use serde_json::{Value, json};

use super::newest;
use crate::cli::shop::{Running, Shop};
use crate::support::LIMIT;

/// What rustyline writes when it begins to read a line.
const READS: &str = "\x1b[?2004h";

/// A terminal and the person in front of it.
struct Terminal {
    keyboard: File,
    shown: Arc<Mutex<Vec<u8>>>,
    /// The part of `shown` that the test has seen.
    seen: usize,
}

impl Terminal {
    /// Opens a terminal, and its other end for a program.
    fn open() -> (Self, File) {
        let pty = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
        grantpt(&pty).unwrap();
        unlockpt(&pty).unwrap();
        let program = OpenOptions::new().read(true).write(true).open(ptsname_r(&pty).unwrap()).unwrap();
        let keyboard = File::from(OwnedFd::from(pty));
        let mut screen = keyboard.try_clone().unwrap();
        let shown: Arc<Mutex<Vec<u8>>> = Arc::default();
        let written = shown.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when the program has ended.
            while let Ok(read @ 1..) = screen.read(&mut bytes) {
                written.lock().unwrap().extend_from_slice(&bytes[..read]);
            }
        });
        (Self { keyboard, shown, seen: 0 }, program)
    }

    fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the words are shown, after those of the last call.
    fn wait_for(&mut self, words: &str) {
        let deadline = Instant::now() + LIMIT;
        loop {
            let shown = self.shown.lock().unwrap().clone();
            let found = shown[self.seen..].windows(words.len()).position(|window| window == words.as_bytes());
            if let Some(at) = found {
                self.seen += at + words.len();
                return;
            }
            assert!(Instant::now() < deadline, "'{words}' was not shown: {}", String::from_utf8_lossy(&shown));
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Sends a request of the console.
async fn post(address: &str, path: &str, body: &Value) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let response = client.post(format!("{address}/console/api/conversations/{path}")).json(body).send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {response:?}");
}

#[tokio::test]
async fn terminal_reads_every_message() {
    let shop = Shop::new();
    let (_server, address) = shop.serve(&[]);
    let (mut terminal, program) = Terminal::open();
    let (stdin, stdout) = (program.try_clone().unwrap(), program);
    let chat = Running::start(shop.command(&["chat"], &[]).stdin(stdin).stdout(stdout));
    terminal.wait_for(READS);
    for (serial, answer) in [("ABC123", "31/12/2024"), ("XYZ789", "30/6/2025")] {
        terminal.type_keys(&format!("kiểm tra bảo hành {serial}\r"));
        terminal.wait_for(answer);
        terminal.wait_for(READS);
    }
    // The arrow key brings back the last message.
    terminal.type_keys("\x1b[A");
    terminal.wait_for("XYZ789");
    // A person's message interrupts it.
    let id = newest(&address, None).await;
    post(&address, &format!("{id}/take"), &json!({})).await;
    post(&address, &format!("{id}/answers"), &json!({"text": "Em là Lan."})).await;
    terminal.wait_for("Em là Lan.");
    // Ctrl-U removes what was typed.
    terminal.type_keys("\x15/quit\r");
    assert_eq!(chat.ends().code, Some(0));
}
