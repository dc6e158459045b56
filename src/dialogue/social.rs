//! Small talk, for every desk: its topics, the words that show them, and a short reply in the persona's voice.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde::Deserialize;
use tokio::time::timeout;
use tracing::warn;

use super::history::window;
use super::model::wait_in_queue;
use super::opening::Wanted;
use super::{SinkClosed, Turn};
use crate::domain::Language;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, match_mask};
use crate::grounding::{Grounding, Piece, Placeholders};
use crate::nlu::language::LanguageRules;
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts, cut_at_sentence};
use crate::providers::llm::{ChatMessage, ChatRequest, Gateway, LlmError, Phase, Ticket};
use crate::replies::{MissingValue, Replies, ReplyKey, reply_keys};

/// Characters of the conversation in the prompt.
const CONTEXT_CHARS: usize = 800;
/// The longest reply of the model, in characters; one or two sentences.
const REPLY_MAX_CHARS: usize = 400;

reply_keys! {
    /// A topic of small talk. `rules/social.toml` has their order, `rules/social.LANG.toml` their words, and
    /// `texts/social.LANG.toml` the replies.
    pub enum Social {
        Person = "person" ["hotline"],
        Complaint = "complaint" ["hotline"],
        HumanOrBot = "human_or_bot" ["hotline"],
        Relationship = "relationship" ["hotline"],
        HangOut = "hang_out" ["hotline"],
        Love = "love" ["hotline"],
        Age = "age" ["hotline"],
        Name = "name" ["hotline"],
        HowAreYou = "how_are_you" ["hotline"],
        WhatDoing = "what_doing" ["hotline"],
        Food = "food" ["hotline"],
        Weather = "weather" ["hotline"],
        Joke = "joke" ["hotline"],
        Bored = "bored" ["hotline"],
        Compliment = "compliment" ["hotline"],
        Goodbye = "goodbye" ["hotline"],
        Thanks = "thanks" ["hotline"],
        /// Its texts are used for a topic without texts.
        Other = "other" ["hotline"],
    }
}

/// The patterns of each topic.
#[derive(Debug, Default)]
pub struct SocialRules(Vec<(Social, Vec<Pattern>)>);

impl SocialRules {
    /// Compiles the patterns of the topics, in this order.
    pub fn new(
        topics: &[Social],
        written: &HashMap<Social, Vec<String>>,
        lexicon: &Lexicon,
    ) -> Result<Self, InvalidPattern> {
        let written = |topic| written.get(topic).map_or(&[][..], Vec::as_slice);
        topics.iter().map(|topic| Ok((*topic, lexicon.patterns(written(topic))?))).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the topics of a message in their order, and for each word whether it belongs to one.
    pub fn find(&self, stream: &TokenStream<'_>) -> (Vec<Social>, Vec<bool>) {
        let mut found = Vec::new();
        let mut covered = vec![false; stream.tokens().len()];
        for (topic, patterns) in &self.0 {
            let says = match_mask(patterns, stream, &[]);
            if says.contains(&true) {
                found.push(*topic);
            }
            covered.iter_mut().zip(says).for_each(|(covered, says)| *covered |= says);
        }
        (found, covered)
    }
}

/// Finds small talk, for a desk whose own rules share no words with it.
#[derive(Debug)]
pub struct SmallTalk {
    lexicon: Lexicon,
    rules: SocialRules,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SmallTalkFile {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    classes: HashMap<String, Vec<String>>,
    topics: Vec<Social>,
    social: HashMap<Social, Vec<String>>,
}

impl SmallTalk {
    /// Reads `rules/common.*.toml` and `rules/social*.toml`.
    ///
    /// # Errors
    /// A file is missing or malformed, or has an invalid pattern.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.rules(&["common", "social"], |file: SmallTalkFile| {
            let lexicon = Lexicon::new(file.aliases, file.classes).with_plain_words(&file.plain_words);
            let rules = SocialRules::new(&file.topics, &file.social, &lexicon)?;
            Ok::<Self, InvalidPattern>(Self { lexicon, rules })
        })
    }

    /// Returns the topics of a message in their order.
    pub fn topics(&self, text: &str) -> Vec<Social> {
        self.rules.find(&self.lexicon.tokenize(text)).0
    }
}

/// The written replies: one of the variants of `texts/social.LANG.toml`.
#[derive(Clone, Debug)]
pub struct SocialTexts(ByLanguage<Replies<Social>>);

/// A written reply.
#[derive(Debug)]
pub struct Written {
    pub text: String,
    /// Whether it holds a telephone number, so that no model may reword it.
    pub holds_fact: bool,
}

