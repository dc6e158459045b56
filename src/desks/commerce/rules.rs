//! Parses messages by rules, without a model. The words are in `prompts/rules/commerce.toml` and `prompts/rules/commerce.LANG.toml`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::said::{Details, Limits, Said};
use crate::dialogue::social::{Social, SocialRules};
use crate::dialogue::{self, Act, Answer};
use crate::domain::commerce::policy::{GovernorClass, Intent};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, match_mask};
use crate::nlu::counts::{Count, Counts};
use crate::nlu::pick::PickRules;
use crate::persona::{PromptError, Prompts};

/// A parsed message of this desk's customer.
pub(super) type Utterance = dialogue::Utterance<Intent, Says>;

/// What a message says besides its intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Says {
    /// Wants to pay for the cart.
    Pay,
    SeeAll,
    /// None of what was shown.
    Reject,
    HowMuch,
    ShowCart,
    Remove,
    /// One more thing for the cart.
    More,
    /// Asks whether the payment arrived, or says that it was made.
    WentThrough,
    /// Do it once more.
    Again,
    Frustrated,
    /// Claims something that a person must decide.
    Dispute,
    /// Wants a paid order changed.
    ChangeOrder,
    MarketingOn,
    MarketingOff,
    NotificationsOn,
    NotificationsOff,
}

/// How clearly the words of a message have an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    Weak,
    Clear,
}

/// What a customer types at the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SandboxWish {
    Timeout,
    Cancel,
}

/// The keywords of the desk.
#[derive(Debug)]
pub(super) struct CommerceRules {
    lexicon: Lexicon,
    social: SocialRules,
    counts: Counts,
    picks: PickRules,
    greeting: Vec<Pattern>,
    filler: Vec<Pattern>,
    cancel: Vec<Pattern>,
    yes: Vec<Pattern>,
    no: Vec<Pattern>,
    hesitate: Vec<Pattern>,
    question: Vec<Pattern>,
    abuse: Vec<Pattern>,
    spam: Vec<Pattern>,
    intents: Vec<(Intent, Words)>,
    says: Vec<(Says, Vec<Pattern>)>,
    methods: Vec<(PaymentMethod, Vec<Pattern>)>,
    compliance: Vec<(String, Vec<Pattern>)>,
    most: Vec<Pattern>,
    least: Vec<Pattern>,
    sandbox: Vec<(SandboxWish, Vec<Pattern>)>,
}

