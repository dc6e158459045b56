//! The telecom desk: technical questions and billing. Its business rules are in `docs/desks/telecom.md`.
//!
//! [`Telecom::play`] shows a turn. [`classify`] decides what a message is about, and [`route`] who answers: [`technical`] from
//! documents, [`billing`] from the customer's account ([`agent`] with a model's tools), or the desk asks what the customer needs.

use std::sync::Arc;

use async_trait::async_trait;

use super::machine::state_of;
use super::{ConsolePanel, Desk, DeskError, DeskFactory, OpenDesk, ReplayFixture, Services, TextsOfShops, Turn};
use crate::dialogue::Social;
use crate::dialogue::language::{self, MessageWithoutSwitch};
use crate::domain::commerce::Currency;
use crate::domain::{ConversationStatus, Kind, Language};
use crate::grounding::{Canary, Grounding, GroundingRules};
use crate::jobs::Job;
use crate::nlu::examples::Classifier;
use crate::nlu::language::LanguageRules;
use crate::nlu::long_text::read_text;
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};
use crate::replies::{MissingValue, Replies};

mod agent;
mod billing;
mod classify;
mod decisions;
mod find;
mod memory;
mod quotes;
mod replay;
pub mod route;
pub(super) mod rules;
mod said;
mod talk;
mod technical;
mod texts;

use classify::{NOT_COVERED, Verdict};
use find::is_meant;
use memory::{Asked, Decision, HeardReason, Memory};
use route::{Category, Route};
use rules::{Parsed, TelecomRules, Topic};
use texts::Text;

/// How often in a row the desk asks what the customer needs before it offers a person.
const UNCLEAR_IN_A_ROW: u32 = 2;

/// The telecom desk.
pub struct Telecom {
    services: Services,
    texts: Arc<ByLanguage<Replies<Text>>>,
    common: Arc<ByLanguage<CommonTexts>>,
    language_rules: Arc<LanguageRules>,
    rules: Arc<TelecomRules>,
    /// Examples of the categories.
    examples: Classifier,
    /// What customers say about what the conversation came to.
    talk: Classifier,
    /// The model's instructions for classification, technical answers and billing.
    classify_prompt: String,
    technical_prompt: String,
    billing_prompt: String,
    /// Checks what the language model says.
    grounding: Grounding,
}

/// Makes the desk of each shop.
#[derive(Default)]
pub struct Factory {
    texts: TextsOfShops<Replies<Text>>,
}

#[async_trait]
impl DeskFactory for Factory {
    fn name(&self) -> &'static str {
        "telecom"
    }

    fn load(&self, prompts: &Prompts, languages: &[Language]) -> Result<OpenDesk, PromptError> {
        let open = Telecom::load(prompts, languages)?;
        let all_texts = self.texts.clone();
        Ok(Box::new(move |services| {
            let desk = open(services);
            all_texts.set(&services.shop.tenant, (desk.texts.clone(), desk.common.clone()));
            Arc::new(desk)
        }))
    }

    fn jobs(&self) -> Vec<Arc<dyn Job>> {
        vec![Arc::new(decisions::AnnounceDecision(self.texts.clone()))]
    }

    fn console_panel(&self) -> Option<ConsolePanel> {
        Some(ConsolePanel::Account)
    }

    fn replay_fixture(&self) -> Option<Box<dyn ReplayFixture>> {
        Some(Box::new(replay::Rows))
    }

    fn message_kinds(&self) -> &'static [Kind] {
        &[kind::PROMPT, kind::INFO, kind::CASE]
    }
}

/// The kinds of messages that only this desk sends.
mod kind {
    use crate::domain::Kind;

    /// Asks for something that the desk needs to answer.
    pub const PROMPT: Kind = Kind::desk("billing_prompt");
    /// Shows an account, or explains the refund policy.
    pub const INFO: Kind = Kind::desk("billing_info");
    /// Reports a refund case.
    pub const CASE: Kind = Kind::desk("refund_case");
}

