//! One chat: reads messages and prints replies.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::pending;
use tokio::time::sleep;
use uuid::Uuid;

use super::client::{Client, Failure};
use super::events::{Event, Frame};
use super::input::Input;
use super::screen::Screen;
use crate::cli::signals::{Signal, Signals};
use crate::domain::EventId;

/// Attempts to send a message.
const TRIES: u32 = 6;

/// The pause before the second attempt. It doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(90);

/// The sender of a message that the shop starts.
const SHOP: &str = "agent";

const HELP: &str = "Write a message and press Enter. Commands:
/history  show the conversation so far
/help     show this help
/quit     end the conversation, as Ctrl-D does
Ctrl-C stops waiting for the current reply.";

/// A conversation in progress.
pub(super) struct Session<'a> {
    pub client: &'a Client,
    pub conversation: String,
    /// The persona's name.
    pub name: String,
    pub screen: &'a mut Screen,
    pub signals: &'a mut Signals,
}

/// The outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Answered,
    Unanswered,
    /// End the chat.
    End,
}

impl Session<'_> {
    /// Runs the chat until the input ends. Returns the number of unanswered messages, always 0 for a terminal.
    pub async fn run(mut self, greeting: &str) -> anyhow::Result<u32> {
        let mut input = Input::of_process();
        self.screen.message(&self.name, greeting)?;
        if self.screen.is_terminal() {
            self.screen.remark("Type /help for commands, /quit to end.")?;
        }
        let mut unanswered = 0;
        // Messages that the shop starts, such as the result of a payment. A pipe shows the answers alone.
        let mut shop = match self.client.listen(&self.conversation).await {
            Ok(events) if self.screen.is_terminal() => events.left_stream(),
            _ => pending().right_stream(),
        };
        loop {
            let line = tokio::select! {
                line = input.next() => line?,
                Some(frame) = shop.next() => {
                    if let Ok(Frame { event: Event::TurnStart { sender, text }, .. }) = frame
                        && sender == SHOP
                    {
                        self.screen.interrupt(&self.name, &text)?;
                    }
                    continue;
                }
                _ = self.signals.next() => None,
            };
            let Some(line) = line else { break };
            if self.screen.is_terminal() {
                self.screen.blank()?;
            }
            match line.as_str() {
                "/quit" | "/exit" => break,
                "/help" => self.screen.remark(HELP)?,
                "/history" => self.history().await?,
                command if is_command(command) => {
                    let word = command.split_whitespace().next().unwrap_or_default();
                    self.screen.error(&format!("Unknown command {word}. Type /help for commands."), false)?;
                }
                text => match self.send(text).await? {
                    Outcome::Answered => {}
                    Outcome::Unanswered => unanswered += 1,
                    Outcome::End => {
                        unanswered += 1;
                        break;
                    }
                },
            }
        }
        self.screen.settle()?;
        Ok(if self.screen.is_terminal() { 0 } else { unanswered })
    }

    async fn history(&mut self) -> anyhow::Result<()> {
        let messages = tokio::select! {
            messages = self.client.history(&self.conversation) => messages,
            _ = self.signals.next() => return Ok(()),
        };
        match messages {
            Ok(messages) => {
                for message in messages {
                    let name = if message.sender == "user" { "you" } else { &self.name };
                    self.screen.message(name, &message.text)?;
                }
            }
            Err(failure) => self.screen.error(&sentence(&failure), false)?,
        }
        Ok(())
    }

    /// Sends a message and prints the reply as it arrives. Retries a lost connection with the same idempotency key, so that nothing is
    /// sent or shown twice.
    async fn send(&mut self, text: &str) -> anyhow::Result<Outcome> {
        let key = Uuid::now_v7().to_string();
        let mut seen = EventId::ZERO;
        let mut pause = FIRST_PAUSE;
        for attempt in 1..=TRIES {
            let failure = tokio::select! {
                sent = attempt_once(self.client, &self.conversation, text, &key, self.screen, &mut seen) => match sent? {
                    Ok(()) => return Ok(Outcome::Answered),
                    Err(failure) => failure,
                },
                signal = self.signals.next() => return self.stopped_waiting(signal),
            };
            let wait = match &failure {
                Failure::Lost(_) => pause,
                Failure::Later { after, .. } if *after <= LONGEST_PAUSE => *after,
                Failure::Later { .. } | Failure::Refused { .. } | Failure::Strange(_) => {
                    self.screen.error(&sentence(&failure), false)?;
                    return Ok(Outcome::Unanswered);
                }
            };
            if attempt == TRIES {
                let given_up =
                    format!("{} Giving up. Send the message again when the server is back.", sentence(&failure));
                self.screen.error(&given_up, false)?;
                break;
            }
            let seconds = wait.as_secs_f64();
            self.screen.remark(&format!("{} Retrying in {seconds} s …", sentence(&failure)))?;
            tokio::select! {
                () = sleep(wait) => {}
                signal = self.signals.next() => return self.stopped_waiting(signal),
            }
            pause *= 2;
        }
        Ok(Outcome::Unanswered)
    }

    fn stopped_waiting(&mut self, signal: Signal) -> anyhow::Result<Outcome> {
        if signal == Signal::Terminate || !self.screen.is_terminal() {
            return Ok(Outcome::End);
        }
        self.screen.remark("Stopped waiting for this reply. The server continues: see /history later.")?;
        Ok(Outcome::Answered)
    }
}

/// Sends the message once and prints the events. The outer error means that printing failed.
async fn attempt_once(
    client: &Client,
    conversation: &str,
    text: &str,
    key: &str,
    screen: &mut Screen,
    seen: &mut EventId,
) -> std::io::Result<Result<(), Failure>> {
    let mut events = match client.send_message(conversation, text, key).await {
        Ok(events) => events,
        Err(failure) => return Ok(Err(failure)),
    };
    while let Some(frame) = events.next().await {
        let Frame { id, event } = match frame {
            Ok(frame) => frame,
            Err(failure) => return Ok(Err(failure)),
        };
        // A retried request replays the turn from its start.
        match id {
            Some(id) if id <= *seen => continue,
            Some(id) => *seen = id,
            None => {}
        }
        if show(screen, event)? {
            return Ok(Ok(()));
        }
    }
    Ok(Err(Failure::Lost("the answer was interrupted".to_owned())))
}

/// Prints the event. Returns whether it was the last one of the turn.
fn show(screen: &mut Screen, event: Event) -> std::io::Result<bool> {
    match event {
        Event::Queued { position } => {
            screen.passing(&format!("Waiting for the language model, position {position} in the queue …"))?;
        }
        Event::MessageStart { kind } => screen.begin(&kind)?,
        Event::Delta { text } => screen.piece(&text)?,
        Event::MessageEnd { metadata } => screen.end(metadata.cut)?,
        Event::Error { message } => screen.error(&message, true)?,
        Event::TurnDone { status } => {
            screen.settle()?;
            if status == "interrupted" || status == "cancelled" {
                screen.remark(&format!("This turn was {status}."))?;
            }
            return Ok(true);
        }
        Event::TurnStart { .. } | Event::Other => {}
    }
    Ok(false)
}

/// Returns whether the line is a command: one that starts with a single slash.
fn is_command(line: &str) -> bool {
    line.strip_prefix('/').is_some_and(|rest| !rest.starts_with('/'))
}

/// Formats the failure as a sentence.
fn sentence(failure: &Failure) -> String {
    let text = failure.to_string();
    let mut letters = text.trim().chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.trim().ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}
