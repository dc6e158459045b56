//! Shops that sell over WhatsApp.

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
    /// A request to pay an order. `amount` is in cents. Ids have no order: that of a payment without a request is random.
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
        /// The receipts as a list of texts.
        pub receipts: Json,
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
    /// An address at which a payment provider calls back. `sealed` is its secret, and opens with `TENANT_SECRET_KEY`. A purpose has
    /// one row for each subject.
    payment_callbacks "payment_callbacks" [id: Uuid] {
        pub tenant_id: String,
        pub purpose: String,
        pub subject: String,
        pub payment_id: Option<Uuid>,
        pub sealed: Vec<u8>,
        pub detail: Json,
        pub created_at: DateTimeUtc,
    }
}
