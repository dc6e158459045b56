//! What holds of one turn: the shop, the customer, the language, and where the payment stands.

use url::Url;

use super::Commerce;
use super::payments::PaymentOffers;
use super::state::{ConversationState, Search, Stage, has_state};
use crate::desks::{DeskError, Turn};
use crate::dialogue::language::{MessageWithoutSwitch, requested};
use crate::domain::commerce::Tenant;
use crate::domain::commerce::payment::{Payment, PaymentStatus};
use crate::domain::commerce::policy::{Governed, switches_language};
use crate::domain::commerce::sale::SaleStatus;
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::identity::e164::E164;
use crate::domain::{Conversation, Language, LanguageSource};
use crate::store::shoppers::{Shopper, ShopperKey};

/// Earlier conversations of a customer among which the last one with this desk is looked for.
const EARLIER: u64 = 5;

/// The shop, the customer and the payment of one turn.
pub(super) struct Situation {
    pub tenant: Tenant,
    pub shopper: Shopper,
    /// The number that may be asked to pay: of the channel, else the one that the customer gave.
    pub phone: Option<E164>,
    /// Whether the number is the channel's.
    pub knows_number: bool,
    /// The payment that the conversation is about.
    pub payment: Option<Payment>,
    /// The page on which the customer pays, while a payment there is open.
    pub page: Option<String>,
    pub offers: PaymentOffers,
    pub is_default_language: bool,
    /// The next reply begins with the introduction: no page tells customers of a channel that an AI answers.
    pub must_introduce: bool,
    /// The language model gave no usable answer in this turn, and is not asked again.
    pub model_failed: bool,
}

impl Situation {
    /// Returns the shop's page with a search.
    pub fn link(&self, search: &Search) -> Option<String> {
        link_to(&self.tenant.settings.catalog_link_base.as_ref()?.to_string(), search)
    }
}

/// Returns the page with the words and filters of a search, and the item that it is about.
fn link_to(base: &str, search: &Search) -> Option<String> {
    let mut url = Url::parse(base).ok()?;
    let words = Some(search.words.join(" ")).filter(|words| !words.is_empty());
    let parameters = [
        ("q", words),
        ("category", search.category.clone()),
        ("min_price", search.least.map(|limit| limit.to_string())),
        ("max_price", search.most.map(|limit| limit.to_string())),
        ("item", search.similar_to.as_ref().map(ToString::to_string)),
    ];
    let choices = search.details.sizes().into_iter().chain(search.details.choices.clone());
    let choices = choices.map(|choice| ("choice", Some(choice)));
    for (name, value) in parameters.into_iter().chain(choices) {
        if let Some(value) = value {
            url.query_pairs_mut().append_pair(name, &value);
        }
    }
    Some(url.to_string())
}

/// Returns who the customer is: the number of the channel or of the shop's back end, else the conversation.
pub(super) fn shopper_key(conversation: &Conversation) -> ShopperKey {
    ShopperKey::of(conversation.user_id.as_deref(), conversation.id)
}

impl Commerce {
    /// Returns the shop, the customer and the state. `None` if the shop has no settings.
    pub(super) async fn look_around(
        &self,
        turn: &mut Turn,
    ) -> Result<Option<(Situation, ConversationState, bool)>, DeskError> {
        let Some(tenant) = self.door(turn).find_tenant().await? else { return Ok(None) };
        let (mut state, was_unreadable) = ConversationState::read(&turn.state);
        let key = shopper_key(&turn.conversation);
        let (shopper, _) = self.door(turn).find_or_create_shopper(&key, turn.accepted_at()).await?;
        turn.note_seen(shopper.id);
        if matches!(key, ShopperKey::Phone(_)) && !has_state(&turn.state) {
            state.governed = self.governed_before(turn).await?;
        }
        let own = match key {
            ShopperKey::Phone(phone) => Some(phone),
            ShopperKey::Conversation(_) => None,
        };
        // The channel's number counts more than what anybody writes.
        let knows_number = own.is_some();
        state.phone = own.or(state.phone);
        let offers = self.payments.offers(&tenant, knows_number).await?;
        let payment = self.follow_payment(turn, &shopper, &mut state, &offers.methods).await?;
        let page = match &payment {
            Some(payment) => self.payments.page_of(&tenant.id, payment).await?,
            None => None,
        };
        let (phone, is_default_language, model_failed) = (state.phone.clone(), true, false);
        let must_introduce = turn.conversation.channel.is_some() && !state.has_introduced;
        let situation = Situation {
            tenant,
            shopper,
            phone,
            knows_number,
            payment,
            page,
            offers,
            is_default_language,
            must_introduce,
            model_failed,
        };
        Ok(Some((situation, state, was_unreadable)))
    }

