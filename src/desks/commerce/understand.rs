//! What a message means in this shop and this conversation.

use chrono::Utc;

use super::classify::{ASK_CATALOG, Verdict, classify};
use super::effect::Heard;
use super::rules::Says;
use super::said::Said;
use super::state::{ConversationState, Stage};
use super::{Commerce, Situation, tools};
use crate::desks::{DeskError, Turn};
use crate::domain::commerce::catalog::search::{CatalogFilters, CatalogQuery, SearchLimit, SearchWords, stem};
use crate::domain::commerce::policy::route;
use crate::domain::commerce::sale::SaleStatus;
use crate::domain::{ConversationStatus, Language, Sender};
use crate::nlu::spelling::nearest;
use crate::store::shoppers::PreferenceChange;

impl Commerce {
    /// Decides what the message wants. The catalogue is asked where the rules are unsure.
    pub(super) async fn classify(
        &self,
        turn: &Turn,
        said: &Said,
        state: &ConversationState,
    ) -> Result<Verdict, DeskError> {
        let verdict = classify(said, &self.examples, 0.0);
        let may_name_goods = said.describes_goods() && verdict.confidence < ASK_CATALOG;
        if !may_name_goods || matches!(state.stage, Stage::Phone { .. }) {
            return Ok(verdict);
        }
        let Ok(limit) = SearchLimit::try_from(1) else { return Ok(verdict) };
        let words = SearchWords::of(&said.words.join(" "));
        if words.is_empty() {
            return Ok(verdict);
        }
        let query = CatalogQuery { words, filters: CatalogFilters::default(), limit };
        let found = tools::catalog::search(&self.door(turn), query).await?;
        Ok(classify(said, &self.examples, found.confidence))
    }

    /// Adds what the shop's rows know of a message: which words name its goods, and which are a choice of some of them.
    async fn name_goods(
        &self,
        turn: &Turn,
        said: &mut Said,
        state: &ConversationState,
    ) -> Result<Vec<String>, DeskError> {
        if said.words.is_empty() || !state.is_selling() {
            return Ok(Vec::new());
        }
        let known = self.door(turn).catalog_words().await?;
        let written: Vec<&str> = said.words.iter().flat_map(|word| word.split_whitespace()).collect();
        let meant: Vec<&str> = written.into_iter().map(|word| nearest(word, &known.all).unwrap_or(word)).collect();
        let is_choice = |word: &&&str| known.choices.contains(**word) && word.parse::<u64>().is_err();
        said.details.choices = meant.iter().filter(is_choice).map(|word| (*word).to_owned()).collect();
        let is_name = |word: &&&str| known.names.contains(**word) || known.names.contains(stem(word));
        Ok(meant.iter().filter(is_name).map(|word| stem(word).to_owned()).collect())
    }

    /// Returns the code of a coupon that the message names.
    pub(super) async fn coupon(&self, turn: &Turn, said: &Said) -> Result<Option<String>, DeskError> {
        if said.codes().is_empty() {
            return Ok(None);
        }
        let offers = self.door(turn).list_offers(Utc::now()).await?;
        let codes: Vec<String> = offers.into_iter().map(|offer| offer.code).collect();
        Ok(said.coupon(&codes))
    }

    /// Returns what the message says in this shop and this conversation.
    pub(super) async fn hear(
        &self,
        turn: &Turn,
        situation: &Situation,
        state: &ConversationState,
        mut said: Said,
        verdict: &Verdict,
    ) -> Result<Heard, DeskError> {
        let settings = &situation.tenant.settings;
        let topics = &settings.compliance.topics;
        let topic = said.compliance.iter().find(|topic| topics.iter().any(|of| of.as_str() == *topic)).cloned();
        let goods = self.name_goods(turn, &mut said, state).await?;
        let coupon = self.coupon(turn, &said).await?;
        let has_bought = (said.says(Says::Dispute) || said.says(Says::ChangeOrder))
            && self
                .door(turn)
                .list_sales(situation.shopper.id)
                .await?
                .iter()
                .any(|sale| sale.status == SaleStatus::Paid);
        // The question for an amount ends the last reply: what was sent before it answers another one.
        let last = turn.history.iter().rev().find(|message| message.sender == Sender::Assistant);
        Ok(Heard {
            coupon,
            intent: verdict.intent,
            routing: route(verdict.intent, verdict.confidence),
            rules: settings.escalation_rules,
            knows_number: situation.knows_number,
            is_waiting: turn.conversation.status == ConversationStatus::Waiting,
            is_earlier: last.is_some_and(|reply| reply.created_at > turn.accepted_at()),
            switched_to: None,
            said,
            goods,
            topic,
            has_bought,
        })
    }

    /// Stores the language that the customer asks for.
    pub(super) async fn keep_language(
        &self,
        turn: &Turn,
        situation: &mut Situation,
        language: Language,
    ) -> Result<(), DeskError> {
        let change = PreferenceChange::Set { language: Some(language), marketing: None, notifications: None };
        let (message, now) = (Some(turn.message.id), turn.accepted_at());
        let changed = self.door(turn).change_preferences(situation.shopper.id, change, message, now).await?;
        if let Some((shopper, _)) = changed {
            situation.shopper = shopper;
        }
        Ok(())
    }
}
