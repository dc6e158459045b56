//! The commerce desk: a shop on WhatsApp and the web. Its business rules are in `docs/desks/commerce.md`.
//!
//! [`rules`] parse a message, [`mod@classify`] and [`understand`] decide what it wants, and [`advance`] makes the next [`state`] of it with one file for
//! each journey. [`perform`] calls the [`tools`] and says the lines. Money, identity and the shop never come from a model.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Utc;

use super::machine::run_until_wait;
use super::{
    ConsolePanel, Desk, DeskError, DeskFactory, Machine, OpenDesk, ReplayFixture, Services, TextsOfShops, Turn,
};
use crate::dialogue::Social;
use crate::dialogue::language::MessageWithoutSwitch;
use crate::domain::commerce::consent::ConsentCommand;
use crate::domain::commerce::policy::{Governing, GovernorClass, Intent, Journey, Routing};
use crate::domain::returns::Priority;
use crate::domain::{ConversationStatus, IntentSource, Kind, Language};
use crate::jobs::Job;
use crate::nlu::examples::Classifier;
use crate::nlu::language::LanguageRules;
use crate::nlu::long_text::read_text;
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};
use crate::replies::Replies;
use crate::store::TenantStore;
use crate::store::shoppers::PreferenceChange;

mod advance;
mod always;
mod classify;
mod effect;
mod nodes;
mod offers;
mod orders;
mod panel;
pub mod payments;
mod perform;
mod phone;
mod prefs;
mod replay;
mod rules;
mod said;
mod sales;
mod sandbox;
mod say;
mod situation;
mod state;
mod support;
mod texts;
pub mod tools;
mod typed_codes;
mod understand;
mod wishes;

use effect::{Effect, Event, Incoming, Line, Reason};
use nodes::Nodes;
use payments::jobs::SharedGateways;
use payments::{Gateways, Payments, jobs, receipt};
use rules::CommerceRules;
use said::Said;
use situation::Situation;
use state::{ConversationState, Stage};
use texts::{Text, TonedTexts};
use tools::ToolContext;

/// The commerce desk.
pub struct Commerce {
    services: Services,
    texts: Arc<ByLanguage<Replies<Text>>>,
    /// The texts of shops with another tone than the usual one.
    toned: TonedTexts,
    common: Arc<ByLanguage<CommonTexts>>,
    language_rules: Arc<LanguageRules>,
    rules: Arc<CommerceRules>,
    examples: Classifier,
    payments: Payments,
    nodes: Nodes,
    /// The persona of those who choose none.
    default_persona: String,
}

/// Makes the desk of each shop.
#[derive(Default)]
pub struct Factory {
    texts: TextsOfShops<Replies<Text>>,
    gateways: SharedGateways,
}

/// The kinds of messages that only this desk sends.
mod kind {
    use crate::domain::Kind;

    /// Goods: a list, or one item.
    pub const GOODS: Kind = Kind::desk("goods");
    pub const CART: Kind = Kind::desk("cart");
    /// Asks how to pay, or to confirm an amount.
    pub const PAYMENT_PROMPT: Kind = Kind::desk("payment_prompt");
    /// Where a payment stands.
    pub const PAYMENT: Kind = Kind::desk("payment");
    /// Where orders stand.
    pub const ORDER: Kind = Kind::desk("sales_order");

    pub const ALL: [Kind; 5] = [GOODS, CART, PAYMENT_PROMPT, PAYMENT, ORDER];
}

#[async_trait]
impl DeskFactory for Factory {
    fn name(&self) -> &'static str {
        "commerce"
    }

    fn load(&self, prompts: &Prompts, languages: &[Language]) -> Result<OpenDesk, PromptError> {
        let open = Commerce::load(prompts, languages)?;
        let (all_texts, gateways) = (self.texts.clone(), self.gateways.clone());
        Ok(Box::new(move |services| {
            let config = &services.config;
            let new = || (config.clone(), Arc::new(Gateways::new(&config.commerce.providers)));
            let desk = open(services, &gateways.get_or_init(new).1);
            all_texts.set(&services.shop.tenant, (desk.texts.clone(), desk.common.clone()));
            Arc::new(desk)
        }))
    }

    fn jobs(&self) -> Vec<Arc<dyn Job>> {
        vec![
            Arc::new(jobs::PollPayment(self.gateways.clone())),
            Arc::new(jobs::SettlePayment(self.gateways.clone())),
            Arc::new(jobs::SayPayment(self.texts.clone())),
            Arc::new(receipt::CheckReceipt(self.gateways.clone())),
            Arc::new(receipt::ApplyReceipt { texts: self.texts.clone(), gateways: self.gateways.clone() }),
        ]
    }

    fn message_kinds(&self) -> &'static [Kind] {
        &kind::ALL
    }

    fn sells_goods(&self) -> bool {
        true
    }

    fn console_panel(&self) -> Option<ConsolePanel> {
        Some(ConsolePanel::Rows(panel::read))
    }

    fn replay_fixture(&self) -> Option<Box<dyn ReplayFixture>> {
        Some(Box::new(replay::Rows))
    }
}