impl Telecom {
    /// Reads the desk's texts and rules.
    fn load(prompts: &Prompts, languages: &[Language]) -> Result<impl FnOnce(&Services) -> Self + use<>, PromptError> {
        let texts = ByLanguage::load_checked(prompts, "telecom", languages, |texts: &Replies<Text>| texts.check(1))?;
        let (texts, common) = (Arc::new(texts), Arc::new(ByLanguage::load(prompts, "common", languages)?));
        let language_rules = LanguageRules::read(prompts)?;
        let rules = TelecomRules::read(prompts)?;
        let examples = Classifier::read(prompts, "telecom")?;
        let talk = Classifier::read(prompts, "telecom_talk")?;
        let grounding = GroundingRules::read(prompts)?;
        let classify_prompt = prompts.text("telecom/classify.md")?.to_owned();
        let technical_prompt = prompts.text("telecom/technical.md")?.to_owned();
        let billing_prompt = prompts.text("telecom/billing.md")?.to_owned();
        Ok(move |services: &Services| {
            let hosts = services.config.grounding.link_hosts.clone();
            let grounding = grounding.in_currency(Currency::Pln);
            let grounding = Grounding::new(grounding, hosts, Canary::new(rand::random()));
            let services = services.clone();
            Self {
                texts,
                common,
                language_rules,
                rules,
                examples,
                talk,
                classify_prompt,
                technical_prompt,
                billing_prompt,
                grounding,
                services,
            }
        })
    }

    /// Returns a text, filled in with these values and the hotline.
    fn text(&self, turn: &Turn, text: Text, values: &[(&str, &str)]) -> Result<String, MissingValue> {
        let hotline = ("hotline", self.hotline(turn));
        self.texts.get(turn.language()).text(text, &[&[hotline], values].concat())
    }

    async fn say(&self, turn: &mut Turn, kind: Kind, text: Text) -> Result<(), DeskError> {
        let text = self.text(turn, text, &[])?;
        Ok(turn.say(kind, &text).await?)
    }

    fn common(&self, turn: &Turn) -> &CommonTexts {
        self.common.get(turn.language())
    }

    fn hotline(&self, turn: &Turn) -> &str {
        &self.common(turn).hotline
    }

    /// Settles the conversation's language and parses the message. Returns whether the customer asked for another language.
    fn listen(&self, turn: &mut Turn) -> (bool, Parsed) {
        let MessageWithoutSwitch { switched_to, text } = language::settle(turn, &self.language_rules, str::to_owned);
        (switched_to.is_some(), self.rules.parse(&text))
    }

    /// Returns the category of a message that answers what the desk asked, or `None` if it does not. A technical message with a
    /// digit ("5 GHz is slow") answers no question about an account.
    fn answered(&self, parsed: &Parsed, is_technical: bool, memory: &Memory) -> Option<Category> {
        let is_refund = memory.refund.is_some();
        match memory.asked? {
            Asked::Details => parsed.gives_details().then_some(Category::Technical),
            Asked::Person => {
                let utterance = &parsed.utterance;
                // "Can you cancel it?" is about the case.
                let gives_up = utterance.cancels() && !utterance.has_question();
                let answers = parsed.refuses() || utterance.affirms() || gives_up;
                (answers || memory.gets_customer(&parsed.said)).then_some(Category::Unknown)
            }
            of_account if is_technical && !parsed.surely_gives(of_account) => None,
            of_account => {
                let decides = of_account == Asked::Confirm && parsed.utterance.answer.is_some();
                let answers = decides || parsed.gives(of_account, is_refund) || parsed.utterance.cancels();
                answers.then_some(Category::Billing)
            }
        }
    }

