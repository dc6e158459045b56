//! The least and the most that something may cost.

use std::ops::Range;

use super::CommerceRules;
use crate::desks::commerce::said::Limits;
use crate::domain::text::{Pattern, TokenStream};
use crate::nlu::counts::Count;

impl CommerceRules {
    /// Returns the least and the most that something may cost: a number of shillings right after the words for it.
    pub(super) fn limits(&self, stream: &TokenStream<'_>, numbers: &[Count]) -> Limits {
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
        for (limit, patterns) in [(&mut limits.most, &self.most), (&mut limits.least, &self.least)] {
            if let Some((shillings, words)) = after(patterns, &limits.words) {
                *limit = i64::try_from(shillings).ok();
                limits.words.push(words);
            }
        }
        limits
    }
}
