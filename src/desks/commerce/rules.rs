//! Parses messages by rules, without a model. The words are in `prompts/rules/commerce.toml` and `prompts/rules/commerce.LANG.toml`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::phone;
use super::said::{Details, End, LARGEST_SIZE, Said};
use crate::dialogue::social::{Social, SocialRules};
use crate::dialogue::{self, Act, Answer};
use crate::domain::Language;
use crate::domain::commerce::policy::{GovernorClass, Intent};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, any_match, match_mask};
use crate::nlu::counts::{Count, Counts};
use crate::nlu::keywords::{KeywordFile, Keywords, Strength, pattern_lists};
use crate::nlu::pick::PickRules;
use crate::persona::{PromptError, Prompts};

mod exact;
mod intro;
mod pieces;
mod says;

pub(super) use says::{SandboxWish, Says};

/// A parsed message of this desk's customer.
pub(super) type Utterance = dialogue::Utterance<Intent, Says>;

/// The keywords of the desk.
#[derive(Debug)]
pub(super) struct CommerceRules {
    lexicon: Lexicon,
    lists: WordLists,
    limits: LimitLists,
    social: SocialRules,
    counts: Counts,
    picks: Arc<PickRules>,
    intents: Vec<(Intent, Keywords)>,
    goods: Vec<(String, Vec<Pattern>)>,
    needs: Vec<(String, Vec<Pattern>)>,
    subjects: Vec<(String, Vec<Pattern>)>,
    queries: HashMap<Language, BTreeMap<String, String>>,
    kinds: BTreeMap<String, Vec<String>>,
    qualities: BTreeMap<String, Vec<String>>,
    exact: Vec<(String, Vec<Pattern>)>,
    says: Vec<(Says, Vec<Pattern>)>,
    methods: Vec<(PaymentMethod, Vec<Pattern>)>,
    compliance: Vec<(String, Vec<Pattern>)>,
    sandbox: Vec<(SandboxWish, Vec<Pattern>)>,
}

pattern_lists! {
    /// The rule files, which explain each list.
    RuleFile => WordLists {
        greeting, filler, polite, mpesa, without, negated, dislikes, turns, permits, unsure, joins, alternatives, exchanged,
        occasions, measures, brands, coupon, cancel, yes, no, hesitate, question, abuse, spam, says_ai,
    } with {
        plain_words: Vec<String>,
        aliases: HashMap<String, String>,
        classes: HashMap<String, Vec<String>>,
        topics: Vec<Social>,
        social: HashMap<Social, Vec<String>>,
        intents: BTreeMap<Intent, KeywordFile>,
        goods: BTreeMap<String, Vec<String>>,
        needs: BTreeMap<String, Vec<String>>,
        subjects: BTreeMap<String, Vec<String>>,
        queries: HashMap<Language, BTreeMap<String, String>>,
        kinds: BTreeMap<String, Vec<String>>,
        qualities: BTreeMap<String, Vec<String>>,
        exact: BTreeMap<String, Vec<String>>,
        says: BTreeMap<Says, Vec<String>>,
        methods: BTreeMap<PaymentMethod, Vec<String>>,
        compliance: BTreeMap<String, Vec<String>>,
        limits: LimitFile,
        sandbox: BTreeMap<SandboxWish, Vec<String>>,
    }
}

pattern_lists! {
    /// `[limits]` of the rule files.
    LimitFile => LimitLists { most, least }
}

/// The limits of a price with their words.
#[derive(Debug, Default)]
struct Limits {
    least: Option<i64>,
    most: Option<i64>,
    words: Vec<Range<usize>>,
}

