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