    /// Reports who answers and why, and remembers it.
    async fn report(
        &self,
        turn: &mut Turn,
        verdict: Verdict,
        route: Route,
        is_unclear: bool,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        turn.note("intent", &verdict);
        turn.note("route", route);
        let Verdict { category, confidence, source, reason, .. } = verdict;
        memory.decided(Decision { turn: turn.number(), category, confidence, source, route, reason });
        let confidence = (confidence * 100.0).round() / 100.0;
        let route = Some(route.as_str());
        Ok(turn.report_route(category.as_str(), route, (confidence, source), is_unclear).await?)
    }

    /// Lets a person answer, or says where one can be reached.
    async fn call_person(&self, turn: &mut Turn) -> Result<(), DeskError> {
        // Without a console, no person would see it.
        let text = match self.services.config.console.on {
            false => Text::PersonCall,
            true if turn.conversation.status == ConversationStatus::Waiting => Text::PersonWaiting,
            true => {
                turn.call_person();
                Text::PersonCalled
            }
        };
        self.say(turn, Kind::Social, text).await
    }

    /// Makes small talk. An unfinished refund is named on goodbye and after a complaint.
    async fn make_small_talk(
        &self,
        turn: &mut Turn,
        parsed: &Parsed,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let is_open = memory.refund.is_some();
        let text = match parsed.utterance.social() {
            Some(Social::Goodbye) if is_open => Text::GoodbyeOpen,
            Some(Social::Goodbye) => Text::Goodbye,
            _ if parsed.utterance.asks(Topic::Abilities) => Text::Fallback,
            _ if parsed.is_solved() => Text::Solved,
            None if parsed.drops() => Text::WishDropped,
            None | Some(Social::HowAreYou) => Text::Greeting,
            Some(Social::Thanks | Social::Compliment) => Text::Thanks,
            Some(Social::HumanOrBot | Social::Name) => Text::Assistant,
            Some(Social::Complaint) => Text::Sorry,
            Some(_) => Text::SmallTalk,
        };
        self.say(turn, Kind::Social, text).await?;
        if text == Text::Sorry { self.ask_again(turn, asked, memory).await } else { Ok(()) }
    }

    /// Answers a message that no part of the desk knows: from the documents, or it asks.
    async fn answer_unclear(&self, turn: &mut Turn, parsed: &Parsed, memory: &mut Memory) -> Result<(), DeskError> {
        if self.answer_aside(turn, parsed, parsed.utterance.has_question(), memory).await? {
            memory.last_agent = Some(Route::Technical);
            return Ok(());
        }
        if turn.conversation.status == ConversationStatus::Waiting {
            return self.call_person(turn).await;
        }
        if memory.has_page() && parsed.utterance.has_question() {
            return self.say_no_answer(turn, memory).await;
        }
        self.clarify(turn, memory).await
    }

    /// Answers from the documents, if they do. What is no question needs a passage that surely answers.
    async fn answer_aside(
        &self,
        turn: &mut Turn,
        parsed: &Parsed,
        is_question: bool,
        memory: &mut Memory,
    ) -> Result<bool, DeskError> {
        let find = self.find(turn, None, &parsed.utterance.text, memory);
        let (question, found) = turn.step("retrieve").take(find).await;
        let is_meant = is_meant(&found, is_question);
        if is_meant {
            self.answer_from_pages(turn, &question, &found, memory).await?;
        }
        Ok(is_meant)
    }

    /// Asks what the customer needs. When that did not help, it offers a person.
    async fn clarify(&self, turn: &mut Turn, memory: &mut Memory) -> Result<(), DeskError> {
        memory.last_agent = Some(Route::Fallback);
        memory.unclear += 1;
        if memory.unclear > UNCLEAR_IN_A_ROW {
            memory.unclear = 0;
            memory.asked = Some(Asked::Person);
            return self.say(turn, Kind::Clarify, Text::OfferPerson).await;
        }
        self.say(turn, Kind::Clarify, Text::Fallback).await
    }
}

