//! What a billing message asks for.

use crate::desks::telecom::memory::{Asked, Memory};
use crate::desks::telecom::rules::{Parsed, Topic};
use crate::desks::telecom::said::SaidAmount;

/// What a message may ask for besides a refund.
const OTHER: [Topic; 5] = [Topic::Invoices, Topic::Subscription, Topic::CaseStatus, Topic::Policy, Topic::OutOfScope];

/// Whether a message corrects the case that was opened: "it should be 40", "it's not an overcharge", "oops, the wrong invoice". A claim of
/// an amount from an invoice is another one.
pub(in crate::desks::telecom) fn corrects_case(parsed: &Parsed, memory: &Memory) -> bool {
    let (utterance, said) = (&parsed.utterance, &parsed.said);
    if memory.billing_case_id.is_none() || memory.open_wish().is_some() || said.same {
        return false;
    }
    let names_invoice = said.invoice(None, None).is_some();
    let asks_more = utterance.text.trim_end().ends_with('?') || OTHER.iter().any(|topic| utterance.asks(*topic));
    let last = memory.last_claim.as_ref();
    let is_known =
        |invoice| last.and_then(|last| last.invoice.as_ref()).is_some_and(|known| known.is_meant_by(&invoice));
    let repeats_reason = said.reason.is_some() && said.reason == last.and_then(|last| last.reason);
    // "Let me look again ... it was 35 actually": what replaces something is the amount, however long the message is.
    let gives_other = match said.amount(parsed.is_brief() || said.corrects) {
        // "Wait, it was on INV-12345": not on the one of the case.
        SaidAmount::Unclear if names_invoice => {
            !utterance.has_question()
                && !utterance.asks(Topic::Refund)
                && !said.invoice(None, None).is_some_and(is_known)
        }
        SaidAmount::Unclear => said.reason.is_some() && !said.is_concrete(),
        _ => !utterance.asks(Topic::Refund) && !names_invoice && (!said.claims() || repeats_reason),
    };
    let claims_other = names_invoice && (said.amount(false) != SaidAmount::Unclear || utterance.asks(Topic::Refund));
    let is_of_contract = utterance.asks(Topic::OutOfScope) || utterance.asks(Topic::Subscription);
    gives_other && !asks_more || utterance.asks(Topic::Correction) && !claims_other && !is_of_contract
}

/// Returns what the message asks for. `None`: it does not say.
pub(super) fn topic(parsed: &Parsed, asked: Option<Asked>, memory: &Memory) -> Option<Topic> {
    if asked == Some(Asked::Confirm) && parsed.utterance.affirms() {
        return None;
    }
    let (utterance, is_concrete) = (&parsed.utterance, parsed.said.is_concrete());
    let has_open_request = memory.has_open_request();
    let order = [
        Topic::Progress,
        Topic::Policy,
        Topic::CaseStatus,
        Topic::Refund,
        Topic::OutOfScope,
        Topic::Total,
        Topic::Invoices,
        Topic::Subscription,
    ];
    // After a page named the refund case, an account after a reason, or a yes that names the case ("ok, open it"), begins the refund.
    let is_offered = memory.offers_case && memory.open_wish().is_none() && !utterance.has_question();
    let takes_offer = parsed.said.names_account() && memory.heard_reason.is_some()
        || parsed.agrees && utterance.asks(Topic::Progress);
    if is_offered && takes_offer && !OTHER.iter().any(|topic| utterance.asks(*topic)) {
        return Some(Topic::Refund);
    }
    // A yes after a case was opened is about that case.
    if parsed.agrees && memory.billing_case_id.is_some() && memory.open_wish().is_none() {
        return None;
    }
    let found = order.into_iter().find(|topic| match topic {
        Topic::Progress => utterance.asks(Topic::Progress) && has_open_request && !is_concrete,
        Topic::Policy => utterance.asks(Topic::Policy) && !is_concrete,
        Topic::CaseStatus => utterance.asks(Topic::CaseStatus) && (!is_concrete || !utterance.asks(Topic::Refund)),
        Topic::Refund => {
            let repeats = parsed.said.same && is_concrete && memory.last_claim.is_some();
            // "Check whether INV-12345 is 65 PLN" claims nothing.
            let claims = parsed.said.claims() && !utterance.has_question() && !utterance.asks(Topic::Invoices);
            utterance.asks(Topic::Refund) || repeats || claims
        }
        Topic::Subscription if memory.account.verified.is_some() && utterance.asks(Topic::Allowance) => true,
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
