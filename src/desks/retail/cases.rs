//! What a customer says of their own case decides which rule of a page holds: "I have no credit card", "I opened it".
//!
//! A case of `prompts/rules/cases.LANG.toml` names a question that the right section lists. It also keeps the topic of the conversation:
//! "how many days?" after a question about delivery.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use super::classify::Understood;
use super::context::About;
use super::intent::Intent;
use super::memory::{Current, Memory};
use super::products::Asked;
use super::texts::Text;
use super::topics::{Candidate, heading};
use super::{Retail, kind};
use crate::desks::Turn;
use crate::domain::Sender;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, any_match};
use crate::persona::{PromptError, Prompts};
use crate::retrieval::Passage;

/// The number of earlier messages of the customer that may name the topic of the case.
const EARLIER: usize = 3;
/// The score from which a page lists the question of a case.
const LISTED: f64 = 0.6;

/// The cases of `prompts/rules/cases.LANG.toml`, in their order.
#[derive(Debug)]
pub(super) struct Cases {
    lexicon: Lexicon,
    cases: Vec<Case>,
}

#[derive(Debug)]
struct Case {
    says: Vec<Pattern>,
    about: Vec<Pattern>,
    also: Vec<Pattern>,
    unless: Vec<Pattern>,
    without: Vec<Pattern>,
    after: Option<After>,
    within: usize,
    answer: Answer,
}

/// What the last answer was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum After {
    Products,
    Page,
    /// A warranty that is valid, or that has ended.
    Record,
    ExpiredRecord,
}

#[derive(Debug)]
enum Answer {
    /// The section that lists this question.
    Section(String),
    /// What the pages have for the message together with the earlier one.
    Together,
    /// Nothing in the documents.
    Unknown,
    /// Sections with these headings answer in no other case: when a refund arrives, and not how to pay.
    Only(Vec<String>),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    classes: HashMap<String, Vec<String>>,
    cases: Vec<CaseFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    /// The message says one of these.
    #[serde(default)]
    says: Vec<String>,
    /// Headings of sections that answer only in this case.
    #[serde(default)]
    sections: Vec<String>,
    /// The message or an earlier one says one of these, where there are any.
    #[serde(default)]
    about: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    /// The message says none of these.
    #[serde(default)]
    unless: Vec<String>,
    /// Neither the message nor one of the last three says one of these.
    #[serde(default)]
    without: Vec<String>,
    after: Option<After>,
    /// How many earlier messages count.
    #[serde(default = "earlier")]
    within: usize,
    /// A question that the section lists. Without it, the message is searched together with the earlier one.
    asks: Option<String>,
    /// Whether nothing in the documents answers.
    #[serde(default)]
    unknown: bool,
}

fn earlier() -> usize {
    EARLIER
}

impl Cases {
    /// Reads `rules/cases.LANG.toml`.
    pub fn read(prompts: &Prompts) -> Result<Arc<Self>, PromptError> {
        let names = ["common", "cases"];
        prompts.shared(&prompts.files_of_rules(&names)?, || prompts.rules(&names, Self::new))
    }

    fn new(file: File) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(file.aliases, file.classes).with_plain_words(&file.plain_words);
        let case = |case: CaseFile| {
            Ok(Case {
                says: lexicon.patterns(&case.says)?,
                about: lexicon.patterns(&case.about)?,
                also: lexicon.patterns(&case.also)?,
                unless: lexicon.patterns(&case.unless)?,
                without: lexicon.patterns(&case.without)?,
                after: case.after,
                within: case.within,
                answer: match case.asks {
                    _ if case.unknown => Answer::Unknown,
                    _ if !case.sections.is_empty() => Answer::Only(case.sections),
                    Some(asks) => Answer::Section(asks),
                    None => Answer::Together,
                },
            })
        };
        let cases = file.cases.into_iter().map(case).collect::<Result<_, InvalidPattern>>()?;
        Ok(Self { lexicon, cases })
    }

    /// Returns the cases of a message with how many messages ago the customer began each topic, the latest topic first. `earlier` holds
    /// the customer's messages before it, latest first.
    fn of<'a>(&'a self, text: &str, earlier: &[&str], after: Option<After>) -> Vec<(usize, &'a Case)> {
        let streams: Vec<_> =
            std::iter::once(text).chain(earlier.iter().copied()).map(|text| self.lexicon.tokenize(text)).collect();
        let Some(now) = streams.first() else { return Vec::new() };
        let applies = |case: &&Case| {
            case.after.is_none_or(|wanted| after == Some(wanted))
                && any_match(&case.says, now, &[])
                && !any_match(&case.unless, now, &[])
                && !streams.iter().any(|said| any_match(&case.without, said, &[]))
        };
        let with_distance = |case: &'a Case| {
            let Case { about, also, within, .. } = case;
            let distance = |patterns: &[Pattern]| {
                let mut known = streams.iter().take(within + 1);
                if patterns.is_empty() { Some(0) } else { known.position(|stream| any_match(patterns, stream, &[])) }
            };
            Some((distance(about)?.max(distance(also)?), case))
        };
        let mut found: Vec<(usize, &Case)> = self.cases.iter().filter(applies).filter_map(with_distance).collect();
        found.sort_by_key(|(distance, _)| *distance);
        found
    }
}

