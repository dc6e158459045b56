//! The tables as sea-orm entities. Only `store` uses them.

use sea_orm::{ColumnTrait, DeleteMany, EntityTrait, QueryFilter, Select, UpdateMany};

use crate::domain::TenantId;

/// An entity whose rows belong to a tenant: every entity that the `table!` macro declares.
pub trait TenantEntity: EntityTrait {
    const TENANT: Self::Column;

    /// Selects the tenant's rows.
    fn of(tenant: &TenantId) -> Select<Self> {
        Self::find().filter(Self::TENANT.eq(tenant.as_str()))
    }

    /// Updates rows of the tenant.
    fn update_of(tenant: &TenantId) -> UpdateMany<Self> {
        Self::update_many().filter(Self::TENANT.eq(tenant.as_str()))
    }

    /// Deletes rows of the tenant.
    fn delete_of(tenant: &TenantId) -> DeleteMany<Self> {
        Self::delete_many().filter(Self::TENANT.eq(tenant.as_str()))
    }
}

/// Declares the entity of a table: a module with sea-orm's types for it. The columns in brackets are the primary key.
macro_rules! table {
    ($(#[$doc:meta])* $module:ident $name:tt [$($key:ident: $type:ident),+] { $($columns:tt)* }) => {
        #[allow(dead_code, reason = "sea-orm generates more than this crate uses")]
        pub mod $module {
            use sea_orm::entity::prelude::*;

            $(#[$doc])*
            #[sea_orm::model]
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, DeriveEntityModel)]
            #[sea_orm(table_name = $name)]
            pub struct Model {
                $(
                    #[sea_orm(primary_key, auto_increment = false)]
                    pub $key: $type,
                )+
                $($columns)*
            }

            impl ActiveModelBehavior for ActiveModel {}

            impl super::TenantEntity for Entity {
                const TENANT: Column = Column::TenantId;
            }
        }
    };
}

table! {
    /// A conversation. `last_turn` is the number of the last accepted turn, and `last_event_*` is the last event of the
    /// last turn that ended. `state` is the desk's memory. `folded_user` is the user's id prepared for search.
    /// `visitor`: a page opened the conversation without a key. `session_id`: the caller's name of a conversation of `POST /chat`.
    conversations "conversations" [id: Uuid] {
        pub tenant_id: String,
        pub user_id: Option<String>,
        pub persona: String,
        pub preferred_language: String,
        pub language_source: String,
        pub status: String,
        pub created_at: DateTimeUtc,
        pub metadata: Json,
        pub last_turn: i32,
        pub last_event_turn: i32,
        pub last_event_n: i32,
        pub state: Json,
        pub agent: Option<String>,
        pub waiting_since: Option<DateTimeUtc>,
        pub last_activity_at: DateTimeUtc,
        pub folded_user: String,
        pub visitor: bool,
        pub session_id: Option<String>,
    }
}

table! {
    /// A message. The history is sorted by (`turn`, `position`); `folded` is the text prepared for search.
    messages "messages" [id: Uuid] {
        pub tenant_id: String,
        pub conversation_id: Uuid,
        pub turn: i32,
        pub position: i32,
        pub sender: String,
        pub text: String,
        pub created_at: DateTimeUtc,
        pub metadata: Json,
        pub receipt: Option<Json>,
        pub folded: String,
    }
}

table! {
    /// A turn. `events` is the number of events that it had when it ended; the row is kept after they are removed.
    turns "turns" [conversation_id: Uuid, turn: i32] {
        pub tenant_id: String,
        pub message_id: Uuid,
        pub status: String,
        pub accepted_at: DateTimeUtc,
        pub started_at: Option<DateTimeUtc>,
        pub ended_at: Option<DateTimeUtc>,
        pub timings: Json,
        pub events: i32,
        pub cancel_requested: bool,
        /// Whether its events are still stored.
        pub events_kept: bool,
        /// Who wrote the message that started it.
        pub sender: String,
        pub intent: Option<String>,
        /// The kind of the main message, or null if the turn sent none.
        pub kind: Option<String>,
        pub first_text_ms: Option<i32>,
        pub asked_person: bool,
        pub model_failed: bool,
    }
}

