//! The returns desk: order status, returns, refunds (seeds 000 and 001), as a machine.
//!
//! What a message says is read by [`rules`]; what comes next stands in [`route`]'s table; what an event makes of the
//! [`state`] in [`advance`]. Whether goods may come back is decided by [`crate::domain::returns::decide`], and no model has a
//! say in it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::machine::{Machine, drive, state_of};
use super::{Desk, DeskError, Services, Turn};
use crate::domain::{Event as TurnEvent, IntentSource, Kind, Language, LanguageSource};
use crate::nlu::language::LanguageRules;
use crate::nlu::long_text::read_text;
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};

pub mod advance;
pub(super) mod agent;
mod decisions;
mod items;
mod knowledge;
pub mod mail;
mod post;
mod record;
pub mod route;
pub mod rules;
mod say;
pub mod scenario;
pub mod state;
pub mod texts;
mod understand;
mod voice;
mod work;

use advance::Event;
use agent::Agent;
use mail::MailTexts;
use post::PostTexts;
pub use post::{Announced, Announcement, Announcer, Post};
use route::{ReturnsStep, Worker};
use rules::{Heard, ReturnsRules};
use scenario::Scenario;
use state::{Ending, Intent, Question, State};
use texts::ReturnsTexts;
use voice::Voice;

/// The returns desk.
pub struct Returns {
    services: Services,
    texts: Arc<ByLanguage<ReturnsTexts>>,
    common: ByLanguage<CommonTexts>,
    language_rules: LanguageRules,
    rules: ReturnsRules,
    agent: Agent,
    /// What the language model is told about classifying, and about reading order numbers.
    classify_prompt: String,
    number_prompt: String,
}

impl Returns {
    /// Reads the desk's texts and rules; the desk wants only its services then.
    pub fn read(
        prompts: &Prompts,
        languages: &[Language],
    ) -> Result<impl FnOnce(&Services) -> Self + use<>, PromptError> {
        let texts = ByLanguage::<ReturnsTexts>::load(prompts, "returns", languages)?;
        for (language, texts) in texts.iter() {
            texts.check().map_err(|hint| prompts.error(&format!("texts/returns.{language}.toml"), None, hint))?;
        }
        let common = ByLanguage::load(prompts, "common", languages)?;
        let language_rules = LanguageRules::read(prompts)?;
        let rules = ReturnsRules::read(prompts)?;
        // A label has no language of its own: carriers read it.
        let first = languages.first().copied().unwrap_or_default();
        let label = texts.get(first).label.clone();
        let texts = Arc::new(texts);
        let post_texts = PostTexts { said: texts.clone(), mails: MailTexts::read(prompts, languages)?, label };
        let classify_prompt = prompts.text("returns/classify.md")?.to_owned();
        let agent = Agent::read(prompts)?;
        let number_prompt = prompts.text("returns/order_number.md")?.to_owned();
        Ok(move |services: &Services| {
            services.post.set_texts(Arc::new(post_texts));
            let services = services.clone();
            let agent = agent(&services);
            Self { agent, texts, common, language_rules, rules, classify_prompt, number_prompt, services }
        })
    }

    fn texts(&self, turn: &Turn) -> &ReturnsTexts {
        self.texts.get(turn.language())
    }

    fn hotline(&self, turn: &Turn) -> &str {
        &self.common.get(turn.language()).hotline
    }

    /// Settles the conversation's language; gives the message without a request to switch it, and whether there was one.
    fn listen(&self, turn: &mut Turn) -> (String, bool) {
        let languages = &turn.persona.languages;
        let text = turn.message.text.clone();
        if let Some(switch) = self.language_rules.switch(&text, languages) {
            turn.set_language(switch.to, LanguageSource::Requested);
            return (switch.rest, true);
        }
        if turn.conversation.language_source == LanguageSource::Persona {
            let language =
                self.language_rules.detect(&self.rules.without_names(&text), languages).unwrap_or(turn.language());
            turn.set_language(language, LanguageSource::Detected);
        }
        (text, false)
    }

    /// Says what is understood, unless the model is about to be asked, which says it then.
    async fn tell_heard(&self, turn: &mut Turn, state: &State, heard: &Heard) -> Result<(), DeskError> {
        let next = advance::advance(state.clone(), Event::Said(heard.clone()));
        if route::route(&next) == ReturnsStep::Run(Worker::ClassifyIntent) && !heard.asks_policy {
            return Ok(());
        }
        let intent = next.intent.unwrap_or(Intent::Other);
        self.tell_intent(turn, Some(intent), IntentSource::Rules).await
    }

