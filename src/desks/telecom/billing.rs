//! Answers about the customer's plan, invoices and refunds from the account, by rules: one question at a time.
//!
//! - [`ask`]: the questions of the desk, and when they lead to a person
//! - [`aside`]: questions in the middle of it
//! - [`identify`]: whose account it is
//! - [`refund`]: a refund from the first message to its case
//! - [`say`]: the desk's texts
//! - [`sums`]: the total of invoices, and the difference of plans
//! - [`topic()`]: what a message asks for

use super::memory::{Asked, Draft, Memory};
use super::rules::{Parsed, Topic};
use super::said::SaidAmount;
use super::texts::Text;
use super::{Telecom, UNCLEAR_IN_A_ROW, kind};
use crate::dialogue::{DeskError, Turn};
use crate::domain::commerce::Money;
use crate::domain::telecom::{Account, RefundReason};
use crate::replies::MissingValue;
use crate::store::TenantStore;

mod aside;
mod ask;
mod identify;
mod refund;
mod say;
mod sums;
mod topic;

use aside::clauses;
pub(super) use identify::Identity;
use refund::LIKELY;
pub(super) use refund::about;
pub(super) use topic::corrects_case;
use topic::topic;

impl Telecom {
    pub(super) fn store_of<'a>(&'a self, turn: &'a Turn) -> TenantStore<'a> {
        self.services.store.tenant(&turn.conversation.tenant)
    }

