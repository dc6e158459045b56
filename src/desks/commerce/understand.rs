//! What a message means in this shop and this conversation.

use chrono::Utc;

use super::classify::{ASK_CATALOG, Verdict, classify};
use super::effect::Incoming;
use super::rules::Says;
use super::said::{MOST_PIECES, Said};
use super::state::{ConversationState, Question, Search, Stage, Wanted};
use super::{Commerce, Situation, tools};
use crate::desks::{DeskError, Turn};
use crate::domain::commerce::catalog::search::{CatalogFilters, CatalogQuery, SearchLimit, SearchWords};
use crate::domain::commerce::policy::{GovernorClass, Intent, Routing, route};
use crate::domain::commerce::sale::SaleStatus;
use crate::domain::{ConversationStatus, Language, Message, Sender};
use crate::nlu::long_text::read_text;
use crate::store::shoppers::PreferenceChange;

/// The goods that a message names.
#[derive(Default)]
pub(super) struct Named {
    /// The words in the names of the shop's goods.
    pub goods: Vec<String>,
    /// The last of them that names a kind of goods: "boots" of "leather boots".
    pub kind: Option<String>,
    /// One of them is written as in the catalogue.
    pub is_sure: bool,
    /// The shop's goods have none of the message's words.
    pub is_strange: bool,
    /// The searches for those after the first ones.
    pub later: Vec<Search>,
}

impl Commerce {
    /// Decides what the message wants. The catalogue is asked where the rules are unsure. `names_goods`: whether a word of the message
    /// surely names goods.
    pub(super) async fn classify(
        &self,
        turn: &Turn,
        said: &Said,
        state: &ConversationState,
        names_goods: bool,
    ) -> Result<Verdict, DeskError> {
        let sure = if names_goods { 1.0 } else { 0.0 };
        let verdict = classify(said, &self.examples, sure);
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
        Ok(classify(said, &self.examples, found.confidence.max(sure)))
    }

    /// Adds what the shop's rows know of a message: which words name its goods, which are a choice of some of them, and which goods it
    /// names after the first ones.
    pub(super) async fn name_goods(
        &self,
        turn: &Turn,
        said: Said,
        state: &ConversationState,
    ) -> Result<(Said, Named), DeskError> {
        // Which goods the words name counts only where it decides something.
        let counts = said.details.numbers.iter().filter(|number| **number <= MOST_PIECES).count();
        let names_several = self.rules.pieces(&said.rest).len() > 1 || counts > 1;
        let is_ambiguous = names_several || said.clear_intents().len() > 1 || said.class == GovernorClass::Casual;
        let about_offer = said.says(Says::Covers) || said.says(Says::UseCoupon) || !said.codes().is_empty();
        let asks_shop = said.clear_intents().contains(&Intent::SupportQuestion);
        let decides = state.is_selling()
            || !state.topic.is_empty()
            || asks_shop
            || is_ambiguous
            || said.method().is_some()
            || about_offer;
        let may_name = !said.words.is_empty() || said.details.numbers.len() > 1 || !said.unwanted.is_empty();
        if !may_name {
            return Ok((said, Named::default()));
        }
        let known = self.door(turn).catalog_words().await?;
        if !decides {
            let mut said = said;
            known.keep_unwanted(&mut said);
            let is_strange = known.has_none_of(&said);
            return Ok((Said { sought: known.sought(&said), ..said }, Named { is_strange, ..Named::default() }));
        }
        let (mut said, later) = read_text(said.text().len(), || self.cut_goods(said, state, &known));
        said.sought = known.sought(&said);
        let goods = known.name_goods(&mut said);
        let kind = goods.iter().rfind(|word| known.kinds.contains(word)).cloned();
        let (is_sure, is_strange) = (known.has_name_in(&said), known.has_none_of(&said));
        // Small talk next to a wish is business.
        if said.class == GovernorClass::Casual && is_sure {
            said.class = GovernorClass::Business;
        }
        Ok((said, Named { goods, kind, is_sure, is_strange, later }))
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
    pub(super) async fn read_message(
        &self,
        turn: &Turn,
        situation: &Situation,
        mut said: Said,
        verdict: &Verdict,
        (named, question): (Named, Option<Question>),
    ) -> Result<Incoming, DeskError> {
        let is_chat =
            matches!(route(verdict.intent, verdict.confidence), Routing::Journey(_)) || said.utterance.greets();
        // A yes or a no answers the desk, whatever it resembles, and frustration counts towards a person.
        let is_chat = is_chat && !said.utterance.only_answers() && !said.says(Says::Frustrated);
        let counts = said.says(Says::Wants) && !said.details.numbers.is_empty();
        if verdict.intent == Intent::SpamCasual && is_chat && !counts && !said.utterance.has_question() {
            said.class = match said.class {
                GovernorClass::Business => GovernorClass::Casual,
                class => class,
            };
        }
        let settings = &situation.tenant.settings;
        let topics = &settings.compliance.topics;
        let topic = said.compliance.iter().find(|topic| topics.iter().any(|of| of.as_str() == *topic)).cloned();
        let coupon = self.coupon(turn, &said).await?;
        let asks_order = verdict.intent == Intent::OrderStatus && !said.subjects.is_empty();
        let has_bought = (said.says(Says::Dispute) || said.says(Says::ChangeOrder) || asks_order)
            && self
                .door(turn)
                .list_sales(situation.shopper.id)
                .await?
                .iter()
                .any(|sale| sale.status == SaleStatus::Paid);
        // The question for an amount ends the last reply: what was sent before it answers another one, and so does an answer to what a
        // person or the shop has said since.
        let last = turn.history.iter().rev().find(|message| message.sender != Sender::User);
        let is_other = |last: &Message| last.sender == Sender::Agent || last.created_at > turn.accepted_at();
        Ok(Incoming {
            coupon,
            intent: verdict.intent,
            routing: route(verdict.intent, verdict.confidence),
            rules: settings.escalation_rules,
            knows_number: situation.knows_number,
            is_waiting: turn.conversation.status == ConversationStatus::Waiting,
            is_earlier: last.is_some_and(is_other),
            switched_to: None,
            answers_person: false,
            said,
            goods: named.goods,
            kind: named.kind,
            later: named.later,
            is_strange: named.is_strange,
            question,
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

impl ConversationState {
    /// Whether a part of a message answers what the desk asked. "Ok" may only begin what follows.
    pub(super) fn is_answered_by(&self, said: &Said) -> bool {
        let says = |all: &[Says]| all.iter().any(|says| said.says(*says));
        let chooses = |wanted: &Wanted| !said.details.choices_of(&wanted.item.variants, &wanted.choices).0.is_empty();
        // "OKAY" is no code.
        let has_digit = |code: &String| code.contains(|c: char| c.is_ascii_digit());
        let names_code = says(&[Says::UseCoupon]) || said.codes().iter().any(has_digit);
        !said.utterance.has_question()
            && match &self.stage {
                Stage::Item { line } | Stage::Disambiguate { line } => {
                    chooses(line) || names_code || says(&[Says::Wants, Says::Consents])
                }
                Stage::Options => said.option(self.options.len()).is_some(),
                Stage::Draft | Stage::Method { .. } => {
                    let changes = says(&[Says::Pay, Says::Remove]) || self.last.as_ref().is_some_and(chooses);
                    changes || names_code || said.method().is_some()
                }
                Stage::Phone { .. } => said.phone.is_some(),
                _ => false,
            }
    }
}