    async fn tell_intent(
        &self,
        turn: &mut Turn,
        intent: Option<Intent>,
        source: IntentSource,
    ) -> Result<(), DeskError> {
        let name = intent.unwrap_or(Intent::Other).as_str();
        turn.note("intent", json!({ "intent": name, "source": source }));
        let event = TurnEvent::Intent {
            intent: name.to_owned(),
            confidence: if intent.is_some() { 1.0 } else { 0.0 },
            source,
            language: turn.language(),
            clarify_needed: intent.is_none(),
        };
        Ok(turn.emit(event).await?)
    }
}

/// Keeps the state with the turn's end.
fn remember(turn: &mut Turn, state: &State) {
    turn.state = serde_json::to_value(state).unwrap_or_default();
}

#[async_trait]
impl Desk for Returns {
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let mut state: State = state_of(turn);
        state.needs_contact = self.needs_contact(turn);
        let ((text, switched), mut heard) = read_text(turn.message.text.len(), || {
            let listened = self.listen(turn);
            let heard = self.rules.hear(&listened.0);
            (listened, heard)
        });
        // Where nothing was refused, it is a question what exceptions there are.
        heard.asks_policy |= heard.asks_exception && heard.number.is_none() && !state.was_refused();
        // Where a mail about a return went out, the desk itself knows more than the documents.
        heard.asks_policy &= !advance::misses_mail(&state, &heard);
        let ticket = self.last_escalation(turn, &state, &heard).await?;
        if let Some(ticket) = &ticket {
            self.remember_decision(turn, &mut state, ticket).await?;
        }
        // The table sends labels again, whatever the mode.
        let for_agent = self.state_for_agent(turn, &state, &heard).filter(|_| !heard.asks_label);
        match &for_agent {
            Some(state) => self.tell_heard_for_agent(turn, state).await?,
            None => self.tell_heard(turn, &state, &heard).await?,
        }
        if switched {
            let mut voice = Voice::new(self.texts(turn), &state.meta.said);
            let text = voice.text(Scenario::LanguageAck, &[])?;
            state.meta.said.extend(voice.said());
            turn.say(Kind::LanguageAck, &text).await?;
        }
        if switched && text.is_empty() && state.is_idle() {
            remember(turn, &state);
            return Ok(());
        }
        if let Some(ticket) = &ticket
            && self.take_answer(turn, &mut state, &heard, ticket).await?
        {
            return Ok(());
        }
        if let Some(ticket) = ticket.filter(|_| heard.asks_ticket) {
            self.tell_ticket(turn, &mut state, &ticket).await?;
            if state.is_idle() {
                return self.offer_more(turn, state).await;
            }
            heard = Heard::default();
        } else if heard.asks_policy {
            self.answer_question(turn, &mut state, &text).await?;
            if state.is_idle() && !heard.damage {
                return self.offer_more(turn, state).await;
            }
            // The flow goes on where it was: the question stands again, and nothing that was asked is an answer to it.
            heard = heard.beside_question();
        } else if heard.asks_return_number && state.meta.last_rma.is_some() {
            self.tell_return_number(turn, &mut state).await?;
            if state.is_idle() {
                return self.offer_more(turn, state).await;
            }
            heard = Heard::default();
        }
        let next = advance::advance(state.clone(), Event::Said(heard.clone()));
        self.record_decisions(turn, &state, &next).await?;
        if let Some(mut state_for_agent) = for_agent {
            state_for_agent.meta.said = state.meta.said;
            return self.play_agent(turn, state_for_agent).await;
        }
        drive(self, turn, &self.services.store, state, Event::Said(heard)).await
    }
}

#[async_trait]
impl Machine for Returns {
    type State = State;
    type Worker = Worker;
    type Question = Question;
    type Ending = Ending;
    type Event = Event;

    fn route(state: &State) -> ReturnsStep {
        route::route(state)
    }

    fn advance(state: State, event: Event) -> State {
        advance::advance(state, event)
    }

    async fn work(&self, turn: &mut Turn, state: &State, worker: Worker) -> Result<Event, DeskError> {
        self.do_work(turn, state, worker).await
    }

    async fn ask(&self, turn: &mut Turn, state: &State, question: Question) -> Result<Event, DeskError> {
        self.put(turn, state, question).await
    }

    async fn finish(&self, turn: &mut Turn, state: &State, ending: Ending) -> Result<Event, DeskError> {
        self.end(turn, state, ending).await
    }
}

#[cfg(test)]
mod tests;
