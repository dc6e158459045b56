//! The customers of shops that sell over WhatsApp, and what they agreed to receive.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::entities::{TenantEntity, consent_changes, messages, sales, shoppers};
use super::{Result, TenantStore, unreadable};
use crate::domain::calendar::time;
use crate::domain::commerce::SaleId;
use crate::domain::commerce::Tags;
use crate::domain::commerce::consent::{Consent, ConsentActor, ConsentChange, ConsentCommand};
use crate::domain::identity::e164::E164;
use crate::domain::{ConversationId, Language, MessageId, ShopperId};

/// Names a customer of a shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShopperKey {
    /// By the number that the channel vouches for.
    Phone(E164),
    /// By the conversation, if the channel knows no number.
    Conversation(ConversationId),
}

impl ShopperKey {
    /// Names the customer of a conversation: by the number as which the channel or the shop's back end knows them, if it is one.
    pub fn of(user_id: Option<&str>, conversation: ConversationId) -> Self {
        user_id.and_then(|id| id.parse().ok()).map_or(Self::Conversation(conversation), Self::Phone)
    }
}

/// A customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shopper {
    pub id: ShopperId,
    #[serde(skip)]
    pub phone: Option<E164>,
    pub language: Option<Language>,
    #[serde(flatten)]
    pub consent: Consent,
    /// What the shop's people note about the customer.
    pub tags: Tags,
    /// When the customer last wrote to the desk.
    #[serde(serialize_with = "time")]
    pub last_seen: DateTime<Utc>,
}

/// A change that a customer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreferenceChange {
    Command(ConsentCommand),
    /// `None` keeps what holds.
    Set {
        language: Option<Language>,
        marketing: Option<bool>,
        notifications: Option<bool>,
    },
}

/// What a row of the consent log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preferences {
    #[serde(flatten)]
    pub consent: Consent,
    #[schema(value_type = Option<String>)]
    pub language: Option<Language>,
}

/// A row of the consent log, with its customer and message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ConsentEntry)]
pub struct ConsentEntry {
    pub id: Uuid,
    #[serde(serialize_with = "time")]
    pub at: DateTime<Utc>,
    /// `customer`, or `shop`: a person of the shop, at the customer's request.
    #[schema(value_type = String)]
    pub who: ConsentActor,
    /// The customer's number, if the channel knows it.
    #[schema(value_type = Option<String>)]
    pub customer: Option<E164>,
    pub from: Preferences,
    pub to: Preferences,
    /// The conversation of the message.
    pub conversation_id: Option<ConversationId>,
    /// The message that asked for the change, unless it was deleted.
    pub message: Option<String>,
}

