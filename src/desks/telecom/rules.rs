//! Parses messages by rules, without a model. The words are in `prompts/rules/telecom.toml` and `prompts/rules/telecom.LANG.toml`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::memory::{Asked, Details};
use super::route::Category;
use super::said::{AmountFile, AmountLists, Said, SaidAmount};
use crate::dialogue::social::{Social, SocialRules};
use crate::dialogue::{self, Act, Answer};
use crate::domain::commerce::Currency;
use crate::domain::telecom::RefundReason;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, any_match, match_mask};
use crate::nlu::facts;
use crate::nlu::keywords::{KeywordFile, Keywords, Strength, pattern_lists};
use crate::nlu::long_text::read_text;
use crate::persona::{PromptError, Prompts};

mod topic;

pub(in crate::desks) use topic::Topic;

/// Words of a message in which a bare number can only be an amount: "sorry, not 80, I meant 50".
const BRIEF: usize = 8;
/// Words besides small talk that may say something else: "thanks, but the hotspot has no internet".
const MORE_WORDS: usize = 3;

/// A parsed message of this desk's customer. Its intent is `None` where the words decide nothing.
pub(in crate::desks) type Utterance = dialogue::Utterance<Category, Topic>;

/// A parsed message with the details that this desk needs.
#[derive(Clone, Debug, Default)]
pub(in crate::desks) struct Parsed {
    pub utterance: Utterance,
    pub technical: Strength,
    pub billing: Strength,
    /// Whether the message says yes and nothing else, in any number of words: "ok yes go ahead and open it".
    pub agrees: bool,
    /// Whether the message says something besides its small talk.
    pub says_more: bool,
    /// Details of a technical problem.
    pub details: Details,
    /// Details of an account and a refund.
    pub said: Said,
}

impl Parsed {
    /// Whether the message can be the answer to "why?": it is neither a question, a yes or no, nor only polite words.
    pub fn explains(&self) -> bool {
        let utterance = &self.utterance;
        let says_something = utterance.text.chars().any(char::is_alphabetic) && !utterance.stalls();
        says_something && !utterance.has_question() && utterance.answer.is_none()
    }

    /// Whether the message asks for nothing. Nothing is left of one that only asks for another language.
    pub fn is_small_talk(&self) -> bool {
        let utterance = &self.utterance;
        let is_social = utterance.social().is_some() || utterance.greets() || utterance.text.is_empty();
        is_social || self.is_solved() || self.drops() || utterance.asks(Topic::Abilities)
    }

    /// Whether the message only gives up what was talked about: "leave it for now".
    pub fn drops(&self) -> bool {
        self.utterance.cancels() && self.says_nothing_else()
    }

    fn says_nothing_else(&self) -> bool {
        let is_clear = self.technical.max(self.billing) == Strength::Clear;
        !is_clear && !self.utterance.has_question() && !self.said.is_concrete()
    }

    /// Whether the message accepts an offer. "Ok, thanks", "ok, and when?" and "good, we also have two days there" do not.
    pub fn accepts(&self) -> bool {
        let utterance = &self.utterance;
        let only_agrees = || utterance.social().is_none() && !utterance.has_question() && !utterance.equivocates();
        utterance.affirms() && !utterance.asks(Topic::Refund) && (utterance.asks(Topic::Consent) || only_agrees())
    }

    /// Whether the message refuses an offer and asks for nothing else. "No, how do I restart the router?" does.
    pub fn refuses(&self) -> bool {
        self.utterance.denies() && self.says_nothing_else() && !self.utterance.asks(Topic::Field) || self.drops()
    }

    /// Whether the message only says that the problem is solved.
    pub fn is_solved(&self) -> bool {
        let utterance = &self.utterance;
        let asks = |topic| utterance.asks(topic);
        asks(Topic::Solved)
            && !asks(Topic::Tried)
            && !self.says_more
            && !utterance.has_question()
            && self.billing == Strength::None
    }

    /// Whether a bare number of the message can only be an amount: it says little else.
    pub fn is_brief(&self) -> bool {
        self.technical == Strength::None && self.utterance.text.split_whitespace().count() <= BRIEF
    }

    /// Whether the message names a matter of the desk.
    pub fn names_matter(&self) -> bool {
        self.technical.max(self.billing) > Strength::None
    }

    /// Whether the message describes a fault, so that its details may find an answer.
    pub fn describes_fault(&self) -> bool {
        let says = self.technical == Strength::Clear || self.details.symptoms.is_some();
        says || [Topic::Vague, Topic::Tried, Topic::Unsure].iter().any(|topic| self.utterance.asks(*topic))
    }

