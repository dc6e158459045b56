//! A refund, from the first message to its case.

use serde_json::json;

use super::clauses;
use crate::desks::telecom::memory::{Asked, Draft, Memory};
use crate::desks::telecom::rules::{Parsed, Topic};
use crate::desks::telecom::said::SaidAmount;
use crate::desks::telecom::texts::Text;
use crate::desks::telecom::{Telecom, kind};
use crate::dialogue::{DeskError, Turn};
use crate::domain::commerce::{Currency, Money};
use crate::domain::telecom::refund::{CLAIM_MAX, DESCRIPTION_MAX_CHARS};
use crate::domain::telecom::{Account, InvoiceNumber, RefundCase, RefundClaim, RefundReason};
use crate::domain::{ActorKind, Metadata};
use crate::nlu::long_text::read_text;
use crate::replies::MissingValue;
use crate::retrieval::Subject;
use crate::store::StoreError;
use crate::store::audit::Actor;
use crate::store::refund_cases::Opening;

/// Grosze that a number without a unit may mean in a claim.
pub(super) const LIKELY: std::ops::RangeInclusive<i64> = 1_000..=CLAIM_MAX.minor;
/// The smallest amount that can be claimed.
const LEAST: Money = Money::new(1, Currency::Pln);

impl Draft {
    /// Takes what a message of this customer says. An amount that cannot be paid is kept, so that the desk can say why.
    /// `claimed` is the amount of a clause that claims it without a currency.
    fn update(&mut self, parsed: &Parsed, asked: Option<Asked>, user_id: Option<&str>, claimed: SaidAmount) {
        let (said, before) = (&parsed.said, self.clone());
        if let Some(invoice) = said.invoice(asked, user_id) {
            self.invoice = Some(invoice);
        }
        // A number that answers another question of the desk is no amount.
        let is_other = asked.is_some_and(|asked| asked != Asked::Amount && said.answers(asked));
        // "Charged 2 times extra" begins a claim: its number is no amount before there was a question.
        let takes_numbers = parsed.is_brief() && !is_other && (asked.is_some() || self.amount.is_some() || said.same);
        let amount = match said.amount(asked == Some(Asked::Amount) || asked == Some(Asked::Confirm) && takes_numbers) {
            // "She is 9" is no amount, where the desk has asked for something else.
            SaidAmount::Unclear if takes_numbers && is_likely(&said.amount(true)) => said.amount(true),
            SaidAmount::Unclear if claimed != SaidAmount::Unclear => claimed,
            // "Sorry, INV-45601, and it is 6.50": what is left after the named invoice or id.
            SaidAmount::Unclear if is_other && said.names_account() && self.amount.is_none() && parsed.is_brief() => {
                let rest = Some(said.exact_amount()).filter(|rest| *rest != SaidAmount::Unclear);
                rest.or(Some(said.amount(true)).filter(is_likely)).unwrap_or(SaidAmount::Unclear)
            }
            SaidAmount::Unclear if !is_other && self.amount.is_none() => said.exact_amount(),
            // "I paid 145 PLN, please refund 45"
            SaidAmount::One(named) if matches!(claimed, SaidAmount::One(one) if one != named) => claimed,
            amount => amount,
        };
        // "Actually twenty is fine" is no reason.
        let is_other_field = parsed.is_brief() && amount != SaidAmount::Unclear;
        match amount {
            SaidAmount::One(amount) => self.amount = Some(amount),
            SaidAmount::TooExact => self.amount = Some(Money::zero(Currency::Pln)),
            SaidAmount::Unclear => {}
        }
        let agrees = parsed.utterance.affirms() && !parsed.utterance.equivocates();
        if said.whole && amount == SaidAmount::Unclear && self.amount.is_some() && !agrees {
            // "No, the whole invoice" replaces the amount, and "the internet was off all day" does not.
            let is_expected = match asked {
                Some(Asked::Amount) => true,
                Some(Asked::Confirm) => said.corrects || parsed.utterance.denies(),
                Some(Asked::Reason) => false,
                _ => said.corrects,
            };
            if is_expected && parsed.is_brief() {
                self.amount = None;
            }
        }
        self.whole = (self.whole || said.whole) && self.amount.is_none();
        match said.reason.or(said.reason_if_asked.filter(|_| asked == Some(Asked::Reason))) {
            Some(reason) => self.reason = Some(reason),
            // The customer was asked for the reason and gives an unlisted one.
            None if asked == Some(Asked::Reason) && parsed.explains() && !is_other_field => {
                self.reason = Some(RefundReason::Other);
                self.description = Some(description(parsed));
            }
            None => {}
        }
        self.confirmed = asked == Some(Asked::Confirm) && agrees && *self == before;
    }