impl TenantStore<'_> {
    /// Returns the customer, if they have written before.
    pub async fn find_shopper(&self, key: &ShopperKey) -> Result<Option<Shopper>> {
        let row = self.rows::<shoppers::Entity>().filter(named(key)).one(&self.store.read).await?;
        row.map(read_shopper).transpose()
    }

    /// Returns the customer, and whether the row is new.
    pub async fn find_or_create_shopper(&self, key: &ShopperKey, now: DateTime<Utc>) -> Result<(Shopper, bool)> {
        if let Some(known) = self.find_shopper(key).await? {
            return Ok((known, false));
        }
        let transaction = self.store.begin_fenced().await?;
        let consent = Consent::default();
        let (phone, conversation) = match key {
            ShopperKey::Phone(phone) => (Some(phone.as_str().to_owned()), None),
            ShopperKey::Conversation(id) => (None, Some(id.0)),
        };
        let id = Uuid::now_v7();
        let row = shoppers::ActiveModel {
            id: Set(id),
            tenant_id: Set(self.tenant.to_string()),
            phone_e164: Set(phone),
            conversation_id: Set(conversation),
            language_preference: Set(None),
            marketing_opt_in: Set(consent.marketing),
            notifications: Set(consent.notifications),
            tags: Set(json!([])),
            last_seen: Set(now),
        };
        shoppers::Entity::insert_if_new(row).exec_without_returning(&transaction).await?;
        let row = self.rows::<shoppers::Entity>().filter(named(key)).one(&transaction).await?;
        let shopper = read_shopper(row.ok_or_else(|| unreadable("shoppers", "the new row"))?)?;
        transaction.commit().await?;
        let is_new = shopper.id.0 == id;
        Ok((shopper, is_new))
    }

    /// Returns the customer of an order.
    pub async fn find_shopper_of_sale(&self, sale: &SaleId) -> Result<Option<Shopper>> {
        let row = self.rows::<sales::Entity>().filter(sales::Column::SaleId.eq(sale.as_str()));
        let Some(sale) = row.one(&self.store.read).await? else { return Ok(None) };
        let row = self.rows::<shoppers::Entity>().filter(shoppers::Column::Id.eq(sale.shopper_id));
        row.one(&self.store.read).await?.map(read_shopper).transpose()
    }

    /// Changes the customer's preferences, and adds a row to the consent log if anything changes. Returns the customer as of then and
    /// the id of the row.
    pub async fn change_preferences(
        &self,
        shopper: ShopperId,
        change: PreferenceChange,
        message: Option<MessageId>,
        now: DateTime<Utc>,
    ) -> Result<Option<(Shopper, Option<Uuid>)>> {
        let transaction = self.store.begin_fenced().await?;
        // Two changes of one customer wait for each other, so that neither writes what it read before the other one.
        let row = self.rows::<shoppers::Entity>().filter(shoppers::Column::Id.eq(shopper.0)).lock(LockType::Update);
        let row = row.one(&transaction).await?;
        let Some(before) = row.map(read_shopper).transpose()? else { return Ok(None) };
        let mut after = before.clone();
        match change {
            PreferenceChange::Command(command) => {
                let changes = changes_of(&transaction, self, shopper).await?;
                after.consent = command.apply(&changes);
            }
            PreferenceChange::Set { language, marketing, notifications } => {
                after.language = language.or(before.language);
                after.consent.marketing = marketing.unwrap_or(before.consent.marketing);
                after.consent.notifications = notifications.unwrap_or(before.consent.notifications);
            }
        }
        if after == before {
            return Ok(Some((after, None)));
        }
        let recorded = |shopper: &Shopper| json!(Preferences { consent: shopper.consent, language: shopper.language });
        let id = Uuid::now_v7();
        let entry = consent_changes::ActiveModel {
            id: Set(id),
            tenant_id: Set(self.tenant.to_string()),
            shopper_id: Set(shopper.0),
            who: Set(ConsentActor::Customer.as_str().to_owned()),
            at: Set(now),
            before: Set(recorded(&before)),
            after: Set(recorded(&after)),
            message_id: Set(message.map(|message| message.0)),
        };
        consent_changes::Entity::insert(entry).exec_without_returning(&transaction).await?;
        let changed = shoppers::ActiveModel {
            language_preference: Set(after.language.map(|language| language.code().to_owned())),
            marketing_opt_in: Set(after.consent.marketing),
            notifications: Set(after.consent.notifications),
            ..Default::default()
        };
        let update = shoppers::Entity::update_of(self.tenant).set(changed).filter(shoppers::Column::Id.eq(shopper.0));
        update.exec(&transaction).await?;
        transaction.commit().await?;
        Ok(Some((after, Some(id))))
    }

    /// Replaces the tags of a customer.
    pub async fn set_tags(&self, shopper: ShopperId, tags: &Tags) -> Result<()> {
        let transaction = self.store.begin_fenced().await?;
        let changed = shoppers::ActiveModel { tags: Set(json!(tags)), ..Default::default() };
        let update = shoppers::Entity::update_of(self.tenant).set(changed).filter(shoppers::Column::Id.eq(shopper.0));
        update.exec(&transaction).await?;
        self.record_act(&transaction).await?;
        transaction.commit().await
    }

    /// Lists at most `limit` rows of the shop's consent log, newest first: those older than `after`.
    pub async fn list_consent_log(&self, after: Option<Uuid>, limit: u64) -> Result<Vec<ConsentEntry>> {
        use consent_changes::Column as C;
        let mut rows = self.rows::<consent_changes::Entity>();
        if let Some(after) = after {
            rows = rows.filter(C::Id.lt(after));
        }
        let rows = rows.order_by_desc(C::Id).limit(limit).all(&self.store.read).await?;
        let customers = rows.iter().map(|row| row.shopper_id);
        let customers = self.rows::<shoppers::Entity>().filter(shoppers::Column::Id.is_in(customers));
        let customers: HashMap<Uuid, shoppers::Model> =
            customers.all(&self.store.read).await?.into_iter().map(|row| (row.id, row)).collect();
        let asked = rows.iter().filter_map(|row| row.message_id);
        let asked = self.rows::<messages::Entity>().filter(messages::Column::Id.is_in(asked));
        let asked: HashMap<Uuid, messages::Model> =
            asked.all(&self.store.read).await?.into_iter().map(|row| (row.id, row)).collect();
        let entry = |row: consent_changes::Model| {
            let message = row.message_id.and_then(|id| asked.get(&id));
            let customer = customers.get(&row.shopper_id).cloned().map(read_shopper).transpose()?;
            Ok(ConsentEntry {
                id: row.id,
                at: row.at,
                who: who(&row)?,
                customer: customer.and_then(|customer| customer.phone),
                from: preferences(row.before)?,
                to: preferences(row.after)?,
                conversation_id: message.map(|message| ConversationId(message.conversation_id)),
                message: message.map(|message| message.text.clone()),
            })
        };
        rows.into_iter().map(entry).collect()
    }

    /// Lists the changes of the customer's consent, oldest first.
    pub async fn list_consent_changes(&self, shopper: ShopperId) -> Result<Vec<ConsentChange>> {
        changes_of(&self.store.read, self, shopper).await
    }
}

