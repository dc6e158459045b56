//! The retail desk: shopping and warranties. `docs/desks/retail.md` describes its rules.
//!
//! [`Retail::play`] shows a turn, one line for each step. [`rules`] and [`classify`] decide what a message means, [`warranty`]
//! looks up serial numbers in the database, and [`reply`] answers from documents.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Desk, DeskError, DeskFactory, OpenDesk, ReplayFixture, Services, Turn};
use crate::config::{CuteGreeting, RetailConfig};
use crate::dialogue::language::{self, Settled};
use crate::domain::{IntentSource, Kind, Language, Vocabulary};
use crate::grounding::claims::ClaimRules;
use crate::grounding::{Canary, Grounding, Placeholders};
use crate::nlu::facts::Lexicon;
use crate::nlu::language::LanguageRules;
use crate::nlu::long_text::read_text;
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};

mod classify;
mod failed_attempts;
pub mod intent;
mod memory;
mod prompt;
mod replay;
mod reply;
mod retrieve;
pub mod rules;
mod social;
mod texts;
mod warranty;

use classify::{Understanding, Understood};
use failed_attempts::FailedAttempts;
use intent::Intent;
use memory::Memory;
use rules::RetailRules;
use texts::RetailTexts;

/// The retail desk.
pub struct Retail {
    services: Services,
    texts: ByLanguage<RetailTexts>,
    common: ByLanguage<CommonTexts>,
    language_rules: LanguageRules,
    rules: RetailRules,
    /// The model's instructions for classification and for social talk.
    classify_prompt: String,
    social_prompt: String,
    failed_attempts: Arc<FailedAttempts>,
    /// Checks what the language model says.
    grounding: Grounding,
}

/// The customer's message and what the desk knows about it before it is classified.
struct Incoming {
    /// The language that the customer asked for, if they did.
    switch: Option<Language>,
    /// The message without that request.
    text: String,
    /// Whether the desk's last message asked for a serial number.
    waiting_for_serial: bool,
}

/// Makes the desk, and keeps the failed attempts through a reload.
#[derive(Default)]
pub struct Factory {
    failed_attempts: Arc<FailedAttempts>,
}

#[async_trait]
impl DeskFactory for Factory {
    fn name(&self) -> &'static str {
        "retail"
    }

    fn load(&self, prompts: &Prompts, languages: &[Language]) -> Result<OpenDesk, PromptError> {
        let open = Retail::load(prompts, languages, self.failed_attempts.clone())?;
        Ok(Box::new(|services| Arc::new(open(services))))
    }

    fn replay_fixture(&self) -> Option<Box<dyn ReplayFixture>> {
        Some(Box::new(replay::Warranties))
    }

    fn message_kinds(&self) -> &'static [Kind] {
        &[kind::WARRANTY_PROMPT, kind::WARRANTY_PROMPT_INVALID, kind::WARRANTY_RESULT]
    }
}

/// The kinds of messages that only this desk sends.
mod kind {
    use crate::domain::Kind;

    pub const WARRANTY_PROMPT: Kind = Kind::desk("warranty_prompt");
    pub const WARRANTY_PROMPT_INVALID: Kind = Kind::desk("warranty_prompt_invalid");
    pub const WARRANTY_RESULT: Kind = Kind::desk("warranty_result");
}

impl Retail {
    /// Reads the desk's texts and rules.
    fn load(
        prompts: &Prompts,
        languages: &[Language],
        failed_attempts: Arc<FailedAttempts>,
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
            failed_attempts,
            grounding: Grounding::new(
                facts.in_currency(services.shop.currency),
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

    /// Returns the words of the persona's documents.
    fn vocabulary(&self, turn: &Turn) -> Arc<Vocabulary> {
        self.services.knowledge.vocabulary(&turn.persona.knowledge)
    }

    fn texts(&self, turn: &Turn) -> &RetailTexts {
        self.texts.get(turn.language())
    }

    fn hotline(&self, turn: &Turn) -> &str {
        &self.common.get(turn.language()).hotline
    }

    /// Returns the replacements for what the guards remove.
    fn placeholders(&self, turn: &Turn) -> Placeholders<'_> {
        Placeholders::of(self.common.get(turn.language()))
    }

    /// Settles the conversation's language and looks at what the customer was asked last.
    fn listen(&self, turn: &mut Turn) -> Incoming {
        let waiting_for_serial = warranty::is_waiting(&turn.history, &self.texts);
        let Settled { switched_to, text } = language::settle(turn, &self.language_rules, str::to_owned);
        Incoming { switch: switched_to, text, waiting_for_serial }
    }

    async fn report_intent(&self, turn: &mut Turn, understood: &Understood) -> Result<(), DeskError> {
        let intent = understood.intent.as_str();
        // More digits would suggest a precision that it does not have.
        let confidence = (understood.confidence * 100.0).round() / 100.0;
        let receipt = Understanding { intent, confidence, source: understood.source, why: &understood.receipt };
        turn.note("intent", receipt);
        Ok(turn.report_intent(intent, confidence, understood.source, understood.clarify_needed).await?)
    }

    async fn acknowledge(&self, turn: &mut Turn, incoming: &Incoming) -> Result<(), DeskError> {
        if incoming.switch.is_some() {
            turn.say(Kind::LanguageAck, &self.texts(turn).language_ack).await?;
        }
        Ok(())
    }

    /// Greets with the first clear intent of a conversation and when the intent changes.
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
        let incoming = read_text(turn.message.text.len(), || self.listen(turn));
        let understood = turn.step("classify").take(self.classify(turn, &incoming, &memory)).await;
        self.report_intent(turn, &understood).await?;
        self.acknowledge(turn, &incoming).await?;
        if incoming.switch.is_some() && incoming.text.is_empty() {
            return self.prompt_again(turn, &incoming).await;
        }
        self.greet(turn, &understood, &mut memory).await?;
        // A turn that is cancelled after this has greeted.
        turn.state = memory.clone().into_state();
        match (understood.clarify_needed, understood.intent) {
            (true, _) if understood.social.is_some() => self.chat(turn, &understood).await?,
            (true, _) | (_, Intent::Unknown) => self.clarify(turn, &mut memory).await?,
            (false, Intent::Warranty) => self.warranty(turn, &incoming).await?,
            (false, Intent::Shopping) => self.reply(turn, &incoming, &understood).await?,
        }
        turn.state = memory.into_state();
        Ok(())
    }
}

impl Understood {
    /// The message held only a request to switch the language: there is nothing to clarify or answer.
    fn only_language() -> Self {
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