impl Retail {
    /// Returns whether a passage answers in this conversation. Some sections answer only where the message or one of the last is about
    /// their topic.
    pub(super) fn in_place<'a>(&'a self, turn: &'a Turn, text: &'a str) -> impl Fn(&Passage) -> bool + 'a {
        let tokenize = |text: &'a str| self.cases.lexicon.tokenize(text);
        let said = LazyCell::new(move || {
            let earlier = turn.history.iter().rev().filter(|message| message.sender == Sender::User);
            let said = std::iter::once(text).chain(earlier.take(EARLIER).map(|message| message.text.as_str()));
            said.map(tokenize).collect::<Vec<_>>()
        });
        move |passage| {
            let is_its = |case: &&Case| match &case.answer {
                Answer::Only(sections) => sections.iter().any(|section| section == heading(&passage.section)),
                _ => false,
            };
            let is_about = |case: &Case| said.iter().any(|said| any_match(&case.about, said, &[]));
            self.cases.cases.iter().filter(is_its).all(is_about)
        }
    }

    /// Returns what decides a message before its products and pages are searched: the customer's own case, a sample build, or goods that
    /// the shop does not sell.
    pub(super) fn settled_first(
        &self,
        turn: &Turn,
        asked: &Asked<'_>,
        understood: &mut Understood,
        memory: &Memory,
    ) -> Option<About> {
        let unsold = || {
            let about = About { written: Some(Text::ReplyUnsold), ..About::default() };
            self.is_unsold(turn, asked, understood).then_some(about)
        };
        let about = self.decided(turn, asked.text, memory).or_else(unsold);
        let about = about.or_else(|| self.about_build(turn, asked, memory))?;
        understood.settle(Intent::Shopping, "case");
        Some(about)
    }

    /// Whether the message asks for goods that neither the catalogue nor its categories have.
    fn is_unsold(&self, turn: &Turn, asked: &Asked<'_>, understood: &Understood) -> bool {
        let pages = self.services.pages(turn);
        let names_goods = || understood.utterance.matched.iter().any(|group| group == "catalogue");
        self.rules.asks_unsold(asked.text)
            && asked.mentions.is_empty()
            && !names_goods()
            && pages.categories(asked.text, turn.language()).is_empty()
    }

    /// Returns the section that holds for the customer's case, if a page has it, or that the documents say nothing about it.
    fn decided(&self, turn: &Turn, text: &str, memory: &Memory) -> Option<About> {
        let pages = self.services.pages(turn);
        let earlier = turn.history.iter().rev().filter(|message| message.sender == Sender::User);
        let earlier: Vec<&str> = earlier.take(EARLIER).map(|message| message.text.as_str()).collect();
        let after = memory.current.map(|current| match current {
            Current::Products => After::Products,
            Current::Page => After::Page,
            Current::Record if self.has_expired(turn) => After::ExpiredRecord,
            Current::Record => After::Record,
        });
        self.cases.of(text, &earlier, after).into_iter().find_map(|(ago, case)| {
            let (question, least) = match &case.answer {
                Answer::Only(_) => return None,
                Answer::Unknown => return Some(About { written: Some(Text::ReplyUnknown), ..About::default() }),
                Answer::Section(asks) => (asks.clone(), LISTED),
                Answer::Together => {
                    let topic = ago.checked_sub(1).and_then(|ago| earlier.get(ago)).copied().unwrap_or_default();
                    (format!("{topic} {text}"), 0.0)
                }
            };
            let found = pages.find_by_words(&self.search(turn, &question, true)).passages;
            let page = found.into_iter().next().filter(|page| page.score >= least)?;
            if page.language.is_some_and(|language| language != turn.language()) {
                return None;
            }
            let candidate =
                Candidate { file: page.file.clone(), section: page.section.clone(), asked: text.to_owned() };
            Some(About { topic: Some((candidate, page)), ..About::default() })
        })
    }

    /// Whether the last answer was a warranty that has ended.
    pub(super) fn has_expired(&self, turn: &Turn) -> bool {
        let last = turn.history.iter().rev().find(|message| message.metadata.kind() == Some(kind::WARRANTY_RESULT));
        let expired = self.text(turn, Text::WarrantyExpired, &[]).unwrap_or_default();
        last.is_some_and(|last| !expired.is_empty() && last.text.contains(&expired))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the cases of all languages ask. A customer gets the first one with a page in their language.
    fn asked(text: &str, earlier: &[&str], after: Option<After>) -> Vec<String> {
        let cases = Cases::read(&Prompts::shipped()).expect("the shipped rules");
        let said = |(_, case): (usize, &Case)| match &case.answer {
            Answer::Section(asks) => asks.clone(),
            other => format!("{other:?}"),
        };
        cases.of(text, earlier, after).into_iter().map(said).collect()
    }

    #[test]
    fn circumstance_decides_the_rule() {
        for (text, earlier, expected) in [
            ("we have no credit card, can we still pay monthly", &[][..], "I have no credit card"),
            ("i'm 16, can i get it on instalments", &[], "I'm 17, can I finance"),
            ("i already unpacked it", &["can I bring the usb stick back"], "can I return an opened usb stick"),
            ("i unpacked it already", &["can I bring the mouse back"], "can I return it after opening the box"),
            ("how long does that take", &["what's shipping to hue"], "Together"),
        ] {
            let asked = asked(text, earlier, None);
            assert!(asked.iter().any(|asked| asked == expected), "{text}: {asked:?}");
        }
    }

    #[test]
    fn other_messages_have_no_case() {
        for text in
            ["do you have the g102", "how long is the warranty of the nv3", "can i pay by card", "how much is it"]
        {
            assert_eq!(asked(text, &["a mouse below 500k"], Some(After::Products)), [""; 0], "{text}");
        }
    }
}
