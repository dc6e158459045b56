//! Whether a message says yes or no, and how surely.

use super::TelecomRules;
use crate::dialogue::Answer;
use crate::domain::text::{Pattern, TokenStream, any_match, match_mask};

impl TelecomRules {
    pub(super) fn answer(&self, stream: &TokenStream<'_>) -> Option<Answer> {
        let has = |patterns: &[Pattern]| any_match(patterns, stream, &[]);
        match () {
            () if has(&self.cancel) => Some(Answer::Cancel),
            () if has(&self.no) => Some(Answer::No),
            () if has(&self.yes) || has(&self.weak_yes) => Some(Answer::Yes),
            () => None,
        }
    }

    pub(super) fn agrees(&self, stream: &TokenStream<'_>) -> bool {
        let agree = match_mask(&self.agree, stream, &[]);
        let more = match_mask(&self.agree_more, stream, &[]);
        agree.contains(&true) && agree.iter().zip(&more).all(|(agree, more)| *agree || *more)
    }

    /// Whether a yes has no objection: "yes, but the amount is wrong" and "ok" next to other words open no case. `only_agrees`: the
    /// message has no other words.
    pub(super) fn is_sure(&self, stream: &TokenStream<'_>, only_agrees: bool) -> bool {
        let weak = match_mask(&self.weak_yes, stream, &[]);
        let only_weak = !weak.is_empty() && weak.iter().all(|is_weak| *is_weak);
        let is_firm = only_agrees || only_weak || any_match(&self.yes, stream, &[]);
        // "Yes, why not" objects to nothing.
        is_firm && !any_match(&self.doubt, stream, &match_mask(&self.agree, stream, &[]))
    }
}
