//! Looks up warranties in the shop's records, without a language model.

use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;

use super::failed_attempts::AttemptKey;
use super::rules::Candidate;
use super::texts::RetailTexts;
use super::{Incoming, Retail, kind};
use crate::desks::{DeskError, Turn};
use crate::domain::serial::{Likeness, most_serial_like};
use crate::domain::warranty::{WarrantyRecord, format_date};
use crate::domain::{Kind, Message, Metadata, Sender, Serial};
use crate::nlu::long_text::read_text;
use crate::persona::texts::{ByLanguage, fill};

/// Candidates of one message that are looked up. This also limits guesses.
const CANDIDATES: usize = 10;

/// `metadata.warranty_meta`
#[derive(Serialize)]
struct WarrantyMeta<'a> {
    kind: &'static str,
    found: bool,
    serial: Option<&'a str>,
}

fn metadata(kind: Kind, found: bool, serial: Option<&str>) -> Metadata {
    let name = if kind == kind::WARRANTY_RESULT { "result" } else { "prompt" };
    Metadata::of(kind).with("warranty_meta", WarrantyMeta { kind: name, found, serial })
}

/// The result of looking up a message's candidates.
#[derive(Debug, PartialEq)]
enum Finding {
    /// A record, or a serial number without one, in the order of the message.
    Answers(Vec<Result<WarrantyRecord, Serial>>),
    /// The message holds no serial number.
    Nothing,
}

/// Returns whether the desk's last message asked for a serial number. Acknowledgements, greetings and error notices are skipped.
/// A message without a type is recognized by its first words.
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
        Some(kind) => [kind::WARRANTY_PROMPT, kind::WARRANTY_PROMPT_INVALID].contains(&kind),
        None if last.metadata.0.contains_key("type") => false,
        None => texts.iter().any(|(_, texts)| {
            [&texts.warranty_prompt, &texts.warranty_prompt_invalid]
                .iter()
                .any(|prompt| last.text.starts_with(opening(prompt)))
        }),
    }
}

/// Returns the words that identify a prompt: up to the word "serial", else the first six.
fn opening(prompt: &str) -> &str {
    const ASKED: &str = "serial";
    let sixth = prompt.match_indices(' ').nth(5).map_or(prompt.len(), |(at, _)| at);
    let end = prompt.find(ASKED).map_or(sixth, |at| at + ASKED.len());
    &prompt[..end]
}

impl Retail {
    /// Looks up the message's serial numbers, or asks for one.
    pub(super) async fn warranty(&self, turn: &mut Turn, incoming: &Incoming) -> Result<(), DeskError> {
        let (question, vocabulary) = (incoming.text.as_str(), self.vocabulary(turn));
        let candidates = keep_likely(read_text(question.len(), || self.rules.candidates(question, &vocabulary)));
        if candidates.is_empty() {
            return self.ask_for_serial(turn, incoming).await;
        }
        let keys = attempt_keys(turn);
        let (limit, window) = (self.config().miss_limit, self.config().miss_window);
        let _lock = self.failed_attempts.lock(&keys).await;
        // Before the look-up, so that neither the reply nor its timing shows whether the number exists.
        if limit > 0 && self.failed_attempts.is_over(&keys, limit, window, Instant::now()) {
            return self.ask_to_wait(turn, window).await;
        }
        let (finding, failures) = turn.step("warranty").take(self.look_up(turn, incoming, &candidates)).await?;
        self.failed_attempts.add(&keys, failures, window, Instant::now());
        match finding {
            Finding::Nothing => self.ask_for_serial(turn, incoming).await,
            Finding::Answers(answers) => {
                for answer in &keep_answers(answers, self.config().serials_max) {
                    self.report(turn, answer).await?;
                }
                self.follow_up(turn).await
            }
        }
    }

    /// Asks for the serial number again in the new language, if the desk was waiting for one.
    pub(super) async fn prompt_again(&self, turn: &mut Turn, incoming: &Incoming) -> Result<(), DeskError> {
        if incoming.waiting_for_serial {
            let text = self.texts(turn).warranty_prompt.clone();
            turn.say_with(kind::WARRANTY_PROMPT, &text, metadata(kind::WARRANTY_PROMPT, false, None)).await?;
        }
        Ok(())
    }

    async fn ask_for_serial(&self, turn: &mut Turn, incoming: &Incoming) -> Result<(), DeskError> {
        let texts = self.texts(turn);
        // "Ok" and "wait a moment" are not attempts, so they are not called invalid.
        let (kind, text) = if incoming.waiting_for_serial && !self.rules.says_nothing(incoming.text.as_str()) {
            (kind::WARRANTY_PROMPT_INVALID, &texts.warranty_prompt_invalid)
        } else {
            (kind::WARRANTY_PROMPT, &texts.warranty_prompt)
        };
        let text = fill(text, &[("hotline", self.hotline(turn))]);
        Ok(turn.say_with(kind, &text, metadata(kind, false, None)).await?)
    }

    async fn ask_to_wait(&self, turn: &mut Turn, window: Duration) -> Result<(), DeskError> {
        turn.note("warranty", "too many misses: nothing was looked up");
        let minutes = window.as_secs().div_ceil(60).to_string();
        let values = [("minutes", minutes.as_str()), ("hotline", self.hotline(turn))];
        let text = fill(&self.texts(turn).warranty_wait, &values);
        Ok(turn.say_with(kind::WARRANTY_RESULT, &text, metadata(kind::WARRANTY_RESULT, false, None)).await?)
    }