table! {
    /// An event. `body` is the JSON of the SSE frame exactly as clients receive it.
    events "events" [conversation_id: Uuid, turn: i32, n: i32] {
        pub tenant_id: String,
        pub body: String,
        pub created_at: DateTimeUtc,
    }
}

table! {
    /// The result of a request with an `Idempotency-Key`. `scope` is the conversation, or empty for its creation.
    idempotency_keys "idempotency_keys" [tenant_id: String, scope: String, key: String] {
        pub body_hash: String,
        pub conversation_id: Uuid,
        pub turn: i32,
        pub message_id: Uuid,
        pub created_at: DateTimeUtc,
    }
}

table! {
    /// A shop's number of turns on a day (UTC).
    daily_turns "daily_turns" [tenant_id: String, day: Date] {
        pub turns: i32,
    }
}

table! {
    /// A background job, stored in the commit that it follows from.
    jobs "jobs" [kind: String, subject: String] {
        pub tenant_id: String,
        pub conversation_id: Option<Uuid>,
        pub created_at: DateTimeUtc,
        pub run_at: DateTimeUtc,
        pub leased: bool,
        pub attempts: i32,
        pub dead: bool,
        pub error: Option<String>,
        /// The job's data, if its subject is not enough.
        pub payload: Option<Json>,
    }
}

table! {
    /// A set of vectors that are searched together.
    vector_collections "vector_collections" [tenant_id: String, name: String] {
        pub model: String,
        pub dimension: i32,
        /// Identifies this instance of the collection: a dropped and recreated collection has a new one.
        pub generation: Uuid,
        /// The number of transactions that have written to it.
        pub version: i64,
        /// The last version that removed vectors.
        pub removed_version: i64,
    }
}

table! {
    /// The vector of a text, as little-endian `f32` numbers.
    vectors "vectors" [tenant_id: String, collection: String, id: String] {
        pub conversation_id: Option<String>,
        /// The collection's version when the row was written.
        pub version: i64,
        pub vector: Vec<u8>,
        pub text: String,
        pub metadata: Json,
    }
}

table! {
    /// A customer of a shop. `user_id` is the customer's id in the shop's own system.
    customers "customers" [id: Uuid] {
        pub tenant_id: String,
        pub name: String,
        pub email: String,
        pub phone: Option<String>,
        pub user_id: Option<String>,
        pub is_vip: bool,
        pub fraud_flag: bool,
    }
}

table! {
    /// An order. `paid` is in minor units of `currency`.
    orders "orders" [tenant_id: String, number: String] {
        pub customer_id: Uuid,
        pub email: String,
        pub phone: Option<String>,
        pub status: String,
        pub currency: String,
        pub paid: i64,
        pub ordered_at: DateTimeUtc,
        pub shipped_at: Option<DateTimeUtc>,
        pub delivered_at: Option<DateTimeUtc>,
        pub tracking: Option<String>,
    }
}

table! {
    /// A line of an order. `unit_price` is in minor units of the order's currency.
    order_items "order_items" [tenant_id: String, order_number: String, line: i32] {
        pub sku: Option<String>,
        pub name: String,
        pub category: Option<String>,
        pub quantity: i32,
        pub unit_price: i64,
        pub is_returnable: bool,
        pub is_final_sale: bool,
    }
}

table! {
    /// The failed attempts to prove whose order or account it is, for one subject.
    order_misses "order_misses" [tenant_id: String, subject: String] {
        pub misses: i32,
        pub last_at: DateTimeUtc,
        pub locked_until: Option<DateTimeUtc>,
    }
}

table! {
    /// A return policy of a shop. `category` is set where `scope` is `category`.
    return_policies "return_policies" [tenant_id: String, name: String] {
        pub scope: String,
        pub category: Option<String>,
        pub return_days: i32,
        pub refund_days: Option<i32>,
    }
}

table! {
    /// A return merchandise authorization. `refund` is in minor units of `currency`.
    rmas "rmas" [id: Uuid] {
        pub tenant_id: String,
        pub number: String,
        pub order_number: String,
        pub customer_id: Uuid,
        pub action: String,
        pub status: String,
        pub currency: String,
        pub refund: i64,
        pub reason: String,
        pub reason_code: String,
        pub escalated: bool,
        pub escalation_reason: Option<String>,
        pub escalation_ticket: Option<String>,
        pub conversation_id: Option<Uuid>,
        pub created_at: DateTimeUtc,
        pub updated_at: DateTimeUtc,
    }
}