    /// Answers a billing message: from the documents, from the account, or with the model and its tools if it is up.
    pub(super) async fn answer_billing(
        &self,
        turn: &mut Turn,
        parsed: &Parsed,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let utterance = &parsed.utterance;
        if utterance.cancels() {
            let case = self.last_case(turn, memory).await?.filter(|case| case.status.is_open());
            let draft = memory.refund.as_ref();
            let noted = draft.map_or(case.as_ref().map(|case| case.amount), |draft| draft.amount);
            let amount = parsed.said.amount(parsed.is_brief());
            // "Not 50 after all, but 55" corrects, and gives up nothing.
            let is_other = |new: Money| LIKELY.contains(&new.minor) && noted.is_some_and(|noted| noted != new);
            let corrects = matches!(amount, SaidAmount::One(new) if is_other(new));
            // "I changed my mind, refund INV-1" has the words of giving up, and begins a refund.
            let withdraws = parsed.said.reason == Some(RefundReason::WithinCoolingOff);
            let had_nothing = case.is_none() && !withdraws && !utterance.has_question();
            if !corrects && (memory.refund.take().is_some() | memory.wish.take().is_some() || had_nothing) {
                (memory.heard_reason, memory.repeated) = (None, None);
                memory.context_flags.refund_in_progress = false;
                return self.say(turn, kind::INFO, Text::WishDropped).await;
            }
            if let Some(case) = case.filter(|_| memory.refund.is_none()) {
                memory.asked = Some(Asked::Person);
                let text = if corrects { Text::CaseIs } else { Text::CaseStays };
                return self.say_case(turn, text, &case).await;
            }
        }
        if corrects_case(parsed, memory)
            && let Some(case) = self.last_case(turn, memory).await?.filter(|case| case.status.is_open())
        {
            // "Yes, 50 PLN, overcharge" repeats the case.
            let is_same = !utterance.asks(Topic::Correction)
                && parsed.said.reason.is_none_or(|reason| reason == case.reason)
                && (parsed.said.names_amount(case.amount) || parsed.said.amount(true) == SaidAmount::Unclear)
                && parsed.said.invoice(None, None).is_none_or(|invoice| case.invoice.is_meant_by(&invoice));
            if is_same {
                return self.say_case(turn, Text::CaseIs, &case).await;
            }
            let [first, more] = [Text::CaseChanges, Text::CaseChangesMore].map(|text| self.of_case(turn, text, &case));
            let Some(text) = Self::in_other_words(turn, [first?, more?]) else { return self.call_person(turn).await };
            memory.asked = Some(Asked::Person);
            return Ok(turn.say_with(kind::CASE, &text, about(&case)).await?);
        }
        let open = memory.open_wish();
        let gives_more = parsed.gives(Asked::Confirm, true);
        // "Ok, but is that the right invoice?" gets the summary again.
        let objects = utterance.denies() || utterance.equivocates() && !utterance.has_question();
        if asked == Some(Asked::Confirm) && objects && !gives_more {
            memory.asked = asked;
            let text = self.text(turn, Text::AskChange, &[])?;
            if Self::has_just_said(turn, &text) {
                return self.ask(turn, Asked::Confirm, "", memory).await;
            }
            return Ok(turn.say(kind::PROMPT, &text).await?);
        }
        // The plan is shown with the invoices, so "my last bill was INV-1" asks for nothing else.
        let is_shown_anyway = |topic: &Topic| open == Some(Topic::Subscription) && *topic == Topic::Invoices;
        // "Please check INV-12345" answers "for which invoice?".
        let answers = asked.is_some_and(|asked| parsed.said.answers(asked)) && !utterance.has_question();
        let is_answer = |topic: &Topic| open == Some(Topic::Refund) && *topic == Topic::Invoices && answers;
        let topic = topic(parsed, asked, memory).filter(|topic| !is_shown_anyway(topic) && !is_answer(topic));
        let gives = asked.is_some_and(|asked| parsed.gives(asked, open == Some(Topic::Refund)));
        let known_before = turn.conversation.user_id.clone().or_else(|| memory.account.verified.clone());
        let identity = self.identify(turn, &parsed.said, asked, memory).await?;
        let is_wrong = matches!(identity, Identity::Wrong | Identity::Other | Identity::Locked);
        if let Identity::Known(user_id) = &identity
            && let Some(text) = self.plan_differences(turn, parsed, user_id).await?
        {
            // Later questions are about the plans.
            self.note_subject(turn, &utterance.text, memory).await;
            return self.inform(turn, &text, asked, memory).await;
        }
        // A question about rules needs no account.
        let is_about_rules = match topic {
            None if parsed.said.user_id().is_some() => false,
            // "Until when must I pay INV-12345?"
            None if parsed.said.names_account() => utterance.has_question(),
            None => open.is_none() || utterance.has_question(),
            Some(Topic::OutOfScope) => true,
            Some(Topic::Refund) => utterance.has_question() && !parsed.said.is_concrete(),
            Some(_) => false,
        } && !is_wrong;
        // A yes after a case was opened is about that case.
        let is_about_case = utterance.affirms() && !utterance.has_question() && memory.billing_case_id.is_some();
        let is_aside = is_about_rules && !gives && !self.asks_where(turn, parsed, asked);
        let may_be_answered =
            utterance.answer.is_none() || asked.is_none_or(|asked| asked == Asked::Person) && !is_about_case;
        let with_subject =
            || if memory.refund.is_some() { self.about_refund(turn, parsed) } else { Ok(parsed.clone()) };
        let aside = (is_aside && may_be_answered).then(with_subject).transpose()?;
        if let Some(aside) = &aside
            && self.answer_aside(turn, aside, utterance.has_question(), memory).await?
        {
            if topic == Some(Topic::OutOfScope) {
                memory.last_agent = None;
            }
            let is_offered = memory.asked == Some(Asked::Person);
            if topic == Some(Topic::OutOfScope) && open.is_none() && !utterance.has_question() && !is_offered {
                memory.asked = Some(Asked::Person);
                return self.say(turn, kind::PROMPT, Text::OfferColleague).await;
            }
            return self.ask_again(turn, asked, memory).await;
        }
        // Without a page, the policy answers a question about refunds.
        let is_policy = is_about_rules && topic == Some(Topic::Refund) && open.is_none() && !gives;
        let wish = if is_policy { Some(Topic::Policy) } else { topic.or(open) };
        // Who proves an account and wants nothing else sees it.
        let is_new = matches!(&identity, Identity::Known(user_id) if known_before.as_ref() != Some(user_id));
        let wish = wish.or(is_new.then_some(Topic::Subscription));
        // "Yes. And 10 PLN of INV-1, too": the yes is for the refund before.
        let begins_next =
            asked == Some(Asked::Confirm) && wish == Some(Topic::Refund) && memory.agrees_and_claims(parsed);
        let noted = match &mut memory.refund {
            Some(draft) if begins_next => {
                draft.confirmed = true;
                String::new()
            }
            _ => self.take_details(turn, parsed, asked, wish, memory)?,
        };
        let is_for_model = self.services.llm.is_up() && !is_wrong && wish != Some(Topic::OutOfScope);
        if is_for_model && self.answer_with_tools(turn, &identity, memory).await? {
            return self.expect_answer(turn, wish, &identity, memory).await;
        }
        // The model answers the whole message.
        if gives || asked == Some(Asked::Confirm) && utterance.affirms() {
            self.answer_besides(turn, parsed, asked, memory).await?;
        }
        if is_aside && topic.is_none() && self.is_unanswered(turn, parsed, asked) {
            self.say(turn, kind::INFO, Text::NotInPages).await?;
            return self.ask_again(turn, asked, memory).await;
        }
        match (wish, identity) {
            (Some(Topic::Policy), _) => {
                let text = self.policy(turn)?;
                self.inform(turn, &text, asked, memory).await
            }
            (Some(Topic::OutOfScope), _) => {
                memory.last_agent = None;
                let text = self.text(turn, Text::OutOfScope, &[])?;
                self.inform(turn, &text, asked, memory).await?;
                if self.may_offer_person(turn, memory) {
                    memory.asked = Some(Asked::Person);
                }
                Ok(())
            }
            (Some(Topic::Progress), identity) => self.report_progress(turn, &identity, asked, memory).await,
            (None, Identity::Known(_) | Identity::Unknown) if utterance.has_question() && !utterance.stalls() => {
                self.say_no_answer(turn, memory).await
            }
            (None, Identity::Known(_) | Identity::Unknown) => self.say_menu(turn, utterance.affirms(), memory).await,
            (Some(Topic::Refund), _) if self.refuse_amount(turn, memory).await? => Ok(()),
            (Some(wish), Identity::Known(user_id)) => {
                self.grant(turn, wish, &user_id, &noted, asked, memory).await?;
                if !begins_next || memory.refund.is_some() {
                    return Ok(());
                }
                let noted = self.take_details(turn, parsed, None, Some(Topic::Refund), memory)?;
                if self.refuse_amount(turn, memory).await? {
                    return Ok(());
                }
                self.grant(turn, Topic::Refund, &user_id, &noted, None, memory).await
            }
            (_, identity) => {
                memory.wish = wish;
                match identity.question() {
                    (Text::AskUserId | Text::AskProof, Some(asked)) => self.ask(turn, asked, &noted, memory).await,
                    (text, Some(asked)) => {
                        let text = self.text(turn, text, &[])?;
                        self.refuse(turn, &text, asked, memory).await
                    }
                    (text, None) => self.say(turn, kind::PROMPT, text).await,
                }
            }
        }
    }