impl Commerce {
    /// Reads the desk's texts and rules.
    fn load(
        prompts: &Prompts,
        languages: &[Language],
    ) -> Result<impl FnOnce(&Services, &Arc<Gateways>) -> Self + use<>, PromptError> {
        let texts = ByLanguage::load_checked(prompts, "commerce", languages, |texts: &Replies<Text>| texts.check(1))?;
        let toned = texts::read_tones(prompts, &texts)?;
        let (texts, common) = (Arc::new(texts), Arc::new(ByLanguage::load(prompts, "common", languages)?));
        let language_rules = LanguageRules::read(prompts)?;
        let rules = CommerceRules::read(prompts)?;
        CommerceRules::check_says_ai(prompts, languages)?;
        let examples = Classifier::read(prompts, "commerce")?;
        let nodes = Nodes::read(prompts)?;
        let default_persona = prompts.default_persona().id.clone();
        Ok(move |services: &Services, gateways: &Arc<Gateways>| {
            let payments = Payments::new(&services.config, &services.store, gateways);
            let (nodes, services) = (nodes(&services.config), services.clone());
            Self { texts, toned, common, language_rules, rules, examples, payments, nodes, default_persona, services }
        })
    }

    fn door<'a>(&'a self, turn: &'a Turn) -> TenantStore<'a> {
        self.services.store.tenant(&turn.conversation.tenant)
    }

    /// Returns what the server fills in for a tool.
    fn context<'a>(&'a self, turn: &Turn, situation: &'a Situation) -> ToolContext<'a> {
        ToolContext {
            store: &self.services.store,
            tenant: &situation.tenant,
            conversation: turn.conversation.id,
            request: turn.message.id,
            shopper: &situation.shopper,
            phone: situation.phone.as_ref(),
            payments: &self.payments,
            now: Utc::now(),
            said_at: turn.accepted_at(),
        }
    }

    /// Turns messages off or on, without anything else.
    async fn command(&self, turn: &mut Turn, situation: &Situation, command: ConsentCommand) -> Result<(), DeskError> {
        let (change, message) = (PreferenceChange::Command(command), Some(turn.message.id));
        let now = turn.accepted_at();
        self.door(turn).change_preferences(situation.shopper.id, change, message, now).await?;
        turn.report_intent(Intent::PreferencesConsent.as_str(), 1.0, IntentSource::Rules, false).await?;
        let text = match command {
            ConsentCommand::Stop => Text::Stopped,
            ConsentCommand::Start => Text::Started,
        };
        let text = self.words_of(turn, situation, text)?;
        Ok(turn.say(Kind::Reply, &text).await?)
    }

    fn is_default_persona(&self, turn: &Turn) -> bool {
        turn.persona.id == self.default_persona
    }

    /// Lets the governor decide. Returns whether the turn continues.
    async fn govern(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        state: &mut ConversationState,
        said: &Said,
    ) -> Result<bool, DeskError> {
        let level = situation.tenant.settings.max_chattiness_level;
        let governing = state.governed.decide(said.class, level);
        turn.note("governor", serde_json::json!({ "class": said.class, "governed": state.governed }));
        let line = match governing {
            Governing::Proceed => return Ok(true),
            Governing::Silence => return Ok(false),
            Governing::Report => {
                // Nothing is said, and nothing waits for a yes any more.
                if matches!(state.stage, Stage::ConfirmAmount { .. }) {
                    state.stage = Stage::Draft;
                }
                let effect = Effect::CallPerson { reason: Reason::Abuse, priority: Priority::Low };
                self.perform_effect(turn, situation, state, effect).await?;
                return Ok(false);
            }
            Governing::Chat => match said.utterance.social() {
                Some(Social::HumanOrBot | Social::Name) => Line::Assistant,
                Some(topic @ (Social::Goodbye | Social::Thanks)) => advance::small_talk(topic),
                _ if !state.has_introduced && said.utterance.greets() => Line::Welcome,
                Some(topic) => advance::small_talk(topic),
                None => Line::Plain(Text::SmallTalk),
            },
            Governing::Redirect => Line::Redirect,
        };
        state.has_introduced = true;
        self.say_line(turn, situation, &line).await?;
        self.remind(turn, situation, state).await?;
        Ok(false)
    }

