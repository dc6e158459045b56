//! The returns desk: order status, returns and refunds. Its business rules are in `docs/desks/returns.md`.
//!
//! [`rules`] parses a message, [`advance`] makes the next [`state`] of it, and [`route`] names the next step. Whether goods may
//! come back is decided by [`crate::domain::returns::decide`], without a model.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::machine::{Machine, run_until_wait, state_of};
use super::{ConsolePanel, Desk, DeskError, DeskFactory, OpenDesk, ReplayFixture, Services, Turn};
use crate::config::Config;
use crate::dialogue::social::{Social, SocialTexts, Written};
use crate::dialogue::{Act, language};
use crate::domain::check::Check;
use crate::domain::returns::{RmaNumber, Ticket};
use crate::domain::{IntentSource, Kind, Language, Metadata, PerShop};
use crate::jobs::Job;
use crate::nlu::entities::{Confidence, Found};
use crate::nlu::language::LanguageRules;
use crate::nlu::long_text::read_text;
use crate::notify::{MailTemplates, check_mail};
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};

pub mod advance;
mod agent;
mod decisions;
mod items;
mod jobs;
mod knowledge;
pub mod mail;
mod record;
mod replay;
pub mod route;
pub mod rules;
mod say;
pub mod scenario;
pub mod state;
pub mod texts;
mod understand;
mod work;

use advance::{Effect, Event};
use agent::Agent;
use route::{Step, Worker};
use rules::{ReturnsRules, Topic, Utterance};
use scenario::Scenario;
use state::{Intent, Phase, Question, State};
use texts::{ReturnsTexts, VariantPicker};

/// The returns desk.
pub struct Returns {
    services: Services,
    texts: Arc<ByLanguage<ReturnsTexts>>,
    common: Arc<ByLanguage<CommonTexts>>,
    language_rules: LanguageRules,
    rules: ReturnsRules,
    social: SocialTexts,
    agent: Agent,
    /// The model's instructions for finding the intent, and for reading order numbers.
    classify_prompt: String,
    number_prompt: String,
}

/// Makes the desk of each shop.
#[derive(Default)]
pub struct Factory {
    texts: ShopTexts,
    common: ShopCommon,
    mails: Arc<PerShop<Arc<MailTemplates>>>,
}

/// The texts of each shop, for jobs.
type ShopTexts = Arc<PerShop<Arc<ByLanguage<ReturnsTexts>>>>;

/// The texts of every desk for each shop, for jobs and e-mails.
type ShopCommon = Arc<PerShop<Arc<ByLanguage<CommonTexts>>>>;