table! {
    /// A line of the order that is returned, and its refund.
    rma_items "rma_items" [rma_id: Uuid, line: i32] {
        pub tenant_id: String,
        pub amount: i64,
    }
}

table! {
    /// The return label of an RMA.
    labels "labels" [rma_id: Uuid] {
        pub tenant_id: String,
        pub tracking: String,
        pub created_at: DateTimeUtc,
    }
}

table! {
    /// A request to the shop. There is one row per `idempotency_key`.
    tickets "tickets" [tenant_id: String, id: String] {
        pub kind: String,
        pub idempotency_key: String,
        pub request: String,
        pub order_number: Option<String>,
        pub rma_number: Option<String>,
        pub conversation_id: Option<Uuid>,
        pub priority: Option<String>,
        pub reason: String,
        pub summary: String,
        /// The return that a person decides on.
        pub claim: Option<Json>,
        pub created_at: DateTimeUtc,
        pub resolution: Option<String>,
        pub resolved_by: Option<String>,
        pub resolved_why: Option<String>,
        pub resolved_at: Option<DateTimeUtc>,
    }
}

table! {
    /// An e-mail to a customer. `number` is its Message-ID, and `context` fills its template.
    mails "mails" [id: Uuid] {
        pub tenant_id: String,
        pub number: String,
        pub conversation_id: Option<Uuid>,
        pub order_number: Option<String>,
        pub rma_number: Option<String>,
        pub recipient: String,
        pub template: String,
        pub language: String,
        pub context: Json,
        pub status: String,
        pub preview: Option<String>,
        pub error: Option<String>,
        pub created_at: DateTimeUtc,
        pub sent_at: Option<DateTimeUtc>,
    }
}

table! {
    /// A plan of a telecom operator. `price_monthly` is in grosze.
    plans "plans" [tenant_id: String, code: String] {
        pub name: String,
        pub price_monthly: i64,
    }
}

table! {
    /// A customer's plan.
    subscriptions "subscriptions" [tenant_id: String, user_id: String] {
        pub plan_code: String,
        pub status: String,
        pub start_date: Date,
    }
}

table! {
    /// An invoice to a customer. `amount` is in grosze. `user_id` is null after the customer's erasure.
    invoices "invoices" [tenant_id: String, number: String] {
        pub user_id: Option<String>,
        pub amount: i64,
        pub issued_on: Date,
    }
}

table! {
    /// A refund case. `amount` is in grosze, and `eta` is the day by which the shop decides.
    refund_cases "refund_cases" [tenant_id: String, number: i32] {
        pub user_id: Option<String>,
        pub invoice_number: String,
        pub reason: String,
        pub amount: i64,
        pub description: Option<String>,
        pub status: String,
        pub eta: Date,
        pub conversation_id: Option<Uuid>,
        pub opened_at: DateTimeUtc,
        pub decided_by: Option<String>,
        pub decided_why: Option<String>,
        pub decided_at: Option<DateTimeUtc>,
    }
}

table! {
    /// The number of a shop's last refund case.
    case_numbers "case_numbers" [tenant_id: String] {
        pub last: i32,
    }
}

table! {
    /// A shop that sells over WhatsApp. `settings` is a [`TenantSettings`](crate::domain::commerce::TenantSettings).
    tenants "tenants" [tenant_id: String] {
        pub settings: Json,
        pub whatsapp_number: Option<String>,
    }
}

table! {
    /// A credential of a shop's provider. `sealed` opens with `TENANT_SECRET_KEY`.
    tenant_credentials "tenant_credentials" [tenant_id: String, name: String] {
        pub sealed: Vec<u8>,
    }
}

table! {
    /// An item that a shop sells. `price` is in cents, and `searched` has its texts, folded.
    catalog_items "catalog_items" [tenant_id: String, item_id: String] {
        pub name: String,
        pub category: String,
        pub description: String,
        pub price: i64,
        pub currency: String,
        pub stock: i32,
        pub attributes: Json,
        pub variants: Json,
        pub url: Option<String>,
        pub searched: String,
    }
}

