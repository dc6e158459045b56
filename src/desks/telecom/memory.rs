//! The desk's state between turns.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::route::{Category, Route};
use super::rules::Topic;
use super::said::Said;
use crate::domain::commerce::Money;
use crate::domain::telecom::{InvoiceNumber, RefundReason};
use crate::domain::{IntentSource, SourceItem};
use crate::retrieval::{Passage, Subject};

/// Decisions that are kept.
const DECISIONS: usize = 20;
/// Quoted sections that are kept, and quoted texts of the last ones.
const SHOWN: usize = 8;
/// Turns for which a reason belongs to a refund that the customer asks for later.
const REASON_TURNS: u32 = 3;
/// How often a question is put: with the last time, a person is offered.
pub(super) const PUT_AT_MOST: u32 = 3;

/// Stored when a turn ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// Who answered last. Small talk does not change it.
    pub last_agent: Option<Route>,
    pub context_flags: Flags,
    /// The refund case that this conversation opened last.
    pub billing_case_id: Option<String>,
    /// What the customer said about a technical problem.
    pub slots: Details,
    /// The question that the documents did not answer.
    pub unanswered: Option<String>,
    /// What the desk asked last.
    pub asked: Option<Asked>,
    /// The last question about an account, and how often in a row it was asked.
    pub repeated: Option<(Asked, u32)>,
    /// The sources of the last answer from documents.
    pub last_docs: Vec<SourceItem>,
    /// The sections that were quoted, oldest first.
    pub shown: Vec<Shown>,
    /// What was quoted of [`Self::last_docs`], as long as the answers are about the same section.
    pub last_quotes: Vec<String>,
    /// Whether the last answer from documents says that a refund case can be opened.
    pub offers_case: bool,
    /// What the last answer from documents was about.
    pub subject: Option<Subject>,
    /// The last decisions, oldest first.
    pub decisions: Vec<Decision>,
    pub account: Claimed,
    /// What the customer asked for before the account was known.
    pub wish: Option<Topic>,
    pub refund: Option<Draft>,
    /// Why money might come back, from a message that did not ask for it.
    pub heard_reason: Option<HeardReason>,
    /// What the last case was opened for.
    pub last_claim: Option<Draft>,
    /// Whether billing has named what it can do.
    pub has_shown_menu: bool,
    /// How many messages in a row were not understood.
    pub unclear: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Flags {
    /// Whether the customer asks for a refund that is not settled.
    pub refund_in_progress: bool,
}

/// What a customer says about a technical problem, in the customer's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::desks) struct Details {
    pub device: Option<String>,
    pub access: Option<String>,
    pub symptoms: Option<String>,
}

/// A question of the desk that the next message may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::desks) enum Asked {
    /// Details of a technical problem.
    Details,
    /// Whether a person should take over.
    Person,
    /// Whose account it is.
    UserId,
    /// An invoice of the account, as a proof.
    Proof,
    /// The fields of a refund.
    Invoice,
    Amount,
    Reason,
    /// Whether the refund is correct.
    Confirm,
}

/// Whose account the conversation is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Claimed {
    /// The id that the customer named.
    pub user_id: Option<String>,
    /// An invoice that the customer named.
    pub invoice: Option<InvoiceNumber>,
    /// The account that the two belong to.
    pub verified: Option<String>,
    /// Another account that the customer asked for, without a proof.
    pub other: Option<String>,
}

/// A refund that the customer asks for, until its case is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Draft {
    pub invoice: Option<InvoiceNumber>,
    pub amount: Option<Money>,
    /// Whether the claim is for the whole invoice.
    pub whole: bool,
    pub reason: Option<RefundReason>,
    /// In the customer's words.
    pub description: Option<String>,
    /// Whether this message says yes to all of it.
    #[serde(skip)]
    pub confirmed: bool,
}

/// A reason that a message gave without asking for a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeardReason {
    pub reason: RefundReason,
    /// The turn of the message.
    pub turn: u32,
}

impl HeardReason {
    /// Returns the reason, unless the customer has spoken of other things since then.
    pub fn at(self, turn: u32) -> Option<RefundReason> {
        (turn.saturating_sub(self.turn) <= REASON_TURNS).then_some(self.reason)
    }
}

/// A quoted section of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shown {
    pub file: String,
    pub section: String,
}

/// A decision of the router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Decision {
    pub turn: u32,
    pub category: Category,
    pub confidence: f64,
    pub source: IntentSource,
    pub route: Route,
    /// The rules that matched, or the model's reason.
    pub reason: String,
}

impl Asked {
    /// Whether billing asks it.
    pub fn is_of_account(self) -> bool {
        !matches!(self, Self::Details | Self::Person)
    }