    /// Takes what the message does not name from the claim before.
    fn repeat(&mut self, before: &Self) {
        self.invoice = self.invoice.take().or(before.invoice.clone());
        self.reason = self.reason.or(before.reason);
    }

    fn is_bad_amount(&self) -> bool {
        self.amount.is_some_and(|amount| !(LEAST.minor..=CLAIM_MAX.minor).contains(&amount.minor))
    }

    /// Returns the first field that is missing. Without one, the customer has to confirm them.
    pub(super) fn missing(&self) -> Asked {
        match self {
            Self { invoice: None, .. } => Asked::Invoice,
            Self { amount: None, .. } => Asked::Amount,
            Self { reason: None, .. } => Asked::Reason,
            _ => Asked::Confirm,
        }
    }
}

fn is_likely(amount: &SaidAmount) -> bool {
    matches!(amount, SaidAmount::One(one) if LIKELY.contains(&one.minor))
}

/// What later questions are about: a claim, or the case that was opened for it.
fn subject(text: &str) -> Subject {
    Subject { words: text.to_owned(), asked: text.to_owned(), ..Subject::default() }
}

fn by_desk(turn: &Turn) -> Actor<'static> {
    Actor { kind: ActorKind::Automatic, who: "desk", conversation: Some(turn.conversation.id), now: turn.accepted_at() }
}

fn description(parsed: &Parsed) -> String {
    parsed.utterance.text.chars().take(DESCRIPTION_MAX_CHARS).collect()
}

impl Telecom {
    /// Returns the only amount that clauses claim without a currency: "I want 100 back" does, and "charged 2 times" does not. An
    /// amount that the message corrects is none.
    fn claimed(&self, parsed: &Parsed) -> SaidAmount {
        let text = &parsed.utterance.text;
        let is_kept = |amount: &SaidAmount| matches!(amount, SaidAmount::One(one) if parsed.said.names_amount(*one));
        let mut amounts: Vec<SaidAmount> = read_text(text.len(), || {
            let clauses = clauses(text).into_iter().map(|clause| self.rules.parse(clause));
            // "Make it 40 actually" claims as well.
            let claims = |clause: &Parsed| clause.utterance.asks(Topic::Refund) || clause.said.corrects;
            let claims = clauses.filter(|clause| clause.is_brief() && claims(clause));
            claims.map(|clause| clause.said.amount(true)).filter(is_likely).filter(is_kept).collect()
        });
        amounts.dedup();
        if let [amount] = amounts[..] { amount } else { SaidAmount::Unclear }
    }

    /// Takes what the message says about a refund. Returns the details besides the answer to the desk's question, in words.
    pub(super) fn take_details(
        &self,
        turn: &Turn,
        parsed: &Parsed,
        asked: Option<Asked>,
        wish: Option<Topic>,
        memory: &mut Memory,
    ) -> Result<String, MissingValue> {
        if wish != Some(Topic::Refund) {
            return Ok(String::new());
        }
        let before = memory.refund.clone().unwrap_or_default();
        if memory.refund.is_none() {
            memory.subject = Some(subject(&parsed.utterance.text));
        }
        let reason = memory.heard_reason.take().and_then(|heard| heard.at(turn.number()));
        let new = || Draft { description: Some(description(parsed)), reason, ..Draft::default() };
        let claimed = self.claimed(parsed);
        let draft = memory.refund.get_or_insert_with(new);
        memory.context_flags.refund_in_progress = true;
        draft.update(parsed, asked, memory.account.user_id.as_deref(), claimed);
        if let Some(last) = memory.last_claim.as_ref().filter(|_| parsed.said.same) {
            draft.repeat(last);
        }
        // The invoice that proved the account is the one that the customer has in hand.
        let is_claimed = |invoice: &&InvoiceNumber| {
            memory.last_claim.as_ref().and_then(|last| last.invoice.as_ref()) == Some(*invoice)
        };
        if draft.invoice.is_none() && memory.account.verified.is_some() {
            draft.invoice = memory.account.invoice.as_ref().filter(|invoice| !is_claimed(invoice)).cloned();
        }
        self.noted(turn, &before, asked, memory)
    }

