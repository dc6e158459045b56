//! The tables as sea-orm entities, in files by subject. Only `store` uses them.

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DeleteMany, EntityTrait, IdenStatic, Iterable, PrimaryKeyToColumn, QueryFilter,
    Select, TryInsert, UpdateMany,
};

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

    /// Makes an insertion replace the row with the same key, except for its tenant.
    fn replace_existing() -> OnConflict {
        let is_replaced = |column: &Self::Column| {
            Self::PrimaryKey::from_column(*column).is_none() && column.as_str() != Self::TENANT.as_str()
        };
        let columns = Self::Column::iter().filter(is_replaced);
        OnConflict::columns(Self::PrimaryKey::iter()).update_columns(columns).to_owned()
    }

    /// Inserts the row unless it conflicts with another one by any unique index.
    ///
    /// sea-orm's `on_conflict_do_nothing` considers only the primary key, so that on PostgreSQL a concurrent insertion fails by
    /// another index.
    fn insert_if_new<A: ActiveModelTrait<Entity = Self>>(row: A) -> TryInsert<A> {
        Self::insert(row).on_conflict(OnConflict::new().do_nothing().to_owned()).try_insert()
    }
}

/// Declares the entity of a table: a module with sea-orm's types for it. The columns in brackets are the primary key.
macro_rules! table {
    ($(#[$doc:meta])* $module:ident $name:tt [$($key:ident: $type:ident),+] { $($columns:tt)* }) => {
        #[allow(dead_code, reason = "sea-orm generates more than this crate uses")]
        pub mod $module {
            use sea_orm::entity::prelude::*;

            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, DeriveEntityModel)]
            #[sea_orm(table_name = $name)]
            pub struct Model {
                $(
                    #[sea_orm(primary_key, auto_increment = false)]
                    pub $key: $type,
                )+
                $($columns)*
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}

            impl crate::store::entities::TenantEntity for Entity {
                const TENANT: Column = Column::TenantId;
            }
        }
    };
}

mod commerce;
mod goods;
mod server;
mod talk;

pub use commerce::*;
pub use goods::*;
pub use server::*;
pub use talk::*;
