//! Warranty: the shop's records alone, no language model on the way.

use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;

use super::misses::MissKey;
use super::rules::Candidate;
use super::texts::RetailTexts;
use super::{Heard, Retail};
use crate::desks::{DeskError, Turn};
use crate::domain::serial::{Likeness, most_serial_like};
use crate::domain::warranty::{WarrantyRecord, format_date};
use crate::domain::{Kind, Message, Metadata, Sender, Serial};
use crate::nlu::long_text::read_text;
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

/// The words that a prompt is known by: those up to what it asks for, the "serial"; without that word, its first six.
fn opening(prompt: &str) -> &str {
    const ASKED: &str = "serial";
    let sixth = prompt.match_indices(' ').nth(5).map_or(prompt.len(), |(at, _)| at);
    let end = prompt.find(ASKED).map_or(sixth, |at| at + ASKED.len());
    &prompt[..end]
}

impl Retail {
    /// Looks the message's serial numbers up, or asks for one.
    pub(super) async fn warranty(&self, turn: &mut Turn, heard: &Heard) -> Result<(), DeskError> {
        let (question, vocabulary) = (heard.question(), self.vocabulary(turn));
        let candidates = keep_likely(read_text(question.len(), || self.rules.candidates(question, &vocabulary)));
        if candidates.is_empty() {
            return self.ask_for_serial(turn, heard).await;
        }
        let keys = miss_keys(turn);
        let (limit, window) = (self.config().miss_limit, self.config().miss_window);
        let _alone = self.misses.alone(&keys).await;
        // Before anything is looked up: whether the next one exists makes no difference, in words or in time.
        if limit > 0 && self.misses.is_over(&keys, limit, window, Instant::now()) {
            return self.ask_to_wait(turn, window).await;
        }
        let (finding, misses) = turn.step("warranty").take(self.look_up(turn, heard, &candidates)).await?;
        self.misses.add(&keys, misses, window, Instant::now());
        match finding {
            Finding::Nothing => self.ask_for_serial(turn, heard).await,
            Finding::Answers(answers) => {
                for answer in &most_telling(answers, self.config().serials_max) {
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
        // "Ok", "wait a sec": nothing was tried that could be wrong.
        let (kind, text) = if heard.waiting_for_serial && !self.rules.says_nothing(heard.question()) {
            (Kind::WarrantyPromptInvalid, &texts.warranty_prompt_invalid)
        } else {
            (Kind::WarrantyPrompt, &texts.warranty_prompt)
        };
        let text = fill(text, &[("hotline", self.hotline(turn))]);
        Ok(turn.say_with(kind, &text, metadata(kind, false, None)).await?)
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
                let found = fill(&texts.warranty_found, &values);
                let verdict = if record.is_expired(today(turn.accepted_at(), self.config().time_zone)) {
                    fill(&texts.warranty_expired, &[hotline])
                } else {
                    let dates = &self.common.get(turn.language()).date_format;
                    let date = dates.format(record.warranty_end_date);
                    fill(&texts.warranty_valid, &[("date", &date)])
                };
                (format!("{found}. {verdict}"), &record.serial)
            }
            Err(serial) => (fill(&texts.warranty_not_found, &[("serial", serial.as_str()), hotline]), serial),
        };
        turn.note("warranty_row", answer.as_ref().ok());
        let metadata = metadata(Kind::WarrantyResult, answer.is_ok(), Some(serial.as_str()));
        Ok(turn.say_with(Kind::WarrantyResult, &text, metadata).await?)
    }

    /// What the records say, and how many tries were misses.
    ///
    /// What is found wins. Runs that look like something else (a year, a telephone number, "1TB") are looked up only
    /// where nothing better was found, so that nobody can hide guesses behind a serial number of their own.
    async fn look_up(
        &self,
        turn: &Turn,
        heard: &Heard,
        candidates: &[Candidate<'_>],
    ) -> Result<(Finding, usize), DeskError> {
        let (likely, unlikely): (Vec<&Candidate<'_>>, Vec<&Candidate<'_>>) =
            candidates.iter().partition(|candidate| candidate.likeness >= Likeness::Number);
        let answers = self.records(turn, &likely).await?;
        let missed = answers.iter().filter(|answer| answer.is_err()).count();
        if missed < answers.len() {
            return Ok((Finding::Answers(worth_telling(answers)), missed));
        }
        let found: Vec<_> = self.records(turn, &unlikely).await?.into_iter().filter(Result::is_ok).collect();
        if !found.is_empty() {
            return Ok((Finding::Answers(found), missed));
        }
        // A serial number may look like a telephone number, so who guesses may guess those as well. A customer who
        // adds the own one to a serial number has missed once, not twice.
        let tries = unlikely.iter().filter(|candidate| candidate.is_a_try()).count();
        let missed = missed.max(tries);
        if !answers.is_empty() {
            return Ok((Finding::Answers(worth_telling(answers)), missed));
        }
        let unknown = |candidate: &&Candidate<'_>| candidate.known.is_none();
        let named: Vec<&str> = candidates.iter().filter(unknown).map(|candidate| candidate.text.as_ref()).collect();
        match most_serial_like(&named).filter(|_| is_bare(heard.question(), &named)) {
            Some(named) => Ok((Finding::Answers(named.parse().map(Err).into_iter().collect()), missed.max(1))),
            None => Ok((Finding::Nothing, missed)),
        }
    }

    async fn records(
        &self,
        turn: &Turn,
        candidates: &[&Candidate<'_>],
    ) -> Result<Vec<Result<WarrantyRecord, Serial>>, DeskError> {
        let serials: Vec<Serial> = candidates.iter().filter_map(|candidate| candidate.text.parse().ok()).collect();
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

/// Of too many candidates those most like a serial number.
fn keep_likely(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    keep_best(candidates, CANDIDATES, |candidate| candidate.likeness)
}

/// The answers without those misses that look less like a serial number than the others: "5990000" beside "ABC123"
/// is a price.
fn worth_telling(answers: Vec<Result<WarrantyRecord, Serial>>) -> Vec<Result<WarrantyRecord, Serial>> {
    let likeness = |answer: &Result<WarrantyRecord, Serial>| match answer {
        Ok(record) => Likeness::of(record.serial.as_str()),
        Err(serial) => Likeness::of(serial.as_str()),
    };
    let found = answers.iter().filter(|answer| answer.is_ok()).map(likeness).min();
    let least = found.or_else(|| answers.iter().map(likeness).max());
    answers.into_iter().filter(|answer| answer.is_ok() || Some(likeness(answer)) >= least).collect()
}

/// At most so many answers, those that were found first of all, in the order of the message.
fn most_telling(answers: Vec<Result<WarrantyRecord, Serial>>, most: usize) -> Vec<Result<WarrantyRecord, Serial>> {
    keep_best(answers, most, Result::is_ok)
}

/// The `most` items with the highest rank, the first of equals, in their own order.
fn keep_best<T, R: Ord>(items: Vec<T>, most: usize, rank: impl Fn(&T) -> R) -> Vec<T> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(rank(&items[*at])));
    order.truncate(most);
    items.into_iter().enumerate().filter(|(at, _)| order.contains(at)).map(|(_, item)| item).collect()
}

/// The date in the shop when the customer asked, which is what a warranty ends by.
fn today(asked_at: DateTime<Utc>, shop: chrono_tz::Tz) -> NaiveDate {
    asked_at.with_timezone(&shop).date_naive()
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
    let address = turn.caller.address.map(MissKey::of_address);
    std::iter::once(MissKey::Conversation(conversation.id)).chain(user).chain(address).collect()
}

#[cfg(test)]
mod tests;
