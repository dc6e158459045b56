//! What a message wants, and whether it reports damage.

use super::super::state::Intent;
use super::{ReturnsRules, cut, is_in};
use crate::domain::text::{Pattern, TokenStream, match_mask};

impl ReturnsRules {
    /// Returns what the customer wants. What they say they do not want ("don't return it, just tell me where it is") does not
    /// count.
    pub(super) fn intent(&self, stream: &TokenStream<'_>) -> Option<Intent> {
        let unwished = match_mask(&self.unwished, stream, &[]);
        let wants = |patterns: &[Pattern]| is_in(patterns, stream, &unwished);
        let has = |patterns: &[Pattern]| is_in(patterns, stream, &[]);
        let hidden = match_mask(&self.no_request, stream, &unwished);
        let hidden: Vec<bool> = hidden.into_iter().zip(&unwished).map(|(a, b)| a || *b).collect();
        let request = self.requests.iter().find(|(_, patterns)| is_in(patterns, stream, &hidden));
        if has(&self.status_of_return) || has(&self.return_number) {
            Some(Intent::OrderStatus)
        } else if let Some((intent, _)) = request {
            Some(*intent)
        } else if wants(&self.refund) {
            Some(Intent::Refund)
        } else if wants(&self.returns) {
            Some(Intent::Return)
        } else if has(&self.order_status) {
            Some(Intent::OrderStatus)
        } else if wants(&self.cancel_order) {
            Some(Intent::Return)
        } else {
            (has(&self.other) || has(&self.greeting)).then_some(Intent::Other)
        }
    }

    /// Whether a part of the message reports damage, as opposed to supposing it.
    pub(super) fn reports_damage(&self, stream: &TokenStream<'_>) -> bool {
        let hypothetical = match_mask(&self.hypothetical, stream, &[]);
        if !hypothetical.contains(&true) {
            return self.order_words.damage.is_reported_in(&cut::without_placeholders(stream.text()));
        }
        self.reports_damage_outside(stream, &hypothetical)
    }

    /// Whether the message reports damage besides a general question. Damage within the question is hypothetical.
    pub(super) fn reports_damage_besides_question(&self, stream: &TokenStream<'_>) -> bool {
        let asked = match_mask(&self.policy, stream, &[]);
        let hypothetical = match_mask(&self.hypothetical, stream, &[]);
        let of_question: Vec<bool> = asked.iter().zip(hypothetical).map(|(a, b)| *a || b).collect();
        self.reports_damage_outside(stream, &of_question)
    }

    /// Whether a clause without any hidden word reports damage.
    fn reports_damage_outside(&self, stream: &TokenStream<'_>, hidden: &[bool]) -> bool {
        let mut at = 0;
        while at < stream.tokens().len() {
            let words = stream.clause(at);
            at = words.end.max(at + 1);
            let is_free = hidden.get(words.clone()).is_some_and(|hidden| !hidden.contains(&true));
            if is_free && self.order_words.damage.is_reported_in(stream.source(words)) {
                return true;
            }
        }
        false
    }
}