impl CommerceRules {
    /// Reads `rules/common.*.toml`, `rules/social*.toml`, `rules/commerce*.toml`, `rules/counts.*.toml` and `rules/pick.*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Arc<Self>, PromptError> {
        prompts.shared(&prompts.files_of_rules(&["common", "social", "commerce", "counts", "pick"])?, || {
            let (counts, picks) = (Counts::read(prompts)?, PickRules::read(prompts)?);
            prompts.rules(&["common", "social", "commerce"], |file: RuleFile| {
                let lexicon = Lexicon::new(file.aliases.clone(), file.classes.clone())
                    .with_plain_words(&file.plain_words)
                    .ignoring_diacritics();
                Self::new(file, lexicon, counts, picks)
            })
        })
    }

    fn new(file: RuleFile, lexicon: Lexicon, counts: Counts, picks: Arc<PickRules>) -> Result<Self, InvalidPattern> {
        fn listed<K>(
            lexicon: &Lexicon,
            written: impl IntoIterator<Item = (K, Vec<String>)>,
        ) -> Result<Vec<(K, Vec<Pattern>)>, InvalidPattern> {
            written.into_iter().map(|(key, written)| Ok((key, lexicon.patterns(&written)?))).collect()
        }
        let intents = file.intents.iter().map(|(intent, file)| Ok((*intent, file.parse(&lexicon)?)));
        Ok(Self {
            lists: file.parse(&lexicon)?,
            limits: file.limits.parse(&lexicon)?,
            social: SocialRules::new(&file.topics, &file.social, &lexicon)?,
            intents: intents.collect::<Result<_, _>>()?,
            says: listed(&lexicon, file.says)?,
            goods: listed(&lexicon, file.goods)?,
            needs: listed(&lexicon, file.needs)?,
            subjects: listed(&lexicon, file.subjects)?,
            queries: file.queries,
            kinds: file.kinds,
            qualities: file.qualities,
            exact: listed(&lexicon, file.exact)?,
            methods: listed(&lexicon, file.methods)?,
            compliance: listed(&lexicon, file.compliance)?,
            sandbox: listed(&lexicon, file.sandbox)?,
            counts,
            picks,
            lexicon,
        })
    }

    /// Returns what to look for in the documents of a language about a subject.
    pub fn query(&self, subject: &str, language: Language) -> Option<&str> {
        self.queries.get(&language)?.get(subject).map(String::as_str)
    }

    /// Returns the kinds of goods that a word such as "shoes" stands for.
    pub fn kinds_of(&self, word: &str) -> Option<&[String]> {
        self.kinds.get(word).map(Vec::as_slice)
    }

    /// Returns the message without names that belong to no language: "lipa na mpesa".
    pub fn without_brands(&self, text: &str) -> String {
        let stream = self.lexicon.tokenize(text);
        let brands = match_mask(&self.lists.brands, &stream, &[]);
        let left = (0..brands.len()).filter(|at| !brands[*at]).map(|at| stream.source(at..at + 1));
        left.collect::<Vec<_>>().join(" ")
    }

    /// Parses a message by itself.
    pub fn parse(&self, text: &str) -> Said {
        let (phone, rest) = phone::cut(text);
        let stream = self.lexicon.tokenize(&rest);
        let aside = match_mask(&self.lists.without, &stream, &[]);
        let negated = self.negated(&stream);
        let has = |patterns: &[Pattern]| any_match(patterns, &stream, &aside);
        let mask = |patterns: &[Pattern]| match_mask(patterns, &stream, &aside);
        let mut utterance = Utterance { text: text.to_owned(), ..Utterance::default() };
        for (says, patterns) in &self.says {
            utterance.set(Act::Mention(*says), has(patterns));
        }
        utterance.set(Act::Mention(Says::NoCoupon), aside.contains(&true));
        let (greeting, filler, polite) =
            (mask(&self.lists.greeting), mask(&self.lists.filler), mask(&self.lists.polite));
        let (yes, hesitating) = (mask(&self.lists.yes), mask(&self.lists.hesitate));
        // "I don't know", "let me pay": no refusals.
        let no = match_mask(&self.lists.no, &stream, &either(&aside, &match_mask(&self.lists.unsure, &stream, &[])));
        let permitted = either(&aside, &match_mask(&self.lists.permits, &stream, &[]));
        let is_padding = |at: usize| filler[at] || greeting[at] || polite[at];
        let mut numbers = self.counts.find(&stream);
        numbers.retain(|count| !count.words.clone().any(|at| negated[at] || aside[at]));
        let mut in_number = vec![false; stream.tokens().len()];
        numbers.iter().for_each(|count| in_number[count.words.clone()].fill(true));
        let is_number = |at: usize| in_number[at];
        let has_only =
            |mask: &[bool]| (0..mask.len()).all(|at| mask[at] || polite[at] || is_number(at)) && mask.contains(&true);
        utterance.answer = match () {
            () if any_match(&self.lists.cancel, &stream, &permitted) => Some(Answer::Cancel),
            () if no.contains(&true) && !yes.contains(&true) => Some(Answer::No),
            () if yes.contains(&true) && !no.contains(&true) => Some(Answer::Yes),
            () => None,
        };
        utterance.set(Act::OnlyAnswer, phone.is_none() && (has_only(&yes) || has_only(&no)));
        utterance.set(Act::Hesitate, hesitating.contains(&true) || no.contains(&true));
        utterance.set(Act::Question, text.contains('?') || has(&self.lists.question));
        utterance.set(Act::Greet, greeting.contains(&true));
        utterance.set(Act::Stall, !stream.tokens().is_empty() && (0..stream.tokens().len()).all(is_padding));
        let (social, covered) = self.social.find(&stream);
        utterance.set(Act::WantPerson, social.contains(&Social::Person));
        let limits = self.limits(&stream, &numbers);
        let intents = self.intents_of(&stream, &aside);
        let is_clear = intents.iter().any(|(_, strength)| *strength == Strength::Clear);
        let asks_more = utterance.has_question() && (0..covered.len()).any(|at| !covered[at] && !is_padding(at));
        let small_talk = social.into_iter().find(|topic| *topic != Social::Person);
        // "Thanks, when will it arrive?" is a question, "remove it, bye" and "thanks. Pay" are wishes.
        let is_question = |topic: Social| asks_more && matches!(topic, Social::Thanks | Social::Compliment);
        let is_wish = utterance.mentions(Says::Remove) || utterance.mentions(Says::Pay) || utterance.cancels();
        if let Some(topic) = small_talk.filter(|topic| !is_clear && !is_wish && !is_question(*topic)) {
            utterance.set(Act::Chat(topic), true);
        }
        let claims = [Says::Wronged, Says::Refund, Says::Dispute].into_iter().any(|says| utterance.mentions(says));
        let class = match () {
            // A customer who is angry about an order is one of business.
            () if has(&self.lists.abuse) && (is_clear || claims || utterance.wants_person()) => GovernorClass::Business,
            () if has(&self.lists.abuse) => GovernorClass::Abuse,
            // So is one who only says that they are.
            () if utterance.mentions(Says::AsksSecret) || utterance.mentions(Says::Frustrated) => {
                GovernorClass::Business
            }
            () if has(&self.lists.spam) => GovernorClass::Spam,
            () if utterance.social().is_some() => GovernorClass::Casual,
            () => GovernorClass::Business,
        };
        let (phrases, in_phrase) = self.goods_of(&stream, &negated);
        let wanted: Vec<bool> = negated.iter().map(|negated| !negated).collect();
        let (disliked, in_disliked) = self.goods_of(&stream, &wanted);
        let others = (0..negated.len()).filter(|at| negated[*at] && !in_disliked[*at]);
        let others = others.flat_map(|at| stream.tokens()[at].folded().split_whitespace()).map(str::to_owned);
        let unwanted = others.chain(disliked).collect();
        let is_in_limit = |at: usize| limits.words.iter().any(|range| range.contains(&at));
        let (measured, disliking) = (mask(&self.lists.measures), mask(&self.lists.dislikes));
        let occasions = mask(&self.lists.occasions);
        let methods: Vec<_> = self.methods.iter().map(|(method, patterns)| (*method, mask(patterns))).collect();
        let mpesa = mask(&self.lists.mpesa);
        let is_other = |at: usize| {
            let is_answer = is_padding(at) || yes[at] || no[at] || hesitating[at] || aside[at] || negated[at];
            let is_method = mpesa[at] || methods.iter().any(|(_, mask)| mask[at]);
            is_answer || measured[at] || occasions[at] || disliking[at] || is_method
        };
        let goods = (0..stream.tokens().len()).filter(|at| !is_other(*at) && !is_in_limit(*at) && !in_phrase[*at]);
        let goods = goods.filter(|at| !is_number(*at)).map(|at| stream.tokens()[at].folded().to_owned());
        let words: Vec<String> = phrases.iter().cloned().chain(goods).collect();
        let pick = self.picks.pick(&rest);
        let option = pick.as_ref().and_then(|(pick, left)| self.option_number(pick, left, &numbers));
        let is_measured = |count: &Count| count.words.clone().any(|at| is_in_limit(at) || measured[at]);
        // "50 bob off" counts no pieces and names no size.
        let is_sum = |count: &Count| count.value < LARGEST_SIZE && self.counts.is_money(&stream, count);
        let is_free = |count: &&Count| Some(count.words.start) != option && !is_measured(count) && !is_sum(count);
        let free = numbers.iter().filter(is_free);
        let named = (0..stream.tokens().len()).filter(|at| !negated[*at] && !aside[*at] && !occasions[*at]);
        let named = named.map(|at| stream.tokens()[at].folded().to_owned()).chain(phrases);
        let find = |patterns: &[Pattern]| any_match(patterns, &stream, &in_phrase);
        let all = |table: &[(String, Vec<Pattern>)]| -> Vec<String> {
            table.iter().filter(|(_, patterns)| find(patterns)).map(|(name, _)| name.clone()).collect()
        };
        let methods = methods.iter().filter(|(_, mask)| mask.contains(&true)).map(|(method, _)| *method);
        let mut methods: Vec<_> = methods.collect();
        let is_mpesa = |method: &PaymentMethod| *method != PaymentMethod::Pesapal;
        if mpesa.contains(&true) && !methods.iter().any(is_mpesa) {
            methods.insert(0, PaymentMethod::MpesaStk);
        }
        let needs: Vec<String> =
            all(&self.needs).iter().flat_map(|of| of.split_whitespace()).map(str::to_owned).collect();
        let words = if self.names_need_only(&words, &needs) { needs.clone() } else { words };
        Said {
            class,
            intents,
            phone,
            pick: pick.map(|(pick, _)| pick),
            details: Details {
                words: named.collect(),
                numbers: free.map(|count| count.value).collect(),
                choices: Vec::new(),
                end: End::of(&utterance),
            },
            all_numbers: numbers.iter().map(|count| count.value).collect(),
            least: limits.least,
            most: limits.most,
            sought: words.clone(),
            qualities: self.qualities_of(&stream),
            needs,
            unwanted,
            words,
            methods,
            compliance: all(&self.compliance),
            subjects: all(&self.subjects),
            introduces_code: has(&self.lists.coupon),
            sandbox: self.sandbox.iter().find(|(_, patterns)| has(patterns)).map(|(wish, _)| *wish),
            rest,
            utterance,
        }
    }

    /// Returns a flag for each word: whether the message says "not" before it, or dislikes what it names: "she hates high heels".
    fn negated(&self, stream: &TokenStream<'_>) -> Vec<bool> {
        let (tokens, turns) = (stream.tokens(), match_mask(&self.lists.turns, stream, &[]));
        let mut negated = vec![false; tokens.len()];
        for words in self.lists.dislikes.iter().flat_map(|pattern| pattern.find_all(stream, &[])) {
            let clause = tokens[words.start].clause;
            let disliked = (words.end..tokens.len()).take_while(|at| tokens[*at].clause == clause && !turns[*at]);
            disliked.for_each(|at| negated[at] = true);
        }
        for words in self.lists.negated.iter().flat_map(|pattern| pattern.find_all(stream, &[])) {
            if let Some(next) = negated.get_mut(words.end) {
                *next = true;
            }
        }
        negated
    }

    /// Returns the names of goods that several words stand for, and a flag for each of these words.
    fn goods_of(&self, stream: &TokenStream<'_>, negated: &[bool]) -> (Vec<String>, Vec<bool>) {
        let (mut named, mut covered) = (Vec::new(), vec![false; stream.tokens().len()]);
        for (name, patterns) in &self.goods {
            let mask = match_mask(patterns, stream, &either(&covered, negated));
            if mask.contains(&true) {
                named.extend(name.split_whitespace().map(str::to_owned));
            }
            covered.iter_mut().zip(mask).for_each(|(covered, is_in)| *covered |= is_in);
        }
        (named, covered)
    }

    /// Returns the least and the most that something may cost: a number of shillings right after the words for it.
    fn limits(&self, stream: &TokenStream<'_>, numbers: &[Count]) -> Limits {
        const SMALLEST_PRICE: u64 = 50;
        let mut limits = Limits::default();
        // "I have no more than 2,000" is the most, and not more than that.
        let after = |patterns: &[Pattern], known: &[Range<usize>]| -> Option<(u64, Range<usize>)> {
            let ends = patterns.iter().flat_map(|pattern| pattern.find_all(stream, &[]));
            let is_free = |words: &Range<usize>| known.iter().all(|known| !known.contains(&words.start));
            ends.into_iter().filter(is_free).find_map(|words| {
                let next = numbers.iter().find(|count| (words.end..words.end + 3).contains(&count.words.start))?;
                (next.value >= SMALLEST_PRICE).then_some((next.value, words.start..next.words.end))
            })
        };
        for (limit, patterns) in [(&mut limits.most, &self.limits.most), (&mut limits.least, &self.limits.least)] {
            if let Some((shillings, words)) = after(patterns, &limits.words) {
                *limit = i64::try_from(shillings).ok();
                limits.words.push(words);
            }
        }
        limits
    }

    /// Returns the intents that the words show, the clear ones first.
    fn intents_of(&self, stream: &TokenStream<'_>, hidden: &[bool]) -> Vec<(Intent, Strength)> {
        let found = self.intents.iter().map(|(intent, words)| (*intent, words.strength(stream, hidden)));
        let mut found: Vec<_> = found.filter(|(_, strength)| *strength != Strength::None).collect();
        found.sort_by_key(|(_, strength)| std::cmp::Reverse(*strength));
        found
    }
}

fn either(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a || *b).collect()
}

#[cfg(test)]
mod tests;