impl SocialTexts {
    /// Reads the texts in each of the languages.
    ///
    /// # Errors
    /// A file is missing or malformed, or has no text for [`Social::Other`].
    pub fn load(prompts: &Prompts, languages: &[Language]) -> Result<Self, PromptError> {
        let check = |replies: &Replies<Social>| {
            let filled_in = Social::ALL.iter().filter(|topic| !replies.variants(**topic).is_empty());
            replies.check_keys(filled_in.chain([&Social::Other]).copied(), 1)
        };
        Ok(Self(ByLanguage::load_checked(prompts, "social", languages, check)?))
    }

    /// Returns the reply for the topic. The variant depends on the turn's number.
    ///
    /// # Errors
    /// The text names a placeholder without a value.
    pub fn written(&self, turn: &Turn, topic: Social, common: &CommonTexts) -> Result<Written, MissingValue> {
        let replies = self.0.get(turn.language());
        let topic = if replies.variants(topic).is_empty() { Social::Other } else { topic };
        let last = usize::try_from(turn.number()).unwrap_or(0).checked_sub(1);
        let (text, variant) = replies.pick(topic, last, &[("hotline", &common.hotline)])?;
        let holds_fact = replies.variants(topic).get(variant).is_some_and(|template| *template != text);
        Ok(Written { text, holds_fact })
    }
}

/// What a reply of the model depends on.
#[derive(Clone, Copy)]
pub struct SocialModel<'a> {
    pub gateway: &'a Arc<Gateway>,
    pub grounding: &'a Grounding,
    pub common: &'a CommonTexts,
    /// Checks the language of the reply.
    pub language_rules: &'a LanguageRules,
    /// The model's instructions. A reply may use the examples of their lines `Reply: …`.
    pub prompt: &'a str,
    pub persona_max_chars: usize,
    pub timeout: Duration,
    /// A sentence that the desk adds. It is removed where the model adds it as well.
    pub redirect: &'a str,
}

impl SocialModel<'_> {
    /// Returns the model's reply after the guards. The written text replaces one that does not come in time or that the guards
    /// stopped.
    pub async fn reply(&self, turn: &mut Turn, written: String) -> Result<Vec<Piece>, SinkClosed> {
        let Some(reply) = self.ask(turn).await? else { return Ok(vec![Piece::Text(written)]) };
        let mut sources = turn.sources();
        sources.shop.push(&self.common.hotline);
        sources.instructions.push(self.prompt);
        sources.shop.extend(self.prompt.lines().filter_map(|line| line.strip_prefix("Reply: ")));
        let placeholders = Placeholders::of(self.common);
        let (mut pieces, is_stopped) = self.grounding.check(&reply, &placeholders, &sources);
        if is_stopped {
            pieces.retain(|piece| matches!(piece, Piece::Guard(_)));
            pieces.push(Piece::Text(written));
        }
        Ok(pieces)
    }

    /// Returns the model's reply, or `None` if there is no model or it does not answer in time, with the wait in its queue.
    async fn ask(&self, turn: &mut Turn) -> Result<Option<String>, SinkClosed> {
        if !self.gateway.is_up() {
            return Ok(None);
        }
        let persona = cut_at_sentence(&turn.persona.text, self.persona_max_chars);
        let (canary, language) = (self.grounding.canary().line(), turn.language());
        let system =
            format!("{canary}\n\nSystem Persona: {persona}\n\n{canary}\n\n{}\n\nLanguage: {language}", self.prompt);
        let mut messages = vec![ChatMessage::system(system)];
        messages.extend(window(&turn.history, CONTEXT_CHARS));
        messages.push(ChatMessage::user(turn.message.text.clone()));
        let request =
            ChatRequest { messages, model: turn.persona.model.clone(), temperature: turn.persona.temperature };
        let wanted = Wanted::of(turn, self.language_rules);
        let asking = async {
            let mut ticket = match self.gateway.enter() {
                Ok(ticket) => ticket,
                Err(error) => return Ok(Err(error)),
            };
            wait_in_queue(turn, &mut ticket).await?;
            Ok::<_, SinkClosed>(read(&wanted, ticket, request).await)
        };
        let late = Ok(Err(LlmError::Timeout(Phase::Answer)));
        let text = match timeout(self.timeout, asking).await.unwrap_or(late)? {
            Ok(text) => text,
            Err(error) => {
                warn!(%error, "No social reply from the language model: using a written one");
                return Ok(None);
            }
        };
        let text = text.trim().trim_matches('"').trim().trim_end_matches(self.redirect);
        let text = cut_at_sentence(text, REPLY_MAX_CHARS).trim();
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }
}

/// Reads the whole reply before any of it is sent, so that the written text can replace an incomplete one.
async fn read(wanted: &Wanted<'_>, ticket: Ticket, request: ChatRequest) -> Result<String, LlmError> {
    let mut deltas = wanted.stream(ticket, request).await?;
    let mut text = String::new();
    while let Some(delta) = deltas.next().await {
        text.push_str(&delta?);
        if text.chars().count() > REPLY_MAX_CHARS {
            break;
        }
    }
    Ok(text)
}
