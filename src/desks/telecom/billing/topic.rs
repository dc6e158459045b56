//! What a billing message asks for.

use crate::desks::telecom::memory::{Asked, Memory};
use crate::desks::telecom::rules::{Parsed, Topic};
use crate::desks::telecom::said::SaidAmount;

/// Returns what the message asks for. `None`: it does not say.
pub(super) fn topic(parsed: &Parsed, asked: Option<Asked>, memory: &Memory) -> Option<Topic> {
    if asked == Some(Asked::Confirm) && parsed.utterance.affirms() {
        return None;
    }
    let (utterance, is_concrete) = (&parsed.utterance, parsed.said.is_concrete());
    let has_open_request = memory.has_open_request();
    // "It's not an overcharge" and "make it 65 PLN" correct the case that was opened.
    let corrects = match parsed.said.amount(parsed.is_brief()) {
        SaidAmount::Unclear => parsed.said.reason.is_some() && !is_concrete,
        _ => !utterance.asks(Topic::Refund) && parsed.said.invoice(None, None).is_none() && !parsed.said.claims(),
    };
    let other = [Topic::Invoices, Topic::Subscription, Topic::CaseStatus, Topic::Policy, Topic::OutOfScope];
    let asks_more = utterance.text.trim_end().ends_with('?')
        || parsed.said.same
        || other.iter().any(|topic| utterance.asks(*topic));
    let is_correction = corrects && !asks_more && memory.open_wish().is_none() && memory.billing_case_id.is_some();
    let order = [
        Topic::Progress,
        Topic::Policy,
        Topic::CaseStatus,
        Topic::Refund,
        Topic::OutOfScope,
        Topic::Invoices,
        Topic::Subscription,
    ];
    // After a page named the refund case, an account after a reason, or a yes that names the case ("ok, open it"), begins the refund.
    let is_offered = memory.offers_case && memory.open_wish().is_none() && !utterance.has_question();
    let takes_offer = parsed.said.names_account() && memory.heard_reason.is_some()
        || parsed.agrees && utterance.asks(Topic::Progress);
    if is_offered && takes_offer && !other.iter().any(|topic| utterance.asks(*topic)) {
        return Some(Topic::Refund);
    }
    // A yes after a case was opened is about that case.
    if parsed.agrees && memory.billing_case_id.is_some() && memory.open_wish().is_none() {
        return None;
    }
    let found = order.into_iter().find(|topic| match topic {
        Topic::Progress => is_correction || (utterance.asks(Topic::Progress) && has_open_request && !is_concrete),
        Topic::Policy => utterance.asks(Topic::Policy) && !is_concrete,
        Topic::CaseStatus => utterance.asks(Topic::CaseStatus) && (!is_concrete || !utterance.asks(Topic::Refund)),
        Topic::Refund => {
            let repeats = parsed.said.same && is_concrete && memory.last_claim.is_some();
            utterance.asks(Topic::Refund) || repeats || (parsed.said.claims() && !utterance.has_question())
        }
        topic => utterance.asks(*topic),
    });
    found.or((!parsed.said.cases.is_empty()).then_some(Topic::CaseStatus))
}

impl Memory {
    /// Returns what the customer asked for before and has not got.
    pub(in crate::desks::telecom) fn open_wish(&self) -> Option<Topic> {
        self.refund.as_ref().map(|_| Topic::Refund).or(self.wish)
    }

    /// Whether there is a request or a case that the customer can ask about.
    pub(in crate::desks::telecom) fn has_open_request(&self) -> bool {
        self.open_wish().is_some() || self.billing_case_id.is_some()
    }
}
