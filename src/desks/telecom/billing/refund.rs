//! A refund, from the first message to its case.

use serde_json::json;

use crate::desks::telecom::memory::{Asked, Draft, Memory};
use crate::desks::telecom::rules::Parsed;
use crate::desks::telecom::said::SaidAmount;
use crate::desks::telecom::texts::Text;
use crate::desks::telecom::{Telecom, kind};
use crate::dialogue::{DeskError, Turn};
use crate::domain::Metadata;
use crate::domain::commerce::{Currency, Money};
use crate::domain::returns::Hand;
use crate::domain::telecom::refund::{CLAIM_MAX, DESCRIPTION_MAX_CHARS};
use crate::domain::telecom::{Account, InvoiceNumber, RefundCase, RefundClaim, RefundReason};
use crate::store::StoreError;
use crate::store::refund_cases::Opening;
use crate::store::returns::By;

/// The smallest amount that can be claimed.
const LEAST: Money = Money::new(1, Currency::Pln);

impl Draft {
    /// Takes what a message says. An amount that cannot be paid is kept, so that the desk can say why.
    pub(super) fn update(&mut self, parsed: &Parsed, asked: Option<Asked>) {
        let said = &parsed.said;
        self.invoice = said.invoice(asked).or(self.invoice.take());
        match said.amount(asked) {
            SaidAmount::One(amount) => self.amount = Some(amount),
            SaidAmount::TooExact => self.amount = Some(Money::zero(Currency::Pln)),
            SaidAmount::Unclear => {}
        }
        match said.reason {
            Some(reason) => self.reason = Some(reason),
            // The customer was asked for the reason and gives an unlisted one.
            None if asked == Some(Asked::Reason) && parsed.explains() => {
                self.reason = Some(RefundReason::Other);
                self.description = Some(parsed.utterance.text.chars().take(DESCRIPTION_MAX_CHARS).collect());
            }
            None => {}
        }
    }

    /// Returns the first field that is missing.
    pub(super) fn missing(&self) -> Option<Asked> {
        match self {
            Self { invoice: None, .. } => Some(Asked::Invoice),
            Self { amount: None, .. } => Some(Asked::Amount),
            Self { reason: None, .. } => Some(Asked::Reason),
            _ => None,
        }
    }
}

impl Telecom {
    /// Asks for what is missing, or opens the case.
    pub(super) async fn continue_refund(
        &self,
        turn: &mut Turn,
        account: &Account,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let user_id = &account.subscription.user_id;
        let draft = memory.refund.get_or_insert_default();
        let named = match &draft.invoice {
            None => return self.ask(turn, Text::AskInvoice, Asked::Invoice, memory).await,
            Some(number) => number.clone(),
        };
        let Some(invoice) = self.store_of(turn).find_invoice_of(user_id, &named).await? else {
            draft.invoice = None;
            return self.ask(turn, Text::UnknownInvoice, Asked::Invoice, memory).await;
        };
        draft.invoice = Some(invoice.number.clone());
        let open = account.cases.iter().find(|case| case.invoice == invoice.number && case.status.is_open());
        if let Some(case) = open {
            memory.refund = None;
            return self.say_already_open(turn, case, memory).await;
        }
        let Some(amount) = draft.amount else { return self.ask(turn, Text::AskAmount, Asked::Amount, memory).await };
        if !(LEAST.minor..=CLAIM_MAX.minor).contains(&amount.minor) {
            draft.amount = None;
            let (least, most) = (self.money(turn, LEAST), self.money(turn, CLAIM_MAX));
            let text = self.text(turn, Text::BadAmount, &[("least", &least), ("most", &most)])?;
            return self.ask_in_words(turn, &text, Asked::Amount, memory).await;
        }
        if amount.minor > invoice.amount.minor {
            return self.say_above_invoice(turn, &invoice.number, invoice.amount, memory).await;
        }
        let Some(reason) = draft.reason else { return self.ask(turn, Text::AskReason, Asked::Reason, memory).await };
        let claim = RefundClaim::new(invoice.number.clone(), reason, amount, draft.description.clone());
        let Ok(claim) = claim else {
            // Only the description can be wrong by now.
            draft.description = None;
            return self.ask(turn, Text::AskReason, Asked::Reason, memory).await;
        };
        match self.open_case(turn, user_id, &claim).await? {
            Opening::Opened(case) => {
                memory.opened(&case);
                self.say_opened(turn, &case).await
            }
            Opening::AlreadyOpen(case) => {
                memory.refund = None;
                self.say_already_open(turn, &case, memory).await
            }
            Opening::AboveInvoice { left } => self.say_above_invoice(turn, &invoice.number, left, memory).await,
            Opening::NoInvoice => self.ask(turn, Text::UnknownInvoice, Asked::Invoice, memory).await,
        }
    }

    /// Opens a case in the name of the desk.
    pub(in crate::desks::telecom) async fn open_case(
        &self,
        turn: &Turn,
        user_id: &str,
        claim: &RefundClaim,
    ) -> Result<Opening, StoreError> {
        let (conversation, now) = (Some(turn.conversation.id), turn.accepted_at());
        let by = By { hand: Hand::Automatic, who: "desk", conversation, now };
        self.store_of(turn).open_refund_case(user_id, claim, self.services.config.telecom.time_zone, &by).await
    }

    /// Says that the case is open, with the next steps as a list.
    pub(in crate::desks::telecom) async fn say_opened(
        &self,
        turn: &mut Turn,
        case: &RefundCase,
    ) -> Result<(), DeskError> {
        let text = format!("{}\n\n{}", self.opened(turn, case)?, self.next_steps(turn, case)?);
        Ok(turn.say_with(kind::CASE, &text, about(case)).await?)
    }

    /// Names the open case of an invoice.
    pub(in crate::desks::telecom) async fn say_already_open(
        &self,
        turn: &mut Turn,
        case: &RefundCase,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        memory.billing_case_id = Some(case.id.to_string());
        let text = self.already_open(turn, case)?;
        Ok(turn.say_with(kind::CASE, &text, about(case)).await?)
    }

    async fn say_above_invoice(
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
        self.ask_in_words(turn, &text, Asked::Amount, memory).await
    }

    async fn ask(&self, turn: &mut Turn, text: Text, asked: Asked, memory: &mut Memory) -> Result<(), DeskError> {
        let text = self.text(turn, text, &[])?;
        self.ask_in_words(turn, &text, asked, memory).await
    }

    async fn ask_in_words(
        &self,
        turn: &mut Turn,
        text: &str,
        asked: Asked,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        memory.asked = Some(asked);
        Ok(turn.say(kind::PROMPT, text).await?)
    }
}

impl Memory {
    /// Remembers a new case; the refund is no longer a draft.
    pub(in crate::desks::telecom) fn opened(&mut self, case: &RefundCase) {
        self.billing_case_id = Some(case.id.to_string());
        self.context_flags.refund_in_progress = true;
        self.refund = None;
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
