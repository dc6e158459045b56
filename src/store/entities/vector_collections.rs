use sea_orm::entity::prelude::*;

/// Vectors that are searched together, and how often they changed.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "vector_collections")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    pub model: String,
    pub dimension: i32,
    /// New whenever the collection is made, so that one that is dropped and made again is not taken for the old one.
    pub generation: Uuid,
    /// Counts the transactions that wrote.
    pub version: i64,
    /// The last version that removed something.
    pub removed_version: i64,
}

impl ActiveModelBehavior for ActiveModel {}
