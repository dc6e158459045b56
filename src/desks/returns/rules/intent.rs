//! What a message wants, and whether it reports damage.

use std::ops::Range;

use super::super::state::Intent;
use super::{ReturnsRules, cut};
use crate::dialogue::utterance::KeptGoods;
use crate::domain::text::{TokenStream, any_match, match_mask};

impl ReturnsRules {
    /// Returns what the customer wants.
    pub(super) fn intent(&self, stream: &TokenStream<'_>) -> Option<Intent> {
        self.intent_outside(stream, &[])
    }

    /// Returns what the customer wants next to a general question. Only a clause that neither asks nor supposes something counts,
    /// and only if it names the wish.
    pub(super) fn wish_outside_question(&self, stream: &TokenStream<'_>) -> Option<Intent> {
        let asked = [&self.asides.policy, &self.asides.policy_words, &self.asides.hypothetical]
            .map(|patterns| match_mask(patterns, stream, &[]));
        let asked = asked.into_iter().reduce(|all, mask| either(all, &mask)).unwrap_or_default();
        let asked = clauses_with(stream, &asked);
        let names_wish =
            any_match(&self.intents.return_verb, stream, &asked) || any_match(&self.intents.refund, stream, &asked);
        self.intent_outside(stream, &asked).filter(|intent| intent.is_request() || (intent.is_return() && names_wish))
    }

    /// Whether the message supposes a case, and wants nothing outside of its questions: "if I wore them, can they go back?".
    pub(super) fn only_supposes(&self, stream: &TokenStream<'_>) -> bool {
        let supposed = match_mask(&self.asides.hypothetical, stream, &[]);
        if !supposed.contains(&true) {
            return false;
        }
        let hidden = either(self.answers.asking_words(stream), &clauses_with(stream, &supposed));
        !self.intent_outside(stream, &hidden).is_some_and(|intent| intent.is_request() || intent.is_return())
    }

    /// Whether the message asks to send goods back, by a verb.
    pub(super) fn names_return(&self, stream: &TokenStream<'_>) -> bool {
        any_match(&self.intents.return_verb, stream, &match_mask(&self.intents.unwished, stream, &[]))
    }

    /// Returns what the customer wants by the words that are not hidden. What they say they do not want ("don't return it, just tell
    /// me where it is") does not count.
    fn intent_outside(&self, stream: &TokenStream<'_>, hidden: &[bool]) -> Option<Intent> {
        let unwished = either(match_mask(&self.intents.unwished, stream, hidden), hidden);
        let wants = |patterns| any_match(patterns, stream, &unwished);
        let has = |patterns| any_match(patterns, stream, hidden);
        if has(&self.intents.status_of_return) || has(&self.asides.return_number) {
            Some(Intent::OrderStatus)
        } else if let Some(request) = self.request(stream, &unwished) {
            Some(request)
        } else if wants(&self.intents.refund) {
            Some(Intent::Refund)
        } else if wants(&self.intents.returns) {
            Some(Intent::Return)
        } else if has(&self.intents.order_status) {
            Some(Intent::OrderStatus)
        } else if wants(&self.intents.cancel_order) {
            Some(Intent::Return)
        } else {
            (has(&self.intents.other) || has(&self.intents.greeting)).then_some(Intent::Other)
        }
    }

    /// Returns the request that a person settles. "Return it" wins over missing goods, and over an invoice or an address in another
    /// part of the sentence ("return 77893, I have lost the receipt").
    fn request(&self, stream: &TokenStream<'_>, unwished: &[bool]) -> Option<Intent> {
        let hidden = either(match_mask(&self.asides.no_request, stream, unwished), unwished);
        let returning = clauses_with(stream, &match_mask(&self.intents.return_verb, stream, unwished));
        let returns = returning.contains(&true);
        let elsewhere: Vec<bool> = returning.iter().map(|returning| !returning).collect();
        let hidden_outside_return = either(elsewhere, &hidden);
        let found = self.requests.iter().find(|(intent, patterns)| match intent {
            Intent::MissingItem if returns => false,
            Intent::Invoice | Intent::AddressChange if returns => any_match(patterns, stream, &hidden_outside_return),
            _ => any_match(patterns, stream, &hidden),
        });
        found.map(|(intent, _)| *intent)
    }

    /// Returns what a message wants, and what the customer keeps: "cancel that one, keep the shoes". `None` if one of the
    /// two is missing.
    pub fn split_kept(&self, text: &str) -> Option<(String, String)> {
        let (wanted, kept) = self.split(&self.lexicon.tokenize(text));
        (!wanted.is_empty() && !kept.is_empty()).then_some((wanted, kept))
    }

    /// Returns a message without the order numbers that it takes back: "cancel 77893, no wait, 77894". `None` if it takes none back.
    pub fn without_corrected(&self, text: &str) -> Option<String> {
        let stream = self.lexicon.tokenize(text);
        let corrections = self.asides.corrected.iter().flat_map(|pattern| pattern.find_all(&stream, &[]));
        let at = corrections.filter_map(|words| stream.tokens().get(words.start)).map(|word| word.span.start).max()?;
        let (before, after) = text.split_at(at);
        let names_order = |text: &str| !self.find(text).0.is_empty();
        (names_order(before) && names_order(after)).then(|| {
            let kept = before.split_inclusive(char::is_whitespace).filter(|word| !names_order(word));
            kept.chain([after]).collect()
        })
    }