    /// Returns what the governor counted in the customer's last conversation with this desk.
    async fn governed_before(&self, turn: &Turn) -> Result<Governed, DeskError> {
        let Conversation { id, user_id, .. } = &turn.conversation;
        let earlier = self.door(turn).list_conversations(user_id.as_deref(), Some(*id), EARLIER).await?;
        // One that was opened and not used, or is of another desk, counted nothing.
        let governed = earlier.iter().filter(|earlier| has_state(&earlier.state)).find_map(|earlier| {
            let (state, was_unreadable) = ConversationState::read(&earlier.state);
            (!was_unreadable).then(|| state.governed.after(turn.accepted_at() - earlier.last_activity_at))
        });
        Ok(governed.unwrap_or_default())
    }

    /// Brings the state up to date with what became of its payment since the last turn, a crash included. Returns the payment.
    async fn follow_payment(
        &self,
        turn: &Turn,
        shopper: &Shopper,
        state: &mut ConversationState,
        methods: &[PaymentMethod],
    ) -> Result<Option<Payment>, DeskError> {
        let Some(payment) = self.find_current_payment(turn, state).await? else { return Ok(None) };
        let is_paying = state.paying.as_ref().is_some_and(|paying| paying.order.id == payment.sale);
        let is_cart = state.order.as_ref().is_some_and(|order| order.id == payment.sale);
        match payment.request.status {
            // The server was killed before it stored that the customer was asked.
            status if status.is_open() && is_cart => state.begin_paying(payment.id),
            PaymentStatus::Failed | PaymentStatus::Timeout if is_paying => {
                // The way that failed comes first, so that "again" means it.
                let mut methods = methods.to_vec();
                methods.retain(|method| method.takes(payment.request.amount));
                methods.sort_by_key(|method| *method != payment.method);
                state.stop_paying(methods);
            }
            PaymentStatus::Paid | PaymentStatus::Reversed if is_paying || is_cart => {
                let order = self.door(turn).find_sale(shopper.id, &payment.sale).await?;
                let is_order_paid = order.is_some_and(|order| order.status == SaleStatus::Paid);
                let is_paid = is_order_paid && payment.request.status == PaymentStatus::Paid;
                state.paying = None;
                if is_cart || state.stage == Stage::Paying {
                    state.clear_sale();
                    state.stage = if is_paid { Stage::Done } else { Stage::Review };
                }
            }
            _ => {}
        }
        Ok(Some(payment))
    }

    /// Returns the last payment of the order in the cart, else of the order that is being paid, else of the conversation. Customers
    /// may pay any of their orders without being asked.
    async fn find_current_payment(&self, turn: &Turn, state: &ConversationState) -> Result<Option<Payment>, DeskError> {
        let paying = state.paying.iter().map(|paying| &paying.order);
        for order in state.order.iter().chain(paying) {
            if let Some(payment) = self.door(turn).list_payments(&order.id).await?.pop() {
                return Ok(Some(payment));
            }
        }
        Ok(self.door(turn).find_last_payment(turn.conversation.id).await?)
    }

