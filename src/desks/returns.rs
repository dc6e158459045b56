//! The returns desk: order status, returns and refunds. Its business rules are in `docs/desks/returns.md`.
//!
//! [`rules`] parses a message, [`advance`] makes the next [`state`] of it, and [`route`] names the next step. Whether goods may
//! come back is decided by [`crate::domain::returns::decide`], without a model.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::machine::{Machine, state_of};
use super::{ConsolePanel, Desk, DeskError, DeskFactory, OpenDesk, ReplayFixture, Services, TextsOfShops, Turn};
use crate::config::Config;
use crate::dialogue::social::SocialTexts;
use crate::domain::check::Check;
use crate::domain::returns::Notice;
use crate::domain::{IntentSource, Kind, Language, Metadata, PerShop};
use crate::jobs::Job;
use crate::nlu::language::LanguageRules;
use crate::notify::{MailTemplates, check_mail};
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};
use crate::replies::MissingValue;

pub mod advance;
mod agent;
mod aside;
mod decisions;
mod facts;
mod handlers;
mod items;
mod jobs;
mod knowledge;
pub mod mail;
mod plan;
mod record;
mod replay;
pub mod route;
pub mod rules;
mod say;
pub mod scenario;
pub mod state;
pub mod texts;
mod understand;

use advance::{Effect, Event};
use agent::Agent;
use aside::Aside;
use route::{Handler, Step};
use rules::{ReturnsRules, Topic, Utterance};
use scenario::Scenario;
use state::{Intent, State};
use texts::{ReturnsTexts, VariantPicker};

#[cfg(test)]
pub(super) use agent::decision_parser;

/// The returns desk.
pub struct Returns {
    services: Services,
    texts: Arc<ByLanguage<ReturnsTexts>>,
    common: Arc<ByLanguage<CommonTexts>>,
    language_rules: Arc<LanguageRules>,
    rules: Arc<ReturnsRules>,
    social: SocialTexts,
    agent: Agent,
    /// The model's instructions for finding the intent, and for reading order numbers.
    classify_prompt: String,
    number_prompt: String,
}

/// Makes the desk of each shop.
#[derive(Default)]
pub struct Factory {
    texts: TextsOfShops<ReturnsTexts>,
    mails: Arc<PerShop<Arc<MailTemplates>>>,
}

#[async_trait]
impl DeskFactory for Factory {
    fn name(&self) -> &'static str {
        "returns"
    }

    fn load(&self, prompts: &Prompts, languages: &[Language]) -> Result<OpenDesk, PromptError> {
        let open = Returns::load(prompts, languages)?;
        let mails = Arc::new(mail::read(prompts, languages)?);
        let (all_texts, all_mails) = (self.texts.clone(), self.mails.clone());
        Ok(Box::new(move |services| {
            let desk = open(services);
            all_texts.set(&services.shop.tenant, (desk.texts.clone(), desk.common.clone()));
            all_mails.set(&services.shop.tenant, mails);
            let renderer = mail::renderer(all_mails, all_texts, services.labels.clone());
            services.notifier.register(&mail::Template::names(), renderer);
            Arc::new(desk)
        }))
    }

    fn jobs(&self) -> Vec<Arc<dyn Job>> {
        vec![Arc::new(jobs::IssueLabel)]
    }

    fn message_kinds(&self) -> &'static [Kind] {
        &kind::ALL
    }

    fn console_panel(&self) -> Option<ConsolePanel> {
        Some(ConsolePanel::Orders)
    }

    async fn doctor_checks(&self, config: &Config) -> Vec<Check> {
        check_mail(config).await
    }

    fn replay_fixture(&self) -> Option<Box<dyn ReplayFixture>> {
        Some(Box::new(replay::Rows))
    }
}

/// The kinds of messages that only this desk sends.
mod kind {
    use crate::domain::Kind;

    /// Asks for an order number, or for the contact of the order.
    pub const ORDER_PROMPT: Kind = Kind::desk("order_prompt");
    pub const ORDER_STATUS: Kind = Kind::desk("order_status");
    /// Asks whether this is the order.
    pub const ORDER_CONFIRM: Kind = Kind::desk("order_confirm");
    /// Offers a return, a refund or a cancellation.
    pub const ACTION_PROMPT: Kind = Kind::desk("action_prompt");
    pub const RETURN_DECISION: Kind = Kind::desk("return_decision");
    pub const RETURN_TICKET: Kind = Kind::desk("return_ticket");

    pub const ALL: [Kind; 6] =
        [ORDER_PROMPT, ORDER_STATUS, ORDER_CONFIRM, ACTION_PROMPT, RETURN_DECISION, RETURN_TICKET];
}

impl Returns {
    /// Reads the desk's texts and rules. The returned function builds the desk.
    fn load(prompts: &Prompts, languages: &[Language]) -> Result<impl FnOnce(&Services) -> Self + use<>, PromptError> {
        let texts = ByLanguage::load_checked(prompts, "returns", languages, ReturnsTexts::check)?;
        let common = Arc::new(ByLanguage::load(prompts, "common", languages)?);
        let language_rules = LanguageRules::read(prompts)?;
        let rules = ReturnsRules::read(prompts)?;
        let social = SocialTexts::load(prompts, languages)?;
        // Carriers read the label, so it is in the first language.
        let first = languages.first().copied().unwrap_or_default();
        let label = texts.get(first).label.clone();
        let texts = Arc::new(texts);
        let classify_prompt = prompts.text("returns/classify.md")?.to_owned();
        let agent = Agent::read(prompts)?;
        let number_prompt = prompts.text("returns/order_number.md")?.to_owned();
        Ok(move |services: &Services| {
            services.labels.set_texts(&services.shop.tenant, label);
            let services = services.clone();
            let agent = agent(&services);
            Self { agent, texts, common, language_rules, rules, social, classify_prompt, number_prompt, services }
        })
    }

