//! The retail desk: shopping and warranties. `docs/desks/retail.md` describes its rules.
//!
//! [`Retail::play`] shows a turn, one line for each step. [`rules`] and [`classify`] decide what a message means, [`warranty`]
//! looks up serial numbers in the database, and [`reply`] answers from documents.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Desk, DeskError, DeskFactory, OpenDesk, ReplayFixture, Services, Turn};
use crate::config::{CuteGreeting, RetailConfig};
use crate::dialogue::Social;
use crate::dialogue::language::{self, MessageWithoutSwitch};
use crate::dialogue::social::{SocialModel, SocialTexts, Written};
use crate::domain::{Kind, Language, Message, Metadata, Sender, Vocabulary};
use crate::grounding::{Canary, Grounding, GroundingRules, Piece, joined};
use crate::nlu::examples::Classifier;
use crate::nlu::instalments::Instalments;
use crate::nlu::language::LanguageRules;
use crate::nlu::long_text::read_text;
use crate::nlu::pick::PickRules;
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};
use crate::replies::{MissingValue, Replies, ReplyKey};

mod builds;
mod cases;
mod classify;
mod context;
mod correction;
mod failed_attempts;
mod guess;
pub mod intent;
mod memory;
mod products;
mod prompt;
mod replay;
mod reply;
mod retrieve;
pub mod rules;
mod texts;
mod topics;
mod warranty;

use cases::Cases;
use classify::Understood;
use failed_attempts::FailedAttempts;
use intent::Intent;
use memory::Memory;
use rules::{RetailRules, Utterance};
use texts::Text;

/// The retail desk.
pub struct Retail {
    services: Services,
    texts: ByLanguage<Replies<Text>>,
    social: SocialTexts,
    common: ByLanguage<CommonTexts>,
    language_rules: Arc<LanguageRules>,
    rules: Arc<RetailRules>,
    picks: Arc<PickRules>,
    cases: Arc<Cases>,
    instalments: Instalments,
    /// Examples of the kinds of messages.
    examples: Classifier,
    /// The model's instructions for classification and for social talk.
    classify_prompt: String,
    social_prompt: String,
    failed_attempts: Arc<FailedAttempts>,
    /// Checks what the language model says.
    grounding: Grounding,
}

/// The parsed message, before it is classified.
struct Incoming {
    /// Whether the customer asked for another language.
    switched: bool,
    /// The message without that request.
    utterance: Utterance,
    /// Whether the desk's last message asked for a serial number.
    waiting_for_serial: bool,
}

