//! Looks up warranties in the shop's records, without a language model.

use std::time::{Duration, Instant};

use serde_json::json;

use super::classify::Understood;
use super::failed_attempts::AttemptKey;
use super::intent::Intent;
use super::memory::{Current, Memory};
use super::rules::Utterance;
use super::texts::Text;
use super::{Incoming, Retail, kind};
use crate::desks::{DeskError, Turn};
use crate::dialogue::shown::Shown;
use crate::domain::calendar::day_of;
use crate::domain::serial::{Likeness, PossibleSerial, most_serial_like};
use crate::domain::warranty::{WarrantyRecord, format_date};
use crate::domain::{Kind, Message, Metadata, Sender, Serial};
use crate::persona::texts::ByLanguage;
use crate::replies::Replies;
use crate::retrieval::Subject;

/// Candidates of one message that are looked up. This also limits guesses.
const CANDIDATES: usize = 10;
/// Serial numbers that are tried for a message that may write one in groups.
const JOINED: usize = 3;
/// A message of at most so many words may be an attempt to give a serial number.
const FEW_WORDS: usize = 4;

fn metadata(kind: Kind, found: bool, serial: Option<&str>) -> Metadata {
    let name = if kind == kind::WARRANTY_RESULT { "result" } else { "prompt" };
    Metadata::of(kind).with("warranty_meta", json!({ "kind": name, "found": found, "serial": serial }))
}

/// Records, and serial numbers without one, in the order of the message.
type Answers = Vec<Result<WarrantyRecord, Serial>>;

/// Returns whether the desk's last message asked for a serial number. Acknowledgements, greetings and error notices are skipped.
/// A message without a type is recognized by its first words.
pub(super) fn is_waiting(history: &[Message], texts: &ByLanguage<Replies<Text>>) -> bool {
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
            let prompts = [Text::WarrantyPrompt, Text::WarrantyPromptInvalid].map(|prompt| texts.variants(prompt));
            prompts.iter().copied().flatten().any(|prompt| last.text.starts_with(opening(prompt)))
        }),
    }
}

/// Whether a message without a serial number may have meant to give one: it has a number, or it is short. "Ok" and "wait a moment" are
/// none, and neither is a sentence about other things.
fn is_attempt(utterance: &Utterance) -> bool {
    let has_number = utterance.entities.serials.iter().any(|serial| serial.likeness() >= Likeness::Number);
    !utterance.stalls() && (has_number || utterance.text.split_whitespace().count() <= FEW_WORDS)
}

/// Returns the words that identify a prompt: up to the word "serial", else the first six.
fn opening(prompt: &str) -> &str {
    const ASKED: &str = "serial";
    let sixth = prompt.match_indices(' ').nth(5).map_or(prompt.len(), |(at, _)| at);
    let end = prompt.find(ASKED).map_or(sixth, |at| at + ASKED.len());
    &prompt[..end]
}

impl Retail {
    /// Looks up the message's serial numbers, or asks for one. Of the failed attempts, `counted` are counted already.
    pub(super) async fn warranty(
        &self,
        turn: &mut Turn,
        incoming: &Incoming,
        is_again: bool,
        counted: usize,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let utterance = &incoming.utterance;
        let mut serials = keep_best(utterance.entities.serials.clone(), CANDIDATES, PossibleSerial::likeness);
        if serials.is_empty() {
            return self.ask_for_serial(turn, incoming).await;
        }
        let keys = attempt_keys(turn);
        let (limit, window) = (self.config().miss_limit, self.config().miss_window);
        let _lock = self.failed_attempts.lock(&keys).await;
        // Before the look-up, so that neither the reply nor its timing shows whether the number exists.
        if limit > 0 && self.failed_attempts.is_over(&keys, limit, window, Instant::now()) {
            return self.ask_to_wait(turn, window).await;
        }
        self.join_groups(turn, &utterance.text, &mut serials).await?;
        let (finding, failures) = turn.step("warranty").take(self.look_up(turn, utterance, &serials)).await?;
        self.failed_attempts.add(&keys, failures.saturating_sub(counted), window, Instant::now());
        match finding {
            None => self.ask_for_serial(turn, incoming).await,
            Some(answers) => {
                let most = self.config().serials_max;
                let given = |serial: &&PossibleSerial| serial.likeness() == Likeness::Serial;
                let given = utterance.entities.serials.iter().filter(given).count();
                let is_cut = answers.len() > most || given > CANDIDATES;
                let shown = keep_best(answers, most, Result::is_ok);
                for (at, answer) in shown.iter().enumerate() {
                    let is_last = at + 1 == shown.len();
                    let most = (is_cut && is_last).then_some(most.min(CANDIDATES));
                    self.report(turn, answer, most, is_again).await?;
                }
                if let Some(record) = shown.iter().rev().find_map(|answer| answer.as_ref().ok()) {
                    self.remember(turn, record, memory);
                }
                self.follow_up(turn).await
            }
        }
    }