    fn texts(&self, turn: &Turn) -> &ReturnsTexts {
        self.texts.get(turn.language())
    }

    fn hotline(&self, turn: &Turn) -> &str {
        &self.common.get(turn.language()).hotline
    }

    /// Reports what the message is about. If the model is about to be asked for the intent, it reports that later.
    async fn report_utterance(
        &self,
        turn: &mut Turn,
        utterance: &Utterance,
        next: &State,
        is_for_agent: bool,
    ) -> Result<(), DeskError> {
        if is_for_agent {
            return self.report_intent(turn, next.case.intent, IntentSource::Rules).await;
        }
        let asks_model = route::route(next) == Step::Run(Handler::ClassifyIntent);
        if asks_model && !utterance.asks(Topic::Policy) {
            return Ok(());
        }
        let intent = next.case.intent.unwrap_or(Intent::Other);
        self.report_intent(turn, Some(intent), IntentSource::Rules).await
    }

    /// Reports an intent. `None` means that it is unknown.
    async fn report_intent(
        &self,
        turn: &mut Turn,
        intent: Option<Intent>,
        source: IntentSource,
    ) -> Result<(), DeskError> {
        let name = intent.unwrap_or(Intent::Other).as_str();
        turn.note("intent", json!({ "intent": name, "source": source }));
        let confidence = if intent.is_some() { 1.0 } else { 0.0 };
        Ok(turn.report_intent(name, confidence, source, intent.is_none()).await?)
    }

    /// Sends the scenario's next variant as a message.
    async fn send(
        &self,
        turn: &mut Turn,
        state: &mut State,
        kind: Kind,
        scenario: Scenario,
        values: &[(&str, &str)],
    ) -> Result<(), DeskError> {
        self.send_with(turn, state, kind, (scenario, values), Metadata::of(kind)).await
    }

    /// Sends the scenario's next variant as a message with metadata.
    async fn send_with(
        &self,
        turn: &mut Turn,
        state: &mut State,
        kind: Kind,
        (scenario, values): (Scenario, &[(&str, &str)]),
        metadata: Metadata,
    ) -> Result<(), DeskError> {
        let mut variants = VariantPicker::new(&self.texts(turn).replies, &state.meta.said);
        let text = variants.text(scenario, values)?;
        state.meta.said.extend(variants.used());
        Ok(turn.say_with(kind, &text, metadata).await?)
    }
}

/// Stores the state with the turn's end.
fn remember(turn: &mut Turn, state: &State) {
    turn.state = serde_json::to_value(state).unwrap_or_default();
}

#[async_trait]
impl Desk for Returns {
    fn prepare(&self) {
        self.rules.prepare();
    }

    fn decision(&self, notice: &Notice, language: Language, variant: usize) -> Result<Option<String>, MissingValue> {
        let language = self.texts.closest(language);
        let numbers = &self.common.get(language).number_format;
        decisions::text(self.texts.get(language), numbers, notice, variant).map(Some)
    }

    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let mut state: State = state_of(turn);
        state.case.contact.is_needed = self.needs_contact(turn);
        let mut message = self.read_message(turn, &state);
        self.name_order_of_goods(turn, &state, &mut message).await?;
        let ticket = self.last_ticket(turn, &state, &message.utterance).await?;
        if let Some(ticket) = &ticket {
            self.remember_decision(turn, &mut state, ticket).await?;
        }
        let ticket = self.named_ticket(turn, &mut message.utterance).await?.or(ticket);
        let plan = self.plan(turn, &state, &message, ticket.as_ref());
        self.report_utterance(turn, &message.utterance, &plan.next, plan.is_for_agent).await?;
        if self.acknowledge(turn, &mut state, &message, ticket.as_ref()).await? {
            return Ok(());
        }
        if let Some(aside) = &plan.aside {
            self.answer_aside(turn, &mut state, aside, &message.text).await?;
            if matches!(aside, Aside::Deadline | Aside::Amount) {
                let parts = self.sure_parts(turn, &state, &message.text);
                self.quote_parts(turn, &mut state, &message.text, parts).await?;
            }
            if plan.is_aside_only {
                return self.end_after_aside(turn, state, aside).await;
            }
        }
        self.continue_flow(turn, state, plan).await
    }
}

impl Machine for Returns {
    type State = State;
    type Input = Event;
    type Effect = Effect;

    fn advance(state: State, event: Event) -> (State, Vec<Effect>) {
        advance::advance(state, event)
    }

    async fn perform(&self, turn: &mut Turn, state: &State, effect: Effect) -> Result<Option<Event>, DeskError> {
        Ok(match effect {
            Effect::Record(decided) => {
                self.record_decision(turn, decided).await?;
                None
            }
            Effect::Step(Step::Run(handler)) => Some(self.run_handler(turn, state, handler).await?),
            Effect::Step(Step::Ask(question)) => Some(self.ask_question(turn, state, question).await?),
            Effect::Step(Step::Finish(ending)) => Some(self.end(turn, state, ending).await?),
            Effect::Step(Step::Wait) => None,
        })
    }
}

#[cfg(test)]
mod tests;