#[async_trait]
impl DeskFactory for Factory {
    fn name(&self) -> &'static str {
        "returns"
    }

    fn load(&self, prompts: &Prompts, languages: &[Language]) -> Result<OpenDesk, PromptError> {
        let open = Returns::load(prompts, languages)?;
        let mails = Arc::new(mail::read(prompts, languages)?);
        let (all_texts, all_common, all_mails) = (self.texts.clone(), self.common.clone(), self.mails.clone());
        Ok(Box::new(move |services| {
            let desk = open(services);
            all_texts.set(&services.shop.tenant, desk.texts.clone());
            all_common.set(&services.shop.tenant, desk.common.clone());
            all_mails.set(&services.shop.tenant, mails);
            let renderer = mail::renderer(all_mails, all_common, services.labels.clone());
            services.notifier.register(&mail::Template::ALL.map(mail::Template::as_str), renderer);
            Arc::new(desk)
        }))
    }

    fn jobs(&self) -> Vec<Arc<dyn Job>> {
        let (texts, common) = (self.texts.clone(), self.common.clone());
        vec![Arc::new(jobs::IssueLabel), Arc::new(jobs::AnnounceDecision { texts, common })]
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
        let texts = ByLanguage::<ReturnsTexts>::load(prompts, "returns", languages)?;
        for (language, texts) in texts.iter() {
            texts.check().map_err(|hint| prompts.error(&format!("texts/returns.{language}.toml"), None, hint))?;
        }
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

    /// Sets the conversation's language. Returns the message without a request to switch it, and whether there was one.
    fn settle_language(&self, turn: &mut Turn) -> (String, bool) {
        let settled = language::settle(turn, &self.language_rules, |text| self.rules.without_names(text));
        (settled.text, settled.switched_to.is_some())
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
        let asks_model = route::route(next) == Step::Run(Worker::ClassifyIntent);
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

    /// Answers a question that the message asks besides the flow.
    async fn answer_aside(
        &self,
        turn: &mut Turn,
        state: &mut State,
        aside: Aside<'_>,
        text: &str,
    ) -> Result<(), DeskError> {
        match aside {
            Aside::Ticket(ticket) => self.send_ticket_status(turn, state, ticket).await,
            Aside::Policy => self.answer_question(turn, state, text).await,
            Aside::ReturnNumber(number) => {
                let values = [("rma_number", number.as_str())];
                self.send(turn, state, Kind::Reply, Scenario::ReturnNumber, &values).await
            }
            Aside::SmallTalk(topic) => self.chat(turn, state, topic).await,
        }
    }

    /// Answers small talk. Outside of any flow, says once what the desk is for.
    async fn chat(&self, turn: &mut Turn, state: &mut State, topic: Social) -> Result<(), DeskError> {
        let Written { mut text, .. } = self.social.written(turn, topic, self.common.get(turn.language()))?;
        if state.is_idle() && !state.meta.said.contains_key(&Scenario::SocialRedirect) {
            let mut variants = VariantPicker::new(&self.texts(turn).replies, &state.meta.said);
            text = format!("{text} {}", variants.text(Scenario::SocialRedirect, &[])?);
            state.meta.said.extend(variants.used());
        }
        Ok(turn.say_with(Kind::Social, &text, Metadata::of(Kind::Social)).await?)
    }

    /// Asks what else the desk can do, after a question outside of any flow.
    async fn offer_more(&self, turn: &mut Turn, mut state: State) -> Result<(), DeskError> {
        self.send(turn, &mut state, Kind::FollowUp, Scenario::AnythingElse, &[]).await?;
        remember(turn, &state);
        Ok(())
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

/// A question that a message asks besides the flow.
enum Aside<'a> {
    Ticket(&'a Ticket),
    Policy,
    ReturnNumber(RmaNumber),
    SmallTalk(Social),
}

impl<'a> Aside<'a> {
    fn of(state: &State, utterance: &Utterance, ticket: Option<&'a Ticket>) -> Option<Self> {
        match (ticket, &state.meta.last_rma) {
            (Some(ticket), _) if utterance.asks(Topic::Ticket) || awaits(state, utterance, ticket) => {
                Some(Self::Ticket(ticket))
            }
            _ if utterance.asks(Topic::Policy) => Some(Self::Policy),
            (_, Some(number)) if utterance.asks(Topic::ReturnNumber) => Some(Self::ReturnNumber(number.clone())),
            _ => utterance.social().map(Self::SmallTalk),
        }
    }

    /// Returns the rest of the message, which does not answer what the desk asked before.
    fn rest(&self, utterance: &Utterance) -> Utterance {
        match self {
            Self::Policy => rules::without_question(utterance.clone()),
            Self::Ticket(_) | Self::ReturnNumber(_) | Self::SmallTalk(_) => Utterance::default(),
        }
    }
}

/// Whether the message asks something unclear after a person was called: the desk says that the person has not decided yet.
fn asks_again(before: &State, after: &State, utterance: &Utterance, ticket: &Ticket) -> bool {
    let is_unclear = route::route(after) == Step::Run(Worker::ClassifyIntent);
    is_open_after(before, ticket) && is_unclear && utterance.has_question()
}

/// Whether the last flow ended with this ticket, and nobody has decided it.
fn is_open_after(state: &State, ticket: &Ticket) -> bool {
    state.phase == Phase::Over && state.handoff.ticket() == Some(&ticket.id) && ticket.resolved.is_none()
}

/// Whether the message wants again what a person is about to decide: the ticket stands, whatever the rules would say.
fn awaits(state: &State, utterance: &Utterance, ticket: &Ticket) -> bool {
    let adds_something = utterance.names_order_or_contact()
        || utterance.wants_person()
        || utterance.reports(Topic::Damage)
        || utterance.requests(Topic::Cancellation)
        || utterance.cancels();
    is_open_after(state, ticket) && utterance.intent.is_some_and(Intent::is_return) && !adds_something
}

/// Reads the number of a return or a ticket of an earlier conversation as its order's. The look-up verifies whose it is.
fn name_shop_number(state: &State, utterance: &mut Utterance) {
    let Some(number) = utterance.entities.shop_number.clone() else { return };
    let own = [state.meta.last_rma.as_ref().map(RmaNumber::as_str), state.meta.last_ticket.as_deref()];
    let asked = [Question::OrderNumber, Question::OtherOrder, Question::NotFound];
    let is_expected = state.is_idle() || state.open_question().is_some_and(|question| asked.contains(&question));
    if own.contains(&Some(number.as_str())) || !is_expected || utterance.order().is_some() || utterance.wants_person() {
        return;
    }
    utterance.entities.orders = vec![Found { number, confidence: Confidence::Named }];
    for topic in [Topic::Ticket, Topic::ReturnNumber, Topic::Policy] {
        utterance.set(Act::Ask(topic), false);
    }
    // "RMA-… arrived broken" reads like a question for the status, but reports damage, which begins a return.
    utterance.intent = match utterance.intent {
        None | Some(Intent::Other | Intent::OrderStatus) if utterance.reports(Topic::Damage) => Some(Intent::Return),
        None | Some(Intent::Other) => Some(Intent::OrderStatus),
        known => known,
    };
}

/// Stores the state with the turn's end.
fn remember(turn: &mut Turn, state: &State) {
    turn.state = serde_json::to_value(state).unwrap_or_default();
}

#[async_trait]
impl Desk for Returns {
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let mut state: State = state_of(turn);
        state.case.needs_contact = self.needs_contact(turn);
        let ((text, switched), mut utterance) = read_text(turn.message.text.len(), || {
            let (text, switched) = self.settle_language(turn);
            // After a ticket or a refusal, details and arguments have the words of other wishes.
            let is_open = state.meta.last_ticket.is_some() && !state.meta.is_ticket_settled;
            let utterance = match is_open || state.was_refused() {
                true => self.rules.parse_by_patterns(&text),
                false => self.rules.parse(&text),
            };
            ((text, switched), utterance)
        });
        // A customer to whom nothing was refused asks in general which exceptions there are.
        let asks_exception = utterance.asks(Topic::Exception) && utterance.order().is_none() && !state.was_refused();
        // The desk knows more than the documents about a mail that it sent.
        let asks_policy = utterance.asks(Topic::Policy) || asks_exception;
        // "Nobody told me" argues against a refusal and asks nothing.
        let argues = state.may_argue() && !utterance.has_question();
        let asks_policy = asks_policy && !argues;
        utterance.set(Act::Ask(Topic::Policy), asks_policy && !advance::misses_mail(&state, &utterance));
        name_shop_number(&state, &mut utterance);
        let ticket = self.last_ticket(turn, &state, &utterance).await?;
        if let Some(ticket) = &ticket {
            self.remember_decision(turn, &mut state, ticket).await?;
        }
        let may_be_for_agent = self.may_be_for_agent(turn, &state, &utterance);
        let after = advance::next_state(state.clone(), Event::Said(utterance.clone()));
        // In agent mode the model makes small talk.
        let aside = Aside::of(&state, &utterance, ticket.as_ref())
            .filter(|aside| !(may_be_for_agent && matches!(aside, Aside::SmallTalk(_))))
            .or_else(|| self.documents_answer(turn, (&state, &after), &utterance, &text).then_some(Aside::Policy))
            .or_else(|| {
                asks_again(&state, &after, &utterance, ticket.as_ref()?).then_some(Aside::Ticket(ticket.as_ref()?))
            });
        let rest = aside.as_ref().map(|aside| aside.rest(&utterance));
        let is_aside_only = rest.as_ref().is_some_and(|rest| state.is_idle() && !rest.reports(Topic::Damage));
        // The flow continues after an aside: the desk repeats its question, which the aside did not answer.
        let said = rest.filter(|_| !is_aside_only && !may_be_for_agent).unwrap_or_else(|| utterance.clone());
        let (mut next, effects) = advance::advance(state.clone(), Event::Said(said));
        // The machine hands over, and "never mind" ends the flow without a decision.
        let is_for_agent = may_be_for_agent && !next.handoff.is_due() && !next.is_declined();
        self.report_utterance(turn, &utterance, &next, is_for_agent).await?;
        if switched {
            self.send(turn, &mut state, Kind::LanguageAck, Scenario::LanguageAck, &[]).await?;
        }
        if switched && text.is_empty() && state.is_idle() {
            remember(turn, &state);
            return Ok(());
        }
        if let Some(ticket) = &ticket
            && self.take_answer(turn, &mut state, &utterance, ticket).await?
        {
            return Ok(());
        }
        if utterance.complains() {
            self.send(turn, &mut state, Kind::Social, Scenario::Acknowledge, &[]).await?;
        }
        if let Some(aside) = aside {
            let is_chat = matches!(aside, Aside::SmallTalk(_));
            self.answer_aside(turn, &mut state, aside, &text).await?;
            if is_aside_only && is_chat {
                remember(turn, &state);
                return Ok(());
            }
            if is_aside_only {
                return self.offer_more(turn, state).await;
            }
        }
        next.meta.said = state.meta.said;
        if is_for_agent {
            // The model decides what the desk does.
            for effect in effects.into_iter().filter(|effect| matches!(effect, Effect::Record(_))) {
                self.perform(turn, &next, effect).await?;
            }
            self.play_agent(turn, next).await
        } else {
            run_until_wait(self, turn, &self.services.store, (next, effects)).await
        }
    }
}

#[async_trait]
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
            Effect::Step(Step::Run(worker)) => Some(self.do_work(turn, state, worker).await?),
            Effect::Step(Step::Ask(question)) => Some(self.ask_question(turn, state, question).await?),
            Effect::Step(Step::Finish(ending)) => Some(self.end(turn, state, ending).await?),
            Effect::Step(Step::Wait) => None,
        })
    }
}

#[cfg(test)]
mod tests;