    /// Asks for the serial number again in the new language, if the desk was waiting for one.
    pub(super) async fn prompt_again(&self, turn: &mut Turn, incoming: &Incoming) -> Result<(), DeskError> {
        if incoming.waiting_for_serial {
            self.prompt(turn, kind::WARRANTY_PROMPT, Text::WarrantyPrompt).await?;
        }
        Ok(())
    }

    async fn ask_for_serial(&self, turn: &mut Turn, incoming: &Incoming) -> Result<(), DeskError> {
        if incoming.waiting_for_serial && is_attempt(&incoming.utterance) {
            self.prompt(turn, kind::WARRANTY_PROMPT_INVALID, Text::WarrantyPromptInvalid).await
        } else if incoming.utterance.complains() {
            self.prompt(turn, kind::WARRANTY_PROMPT, Text::WarrantyPromptSorry).await
        } else {
            self.prompt(turn, kind::WARRANTY_PROMPT, Text::WarrantyPrompt).await
        }
    }

    /// Settles on the warranty where a message that the rules understood otherwise holds the serial number of a record. Returns how
    /// many failed attempts it has counted.
    pub(super) async fn recognize_serial(&self, turn: &Turn, understood: &mut Understood) -> Result<usize, DeskError> {
        let is_serial = |serial: &&PossibleSerial| serial.known.is_none() && serial.likeness() == Likeness::Serial;
        let serials: Vec<&PossibleSerial> = understood.utterance.entities.serials.iter().filter(is_serial).collect();
        let is_settled = understood.intent() == Intent::Warranty && !understood.clarify_needed;
        if is_settled || serials.is_empty() {
            return Ok(0);
        }
        let keys = attempt_keys(turn);
        let (limit, window) = (self.config().miss_limit, self.config().miss_window);
        let _lock = self.failed_attempts.lock(&keys).await;
        if limit > 0 && self.failed_attempts.is_over(&keys, limit, window, Instant::now()) {
            return Ok(0);
        }
        let answers = self.records(turn, &serials[..serials.len().min(CANDIDATES)]).await?;
        if answers.iter().any(Result::is_ok) {
            understood.settle(Intent::Warranty, "record");
        } else {
            self.failed_attempts.add(&keys, answers.len(), window, Instant::now());
            return Ok(answers.len());
        }
        Ok(0)
    }

    /// Replaces words that are groups of one serial number, "S6Z1 NS0T 0923 35X", if there is a record of it. Words that are serial
    /// numbers themselves, and their neighbours, stay.
    async fn join_groups(&self, turn: &Turn, text: &str, serials: &mut Vec<PossibleSerial>) -> Result<(), DeskError> {
        let words = groups::words(text);
        let joined = groups::joined(&words);
        if joined.is_empty() {
            return Ok(());
        }
        let records = self.records(turn, &serials.iter().collect::<Vec<_>>()).await?;
        let known: Vec<&str> = records.iter().flatten().map(|record| record.serial.as_str()).collect();
        let is_known = |group: &&str| known.iter().any(|known| known.eq_ignore_ascii_case(group));
        // Each is a guess, too, but the message counts as one failed attempt.
        for joined in joined.iter().filter(|joined| !joined.groups.iter().any(is_known)).take(JOINED) {
            let possible = |text: &String| PossibleSerial { text: text.clone(), looks: Likeness::Serial, known: None };
            let possible: Vec<PossibleSerial> = joined.spellings.iter().map(possible).collect();
            let found =
                self.records(turn, &possible.iter().collect::<Vec<_>>()).await?.into_iter().find_map(Result::ok);
            let Some(record) = found else { continue };
            let is_part = |serial: &PossibleSerial| joined.groups.contains(&serial.text.as_str());
            let is_same =
                |serial: &PossibleSerial| serial.text.parse().is_ok_and(|serial: Serial| serial == record.serial);
            serials.retain(|serial| !is_part(serial) && !is_same(serial));
            serials.push(PossibleSerial {
                text: record.serial.as_str().to_owned(),
                looks: Likeness::Serial,
                known: None,
            });
            break;
        }
        Ok(())
    }

