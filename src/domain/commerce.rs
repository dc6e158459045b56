//! Shops, their goods, orders and money.
//!
//! - [`catalog`]: the goods of a shop
//! - [`consent`]: what a customer agreed to receive
//! - [`money`]: amounts in minor units
//! - [`order`]: orders, their items and their customers
//! - [`order_number`]: order numbers
//! - [`payment`]: payments, and what a provider reports about them
//! - [`policy`]: the desk's thresholds
//! - [`sale`]: orders of the commerce desk, their totals and coupons
//! - [`tenant`]: the settings of a shop that sells over WhatsApp

pub mod catalog;
pub mod consent;
pub mod money;
pub mod order;
pub mod order_number;
pub mod payment;
pub mod policy;
pub mod sale;
mod tags;
pub mod tenant;

pub use catalog::{CatalogItem, ItemId};
pub use money::{Currency, Money, in_thousands};
pub use order::{Customer, CustomerId, ItemReturn, Order, OrderItem, OrderStatus};
pub use order_number::OrderNumber;
pub use sale::{CartLine, Sale, SaleId};
pub use tags::Tags;
pub use tenant::{Tenant, TenantSettings};
