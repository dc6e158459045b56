//! The retail desk: shopping and warranty (seed 004).
//!
//! [`Retail::play`] is the seed's own diagram, one line a step. What a message means is decided in [`rules`] and
//! [`classify`], a warranty in [`warranty`] (database alone), a reply in [`reply`].

use std::sync::Arc;

use async_trait::async_trait;

use super::{Desk, DeskError, Services, Turn};
use crate::config::{CuteGreeting, RetailConfig};
use crate::domain::{Event, IntentSource, Kind, Language, LanguageSource, Vocabulary};
use crate::grounding::claims::ClaimRules;
use crate::grounding::{Canary, Grounding, Placeholders};
use crate::nlu::facts::Lexicon;
use crate::nlu::language::LanguageRules;
use crate::nlu::long_text::read_text;
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};

mod classify;
pub mod intent;
mod memory;
mod misses;
mod prompt;
mod reply;
mod retrieve;
pub mod rules;
mod social;
mod texts;
mod warranty;

use classify::{Understanding, Understood};
use intent::Intent;
use memory::Memory;
pub use misses::Misses;
use rules::RetailRules;
use texts::RetailTexts;

/// The retail desk.
pub struct Retail {
    services: Services,
    texts: ByLanguage<RetailTexts>,
    common: ByLanguage<CommonTexts>,
    language_rules: LanguageRules,
    rules: RetailRules,
    /// What the language model is told about classifying, and about social talk.
    classify_prompt: String,
    social_prompt: String,
    misses: Arc<Misses>,
    /// What replies of the language model are held against.
    grounding: Grounding,
}

/// What the message says about language, and what is left to understand.
struct Heard {
    /// The language that was asked for.
    switch: Option<Language>,
    /// The message without that request.
    text: String,
    /// The last thing that was said is a request for a serial number.
    waiting_for_serial: bool,
}

impl Heard {
    /// The message as it is to be understood: without a request to switch the language.
    fn question(&self) -> &str {
        &self.text
    }
}

impl Retail {
    /// Reads the desk's texts and rules; the desk wants only its services then.
    pub fn read(
        prompts: &Prompts,
        languages: &[Language],
    ) -> Result<impl FnOnce(&Services) -> Self + use<>, PromptError> {
        let texts = ByLanguage::<RetailTexts>::load(prompts, "retail", languages)?;
        for (language, texts) in texts.iter() {
            texts.check().map_err(|hint| prompts.error(&format!("texts/retail.{language}.toml"), None, hint))?;
        }
        let common = ByLanguage::load(prompts, "common", languages)?;
        let language_rules = LanguageRules::read(prompts)?;
        let rules = RetailRules::read(prompts)?;
        let facts = Lexicon::read(prompts)?;
        let claims = Arc::new(ClaimRules::read(prompts)?);
        let classify_prompt = prompts.text("retail/classify.md")?.to_owned();
        let social_prompt = prompts.text("retail/social.md")?.to_owned();
        Ok(move |services: &Services| Self {
            texts,
            common,
            language_rules,
            rules,
            classify_prompt,
            social_prompt,
            misses: services.misses.clone(),
            grounding: Grounding::new(
                facts,
                claims,
                services.config.grounding.link_hosts.clone(),
                Canary::new(rand::random()),
            ),
            services: services.clone(),
        })
    }

    fn config(&self) -> &RetailConfig {
        &self.services.config.retail
    }

    /// The words of the documents that this persona sees.
    fn vocabulary(&self, turn: &Turn) -> Arc<Vocabulary> {
        self.services.knowledge.vocabulary(&turn.persona.knowledge)
    }

    fn texts(&self, turn: &Turn) -> &RetailTexts {
        self.texts.get(turn.language())
    }

    fn hotline(&self, turn: &Turn) -> &str {
        &self.common.get(turn.language()).hotline
    }