    /// Whether a later message can answer it, if the desk has said something else since then. "Ok" would be a yes to that, and not to
    /// the summary of a refund.
    pub fn outlasts_replies(self) -> bool {
        self != Self::Confirm
    }
}

impl Memory {
    /// Whether a page has been quoted, which a message may continue.
    pub fn has_page(&self) -> bool {
        self.subject.as_ref().is_some_and(|subject| !subject.file.is_empty())
    }

    /// Whether a message gives the customer id that the desk asked for with the offer of a person. With a proof, or after one, it asks
    /// for an account.
    pub fn gets_customer(&self, said: &Said) -> bool {
        let is_for_account = said.is_concrete() || self.account.verified.is_some() || self.refund.is_some();
        said.user_id().is_some() && !is_for_account
    }

    /// Whether a section was quoted lately.
    pub fn has_shown(&self, passage: &Passage) -> bool {
        self.shown.iter().any(|shown| (&shown.file, &shown.section) == (&passage.file, &passage.section))
    }

    /// Remembers quoted sections.
    pub fn show(&mut self, quoted: &[Passage]) {
        for Passage { file, section, .. } in quoted {
            let new = Shown { file: file.clone(), section: section.clone() };
            self.shown.retain(|shown| *shown != new);
            self.shown.push(new);
        }
        self.shown.drain(..self.shown.len().saturating_sub(SHOWN));
    }

    /// Remembers quoted texts, each once. Those of other sections than the last ones replace what was quoted of these.
    pub fn quote(&mut self, texts: Vec<String>, is_same_section: bool) {
        self.last_quotes.retain(|text| is_same_section && !texts.contains(text));
        self.last_quotes.extend(texts);
        self.last_quotes.drain(..self.last_quotes.len().saturating_sub(SHOWN));
    }

    /// Remembers that the desk waits for this answer. Returns how often in a row it has asked for it.
    pub fn count_question(&mut self, asked: Asked) -> u32 {
        let times = self.times_asked(asked) + 1;
        (self.asked, self.repeated) = (Some(asked), Some((asked, times)));
        times
    }

    /// Returns how often in a row the desk has asked this.
    pub fn times_asked(&self, asked: Asked) -> u32 {
        self.repeated.filter(|(before, _)| *before == asked).map_or(0, |(_, times)| times)
    }

    /// Whether the desk offered a person when it asked this last.
    pub fn offered_person_with(&self, asked: Asked) -> bool {
        asked.is_of_account() && asked != Asked::Confirm && self.times_asked(asked) == PUT_AT_MOST
    }

    pub fn to_state(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Adds a decision and removes the oldest ones.
    pub fn decided(&mut self, decision: Decision) {
        self.decisions.push(decision);
        let too_many = self.decisions.len().saturating_sub(DECISIONS);
        self.decisions.drain(..too_many);
    }
}

impl Details {
    /// Takes what a message says. What it does not mention stays.
    pub fn update(&mut self, said: &Self) {
        for (known, new) in
            [(&mut self.device, &said.device), (&mut self.access, &said.access), (&mut self.symptoms, &said.symptoms)]
        {
            if new.is_some() {
                known.clone_from(new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_twenty_decisions_are_kept() {
        let mut memory = Memory::default();
        let decision = |turn| Decision {
            turn,
            category: Category::Billing,
            confidence: 0.9,
            source: IntentSource::Rules,
            route: Route::Billing,
            reason: String::new(),
        };
        (1..=25).for_each(|turn| memory.decided(decision(turn)));
        let turns: Vec<u32> = memory.decisions.iter().map(|decision| decision.turn).collect();
        assert_eq!(turns, (6..=25).collect::<Vec<_>>());
    }

    #[test]
    fn repeated_quotation_is_remembered_once() {
        let mut memory = Memory::default();
        let mut quote = |text: &str, is_same_section| {
            memory.quote(vec![text.to_owned()], is_same_section);
            memory.last_quotes.clone()
        };
        for _ in 0..3 {
            quote("Red: no signal.", true);
            quote("Green: fine.", true);
        }
        assert_eq!(quote("Green: fine.", true), ["Red: no signal.", "Green: fine."]);
        assert_eq!(quote("Green: fine.", false), ["Green: fine."]);
    }

    #[test]
    fn later_details_replace_earlier_ones() {
        let mut known = Details { device: Some("Archer".into()), ..Details::default() };
        known.update(&Details { access: Some("FTTH".into()), ..Details::default() });
        known.update(&Details { device: Some("Deco".into()), ..Details::default() });
        assert_eq!(known, Details { device: Some("Deco".into()), access: Some("FTTH".into()), symptoms: None });
    }
}