    /// Remembers the record, and the product of the catalogue that it is about.
    fn remember(&self, turn: &Turn, record: &WarrantyRecord, memory: &mut Memory) {
        // "MacBook Air 13 M4, màu đen": a colour follows the name.
        let name = record.product_name.split(',').next().unwrap_or_default().trim();
        let words = self.texts(turn).template(Text::RecordSubject);
        let pages = self.services.pages(turn);
        memory.shown = Shown::only_product(&pages, name, turn.language()).or(memory.shown.take());
        memory.subject =
            Some(Subject { words: format!("{words}. {name}"), asked: words.to_owned(), ..Subject::default() });
        memory.current = Some(Current::Record);
    }

    /// Finds the page about warranties for a question after a record. Most customers ask none, so it is not searched with the record.
    pub(super) fn find_subject_page(&self, turn: &Turn, incoming: &Incoming, memory: &mut Memory) {
        let is_asked = incoming.utterance.entities.serials.is_empty();
        let Some(subject) = memory.subject.as_mut().filter(|subject| is_asked && subject.file.is_empty()) else {
            return;
        };
        let search = self.search(turn, self.texts(turn).template(Text::RecordSubject), true);
        let found = self.services.pages(turn).find_by_words(&search);
        subject.file = found.passages.into_iter().next().map(|page| page.file).unwrap_or_default();
    }

    async fn prompt(&self, turn: &mut Turn, kind: Kind, text: Text) -> Result<(), DeskError> {
        let text = self.text(turn, text, &[])?;
        Ok(turn.say_with(kind, &text, metadata(kind, false, None)).await?)
    }

    async fn ask_to_wait(&self, turn: &mut Turn, window: Duration) -> Result<(), DeskError> {
        turn.note("warranty", "too many misses: nothing was looked up");
        let minutes = window.as_secs().div_ceil(60).to_string();
        let text = self.text(turn, Text::WarrantyWait, &[("minutes", &minutes)])?;
        turn.say_with(kind::WARRANTY_RESULT, &text, metadata(kind::WARRANTY_RESULT, false, None)).await?;
        self.follow_up(turn).await
    }

    /// Says what the records have. `most` is how many serial numbers are looked up at a time, if the message had more.
    async fn report(
        &self,
        turn: &mut Turn,
        answer: &Result<WarrantyRecord, Serial>,
        most: Option<usize>,
        is_again: bool,
    ) -> Result<(), DeskError> {
        // The shop's day when the customer asked decides whether a warranty has expired.
        let today = day_of(turn.accepted_at(), self.services.shop.time_zone);
        let (mut text, serial) = match answer {
            Ok(record) => {
                let date = format_date(record.warranty_end_date);
                let values =
                    [("name", record.product_name.as_str()), ("serial", record.serial.as_str()), ("date", &date)];
                let found = self.text(turn, Text::WarrantyFound, &values)?;
                let verdict = if record.is_expired(today) {
                    self.text(turn, Text::WarrantyExpired, &[])?
                } else {
                    let date = self.common(turn).date_format.format(record.warranty_end_date);
                    let valid = self.text(turn, Text::WarrantyValid, &[("date", &date)])?;
                    let days = (record.warranty_end_date - today).num_days().to_string();
                    let days = is_again.then(|| self.text(turn, Text::WarrantyDays, &[("days", &days)])).transpose()?;
                    days.map_or(valid.clone(), |days| format!("{valid} {days}"))
                };
                (format!("{found}. {verdict}"), &record.serial)
            }
            Err(serial) => (self.text(turn, Text::WarrantyNotFound, &[("serial", serial.as_str())])?, serial),
        };
        if let Some(most) = most {
            let most = self.text(turn, Text::WarrantyMost, &[("count", &most.to_string())])?;
            text = format!("{text} {most}");
        }
        turn.note("warranty_row", answer.as_ref().ok());
        let metadata = metadata(kind::WARRANTY_RESULT, answer.is_ok(), Some(serial.as_str()));
        Ok(turn.say_with(kind::WARRANTY_RESULT, &text, metadata).await?)
    }