    /// Whether the message gives something that a refund needs, or what the desk asked for.
    pub fn gives(&self, asked: Asked, is_refund: bool) -> bool {
        let (said, is_question) = (&self.said, self.utterance.has_question());
        let is_detail = said.is_concrete() || said.reason.is_some() && !is_question || said.whole;
        let has_amount = self.is_brief() && said.amount(true) != SaidAmount::Unclear;
        said.answers(asked) || said.user_id().is_some() || is_refund && (is_detail || has_amount)
    }

    /// Whether the message is about the desk's question, though it has technical words: "the reason is the outage".
    pub fn surely_gives(&self, asked: Asked) -> bool {
        asked == Asked::Reason || self.utterance.asks(Topic::Field) || self.said.names(asked)
    }

    /// Whether the message names a detail of a technical problem, and no matter of billing.
    pub fn gives_details(&self) -> bool {
        self.details != Details::default() && self.billing < Strength::Clear
    }
}

/// The keywords of the desk.
#[derive(Debug)]
pub(in crate::desks) struct TelecomRules {
    lexicon: Lexicon,
    pub(super) lists: WordLists,
    social: SocialRules,
    technical: Keywords,
    billing: Keywords,
    asks: BTreeMap<Topic, Vec<Pattern>>,
    slots: SlotLists,
    pub(super) facts: facts::Lexicon,
    pub(super) amounts: AmountLists,
    pub(super) reasons: BTreeMap<RefundReason, Vec<Pattern>>,
    pub(super) reasons_if_asked: BTreeMap<RefundReason, Vec<Pattern>>,
    pub(super) user_id_letters: Vec<String>,
    source_headings: Vec<String>,
}

pattern_lists! {
    /// The rule files, which explain each list.
    pub(super) RuleFile => WordLists {
        filler, greeting, yes, weak_yes, doubt, no, agree, agree_more, cancel, question, contrast, by_staff,
        case_offers, refers_back, prices, visit_days, user_id_words, invoice_words, phone_words, negated, denied, minus,
        corrected, whole, same,
    } with {
        plain_words: Vec<String>,
        aliases: HashMap<String, String>,
        classes: HashMap<String, Vec<String>>,
        topics: Vec<Social>,
        social: HashMap<Social, Vec<String>>,
        asks: BTreeMap<Topic, Vec<String>>,
        source_headings: Vec<String>,
        user_id_letters: Vec<String>,
        technical: KeywordFile,
        billing: KeywordFile,
        amounts: AmountFile,
        reasons: BTreeMap<RefundReason, Vec<String>>,
        reasons_if_asked: BTreeMap<RefundReason, Vec<String>>,
        slots: SlotFile,
    }
}

pattern_lists! {
    /// `[slots]` of the rule files.
    pub(super) SlotFile => SlotLists { device, access, symptoms }
}

