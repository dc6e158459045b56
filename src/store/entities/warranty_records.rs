use sea_orm::entity::prelude::*;

/// The warranty of one product. `serial` is in upper case.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "warranty_records")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub serial: String,
    #[sea_orm(column_type = "Text")]
    pub product_name: String,
    pub warranty_end_date: Date,
}

impl ActiveModelBehavior for ActiveModel {}