table! {
    /// A customer of a shop that sells over WhatsApp: by number, or by conversation while the number is not known.
    shoppers "shoppers" [id: Uuid] {
        pub tenant_id: String,
        pub phone_e164: Option<String>,
        pub conversation_id: Option<Uuid>,
        pub language_preference: Option<String>,
        pub marketing_opt_in: bool,
        pub notifications: bool,
        pub tags: Json,
        pub last_seen: DateTimeUtc,
    }
}

table! {
    /// A change of what a customer receives, and in which language. Rows are only added. Ids are UUIDv7.
    consent_changes "consent_changes" [id: Uuid] {
        pub tenant_id: String,
        pub shopper_id: Uuid,
        pub who: String,
        pub at: DateTimeUtc,
        pub before: Json,
        pub after: Json,
        pub message_id: Option<Uuid>,
    }
}

table! {
    /// An order of the commerce desk.
    sales "sales" [tenant_id: String, sale_id: String] {
        pub shopper_id: Uuid,
        pub conversation_id: Option<Uuid>,
        pub status: String,
        pub lines: Json,
        pub totals: Json,
        pub coupon: Option<String>,
        pub held_until: DateTimeUtc,
        pub created_at: DateTimeUtc,
        pub updated_at: DateTimeUtc,
    }
}

table! {
    /// A request to pay an order. `amount` is in cents. Ids are UUIDv7.
    payment_requests "payment_requests" [id: Uuid] {
        pub tenant_id: String,
        pub sale_id: String,
        pub conversation_id: Option<Uuid>,
        pub method: String,
        pub phone_e164: Option<String>,
        pub amount: i64,
        pub currency: String,
        pub status: String,
        pub provider: String,
        pub provider_reference: Option<String>,
        pub receipt: Option<String>,
        pub created_at: DateTimeUtc,
        pub updated_at: DateTimeUtc,
    }
}

table! {
    /// An offer with its code.
    offers "offers" [tenant_id: String, code: String] {
        pub offer: Json,
        pub ends_at: DateTimeUtc,
    }
}

table! {
    /// A payment at the sandbox, which replaces a provider. The id is that of the payment request.
    sandbox_payments "sandbox_payments" [id: Uuid] {
        pub tenant_id: String,
        pub state: String,
        pub receipt: Option<String>,
        pub asked_at: DateTimeUtc,
    }
}

table! {
    /// A change and who made it. Ids are UUIDv7, so they sort by time.
    audit "audit" [id: Uuid] {
        pub tenant_id: String,
        pub kind: String,
        pub who: String,
        pub what: String,
        pub before: Option<Json>,
        pub after: Option<Json>,
        pub conversation_id: Option<Uuid>,
        pub order_number: Option<String>,
        pub rma_number: Option<String>,
        pub at: DateTimeUtc,
        /// The account that the change is about.
        pub user_id: Option<String>,
    }
}

table! {
    /// A person's action at the console. Ids are UUIDv7, so they sort by time.
    console_audit "console_audit" [id: Uuid] {
        pub tenant_id: String,
        pub who: String,
        pub what: String,
        pub client: Option<String>,
        pub conversation_id: Option<Uuid>,
        pub subject: Option<String>,
        pub detail: Option<String>,
        pub at: DateTimeUtc,
    }
}

table! {
    /// A version of a persona's file. Versions are counted from 1; only the newest are kept.
    persona_versions "persona_versions" [tenant_id: String, persona: String, version: i32] {
        pub text: String,
        pub saved_at: DateTimeUtc,
        pub saved_by: Option<String>,
    }
}

table! {
    /// A console session that was signed out before it expired.
    revoked_sessions "revoked_sessions" [tenant_id: String, session: String] {
        pub expires_at: DateTimeUtc,
    }
}

table! {
    /// The server's own settings, such as the signing secret.
    settings "settings" [tenant_id: String, name: String] {
        pub value: String,
    }
}

table! {
    /// The warranty of one product. `serial` is in upper case.
    warranty_records "warranty_records" [tenant_id: String, serial: String] {
        pub product_name: String,
        pub warranty_end_date: Date,
    }
}
