//! Answers about the customer's plan, invoices and refunds from the account, by rules: one question at a time.
//!
//! - [`identify`]: whose account it is
//! - [`refund`]: a refund from the first message to its case
//! - [`say`]: the desk's texts

use super::memory::{Asked, Draft, Memory};
use super::rules::{Parsed, Topic};
use super::texts::Text;
use super::{Telecom, kind};
use crate::dialogue::{DeskError, Turn};
use crate::domain::telecom::Account;
use crate::domain::telecom::refund::DESCRIPTION_MAX_CHARS;
use crate::replies::MissingValue;
use crate::store::TenantStore;

mod identify;
mod refund;
mod say;

pub(super) use identify::Identity;
pub(super) use refund::about;

impl Telecom {
    pub(super) fn store_of<'a>(&'a self, turn: &'a Turn) -> TenantStore<'a> {
        self.services.store.tenant(&turn.conversation.tenant)
    }

    /// Answers a billing message, with the model and its tools if it is up.
    pub(super) async fn answer_billing(
        &self,
        turn: &mut Turn,
        parsed: &Parsed,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let wish = wish(parsed, memory);
        if parsed.utterance.cancels() && memory.refund.take().is_some() {
            memory.wish = None;
            memory.context_flags.refund_in_progress = false;
            return self.say(turn, kind::INFO, Text::RefundDropped).await;
        }
        update_draft(parsed, asked, wish, memory);
        let identity = self.identify(turn, &parsed.said, asked, memory).await?;
        let is_wrong = matches!(identity, Identity::Wrong | Identity::Locked);
        let is_for_model = self.services.llm.is_up() && !is_wrong && wish != Some(Topic::OutOfScope);
        if is_for_model && self.answer_with_tools(turn, &identity, memory).await? {
            return self.expect_answer(turn, wish, &identity, memory).await;
        }
        match (wish, identity) {
            (Some(Topic::Policy), _) => {
                let text = self.policy(turn)?;
                self.inform(turn, &text, asked, memory).await
            }
            (Some(Topic::OutOfScope), _) => {
                memory.last_agent = None;
                let text = self.text(turn, Text::OutOfScope, &[])?;
                self.inform(turn, &text, asked, memory).await
            }
            (None, Identity::Known(_) | Identity::Unknown) => self.say(turn, kind::PROMPT, Text::AskBilling).await,
            (Some(wish), Identity::Known(user_id)) => self.grant(turn, wish, &user_id, asked, memory).await,
            (_, identity) => {
                memory.wish = wish;
                let (text, asked) = identity.question();
                memory.asked = asked;
                self.say(turn, kind::PROMPT, text).await
            }
        }
    }

    /// Remembers which question the next message may answer. A model asks freely, so the desk infers it from what is missing.
    async fn expect_answer(
        &self,
        turn: &Turn,
        wish: Option<Topic>,
        identity: &Identity,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let needs_account = !matches!(wish, None | Some(Topic::Policy | Topic::OutOfScope));
        match identity {
            Identity::Known(user_id) => {
                memory.wish = None;
                let Some(draft) = &mut memory.refund else { return Ok(()) };
                if let Some(named) = &draft.invoice {
                    draft.invoice =
                        self.store_of(turn).find_invoice_of(user_id, named).await?.map(|invoice| invoice.number);
                }
                memory.asked = draft.missing();
            }
            _ if needs_account => {
                memory.wish = wish;
                memory.asked = identity.question().1;
            }
            _ => {}
        }
        Ok(())
    }

    /// Does what the customer of a known account wants.
    async fn grant(
        &self,
        turn: &mut Turn,
        wish: Topic,
        user_id: &str,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        memory.wish = None;
        let Some(account) = self.store_of(turn).find_account(user_id).await? else {
            return self.say(turn, kind::INFO, Text::NoSubscription).await;
        };
        let text = match wish {
            Topic::Refund => return self.continue_refund(turn, &account, memory).await,
            Topic::Subscription => self.subscription(turn, &account)?,
            Topic::Invoices => self.invoices(turn, &account)?,
            Topic::CaseStatus => self.cases(turn, &account)?,
            // These need no account.
            Topic::Policy | Topic::OutOfScope => return Ok(()),
        };
        self.inform(turn, &text, asked, memory).await
    }

    /// Answers a question, and repeats what the desk asked before it.
    async fn inform(
        &self,
        turn: &mut Turn,
        text: &str,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        turn.say(kind::INFO, text).await?;
        let question = match asked {
            Some(Asked::Invoice) => Text::AskInvoice,
            Some(Asked::Amount) => Text::AskAmount,
            Some(Asked::Reason) => Text::AskReason,
            _ => return Ok(()),
        };
        memory.asked = asked;
        self.say(turn, kind::PROMPT, question).await
    }

    /// Returns a line for each item below a heading, or the text for none.
    fn list<T>(
        &self,
        turn: &Turn,
        items: &[T],
        (heading, none): (Text, Text),
        line: impl Fn(&T) -> Result<String, MissingValue>,
    ) -> Result<String, MissingValue> {
        if items.is_empty() {
            return self.text(turn, none, &[]);
        }
        let lines: Vec<String> = items.iter().map(line).collect::<Result<_, _>>()?;
        Ok(format!("{}\n{}", self.text(turn, heading, &[])?, lines.join("\n")))
    }

    /// Returns the plan with the last invoices and the refund cases.
    fn subscription(&self, turn: &Turn, account: &Account) -> Result<String, MissingValue> {
        let mut parts = vec![self.plan(turn, account)?];
        if !account.invoices.is_empty() {
            parts.push(self.invoices(turn, account)?);
        }
        if !account.cases.is_empty() {
            parts.push(self.cases(turn, account)?);
        }
        Ok(parts.join("\n\n"))
    }
}

/// Returns what the message asks for, else what the customer asked for before. `None`: it does not say.
fn wish(parsed: &Parsed, memory: &Memory) -> Option<Topic> {
    let (utterance, is_concrete) = (&parsed.utterance, parsed.said.is_concrete());
    let asks = |topic: Topic| utterance.asks(topic);
    let in_progress = memory.refund.is_some();
    let asked =
        [Topic::Policy, Topic::CaseStatus, Topic::Refund, Topic::OutOfScope, Topic::Invoices, Topic::Subscription];
    let found = asked.into_iter().find(|topic| match topic {
        Topic::Policy => asks(Topic::Policy) && !is_concrete,
        Topic::CaseStatus => asks(Topic::CaseStatus) && (!is_concrete || !asks(Topic::Refund)),
        topic => asks(*topic),
    });
    let is_case = !parsed.said.cases.is_empty();
    found.or(is_case.then_some(Topic::CaseStatus)).or(in_progress.then_some(Topic::Refund)).or(memory.wish)
}

/// Takes what the message says about a refund.
fn update_draft(parsed: &Parsed, asked: Option<Asked>, wish: Option<Topic>, memory: &mut Memory) {
    if wish != Some(Topic::Refund) {
        return;
    }
    let description = || parsed.utterance.text.chars().take(DESCRIPTION_MAX_CHARS).collect();
    let draft = memory.refund.get_or_insert_with(|| Draft { description: Some(description()), ..Draft::default() });
    memory.context_flags.refund_in_progress = true;
    draft.update(parsed, asked);
}