    /// What stands in for words of the model that are held back.
    fn placeholders(&self, turn: &Turn) -> Placeholders<'_> {
        Placeholders::of(self.common.get(turn.language()))
    }

    /// Settles the conversation's language: a request to switch, else, once, the first message.
    fn listen(&self, turn: &mut Turn) -> Heard {
        let languages = &turn.persona.languages;
        let text = turn.message.text.clone();
        let waiting_for_serial = warranty::is_waiting(&turn.history, &self.texts);
        if let Some(switch) = self.language_rules.switch(&text, languages) {
            turn.set_language(switch.to, LanguageSource::Requested);
            return Heard { switch: Some(switch.to), text: switch.rest, waiting_for_serial };
        }
        if turn.conversation.language_source == LanguageSource::Persona {
            let language = self.language_rules.detect(&text, languages).unwrap_or(turn.language());
            turn.set_language(language, LanguageSource::Detected);
        }
        Heard { switch: None, text, waiting_for_serial }
    }

    async fn tell_intent(&self, turn: &mut Turn, understood: &Understood) -> Result<(), DeskError> {
        let intent = understood.intent.as_str();
        // Two digits are all that it is worth.
        let confidence = (understood.confidence * 100.0).round() / 100.0;
        let receipt = Understanding { intent, confidence, source: understood.source, why: &understood.receipt };
        turn.note("intent", receipt);
        let event = Event::Intent {
            intent: intent.to_owned(),
            confidence,
            source: understood.source,
            language: turn.language(),
            clarify_needed: understood.clarify_needed,
        };
        Ok(turn.emit(event).await?)
    }

    async fn acknowledge(&self, turn: &mut Turn, heard: &Heard) -> Result<(), DeskError> {
        if heard.switch.is_some() {
            turn.say(Kind::LanguageAck, &self.texts(turn).language_ack).await?;
        }
        Ok(())
    }

    /// With the first confident intent of a conversation, and when the intent changes.
    async fn greet(&self, turn: &mut Turn, understood: &Understood, memory: &mut Memory) -> Result<(), DeskError> {
        if understood.clarify_needed {
            return Ok(());
        }
        let earlier = memory.last_intent.replace(understood.intent);
        let greets = match self.config().cute_greeting {
            CuteGreeting::OnChange => earlier != Some(understood.intent),
            CuteGreeting::Always => true,
            CuteGreeting::Off => false,
        };
        if greets {
            turn.say(Kind::CuteGreeting, &self.texts(turn).cute_greeting).await?;
        }
        Ok(())
    }

    async fn clarify(&self, turn: &mut Turn, memory: &mut Memory) -> Result<(), DeskError> {
        memory.clarify_attempts += 1;
        turn.note("clarify_attempts", memory.clarify_attempts);
        Ok(turn.say(Kind::Clarify, &self.texts(turn).clarify).await?)
    }

    async fn follow_up(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let persona = turn.persona.clone();
        if let Some(line) = persona.follow_up(turn.language()) {
            turn.say(Kind::FollowUp, line).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Desk for Retail {
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let mut memory = Memory::of(&turn.state);
        let heard = read_text(turn.message.text.len(), || self.listen(turn));
        let understood = turn.step("classify").take(self.classify(turn, &heard, &memory)).await;
        self.tell_intent(turn, &understood).await?;
        self.acknowledge(turn, &heard).await?;
        if heard.switch.is_some() && heard.text.is_empty() {
            return self.prompt_again(turn, &heard).await;
        }
        self.greet(turn, &understood, &mut memory).await?;
        // A turn that is stopped from here on has greeted all the same.
        turn.state = memory.clone().into_state();
        match (understood.clarify_needed, understood.intent) {
            (true, _) if understood.social.is_some() => self.chat(turn, &understood).await?,
            (true, _) | (_, Intent::Unknown) => self.clarify(turn, &mut memory).await?,
            (false, Intent::Warranty) => self.warranty(turn, &heard).await?,
            (false, Intent::Shopping) => self.reply(turn, &heard, &understood).await?,
        }
        turn.state = memory.into_state();
        Ok(())
    }
}

impl Understood {
    /// Nothing but a request to switch the language: nothing to clarify, nothing to answer.
    fn nothing_more() -> Self {
        Self {
            intent: Intent::Unknown,
            confidence: 1.0,
            source: IntentSource::Rules,
            clarify_needed: false,
            social: None,
            names_nothing: false,
            model_is_late: false,
            receipt: classify::Receipt::default(),
        }
    }
}