    /// Returns the words for the goods that a text wants and keeps: "everything except the socks". `None` if it keeps none.
    pub fn kept_goods(&self, text: &str) -> Option<KeptGoods> {
        self.kept_goods_in(&self.lexicon.tokenize(text))
    }

    pub(super) fn kept_goods_in(&self, stream: &TokenStream<'_>) -> Option<KeptGoods> {
        let (wanted, kept) = self.split(stream);
        (!kept.is_empty())
            .then(|| KeptGoods { wanted: self.without_not_items(&wanted), kept: self.without_not_items(&kept) })
    }

    /// Splits a message into the part that the customer does not keep, and the part that they keep.
    fn split(&self, stream: &TokenStream<'_>) -> (String, String) {
        let starts = stream.tokens().iter().map(|token| token.span.start);
        let ends = starts.clone().skip(1).chain([stream.text().len()]);
        let (mut wanted, mut kept) = (String::new(), String::new());
        for ((start, end), is_kept) in starts.zip(ends).zip(self.kept_words(stream)) {
            if is_kept { &mut kept } else { &mut wanted }.push_str(&stream.text()[start..end]);
        }
        (wanted, kept)
    }

    /// Returns for each word whether it belongs to what the customer keeps.
    fn kept_words(&self, stream: &TokenStream<'_>) -> Vec<bool> {
        let not_kept = match_mask(&self.asides.not_kept, stream, &[]);
        let begins = match_mask(&self.asides.except, stream, &not_kept);
        let ends = match_mask(&self.asides.except_end, stream, &[]);
        let wishes = clauses_with(stream, &match_mask(&self.asides.except_in, stream, &[]));
        let mut kept = match_mask(&self.asides.kept, stream, &not_kept);
        let mut is_excepted = false;
        for (at, is_kept) in kept.iter_mut().enumerate() {
            let starts_clause = stream.clause(at).start == at;
            // "Return it all, but not the socks": the clause before has the wish. "Everything fits, except the socks" has none.
            let has_wish = wishes[at] || (starts_clause && (at == 0 || wishes[at - 1]));
            let continues = is_excepted && !starts_clause && !ends[at];
            is_excepted = continues || (begins[at] && has_wish);
            *is_kept |= is_excepted;
        }
        kept
    }

    /// Whether a part of the message reports damage, as opposed to supposing it.
    pub(super) fn reports_damage(&self, stream: &TokenStream<'_>) -> bool {
        let hypothetical = match_mask(&self.asides.hypothetical, stream, &[]);
        if !hypothetical.contains(&true) {
            return self.order_words.damage.is_reported_in(&cut::without_placeholders(stream.text()));
        }
        self.reports_damage_outside(stream, &hypothetical)
    }

    /// Whether the message reports damage next to a general question. Damage within the question is hypothetical.
    pub(super) fn reports_damage_next_to_question(&self, stream: &TokenStream<'_>) -> bool {
        let asked = match_mask(&self.asides.policy, stream, &[]);
        let of_question = either(asked, &match_mask(&self.asides.hypothetical, stream, &[]));
        self.reports_damage_outside(stream, &of_question)
    }

    /// Whether the message reports damage next to a label that does not open.
    pub(super) fn reports_damage_next_to_label(&self, stream: &TokenStream<'_>) -> bool {
        let of_label =
            [&self.asides.label_broken, &self.asides.label_use].map(|patterns| match_mask(patterns, stream, &[]));
        let [broken, used] = of_label;
        self.reports_damage_outside(stream, &either(broken, &used))
    }

    /// Whether a clause without any hidden word reports damage.
    fn reports_damage_outside(&self, stream: &TokenStream<'_>, hidden: &[bool]) -> bool {
        clauses_of(stream).into_iter().any(|words| {
            let is_free = hidden.get(words.clone()).is_some_and(|hidden| !hidden.contains(&true));
            is_free && self.order_words.damage.is_reported_in(stream.source(words))
        })
    }
}

/// Returns the words of each clause.
pub(super) fn clauses_of(stream: &TokenStream<'_>) -> Vec<Range<usize>> {
    let clauses = stream.tokens().chunk_by(|word, next| word.clause == next.clause).scan(0_usize, |end, words| {
        *end += words.len();
        Some(*end - words.len()..*end)
    });
    clauses.collect()
}

/// Returns for each word whether one of the masks has it. The second mask may be shorter.
fn either(mut mask: Vec<bool>, other: &[bool]) -> Vec<bool> {
    mask.iter_mut().zip(other).for_each(|(flag, other)| *flag |= other);
    mask
}

/// Returns for each word whether its clause has a flagged word.
fn clauses_with(stream: &TokenStream<'_>, flags: &[bool]) -> Vec<bool> {
    let mut with = vec![false; stream.tokens().len()];
    for words in clauses_of(stream) {
        let has_flag = flags.get(words.clone()).is_some_and(|flags| flags.contains(&true));
        with[words].fill(has_flag);
    }
    with
}