impl TelecomRules {
    /// Reads `rules/common.*.toml`, `rules/facts*.toml`, `rules/serials*.toml`, `rules/social*.toml` and `rules/telecom*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Arc<Self>, PromptError> {
        prompts.shared(&prompts.files_of_rules(&["common", "facts", "serials", "social", "telecom"])?, || {
            let serial_words = prompts.serial_words()?;
            let facts = facts::Lexicon::read(prompts)?.in_currency(Currency::Pln).with_bare_words();
            prompts.rules(&["common", "social", "telecom"], |file: RuleFile| {
                let lexicon = Lexicon::new(file.aliases.clone(), file.classes.clone())
                    .with_plain_words(&file.plain_words)
                    .with_serial_words(serial_words);
                Self::new(file, lexicon, facts)
            })
        })
    }

    fn new(file: RuleFile, lexicon: Lexicon, facts: facts::Lexicon) -> Result<Self, InvalidPattern> {
        let asks = file.asks.iter().map(|(topic, written)| Ok((*topic, lexicon.patterns(written)?)));
        let by_reason = |written: &BTreeMap<RefundReason, Vec<String>>| {
            written.iter().map(|(reason, written)| Ok((*reason, lexicon.patterns(written)?))).collect::<Result<_, _>>()
        };
        Ok(Self {
            lists: file.parse(&lexicon)?,
            social: SocialRules::new(&file.topics, &file.social, &lexicon)?,
            technical: file.technical.parse(&lexicon)?,
            billing: file.billing.parse(&lexicon)?,
            asks: asks.collect::<Result<_, _>>()?,
            slots: file.slots.parse(&lexicon)?,
            facts,
            amounts: file.amounts.parse(&lexicon)?,
            reasons: by_reason(&file.reasons)?,
            reasons_if_asked: by_reason(&file.reasons_if_asked)?,
            user_id_letters: file.user_id_letters,
            source_headings: file.source_headings,
            lexicon,
        })
    }

    /// The headings under which a language model lists its sources.
    pub fn source_headings(&self) -> &[String] {
        &self.source_headings
    }

    /// Whether a text of a page sends the customer to the shop's staff.
    pub fn is_by_staff(&self, text: &str) -> bool {
        let stream = self.lexicon.tokenize(text);
        any_match(&self.lists.by_staff, &stream, &[])
    }

    /// Whether a text of a page says that a refund case can be opened.
    pub fn offers_case(&self, text: &str) -> bool {
        any_match(&self.lists.case_offers, &self.lexicon.tokenize(text), &[])
    }

    /// Whether a sentence of a page makes sense only after the one before it.
    pub fn refers_back(&self, text: &str) -> bool {
        any_match(&self.lists.refers_back, &self.lexicon.tokenize(text), &[])
    }

    /// Whether a text is about a price.
    pub fn names_price(&self, text: &str) -> bool {
        any_match(&self.lists.prices, &self.lexicon.tokenize(text), &[])
    }

    /// Parses a message by itself.
    pub fn parse(&self, text: &str) -> Parsed {
        read_text(text.len(), || self.parse_words(text))
    }

    fn parse_words(&self, text: &str) -> Parsed {
        let stream = self.lexicon.tokenize(text);
        let (mut social, hidden) = self.social.find(&stream);
        let has = |patterns: &[Pattern]| any_match(patterns, &stream, &hidden);
        let [technical, billing] = [&self.technical, &self.billing].map(|of| of.strength(&stream, &hidden));
        let greeting = match_mask(&self.lists.greeting, &stream, &[]);
        let filler = match_mask(&self.lists.filler, &stream, &[]);
        let is_polite = filler.iter().zip(&greeting).all(|(filler, greeting)| *filler || *greeting);
        let has_question = text.contains('?');
        let is_clear = technical.max(billing) == Strength::Clear;
        let says_more = self.says_more(&stream, &hidden, &greeting, &filler);
        // "Thanks, it works now" is not a question about what works.
        let is_weak = technical.max(billing) == Strength::Weak;
        let is_business = is_clear || says_more || (is_weak && (social.is_empty() || has_question));
        // Thanks alone agree to nothing.
        let only_agrees = !has_question && self.agrees(&stream);
        let agrees = only_agrees && social.is_empty();
        let answer = self.answer(&stream).or(agrees.then_some(Answer::Yes));
        let mut utterance = Utterance { text: text.to_owned(), answer, ..Utterance::default() };
        for (topic, patterns) in &self.asks {
            // A wish that somebody comes is small talk as well: it calls a person.
            let hidden: &[bool] = if *topic == Topic::Visit { &[] } else { &hidden };
            utterance.set(Act::Ask(*topic), any_match(patterns, &stream, hidden));
        }
        let may_want_person = social.contains(&Social::Person) || utterance.asks(Topic::Staff);
        let wants_person = may_want_person && self.calls_person(text);
        social.retain(|topic| *topic != Social::Person || wants_person);
        utterance.set(Act::WantPerson, wants_person);
        utterance.set(Act::Greet, is_polite && greeting.contains(&true));
        utterance.set(Act::Stall, is_polite);
        utterance.set(Act::Question, has_question || has(&self.lists.question));
        let only_agrees = only_agrees && !social.contains(&Social::Goodbye);
        utterance.set(Act::Equivocate, answer == Some(Answer::Yes) && !self.is_sure(&stream, only_agrees));
        if let Some(topic) = social.first().filter(|_| !is_business) {
            utterance.set(Act::Chat(*topic), true);
        }
        let (details, said) = (self.details(&stream), self.said_in(&stream));
        Parsed { utterance, technical, billing, agrees, says_more, details, said }
    }

    /// Whether a sentence wants a person, and does not ask what that costs or on which day somebody comes: "if you send someone, do I
    /// have to pay?", "can somebody come today?".
    fn calls_person(&self, text: &str) -> bool {
        let staff = self.asks.get(&Topic::Staff).map_or(&[][..], Vec::as_slice);
        text.split_inclusive(['.', '?', '!', ';', '\n']).any(|sentence| {
            let stream = self.lexicon.tokenize(sentence);
            let asks = sentence.contains('?') || any_match(&self.lists.question, &stream, &[]);
            let asks_terms =
                asks && [&self.lists.prices, &self.lists.visit_days].iter().any(|of| any_match(of, &stream, &[]));
            let wants = any_match(staff, &stream, &[]) || self.social.find(&stream).0.contains(&Social::Person);
            wants && !asks_terms
        })
    }

    /// Whether a message says something outside of the clauses that make small talk or say that a problem is solved, or after a
    /// "but" in one of them. It has to be clear, or several words of a question or after a "but".
    fn says_more(&self, stream: &TokenStream<'_>, social: &[bool], greeting: &[bool], filler: &[bool]) -> bool {
        let solved =
            self.asks.get(&Topic::Solved).map(|patterns| match_mask(patterns, stream, &[])).unwrap_or_default();
        let contrast = match_mask(&self.lists.contrast, stream, &[]);
        let is_chat = |word: usize| social[word] || greeting[word] || solved.get(word) == Some(&true);
        let tokens = stream.tokens();
        let mut aside = vec![false; tokens.len()];
        let mut next = 0;
        while next < aside.len() {
            let clause = stream.clause(next);
            next = clause.end;
            if clause.clone().any(is_chat) {
                let but = clause.clone().find(|word| contrast[*word]);
                aside[clause.start..but.unwrap_or(clause.end)].fill(true);
            }
        }
        if !aside.contains(&true) && !contrast.contains(&true) {
            return false;
        }
        let strength = self.technical.strength(stream, &aside).max(self.billing.strength(stream, &aside));
        let words = (0..aside.len()).filter(|word| !aside[*word] && !filler[*word] && !is_chat(*word)).count();
        let before = |at: usize| tokens.partition_point(|word| word.span.end <= at).checked_sub(1);
        let ends_more = |at: usize| before(at).is_some_and(|word| !aside[word]);
        let asks = stream.text().match_indices('?').any(|(at, _)| ends_more(at))
            || any_match(&self.lists.question, stream, &aside);
        strength == Strength::Clear || words >= MORE_WORDS && (asks || contrast.contains(&true))
    }

    fn answer(&self, stream: &TokenStream<'_>) -> Option<Answer> {
        let has = |patterns: &[Pattern]| any_match(patterns, stream, &[]);
        match () {
            () if has(&self.lists.cancel) => Some(Answer::Cancel),
            () if has(&self.lists.no) => Some(Answer::No),
            () if has(&self.lists.yes) || has(&self.lists.weak_yes) => Some(Answer::Yes),
            () => None,
        }
    }

    fn agrees(&self, stream: &TokenStream<'_>) -> bool {
        let agree = match_mask(&self.lists.agree, stream, &[]);
        let more = match_mask(&self.lists.agree_more, stream, &[]);
        agree.contains(&true) && agree.iter().zip(&more).all(|(agree, more)| *agree || *more)
    }

    /// Whether a yes has no objection: "yes, but the amount is wrong" and "ok" next to other words open no case. `only_agrees`: the
    /// message has no other words.
    fn is_sure(&self, stream: &TokenStream<'_>, only_agrees: bool) -> bool {
        let weak = match_mask(&self.lists.weak_yes, stream, &[]);
        let only_weak = !weak.is_empty() && weak.iter().all(|is_weak| *is_weak);
        let is_firm = only_agrees || only_weak || any_match(&self.lists.yes, stream, &[]);
        // "Yes, why not" objects to nothing.
        is_firm && !any_match(&self.lists.doubt, stream, &match_mask(&self.lists.agree, stream, &[]))
    }

    /// Reads what a message says about an account and a refund.
    pub fn said(&self, text: &str) -> Said {
        read_text(text.len(), || self.said_in(&self.lexicon.tokenize(text)))
    }

    fn details(&self, stream: &TokenStream<'_>) -> Details {
        let said = |patterns: &[Pattern]| {
            let longest =
                patterns.iter().filter_map(|pattern| pattern.find(stream, &[])).max_by_key(|words| words.len());
            longest.map(|words| stream.source(words).to_owned())
        };
        let SlotLists { device, access, symptoms } = &self.slots;
        Details { device: said(device), access: said(access), symptoms: said(symptoms) }
    }
}

#[cfg(test)]
mod tests;