    /// Returns the language of a message and a confidence: by its words, or by the examples that it resembles if its words are unsure.
    /// The examples do not count for or against a language that customers mix into all others.
    fn judge_language(&self, text: &str, allowed: &[Language]) -> Option<(Language, f64)> {
        const LIKELY: f64 = 0.7;
        // "Both black" is written in every language.
        const FEWEST_WORDS: usize = 3;
        let rules = &self.language_rules;
        let judged = rules.judge(text, allowed);
        let is_open = judged
            .is_none_or(|(language, confidence)| !rules.is_mixed_in(language) && !switches_language(confidence, true))
            && text.split_whitespace().count() >= FEWEST_WORDS;
        let guess = is_open.then(|| self.examples.language_of(text)).flatten();
        let guess = guess.filter(|guess| guess.known.min(guess.probability) >= LIKELY);
        let resembled = guess.and_then(|guess| {
            let language = guess.label.parse::<Language>().ok().filter(|language| !rules.is_mixed_in(*language))?;
            let unsure = !switches_language(guess.probability, true);
            let related = rules.related_to(language).filter(|_| unsure);
            Some((related.unwrap_or(language), 1.0))
        });
        resembled.or(judged)
    }

    /// Sets the language: a requested one; else that of the message, if it is sure; else the customer's; else the shop's.
    pub(super) async fn settle_language(&self, turn: &mut Turn, situation: &mut Situation) -> MessageWithoutSwitch {
        let languages = situation.tenant.settings.languages.clone();
        let spoken: Vec<Language> = turn.persona.languages.clone();
        let allowed: Vec<Language> =
            languages.allowed().iter().copied().filter(|language| spoken.contains(language)).collect();
        let was_persona = turn.conversation.language_source == LanguageSource::Persona;
        let message = requested(turn, &self.language_rules, &allowed);
        if turn.conversation.language_source != LanguageSource::Requested {
            let words = self.rules.without_brands(&message.text);
            let detected = match was_persona || self.language_rules.is_mixed_in(turn.language()) {
                true => self.judge_language(&words, &allowed),
                false => self.language_rules.judge(&words, &allowed),
            };
            let detected = self.ask_language(turn, situation, &allowed, detected).await.or(detected);
            let related = self.language_rules.related_to(turn.language()).filter(|_| !was_persona);
            let sure = detected.filter(|(language, confidence)| {
                related != Some(*language) && switches_language(*confidence, allowed.contains(language))
            });
            let own = situation.shopper.language.filter(|language| allowed.contains(language));
            // A persona that speaks another language than the shop was chosen for it.
            let persona = turn.persona.languages.first().copied().filter(|language| allowed.contains(language));
            let chosen = persona.filter(|_| !self.is_default_persona(turn));
            let first = was_persona.then(|| own.or(chosen).unwrap_or(languages.default_language()));
            if let Some(language) = sure.map(|(language, _)| language).or(first) {
                turn.set_language(language, LanguageSource::Detected);
            }
        }
        situation.is_default_language = turn.language() == situation.tenant.settings.languages.default_language();
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desks::commerce::said::Details;

    #[test]
    fn link_has_words_filters_and_item() {
        let words = vec!["canvas".to_owned(), "shoes".to_owned()];
        let details = Details { numbers: vec![2, 40], choices: vec!["black".to_owned()], ..Details::default() };
        let similar_to = Some("SV-101".parse().expect("an id"));
        for (search, query) in [
            (Search::default(), ""),
            (Search { words, most: Some(2_000), ..Search::default() }, "?q=canvas+shoes&max_price=2000"),
            (
                Search { category: Some("shoes".to_owned()), details, ..Search::default() },
                "?category=shoes&choice=40&choice=black",
            ),
            (Search { least: Some(500), similar_to, ..Search::default() }, "?min_price=500&item=SV-101"),
        ] {
            let link = link_to("https://savanna.example/shop", &search);
            assert_eq!(link, Some(format!("https://savanna.example/shop{query}")));
        }
    }
}
