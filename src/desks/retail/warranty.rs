//! Warranty: the shop's records alone, no language model on the way.

use std::time::{Duration, Instant};

use chrono::Utc;
use serde::Serialize;

use super::misses::MissKey;
use super::texts::RetailTexts;
use super::{Heard, Retail};
use crate::desks::{DeskError, Turn};
use crate::domain::serial::{Likeness, find_serials, most_serial_like};
use crate::domain::warranty::{WarrantyRecord, format_date};
use crate::domain::{Kind, Message, Metadata, Sender, Serial};
use crate::persona::texts::{ByLanguage, fill};

/// So many runs of a message are looked at; a customer has no more, and who guesses gets no more at once.
const CANDIDATES: usize = 10;

/// `metadata.warranty_meta`
#[derive(Serialize)]
struct WarrantyMeta<'a> {
    kind: &'static str,
    found: bool,
    serial: Option<&'a str>,
}

fn metadata(kind: Kind, found: bool, serial: Option<&str>) -> Metadata {
    let name = if kind == Kind::WarrantyResult { "result" } else { "prompt" };
    Metadata::of(kind).with("warranty_meta", WarrantyMeta { kind: name, found, serial })
}

/// What a message's candidates came to.
#[derive(Debug, PartialEq)]
enum Finding {
    /// In the order of the message: the record, or the serial that has none.
    Answers(Vec<Result<WarrantyRecord, Serial>>),
    /// Nothing in the message is meant as a serial number.
    Nothing,
}

/// Whether the last thing said was a request for a serial number; acknowledgements, greetings and notices of errors
/// do not count. A message without a type is known by its opening words.
pub(super) fn is_waiting(history: &[Message], texts: &ByLanguage<RetailTexts>) -> bool {
    let last = history.iter().rev().find(|message| {
        message.sender != Sender::User
            && !matches!(
                message.metadata.kind(),
                Some(Kind::LanguageAck | Kind::Greeting | Kind::CuteGreeting | Kind::ErrorNotice)
            )
    });
    let Some(last) = last else { return false };
    match last.metadata.kind() {
        Some(kind) => matches!(kind, Kind::WarrantyPrompt | Kind::WarrantyPromptInvalid),
        None if last.metadata.0.contains_key("type") => false,
        None => texts.iter().any(|(_, texts)| {
            [&texts.warranty_prompt, &texts.warranty_prompt_invalid]
                .iter()
                .any(|prompt| last.text.starts_with(opening(prompt)))
        }),
    }
}

/// The words that a prompt is known by: its first six.
fn opening(prompt: &str) -> &str {
    let end = prompt.match_indices(' ').nth(5).map_or(prompt.len(), |(at, _)| at);
    &prompt[..end]
}

impl Retail {
    /// Looks the message's serial numbers up, or asks for one.
    pub(super) async fn warranty(&self, turn: &mut Turn, heard: &Heard) -> Result<(), DeskError> {
        let candidates = candidates(heard.question());
        if candidates.is_empty() {
            return self.ask_for_serial(turn, heard).await;
        }
        let keys = miss_keys(turn);
        let (limit, window) = (self.config().miss_limit, self.config().miss_window);
        // Before anything is looked up: whether the next one exists makes no difference, in words or in time.
        if limit > 0 && self.misses.is_over(&keys, limit, window, Instant::now()) {
            return self.ask_to_wait(turn, window).await;
        }
        let started = Instant::now();
        let (finding, misses) = self.look_up(turn, heard, &candidates).await?;
        turn.step("warranty", started);
        self.misses.add(&keys, misses, window, Instant::now());
        match finding {
            Finding::Nothing => self.ask_for_serial(turn, heard).await,
            Finding::Answers(answers) => {
                for answer in answers.iter().take(self.config().serials_max) {
                    self.tell(turn, answer).await?;
                }
                self.follow_up(turn).await
            }
        }
    }

    /// After a mere request to switch the language: a question for a serial number is asked again, in that language.
    pub(super) async fn prompt_again(&self, turn: &mut Turn, heard: &Heard) -> Result<(), DeskError> {
        if heard.waiting_for_serial {
            let text = self.texts(turn).warranty_prompt.clone();
            turn.say_with(Kind::WarrantyPrompt, &text, metadata(Kind::WarrantyPrompt, false, None)).await?;
        }
        Ok(())
    }

    async fn ask_for_serial(&self, turn: &mut Turn, heard: &Heard) -> Result<(), DeskError> {
        let texts = self.texts(turn);
        let (kind, text) = if heard.waiting_for_serial {
            (Kind::WarrantyPromptInvalid, &texts.warranty_prompt_invalid)
        } else {
            (Kind::WarrantyPrompt, &texts.warranty_prompt)
        };
        Ok(turn.say_with(kind, text, metadata(kind, false, None)).await?)
    }