#[async_trait]
impl Desk for Telecom {
    fn prepare(&self) {
        self.examples.prepare();
        self.talk.prepare();
    }

    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let mut memory: Memory = state_of(turn);
        self.settle_refund(turn, &mut memory).await?;
        let length = turn.message.text.len();
        let (switched, parsed) = read_text(length, || {
            let (switched, parsed) = self.listen(turn);
            (switched, self.in_talk(parsed, &memory))
        });
        let utterance = &parsed.utterance;
        if let (Some(user_id), None) = (parsed.said.user_id(), &memory.account.user_id) {
            memory.account.user_id = Some(user_id.to_owned());
        }
        let verdict = turn.step("classify").take(self.classify(turn, &parsed, &memory)).await;
        let route = verdict.route(memory.last_agent);
        let asked = memory.asked.take();
        let is_offered = asked == Some(Asked::Person);
        let is_either = asked.is_some_and(|asked| memory.offered_person_with(asked) && !parsed.gives(asked, true));
        let accepts = (is_offered || is_either) && parsed.accepts() || is_offered && memory.gets_customer(&parsed.said);
        let wants_person = utterance.wants_person() || accepts;
        let may_ask_more =
            utterance.has_question() && (accepts || turn.conversation.status == ConversationStatus::Waiting);
        let is_chat = parsed.is_small_talk();
        let is_elsewhere = verdict.reason == NOT_COVERED;
        let is_unclear = route == Route::Fallback && !wants_person && !is_chat && !is_elsewhere;
        self.report(turn, verdict, route, is_unclear, &mut memory).await?;
        if switched {
            self.say(turn, Kind::LanguageAck, Text::LanguageAck).await?;
        }
        let (unclear, had_wish) = (memory.unclear, memory.open_wish().is_some());
        turn.state = memory.to_state();
        match route {
            _ if wants_person => {
                self.call_person(turn).await?;
                if utterance.asks(Topic::Visit) || accepts && memory.slots.symptoms.is_some() {
                    self.note_subject(turn, &self.text(turn, Text::Visit, &[])?, &mut memory).await;
                } else if !accepts && !memory.has_page() && parsed.names_matter() {
                    self.note_subject(turn, &utterance.text, &mut memory).await;
                }
                // "How long will it take?" is about the person.
                if may_ask_more {
                    self.answer_aside(turn, &parsed, false, &mut memory).await?;
                }
            }
            Route::Fallback if is_offered && parsed.refuses() => {
                self.say(turn, Kind::Social, Text::WishDropped).await?;
            }
            Route::Fallback if is_chat => {
                // Small talk answers no question of the desk.
                memory.asked = asked.filter(|asked| asked.outlasts_replies());
                if !utterance.text.is_empty() {
                    self.make_small_talk(turn, &parsed, asked, &mut memory).await?;
                }
            }
            Route::Technical => {
                memory.last_agent = Some(Route::Technical);
                self.answer_technical(turn, &parsed, asked, &mut memory).await?;
            }
            Route::Billing => {
                memory.last_agent = Some(Route::Billing);
                self.answer_billing(turn, &parsed, asked, &mut memory).await?;
            }
            Route::Fallback if is_elsewhere => self.say_no_answer(turn, &mut memory).await?,
            Route::Fallback => self.answer_unclear(turn, &parsed, &mut memory).await?,
        }
        if !is_chat && memory.unclear == unclear {
            memory.unclear = 0;
        }
        if let Some(reason) = parsed.said.reason
            && memory.refund.is_none()
            && memory.billing_case_id.is_none()
            && !(had_wish && utterance.cancels())
        {
            memory.heard_reason = Some(HeardReason { reason, turn: turn.number() });
        }
        let is_open = memory.refund.is_some() || memory.wish.is_some();
        if is_open && memory.asked.is_none() && route != Route::Billing {
            // Other matters do not answer the open question of billing.
            let asked = asked.filter(|asked| asked.is_of_account());
            memory.asked = asked.filter(|asked| asked.outlasts_replies());
            if route == Route::Technical {
                self.ask_again(turn, asked, &mut memory).await?;
            }
        }
        turn.state = memory.to_state();
        Ok(())
    }
}