    /// Returns what the draft has and an earlier one had not, in words. Nothing, if it is only what the desk asked for.
    pub(super) fn noted(
        &self,
        turn: &Turn,
        before: &Draft,
        asked: Option<Asked>,
        memory: &Memory,
    ) -> Result<String, MissingValue> {
        let Some(draft) = &memory.refund else { return Ok(String::new()) };
        let mut noted = Vec::new();
        let mut is_more = false;
        let mut note = |text: String, of: Asked| {
            is_more |= asked != Some(of);
            noted.push(text);
        };
        if let Some(invoice) = draft.invoice.as_ref().filter(|_| draft.invoice != before.invoice) {
            let of = if asked == Some(Asked::Proof) { Asked::Proof } else { Asked::Invoice };
            note(self.text(turn, Text::NotedInvoice, &[("invoice", invoice.as_str())])?, of);
        }
        if let Some(amount) = draft.amount.filter(|_| draft.amount != before.amount && !draft.is_bad_amount()) {
            note(self.money(turn, amount), Asked::Amount);
        }
        if let Some(reason) = draft.reason.filter(|_| draft.reason != before.reason) {
            note(self.reason(turn, reason)?, Asked::Reason);
        }
        Ok(if is_more { noted.join(", ") } else { String::new() })
    }

    /// Says why an amount cannot be paid, whatever the account. Returns whether it did.
    pub(super) async fn refuse_amount(&self, turn: &mut Turn, memory: &mut Memory) -> Result<bool, DeskError> {
        let Some(draft) = memory.refund.as_mut().filter(|draft| draft.is_bad_amount()) else { return Ok(false) };
        draft.amount = None;
        let (least, most) = (self.money(turn, LEAST), self.money(turn, CLAIM_MAX));
        let text = self.text(turn, Text::BadAmount, &[("least", &least), ("most", &most)])?;
        self.refuse(turn, &text, Asked::Amount, memory).await?;
        Ok(true)
    }

    /// Asks for what is missing, and whether all of it is right. Opens the case after a yes.
    pub(super) async fn continue_refund(
        &self,
        turn: &mut Turn,
        account: &Account,
        noted: &str,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let user_id = &account.subscription.user_id;
        let draft = memory.refund.get_or_insert_default();
        let named = match &draft.invoice {
            None => return self.ask(turn, Asked::Invoice, noted, memory).await,
            Some(number) => number.clone(),
        };
        let Some(invoice) = self.store_of(turn).find_invoice_of(user_id, &named).await? else {
            draft.invoice = None;
            let text = self.text(turn, Text::UnknownInvoice, &[])?;
            return self.refuse(turn, &text, Asked::Invoice, memory).await;
        };
        draft.invoice = Some(invoice.number.clone());
        let open = account.cases.iter().find(|case| case.invoice == invoice.number && case.status.is_open());
        if let Some(case) = open {
            self.store_of(turn).join_refund_case(case.id, &by_desk(turn)).await?;
            return self.say_already_open(turn, case, memory).await;
        }
        let left = account.left_of(&invoice);
        if std::mem::take(&mut draft.whole) {
            draft.amount = Some(Money::new(left.minor.min(CLAIM_MAX.minor), left.currency));
        }
        if left.minor == 0 || draft.amount.is_some_and(|amount| amount.minor > left.minor) {
            return self.say_above_invoice(turn, &invoice.number, left, memory).await;
        }
        let (Some(amount), Some(reason), true) = (draft.amount, draft.reason, draft.confirmed) else {
            let missing = draft.missing();
            return self.ask(turn, missing, noted, memory).await;
        };
        let claim = RefundClaim::new(invoice.number.clone(), reason, amount, draft.description.clone());
        let Ok(claim) = claim else {
            // Only the description can be wrong by now.
            draft.description = None;
            return self.ask(turn, Asked::Reason, noted, memory).await;
        };
        match self.open_case(turn, user_id, &claim).await? {
            Opening::Opened(case) => {
                memory.opened(&case);
                memory.subject = Some(subject(&self.of_case(turn, Text::Opened, &case)?));
                self.say_case(turn, Text::Opened, &case).await
            }
            Opening::AlreadyOpen(case) => self.say_already_open(turn, &case, memory).await,
            Opening::AboveInvoice { left } => self.say_above_invoice(turn, &invoice.number, left, memory).await,
            Opening::NoInvoice => self.ask(turn, Asked::Invoice, noted, memory).await,
        }
    }