/// Notes when a customer last wrote.
pub(super) async fn note_seen(connection: &impl ConnectionTrait, shopper: Uuid, at: DateTime<Utc>) -> Result<()> {
    let seen = shoppers::ActiveModel { last_seen: Set(at), ..Default::default() };
    shoppers::Entity::update_many().set(seen).filter(shoppers::Column::Id.eq(shopper)).exec(connection).await?;
    Ok(())
}

fn named(key: &ShopperKey) -> sea_orm::sea_query::SimpleExpr {
    match key {
        ShopperKey::Phone(phone) => shoppers::Column::PhoneE164.eq(phone.as_str()),
        ShopperKey::Conversation(id) => shoppers::Column::ConversationId.eq(id.0),
    }
}

async fn changes_of(
    connection: &impl ConnectionTrait,
    door: &TenantStore<'_>,
    shopper: ShopperId,
) -> Result<Vec<ConsentChange>> {
    use consent_changes::Column as C;
    let rows = door.rows::<consent_changes::Entity>().filter(C::ShopperId.eq(shopper.0)).order_by_asc(C::Id);
    let rows = rows.all(connection).await?;
    let read = |row: consent_changes::Model| -> Result<ConsentChange> {
        Ok(ConsentChange {
            who: who(&row)?,
            at: row.at,
            from: preferences(row.before)?.consent,
            to: preferences(row.after)?.consent,
            message: row.message_id.map(MessageId),
        })
    };
    rows.into_iter().map(read).collect()
}

fn who(row: &consent_changes::Model) -> Result<ConsentActor> {
    ConsentActor::parse(&row.who).ok_or_else(|| unreadable("consent_changes", "who"))
}

fn preferences(value: Value) -> Result<Preferences> {
    serde_json::from_value(value).map_err(|error| unreadable("consent_changes", error))
}

fn read_shopper(row: shoppers::Model) -> Result<Shopper> {
    let phone = row.phone_e164.map(|phone| phone.parse()).transpose();
    let language = row.language_preference.map(|language| language.parse()).transpose();
    Ok(Shopper {
        id: ShopperId(row.id),
        phone: phone.map_err(|error| unreadable("shoppers", error))?,
        language: language.map_err(|_| unreadable("shoppers", "language_preference"))?,
        consent: Consent { marketing: row.marketing_opt_in, notifications: row.notifications },
        // A customer whose data was erased has none.
        tags: serde_json::from_value(row.tags).unwrap_or_default(),
        last_seen: row.last_seen,
    })
}