    /// Repeats the question for an amount after something else was said, so that a yes can mean nothing else.
    async fn remind(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        state: &ConversationState,
    ) -> Result<(), DeskError> {
        match sales::reminder(state).filter(|_| matches!(state.stage, Stage::ConfirmAmount { .. })) {
            Some(line) => self.say_line(turn, situation, &line).await,
            None => Ok(()),
        }
    }
}

#[async_trait]
impl Desk for Commerce {
    fn prepare(&self) {
        self.examples.prepare();
        self.examples.prepare_languages();
    }

    fn answers_at_once(&self, message: &str) -> bool {
        ConsentCommand::of(message).is_some()
    }

    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let Some((mut situation, mut state, was_unreadable)) = self.look_around(turn).await? else {
            turn.report_intent(Intent::Unknown.as_str(), 0.0, IntentSource::Rules, true).await?;
            let hotline = self.common.get(turn.language()).hotline.as_str();
            let text = self.texts.get(turn.language()).text(Text::NotSetUp, &[("hotline", hotline)])?;
            return Ok(turn.say(Kind::Reply, &text).await?);
        };
        if let Some(command) = ConsentCommand::of(&turn.message.text) {
            self.command(turn, &situation, command).await?;
            // A person may have the conversation, who asks for no amount.
            return match turn.conversation.status {
                ConversationStatus::Taken => Ok(()),
                _ => self.remind(turn, &mut situation, &state).await,
            };
        }
        let MessageWithoutSwitch { switched_to, text } = self.settle_language(turn, &mut situation).await;
        if let Some(language) = switched_to {
            self.keep_language(turn, &mut situation, language).await?;
        }
        let said = read_text(text.len(), || self.rules.parse(&text));
        if self.answer_sandbox(turn, &situation, &said).await? || self.check_receipt(turn, &situation, &said).await? {
            return Ok(());
        }
        let (said, question) = read_text(text.len(), || self.cut_question(said, &state));
        let (said, named) = self.name_goods(turn, said, &state).await?;
        let mut verdict = turn.step("classify").take(self.classify(turn, &said, &state, named.is_sure)).await?;
        let mut incoming = self.read_message(turn, &situation, said, &verdict, (named, question)).await?;
        let source = self.ask_meaning(turn, &mut situation, &state, &mut incoming, &mut verdict).await;
        turn.note("intent", &verdict);
        let journey = match incoming.routing {
            Routing::Journey(journey) => journey,
            Routing::Clarify | Routing::Unknown => Journey::Unknown,
        };
        let confidence = (verdict.confidence * 100.0).round() / 100.0;
        let is_unclear = journey == Journey::Unknown && incoming.said.class == GovernorClass::Business;
        let (intent, route) = (verdict.intent.as_str(), Some(journey.as_str()));
        turn.report_route(intent, route, (confidence, source), is_unclear).await?;
        if was_unreadable {
            self.say_line(turn, &mut situation, &Line::Plain(Text::Restarted)).await?;
        }
        let wants_person = incoming.said.utterance.wants_person();
        let answers_person = self.answer_person(turn, &situation, &incoming.said).await?;
        if !wants_person && !answers_person && !self.govern(turn, &mut situation, &mut state, &incoming.said).await? {
            turn.state = serde_json::to_value(&state).unwrap_or_default();
            return Ok(());
        }
        state.has_introduced |= turn.conversation.channel.is_some();
        let is_only_switch = switched_to.is_some() && text.trim().is_empty();
        let switched_to = switched_to.filter(|_| is_only_switch);
        let incoming = Incoming { switched_to, answers_person, ..incoming };
        let begun = advance::advance(state, Event::Message(Box::new(incoming)));
        let store = self.services.store.clone();
        let running = Running { desk: self, situation: tokio::sync::Mutex::new(situation) };
        run_until_wait(&running, turn, &store, begun).await
    }
}

/// The machine of one turn.
struct Running<'a> {
    desk: &'a Commerce,
    situation: tokio::sync::Mutex<Situation>,
}

impl Machine for Running<'_> {
    type State = ConversationState;
    type Input = Event;
    type Effect = Effect;

    fn advance(state: ConversationState, event: Event) -> (ConversationState, Vec<Effect>) {
        advance::advance(state, event)
    }

    async fn perform(
        &self,
        turn: &mut Turn,
        state: &ConversationState,
        effect: Effect,
    ) -> Result<Option<Event>, DeskError> {
        let mut situation = self.situation.lock().await;
        self.desk.perform_effect(turn, &mut situation, state, effect).await
    }
}

/// Returns what parses a message, to measure its cost.
#[cfg(test)]
pub(super) fn parser(prompts: &Prompts) -> impl Fn(&str) + use<> {
    let rules = CommerceRules::read(prompts).unwrap();
    move |text| drop(rules.parse(text))
}