    /// Returns what the records say, or `None` if the message holds no serial number, and how many attempts failed.
    ///
    /// A record that is found wins. Candidates that look like something else (a year, a telephone number, "1TB") are looked up only
    /// if nothing better was found. Otherwise one valid serial number could hide many guesses.
    async fn look_up(
        &self,
        turn: &Turn,
        utterance: &Utterance,
        serials: &[PossibleSerial],
    ) -> Result<(Option<Answers>, usize), DeskError> {
        let (likely, unlikely): (Vec<&PossibleSerial>, Vec<&PossibleSerial>) =
            serials.iter().partition(|serial| serial.likeness() >= Likeness::Number);
        let without_unlikely = |answers| without_unlikely(answers, |serial| self.rules.likeness(serial));
        let answers = self.records(turn, &likely).await?;
        let missed = answers.iter().filter(|answer| answer.is_err()).count();
        if missed < answers.len() {
            return Ok((Some(without_unlikely(answers)), missed));
        }
        let found: Vec<_> = self.records(turn, &unlikely).await?.into_iter().filter(Result::is_ok).collect();
        if !found.is_empty() {
            return Ok((Some(found), missed));
        }
        // A serial number may look like a telephone number, so such guesses count as well. A customer who adds a telephone number
        // to a serial number has one failure, not two.
        let attempts = unlikely.iter().filter(|serial| serial.is_attempt()).count();
        let missed = missed.max(attempts);
        if !answers.is_empty() {
            return Ok((Some(without_unlikely(answers)), missed));
        }
        let named: Vec<&PossibleSerial> = serials.iter().filter(|serial| serial.known.is_none()).collect();
        match most_serial_like(named.iter().copied()).filter(|_| is_bare(&utterance.text, &named)) {
            Some(named) => Ok((Some(named.text.parse().map(Err).into_iter().collect()), missed.max(1))),
            None => Ok((None, missed)),
        }
    }

    async fn records(&self, turn: &Turn, serials: &[&PossibleSerial]) -> Result<Answers, DeskError> {
        let serials: Vec<Serial> = serials.iter().filter_map(|serial| serial.text.parse().ok()).collect();
        if serials.is_empty() {
            return Ok(Vec::new());
        }
        let records = self.services.store.tenant(&turn.conversation.tenant).list_warranties(&serials).await?;
        Ok(serials
            .into_iter()
            .map(|serial| records.iter().find(|record| record.serial == serial).cloned().ok_or(serial))
            .collect())
    }
}

/// Removes missing serial numbers that look less like one than the other answers: next to "ABC123", "5990000" is a price.
fn without_unlikely(answers: Answers, likeness: impl Fn(&str) -> Likeness) -> Answers {
    let likeness = |answer: &Result<WarrantyRecord, Serial>| match answer {
        Ok(record) => likeness(record.serial.as_str()),
        Err(serial) => likeness(serial.as_str()),
    };
    let found = answers.iter().filter(|answer| answer.is_ok()).map(likeness).min();
    let least = found.or_else(|| answers.iter().map(likeness).max());
    answers.into_iter().filter(|answer| answer.is_ok() || Some(likeness(answer)) >= least).collect()
}

/// Keeps the `most` items with the highest rank, in their order. Of equal items the first are kept.
fn keep_best<T, R: Ord>(items: Vec<T>, most: usize, rank: impl Fn(&T) -> R) -> Vec<T> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(rank(&items[*at])));
    order.truncate(most);
    items.into_iter().enumerate().filter(|(at, _)| order.contains(at)).map(|(_, item)| item).collect()
}

/// Returns whether the message holds nothing but these words.
fn is_bare(text: &str, words: &[&PossibleSerial]) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .all(|word| words.iter().any(|known| known.text == word))
}

fn attempt_keys(turn: &Turn) -> Vec<AttemptKey> {
    let conversation = &turn.conversation;
    let user = conversation.user_id.as_ref().map(|user| AttemptKey::User(conversation.tenant.clone(), user.clone()));
    let address = turn.caller.address.map(AttemptKey::of_address);
    std::iter::once(AttemptKey::Conversation(conversation.id)).chain(user).chain(address).collect()
}

mod groups;
#[cfg(test)]
mod tests;
