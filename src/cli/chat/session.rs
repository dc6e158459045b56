//! One conversation: lines in, replies out.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::sleep;
use uuid::Uuid;

use super::client::{Client, Failure};
use super::events::{Event, Frame};
use super::input::Input;
use super::screen::Screen;
use crate::cli::signals::{Signal, Signals};
use crate::domain::EventId;

/// How often one message is sent before it is given up.
const TRIES: u32 = 6;

/// The pause before the second try; it doubles with each one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Nobody waits longer than that for a server that asks to come back later.
const LONGEST_PAUSE: Duration = Duration::from_secs(90);

const HELP: &str = "Write a message and press Enter. Besides:
  /history  the conversation so far
  /help     this
  /quit     ends the conversation, and so does Ctrl-D
Ctrl-C while a reply is written stops waiting for it.";

/// A conversation in progress.
pub(super) struct Session<'a> {
    client: &'a Client,
    conversation: String,
    /// The persona's.
    name: String,
    screen: &'a mut Screen,
    signals: &'a mut Signals,
}

/// How a message fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Answered,
    Unanswered,
    /// Somebody wants to end it all.
    End,
}

impl<'a> Session<'a> {
    pub fn new(
        client: &'a Client,
        conversation: String,
        name: String,
        screen: &'a mut Screen,
        signals: &'a mut Signals,
    ) -> Self {
        Self { client, conversation, name, screen, signals }
    }

    /// Talks until the person ends it; gives how many messages got no answer, which somebody at a terminal has seen.
    pub async fn hold(mut self, greeting: &str) -> anyhow::Result<u32> {
        let mut input = Input::of_process();
        self.screen.message(&self.name, greeting)?;
        if self.screen.is_terminal() {
            self.screen.remark("/help lists what else there is; /quit ends.")?;
        }
        let mut unanswered = 0;
        loop {
            let line = tokio::select! {
                line = input.next() => line?,
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
                    self.screen.trouble(&format!("There is no {word}; /help lists what there is."), false)?;
                }
                text => match self.say(text).await? {
                    Outcome::Answered => {}
                    Outcome::Unanswered => unanswered += 1,
                    Outcome::End => break,
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
            Err(failure) => self.screen.trouble(&sentence(&failure), false)?,
        }
        Ok(())
    }

    /// Says something and shows the answer as it comes. A lost connection is taken up again under the same key, so the
    /// message is never said twice and nothing is shown twice.
    async fn say(&mut self, text: &str) -> anyhow::Result<Outcome> {
        let key = Uuid::now_v7().to_string();
        let mut seen = EventId::ZERO;
        let mut pause = FIRST_PAUSE;
        for attempt in 1..=TRIES {
            let failure = tokio::select! {
                told = attempt_once(self.client, &self.conversation, text, &key, self.screen, &mut seen) => match told? {
                    Ok(()) => return Ok(Outcome::Answered),
                    Err(failure) => failure,
                },
                signal = self.signals.next() => return self.stopped_waiting(signal),
            };
            let wait = match &failure {
                Failure::Lost(_) => pause,
                Failure::Later { after, .. } if *after <= LONGEST_PAUSE => *after,
                Failure::Later { .. } | Failure::Refused { .. } | Failure::Strange(_) => {
                    self.screen.trouble(&sentence(&failure), false)?;
                    return Ok(Outcome::Unanswered);
                }
            };
            if attempt == TRIES {
                let given_up = format!("{} I have given up; say it again when the server is back.", sentence(&failure));
                self.screen.trouble(&given_up, false)?;
                break;
            }
            let seconds = wait.as_secs_f64();
            self.screen.remark(&format!("{} Trying again in {seconds} s …", sentence(&failure)))?;
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
        self.screen.remark("Not waiting for this reply any more. The server goes on with it: see /history later.")?;
        Ok(Outcome::Answered)
    }
}

/// Sends the message once and shows what comes. The outer error: the screen cannot be written to.
async fn attempt_once(
    client: &Client,
    conversation: &str,
    text: &str,
    key: &str,
    screen: &mut Screen,
    seen: &mut EventId,
) -> std::io::Result<Result<(), Failure>> {
    let mut events = match client.say(conversation, text, key).await {
        Ok(events) => events,
        Err(failure) => return Ok(Err(failure)),
    };
    while let Some(frame) = events.next().await {
        let Frame { id, event } = match frame {
            Ok(frame) => frame,
            Err(failure) => return Ok(Err(failure)),
        };
        // A turn that is taken up again is told from its beginning.
        match id {
            Some(id) if id <= *seen => continue,
            Some(id) => *seen = id,
            None => {}
        }
        if show(screen, event)? {
            return Ok(Ok(()));
        }
    }
    Ok(Err(Failure::Lost("the answer broke off".to_owned())))
}

/// Shows the event; gives whether it was the turn's last.
fn show(screen: &mut Screen, event: Event) -> std::io::Result<bool> {
    match event {
        Event::Queued { position } => {
            screen.passing(&format!("waiting for the language model, place {position} in line …"))?;
        }
        Event::MessageStart { kind } => screen.begin(&kind)?,
        Event::Delta { text } => screen.piece(&text)?,
        Event::MessageEnd { metadata } => screen.end(metadata.cut)?,
        Event::Error { message } => screen.trouble(&message, true)?,
        Event::TurnDone { status } => {
            screen.settle()?;
            if status == "interrupted" || status == "cancelled" {
                screen.remark(&format!("This turn was {status}."))?;
            }
            return Ok(true);
        }
        Event::Other => {}
    }
    Ok(false)
}

/// A line that begins with one slash is meant for us, not for the shop: no sentence begins so.
fn is_command(line: &str) -> bool {
    line.strip_prefix('/').is_some_and(|rest| !rest.starts_with('/'))
}

/// The failure as a sentence of its own.
fn sentence(failure: &Failure) -> String {
    let text = failure.to_string();
    let mut letters = text.trim().chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.trim().ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}