    async fn report(&self, turn: &mut Turn, answer: &Result<WarrantyRecord, Serial>) -> Result<(), DeskError> {
        let texts = self.texts(turn);
        let hotline = ("hotline", self.hotline(turn));
        let (text, serial) = match answer {
            Ok(record) => {
                let date = format_date(record.warranty_end_date);
                let values =
                    [("name", record.product_name.as_str()), ("serial", record.serial.as_str()), ("date", &date)];
                let found = fill(&texts.warranty_found, &values);
                let verdict = if record.is_expired(today(turn.accepted_at(), self.services.shop.time_zone)) {
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
        let metadata = metadata(kind::WARRANTY_RESULT, answer.is_ok(), Some(serial.as_str()));
        Ok(turn.say_with(kind::WARRANTY_RESULT, &text, metadata).await?)
    }

    /// Returns what the records say and how many attempts failed.
    ///
    /// A record that is found wins. Candidates that look like something else (a year, a telephone number, "1TB") are looked up only
    /// if nothing better was found. Otherwise one valid serial number could hide many guesses.
    async fn look_up(
        &self,
        turn: &Turn,
        incoming: &Incoming,
        candidates: &[Candidate<'_>],
    ) -> Result<(Finding, usize), DeskError> {
        let (likely, unlikely): (Vec<&Candidate<'_>>, Vec<&Candidate<'_>>) =
            candidates.iter().partition(|candidate| candidate.likeness >= Likeness::Number);
        let answers = self.records(turn, &likely).await?;
        let missed = answers.iter().filter(|answer| answer.is_err()).count();
        if missed < answers.len() {
            return Ok((Finding::Answers(without_unlikely(answers)), missed));
        }
        let found: Vec<_> = self.records(turn, &unlikely).await?.into_iter().filter(Result::is_ok).collect();
        if !found.is_empty() {
            return Ok((Finding::Answers(found), missed));
        }
        // A serial number may look like a telephone number, so such guesses count as well. A customer who adds a telephone number
        // to a serial number has one failure, not two.
        let attempts = unlikely.iter().filter(|candidate| candidate.is_attempt()).count();
        let missed = missed.max(attempts);
        if !answers.is_empty() {
            return Ok((Finding::Answers(without_unlikely(answers)), missed));
        }
        let unknown = |candidate: &&Candidate<'_>| candidate.known.is_none();
        let named: Vec<&str> = candidates.iter().filter(unknown).map(|candidate| candidate.text.as_ref()).collect();
        match most_serial_like(&named).filter(|_| is_bare(incoming.text.as_str(), &named)) {
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

/// Keeps the candidates that look most like serial numbers.
fn keep_likely(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    keep_best(candidates, CANDIDATES, |candidate| candidate.likeness)
}

/// Removes missing serial numbers that look less like one than the other answers: next to "ABC123", "5990000" is a price.
fn without_unlikely(answers: Vec<Result<WarrantyRecord, Serial>>) -> Vec<Result<WarrantyRecord, Serial>> {
    let likeness = |answer: &Result<WarrantyRecord, Serial>| match answer {
        Ok(record) => Likeness::of(record.serial.as_str()),
        Err(serial) => Likeness::of(serial.as_str()),
    };
    let found = answers.iter().filter(|answer| answer.is_ok()).map(likeness).min();
    let least = found.or_else(|| answers.iter().map(likeness).max());
    answers.into_iter().filter(|answer| answer.is_ok() || Some(likeness(answer)) >= least).collect()
}

/// Keeps at most `most` answers in the order of the message, preferring those that were found.
fn keep_answers(answers: Vec<Result<WarrantyRecord, Serial>>, most: usize) -> Vec<Result<WarrantyRecord, Serial>> {
    keep_best(answers, most, Result::is_ok)
}

/// Keeps the `most` items with the highest rank, in their order. Of equal items the first are kept.
fn keep_best<T, R: Ord>(items: Vec<T>, most: usize, rank: impl Fn(&T) -> R) -> Vec<T> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(rank(&items[*at])));
    order.truncate(most);
    items.into_iter().enumerate().filter(|(at, _)| order.contains(at)).map(|(_, item)| item).collect()
}

/// Returns the shop's local date when the customer asked, which decides whether a warranty has expired.
fn today(asked_at: DateTime<Utc>, shop: chrono_tz::Tz) -> NaiveDate {
    asked_at.with_timezone(&shop).date_naive()
}

/// Returns whether the message holds nothing but these candidates.
fn is_bare(text: &str, candidates: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .all(|word| candidates.contains(&word))
}

fn attempt_keys(turn: &Turn) -> Vec<AttemptKey> {
    let conversation = &turn.conversation;
    let user = conversation.user_id.as_ref().map(|user| AttemptKey::User(conversation.tenant.clone(), user.clone()));
    let address = turn.caller.address.map(AttemptKey::of_address);
    std::iter::once(AttemptKey::Conversation(conversation.id)).chain(user).chain(address).collect()
}

#[cfg(test)]
mod tests;
