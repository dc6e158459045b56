//! Vectors of texts, and their collections.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        string tenant_id, string name, string model, integer dimension, uuid generation, big_integer version,
        big_integer removed_version,
    ];
    create_table(manager, "vector_collections", &["tenant_id", "name"], columns).await?;
    let columns = columns![
        string tenant_id, string collection, text id, text_null conversation_id, big_integer version,
        blob vector, text text, json_binary metadata,
    ];
    create_table(manager, "vectors", &["tenant_id", "collection", "id"], columns).await?;
    index(manager, "vectors", "vectors_by_conversation", &["tenant_id", "conversation_id"], false).await?;
    // An outdated collection in memory queries the rows that changed since its version.
    index(manager, "vectors", "vectors_by_version", &["tenant_id", "collection", "version"], false).await
}