    /// Says what the desk can do with an account, once; then it offers a person. After a case was opened, a yes is about that case.
    async fn say_menu(&self, turn: &mut Turn, affirms: bool, memory: &mut Memory) -> Result<(), DeskError> {
        if let (true, Some(case)) = (affirms, self.last_case(turn, memory).await?) {
            return self.say_case(turn, Text::CaseIs, &case).await;
        }
        if std::mem::replace(&mut memory.has_shown_menu, true) {
            memory.unclear = UNCLEAR_IN_A_ROW;
            return self.clarify(turn, memory).await;
        }
        self.say(turn, kind::PROMPT, Text::AskBilling).await
    }

    /// Reports the state of the open request: the case, or the details so far and the missing ones.
    async fn report_progress(
        &self,
        turn: &mut Turn,
        identity: &Identity,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        if memory.refund.is_none()
            && let Some(case) = self.last_case(turn, memory).await?
        {
            return self.say_case(turn, Text::CaseIs, &case).await;
        }
        // After other replies, "yes, open it" gets the summary again.
        let is_complete = memory.refund.as_ref().is_some_and(|draft| draft.missing() == Asked::Confirm);
        let is_next = asked.is_none() && is_complete && matches!(identity, Identity::Known(_));
        if asked == Some(Asked::Confirm) || is_next {
            return self.ask_again(turn, Some(Asked::Confirm), memory).await;
        }
        if let (Identity::Known(user_id), Some(named)) =
            (identity, memory.refund.as_ref().and_then(|draft| draft.invoice.clone()))
            && let Some(invoice) = self.store_of(turn).find_invoice_of(user_id, &named).await?
            && asked == Some(Asked::Amount)
        {
            let account = self.store_of(turn).find_account(user_id).await?;
            let left = account.map_or(invoice.amount, |account| account.left_of(&invoice));
            return self.say_above_invoice(turn, &invoice.number, left, memory).await;
        }
        let noted = self.noted(turn, &Draft::default(), None, memory)?;
        let text = match noted.as_str() {
            "" => self.text(turn, Text::NotOpen, &[])?,
            noted => self.text(turn, Text::NotOpenNoted, &[("noted", noted)])?,
        };
        turn.say(kind::INFO, &text).await?;
        self.ask_again(turn, asked, memory).await
    }

    /// Remembers which question the next message may answer. A model asks freely, so the desk infers it from what is missing.
    async fn expect_answer(
        &self,
        turn: &Turn,
        wish: Option<Topic>,
        identity: &Identity,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        // The model words its questions.
        memory.repeated = None;
        let needs_account = !matches!(wish, None | Some(Topic::Policy | Topic::OutOfScope | Topic::Progress));
        match identity {
            Identity::Known(user_id) => {
                memory.wish = None;
                let Some(draft) = &mut memory.refund else { return Ok(()) };
                if let Some(named) = &draft.invoice {
                    draft.invoice =
                        self.store_of(turn).find_invoice_of(user_id, named).await?.map(|invoice| invoice.number);
                }
                memory.asked = Some(draft.missing());
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
        noted: &str,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        memory.wish = None;
        // Another account is asked for in full words again.
        memory.repeated = memory.repeated.filter(|(asked, _)| !matches!(asked, Asked::UserId | Asked::Proof));
        let Some(account) = self.store_of(turn).find_account(user_id).await? else {
            return self.say(turn, kind::INFO, Text::NoSubscription).await;
        };
        let text = match wish {
            Topic::Refund => return self.continue_refund(turn, &account, noted, memory).await,
            Topic::Subscription => self.subscription(turn, &account)?,
            Topic::Invoices => self.invoices(turn, &self.meant_invoices(turn, &account))?,
            Topic::Total => self.total(turn, &account)?,
            Topic::CaseStatus => self.cases(turn, &account)?,
            _ => return Ok(()),
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
        let is_for_wish = memory.wish.is_some() || memory.refund.is_some();
        self.ask_again(turn, asked.filter(|_| is_for_wish), memory).await
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
            parts.push(self.invoices(turn, &account.invoices)?);
        }
        if !account.cases.is_empty() {
            parts.push(self.cases(turn, account)?);
        }
        Ok(parts.join("\n\n"))
    }
}
