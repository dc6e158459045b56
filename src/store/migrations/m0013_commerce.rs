//! Shops that sell over WhatsApp: their settings, sealed credentials and goods.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![string tenant_id, json_binary settings, string_null whatsapp_number];
    create_table(manager, "tenants", &["tenant_id"], columns).await?;
    let columns = columns![string tenant_id, string name, blob sealed];
    create_table(manager, "tenant_credentials", &["tenant_id", "name"], columns).await?;
    let columns = columns![
        string tenant_id, string item_id, string name, string category, text description, big_integer price,
        string currency, integer stock, json_binary attributes, json_binary variants, text_null url,
        // The texts of the item, folded.
        text searched,
    ];
    create_table(manager, "catalog_items", &["tenant_id", "item_id"], columns).await?;
    // Shops without a number do not conflict: null differs from null.
    index(manager, "tenants", "tenants_by_number", &["whatsapp_number"], true).await
}