    async fn ask_to_wait(&self, turn: &mut Turn, window: Duration) -> Result<(), DeskError> {
        turn.note("warranty", "too many misses: nothing was looked up");
        let minutes = window.as_secs().div_ceil(60).to_string();
        let values = [("minutes", minutes.as_str()), ("hotline", self.hotline(turn))];
        let text = fill(&self.texts(turn).warranty_wait, &values);
        Ok(turn.say_with(Kind::WarrantyResult, &text, metadata(Kind::WarrantyResult, false, None)).await?)
    }

    async fn tell(&self, turn: &mut Turn, answer: &Result<WarrantyRecord, Serial>) -> Result<(), DeskError> {
        let texts = self.texts(turn);
        let hotline = ("hotline", self.hotline(turn));
        let (text, serial) = match answer {
            Ok(record) => {
                let date = format_date(record.warranty_end_date);
                let values =
                    [("name", record.product_name.as_str()), ("serial", record.serial.as_str()), ("date", &date)];
                let mut text = fill(&texts.warranty_found, &values);
                let today = Utc::now().with_timezone(&self.config().time_zone).date_naive();
                if record.is_expired(today) {
                    text = format!("{text}. {}", fill(&texts.warranty_expired, &[hotline]));
                }
                (text, &record.serial)
            }
            Err(serial) => (fill(&texts.warranty_not_found, &[("serial", serial.as_str()), hotline]), serial),
        };
        if let Ok(record) = answer {
            turn.note("warranty_row", record);
        }
        let metadata = metadata(Kind::WarrantyResult, answer.is_ok(), Some(serial.as_str()));
        Ok(turn.say_with(Kind::WarrantyResult, &text, metadata).await?)
    }

    /// What the records say, and how many tries were misses.
    ///
    /// What is found wins. Runs that look like something else (a year, a telephone number, "1TB") are looked up only
    /// where nothing better was found, so that nobody can hide guesses behind a serial number of their own.
    async fn look_up(&self, turn: &Turn, heard: &Heard, candidates: &[&str]) -> Result<(Finding, usize), DeskError> {
        let (likely, unlikely): (Vec<&str>, Vec<&str>) =
            candidates.iter().partition(|candidate| Likeness::of(candidate) >= Likeness::Number);
        let likely_answers = self.records(turn, &likely).await?;
        let missed = likely_answers.iter().filter(|answer| answer.is_err()).count();
        if missed < likely_answers.len() {
            return Ok((Finding::Answers(likely_answers), missed));
        }
        let found: Vec<_> = self.records(turn, &unlikely).await?.into_iter().filter(Result::is_ok).collect();
        if !found.is_empty() {
            return Ok((Finding::Answers(found), missed));
        }
        if likely.is_empty() && !is_bare(heard.question(), candidates) {
            return Ok((Finding::Nothing, 0));
        }
        let named = match likely_answers.len() {
            0 | 1 => most_serial_like(candidates).and_then(|named| named.parse().ok()).map(Err).into_iter().collect(),
            _ => likely_answers,
        };
        Ok((Finding::Answers(named), missed.max(1)))
    }

    async fn records(
        &self,
        turn: &Turn,
        candidates: &[&str],
    ) -> Result<Vec<Result<WarrantyRecord, Serial>>, DeskError> {
        let serials: Vec<Serial> = candidates.iter().filter_map(|candidate| candidate.parse().ok()).collect();
        if serials.is_empty() {
            return Ok(Vec::new());
        }
        let mut records = self.services.store.tenant(&turn.conversation.tenant).list_warranties(&serials).await?;
        Ok(serials
            .into_iter()
            .map(|serial| match records.iter().position(|record| record.serial == serial) {
                Some(at) => Ok(records.swap_remove(at)),
                None => Err(serial),
            })
            .collect())
    }
}

/// The message's candidates, each once, however it is written.
fn candidates(text: &str) -> Vec<&str> {
    let mut candidates: Vec<&str> = Vec::new();
    for run in find_serials(text) {
        if !candidates.iter().any(|known| known.eq_ignore_ascii_case(run)) {
            candidates.push(run);
        }
    }
    candidates.truncate(CANDIDATES);
    candidates
}

/// Whether the message is nothing but its candidates.
fn is_bare(text: &str, candidates: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .all(|word| candidates.contains(&word))
}

fn miss_keys(turn: &Turn) -> Vec<MissKey> {
    let conversation = &turn.conversation;
    let user = conversation.user_id.as_ref().map(|user| MissKey::User(conversation.tenant.clone(), user.clone()));
    let address = turn.caller.address.map(MissKey::Address);
    std::iter::once(MissKey::Conversation(conversation.id)).chain(user).chain(address).collect()
}