#[derive(Debug)]
struct Words {
    clear: Vec<Pattern>,
    weak: Vec<Pattern>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RuleFile {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    classes: HashMap<String, Vec<String>>,
    topics: Vec<Social>,
    social: HashMap<Social, Vec<String>>,
    greeting: Vec<String>,
    filler: Vec<String>,
    cancel: Vec<String>,
    yes: Vec<String>,
    no: Vec<String>,
    hesitate: Vec<String>,
    question: Vec<String>,
    abuse: Vec<String>,
    spam: Vec<String>,
    intents: BTreeMap<Intent, WordFile>,
    says: BTreeMap<Says, Vec<String>>,
    methods: BTreeMap<PaymentMethod, Vec<String>>,
    compliance: BTreeMap<String, Vec<String>>,
    limits: LimitFile,
    sandbox: BTreeMap<SandboxWish, Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WordFile {
    clear: Vec<String>,
    weak: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LimitFile {
    most: Vec<String>,
    least: Vec<String>,
}

impl CommerceRules {
    /// Reads `rules/common.*.toml`, `rules/social*.toml`, `rules/commerce*.toml`, `rules/counts.*.toml` and `rules/pick.*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        let (counts, picks) = (Counts::read(prompts)?, PickRules::read(prompts)?);
        prompts.rules(&["common", "social", "commerce"], |file: RuleFile| {
            let lexicon = Lexicon::new(file.aliases.clone(), file.classes.clone())
                .with_plain_words(&file.plain_words)
                .ignoring_diacritics();
            Self::new(file, lexicon, counts, picks)
        })
    }

    fn new(file: RuleFile, lexicon: Lexicon, counts: Counts, picks: PickRules) -> Result<Self, InvalidPattern> {
        fn listed<K>(
            lexicon: &Lexicon,
            written: impl IntoIterator<Item = (K, Vec<String>)>,
        ) -> Result<Vec<(K, Vec<Pattern>)>, InvalidPattern> {
            written.into_iter().map(|(key, written)| Ok((key, lexicon.patterns(&written)?))).collect()
        }
        let patterns = |written: &Vec<String>| lexicon.patterns(written);
        let words = |file: WordFile| Ok(Words { clear: patterns(&file.clear)?, weak: patterns(&file.weak)? });
        let intents = file.intents.into_iter().map(|(intent, file)| Ok((intent, words(file)?)));
        Ok(Self {
            social: SocialRules::new(&file.topics, &file.social, &lexicon)?,
            greeting: patterns(&file.greeting)?,
            filler: patterns(&file.filler)?,
            cancel: patterns(&file.cancel)?,
            yes: patterns(&file.yes)?,
            no: patterns(&file.no)?,
            hesitate: patterns(&file.hesitate)?,
            question: patterns(&file.question)?,
            abuse: patterns(&file.abuse)?,
            spam: patterns(&file.spam)?,
            intents: intents.collect::<Result<_, _>>()?,
            says: listed(&lexicon, file.says)?,
            methods: listed(&lexicon, file.methods)?,
            compliance: listed(&lexicon, file.compliance)?,
            most: patterns(&file.limits.most)?,
            least: patterns(&file.limits.least)?,
            sandbox: listed(&lexicon, file.sandbox)?,
            counts,
            picks,
            lexicon,
        })
    }

    /// Parses a message by itself.
    pub fn parse(&self, text: &str) -> Said {
        let stream = self.lexicon.tokenize(text);
        let (social, _) = self.social.find(&stream);
        let has = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.find(&stream, &[]).is_some());
        let mut utterance = Utterance { text: text.to_owned(), ..Utterance::default() };
        for (says, patterns) in &self.says {
            utterance.set(Act::Mention(*says), has(patterns));
        }
        let greeting = match_mask(&self.greeting, &stream, &[]);
        let filler = match_mask(&self.filler, &stream, &[]);
        let (yes, no) = (match_mask(&self.yes, &stream, &[]), match_mask(&self.no, &stream, &[]));
        let is_padding = |at: usize| filler[at] || greeting[at];
        let numbers = self.counts.find(&stream);
        let is_number = |at: usize| numbers.iter().any(|count| count.words.contains(&at));
        let has_only = |mask: &[bool]| {
            (0..mask.len()).all(|at| mask[at] || is_padding(at) || is_number(at)) && mask.contains(&true)
        };
        utterance.answer = match () {
            () if has(&self.cancel) => Some(Answer::Cancel),
            () if no.contains(&true) && !yes.contains(&true) => Some(Answer::No),
            () if yes.contains(&true) && !no.contains(&true) => Some(Answer::Yes),
            () => None,
        };
        utterance.set(Act::OnlyAnswer, has_only(&yes) || has_only(&no));
        utterance.set(Act::Hesitate, has(&self.hesitate) || no.contains(&true));
        utterance.set(Act::Question, text.contains('?') || has(&self.question));
        utterance.set(Act::Greet, greeting.contains(&true));
        utterance.set(Act::Stall, !stream.tokens().is_empty() && (0..stream.tokens().len()).all(is_padding));
        utterance.set(Act::WantPerson, social.contains(&Social::Person));
        let limits = self.limits(&stream, &numbers);
        let intents = self.intents_of(&stream);
        let small_talk = social.into_iter().find(|topic| *topic != Social::Person);
        if let Some(topic) = small_talk.filter(|_| !intents.iter().any(|(_, strength)| *strength == Strength::Clear)) {
            utterance.set(Act::Chat(topic), true);
        }
        let class = match () {
            () if has(&self.abuse) => GovernorClass::Abuse,
            () if has(&self.spam) => GovernorClass::Spam,
            () if utterance.social().is_some() => GovernorClass::Casual,
            () => GovernorClass::Business,
        };
        let all = |table: &[(String, Vec<Pattern>)]| -> Vec<String> {
            table.iter().filter(|(_, patterns)| has(patterns)).map(|(name, _)| name.clone()).collect()
        };
        let methods = self.methods.iter().filter(|(_, patterns)| has(patterns)).map(|(method, _)| *method);
        let is_in_limit = |at: usize| limits.words.iter().any(|range| range.contains(&at));
        let goods = (0..stream.tokens().len()).filter(|at| !filler[*at] && !greeting[*at] && !is_in_limit(*at));
        let goods = goods.filter(|at| !yes[*at] && !no[*at]);
        let words: Vec<String> =
            goods.filter(|at| !is_number(*at)).map(|at| stream.tokens()[at].folded().to_owned()).collect();
        let free = numbers.iter().filter(|count| !count.words.clone().any(is_in_limit));
        let has_other_words = !words.is_empty();
        Said {
            class,
            intents,
            pick: self.picks.pick(text).map(|(pick, _)| pick),
            details: Details {
                words: stream.tokens().iter().map(|token| token.folded().to_owned()).collect(),
                numbers: free.map(|count| count.value).collect(),
            },
            all_numbers: numbers.iter().map(|count| count.value).collect(),
            least: limits.least,
            most: limits.most,
            words,
            has_other_words,
            methods: methods.collect(),
            compliance: all(&self.compliance),
            sandbox: self.sandbox.iter().find(|(_, patterns)| has(patterns)).map(|(wish, _)| *wish),
            utterance,
        }
    }

    /// Returns the intents that the words show, the clear ones first.
    fn intents_of(&self, stream: &TokenStream<'_>) -> Vec<(Intent, Strength)> {
        let has = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.find(stream, &[]).is_some());
        let strength = |words: &Words| match () {
            () if has(&words.clear) => Some(Strength::Clear),
            () if has(&words.weak) => Some(Strength::Weak),
            () => None,
        };
        let found = self.intents.iter().filter_map(|(intent, words)| Some((*intent, strength(words)?)));
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(_, strength)| std::cmp::Reverse(*strength));
        found
    }

    /// Returns the least and the most that something may cost: a number of shillings right after the words for it.
    fn limits(&self, stream: &TokenStream<'_>, numbers: &[Count]) -> Limits {
        const SMALLEST_PRICE: u64 = 50;
        let mut limits = Limits::default();
        let after = |patterns: &[Pattern]| -> Option<(u64, Range<usize>)> {
            let ends = patterns.iter().flat_map(|pattern| pattern.find_all(stream, &[]));
            ends.into_iter().find_map(|words| {
                let next = numbers.iter().find(|count| (words.end..words.end + 3).contains(&count.words.start))?;
                (next.value >= SMALLEST_PRICE).then_some((next.value, words.start..next.words.end))
            })
        };
        for (limit, patterns) in [(&mut limits.most, &self.most), (&mut limits.least, &self.least)] {
            if let Some((shillings, words)) = after(patterns) {
                *limit = i64::try_from(shillings).ok();
                limits.words.push(words);
            }
        }
        limits
    }
}

#[cfg(test)]
mod tests;