    /// Opens a case in the name of the desk, or joins the open one, so that this conversation gets its decision, too.
    pub(in crate::desks::telecom) async fn open_case(
        &self,
        turn: &Turn,
        user_id: &str,
        claim: &RefundClaim,
    ) -> Result<Opening, StoreError> {
        let (store, by, zone) = (self.store_of(turn), by_desk(turn), self.services.config.telecom.time_zone);
        let opening = store.open_refund_case(user_id, claim, zone, &by).await?;
        if let Opening::AlreadyOpen(case) = &opening {
            store.join_refund_case(case.id, &by).await?;
        }
        Ok(opening)
    }

    /// Says something about a case. A new one has the next steps as a list.
    pub(in crate::desks::telecom) async fn say_case(
        &self,
        turn: &mut Turn,
        text: Text,
        case: &RefundCase,
    ) -> Result<(), DeskError> {
        let mut said = self.of_case(turn, text, case)?;
        if text == Text::Opened {
            said = format!("{said}\n\n{}", self.next_steps(turn, case)?);
        }
        Ok(turn.say_with(kind::CASE, &said, about(case)).await?)
    }

    /// Names the open case of an invoice.
    pub(in crate::desks::telecom) async fn say_already_open(
        &self,
        turn: &mut Turn,
        case: &RefundCase,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        (memory.refund, memory.repeated) = (None, None);
        memory.billing_case_id = Some(case.id.to_string());
        self.say_case(turn, Text::AlreadyOpen, case).await
    }

    /// Returns the case that this conversation opened or found last.
    pub(super) async fn last_case(&self, turn: &Turn, memory: &Memory) -> Result<Option<RefundCase>, StoreError> {
        match memory.billing_case_id.as_ref().and_then(|id| id.parse().ok()) {
            Some(id) => self.store_of(turn).find_refund_case(id).await,
            None => Ok(None),
        }
    }

    pub(super) async fn say_above_invoice(
        &self,
        turn: &mut Turn,
        invoice: &InvoiceNumber,
        left: Money,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        if left.minor == 0 {
            memory.refund = None;
            memory.context_flags.refund_in_progress = false;
            let text = self.text(turn, Text::NothingLeft, &[("invoice", invoice.as_str())])?;
            return Ok(turn.say(kind::INFO, &text).await?);
        }
        if let Some(draft) = &mut memory.refund {
            draft.amount = None;
        }
        let values = [("invoice", invoice.as_str()), ("amount", &self.money(turn, left))];
        let text = self.text(turn, Text::AboveInvoice, &values)?;
        self.refuse(turn, &text, Asked::Amount, memory).await
    }
}

impl Memory {
    /// Whether a message says yes to the refund that was summed up, and claims something of another invoice. A correction does not.
    pub(super) fn agrees_and_claims(&self, parsed: &Parsed) -> bool {
        let (utterance, said) = (&parsed.utterance, &parsed.said);
        let draft = self.refund.as_ref().and_then(|draft| draft.invoice.as_ref());
        let is_other = |named: &InvoiceNumber| draft.is_some_and(|invoice| !invoice.is_meant_by(named));
        let says_more = said.same && said.amount(true) != SaidAmount::Unclear;
        let claims = (said.claims() || says_more) && (utterance.asks(Topic::Refund) || !utterance.has_question());
        let agrees = utterance.affirms() && !utterance.equivocates();
        // "I was actually overcharged on that one, too" corrects nothing.
        let corrects = !said.same && (said.corrects || utterance.asks(Topic::Correction));
        agrees && claims && !corrects && said.invoice(None, None).is_some_and(|named| is_other(&named))
    }

    /// Remembers a new case; the refund is no longer a draft.
    pub(in crate::desks::telecom) fn opened(&mut self, case: &RefundCase) {
        self.billing_case_id = Some(case.id.to_string());
        self.context_flags.refund_in_progress = true;
        (self.refund, self.repeated) = (None, None);
        let (invoice, reason) = (Some(case.invoice.clone()), Some(case.reason));
        self.last_claim = Some(Draft { invoice, reason, ..Draft::default() });
    }
}

/// Returns the metadata of a message about a case.
pub(in crate::desks::telecom) fn about(case: &RefundCase) -> Metadata {
    Metadata::of(kind::CASE).with(
        "refund_case",
        json!({
            "case_id": case.id, "status": case.status, "invoice_id": case.invoice, "eta_date": case.eta,
        }),
    )
}
