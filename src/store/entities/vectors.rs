use sea_orm::entity::prelude::*;

/// A text's vector: `f32` numbers, little-endian.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "vectors")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub collection: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub conversation_id: Option<String>,
    /// The collection's version when it was written.
    pub version: i64,
    #[sea_orm(column_type = "Blob")]
    pub vector: Vec<u8>,
    #[sea_orm(column_type = "Text")]
    pub text: String,
    #[sea_orm(column_type = "JsonBinary")]
    pub metadata: Json,
}

impl ActiveModelBehavior for ActiveModel {}