impl Incoming {
    /// Whether the message holds nothing but a request for another language.
    fn is_only_switch(&self) -> bool {
        self.switched && self.utterance.text.is_empty()
    }
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

/// Earlier messages of the customer in which trouble leaves out the cheerful greeting.
const TROUBLE: usize = 3;
/// How often the desk asks in a row what the customer wants before it offers a person.
const CLARIFY_IN_A_ROW: u32 = 2;

impl Retail {
    /// Reads the desk's texts and rules.
    fn load(
        prompts: &Prompts,
        languages: &[Language],
        failed_attempts: Arc<FailedAttempts>,
    ) -> Result<impl FnOnce(&Services) -> Self + use<>, PromptError> {
        let texts = ByLanguage::load_checked(prompts, "retail", languages, |texts: &Replies<Text>| texts.check(1))?;
        let social = SocialTexts::load(prompts, languages)?;
        let common = ByLanguage::load(prompts, "common", languages)?;
        let language_rules = LanguageRules::read(prompts)?;
        let rules = RetailRules::read(prompts)?;
        let picks = PickRules::read(prompts)?;
        let cases = Cases::read(prompts)?;
        let instalments = Instalments::read(prompts)?;
        let examples = Classifier::read(prompts, "retail")?;
        let grounding = GroundingRules::read(prompts)?;
        let classify_prompt = prompts.text("retail/classify.md")?.to_owned();
        let social_prompt = prompts.text("retail/social.md")?.to_owned();
        Ok(move |services: &Services| Self {
            texts,
            social,
            common,
            language_rules,
            rules,
            picks,
            cases,
            instalments,
            examples,
            classify_prompt,
            social_prompt,
            failed_attempts,
            grounding: Grounding::new(
                grounding.in_currency(services.shop.currency),
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

    fn texts(&self, turn: &Turn) -> &Replies<Text> {
        self.texts.get(turn.language())
    }

    /// Returns a text, filled in with these values and the hotline.
    fn text(&self, turn: &Turn, text: Text, values: &[(&str, &str)]) -> Result<String, MissingValue> {
        let hotline = ("hotline", self.hotline(turn));
        self.texts(turn).text(text, &[&[hotline], values].concat())
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

    /// Settles the conversation's language, parses the message, and looks at what the customer was asked last.
    fn listen(&self, turn: &mut Turn) -> Incoming {
        let waiting_for_serial = warranty::is_waiting(&turn.history, &self.texts);
        let MessageWithoutSwitch { switched_to, text } = language::settle(turn, &self.language_rules, str::to_owned);
        let text = self.without_thanks(turn, &text);
        let utterance = self.rules.parse(&text, &self.vocabulary(turn));
        Incoming { switched: switched_to.is_some(), utterance, waiting_for_serial }
    }

    async fn report_intent(&self, turn: &mut Turn, understood: &Understood) -> Result<(), DeskError> {
        // More digits would suggest a precision that it does not have.
        let confidence = (understood.utterance.confidence * 100.0).round() / 100.0;
        turn.note("intent", understood.receipt(confidence));
        let intent = understood.intent().as_str();
        Ok(turn.report_intent(intent, confidence, understood.source, understood.clarify_needed).await?)
    }

    /// Greets with the first clear intent of a conversation and when the intent changes, unless the customer complains or leaves.
    async fn greet(&self, turn: &mut Turn, understood: &Understood, memory: &mut Memory) -> Result<(), DeskError> {
        if understood.clarify_needed {
            return Ok(());
        }
        let earlier = memory.last_intent.replace(understood.intent());
        // Last, because it parses earlier messages.
        let is_out_of_place = || {
            understood.utterance.complains()
                || understood.utterance.says_farewell()
                || earlier.is_some() && self.is_in_trouble(turn)
        };
        let greets = match self.config().cute_greeting {
            CuteGreeting::OnChange => earlier != Some(understood.intent()) && !is_out_of_place(),
            CuteGreeting::Always => true,
            CuteGreeting::Off => false,
        };
        if greets {
            self.say(turn, Kind::CuteGreeting, Text::CuteGreeting).await?;
        }
        Ok(())
    }

    /// Whether the customer complained in one of the last messages, or the warranty of the last answer has ended.
    fn is_in_trouble(&self, turn: &Turn) -> bool {
        let vocabulary = self.vocabulary(turn);
        let earlier = turn.history.iter().rev().filter(|message| message.sender == Sender::User).take(TROUBLE);
        let complains = |message: &Message| self.rules.parse(&message.text, &vocabulary).complains();
        earlier.into_iter().any(complains) || self.has_expired(turn)
    }

    /// Asks what the customer wants. When that did not help, it offers a person.
    async fn clarify(&self, turn: &mut Turn, memory: &mut Memory, model_is_late: bool) -> Result<(), DeskError> {
        memory.clarify_attempts += 1;
        memory.unclear += 1;
        turn.note("clarify_attempts", memory.clarify_attempts);
        if memory.unclear > CLARIFY_IN_A_ROW {
            memory.unclear = 0;
            return self.chat(turn, Social::Person, model_is_late).await;
        }
        self.say(turn, Kind::Clarify, Text::Clarify).await
    }

    /// Makes small talk: the model's reply, or a written one on the topic, and the way back to business in the same message.
    async fn chat(&self, turn: &mut Turn, topic: Social, model_is_late: bool) -> Result<(), DeskError> {
        let common = self.common(turn);
        let Written { mut text, holds_fact } = self.social.written(turn, topic, common)?;
        // Without a console, no person would see it.
        if topic == Social::Person && self.services.config.console.on {
            turn.call_person();
            text = self.text(turn, Text::PersonTold, &[])?;
        }
        let redirect = self.texts(turn).template(Text::SocialRedirect);
        let model = SocialModel {
            gateway: &self.services.llm,
            grounding: &self.grounding,
            common,
            language_rules: &self.language_rules,
            prompt: &self.social_prompt,
            persona_max_chars: self.services.config.prompts.persona_max_chars,
            timeout: self.services.config.desks.social_timeout,
            redirect,
        };
        let reply = if holds_fact || model_is_late { vec![Piece::Text(text)] } else { model.reply(turn, text).await? };
        turn.note("social_topic", topic.as_str());
        // A customer who leaves is not asked for more.
        let redirect = (topic != Social::Goodbye).then(|| Piece::Text(format!(" {redirect}")));
        turn.show(Kind::Social, joined(reply.into_iter().chain(redirect))).await?;
        Ok(turn.end_message(Metadata::of(Kind::Social)).await?)
    }

    /// Adds the persona's follow-up. With several variants, none comes twice in a row.
    async fn follow_up(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let persona = turn.persona.clone();
        let lines = persona.follow_ups(turn.language());
        let last = turn.history.iter().rev().find(|message| message.metadata.kind() == Some(Kind::FollowUp));
        let at = last.and_then(|last| lines.iter().position(|line| *line == last.text)).map_or(0, |at| at + 1);
        if let Some(line) = lines.get(at % lines.len().max(1)) {
            turn.say(Kind::FollowUp, line).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Desk for Retail {
    fn prepare(&self) {
        self.examples.prepare();
    }

    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let mut memory = Memory::of(&turn.state);
        let length = turn.message.text.len();
        let mut incoming = read_text(length, || self.listen(turn));
        read_text(length, || self.find_subject_page(turn, &incoming, &mut memory));
        let mut understood = turn.step("classify").take(self.classify(turn, &incoming, &memory)).await;
        let counted = self.recognize_serial(turn, &mut understood).await?;
        let about = read_text(length, || self.in_conversation(turn, &mut incoming, &mut understood, &mut memory));
        self.report_intent(turn, &understood).await?;
        if incoming.switched {
            self.say(turn, Kind::LanguageAck, Text::LanguageAck).await?;
        }
        if incoming.is_only_switch() {
            return self.prompt_again(turn, &incoming).await;
        }
        self.greet(turn, &understood, &mut memory).await?;
        // A turn that is cancelled after this has greeted.
        turn.state = memory.clone().into_state();
        match (understood.clarify_needed, understood.intent(), understood.utterance.social()) {
            (true, _, Some(topic)) => self.chat(turn, topic, understood.model_is_late).await?,
            (true, _, None) | (_, Intent::Unknown, _) => {
                self.clarify(turn, &mut memory, understood.model_is_late).await?;
                turn.state = memory.into_state();
                return Ok(());
            }
            (false, Intent::Warranty, _) => {
                self.warranty(turn, &incoming, about.is_record, counted, &mut memory).await?;
            }
            (false, Intent::Shopping, _) => self.reply(turn, &understood.utterance, about, &mut memory).await?,
        }
        memory.unclear = 0;
        turn.state = memory.into_state();
        Ok(())
    }
}
