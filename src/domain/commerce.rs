//! Orders and money.
//!
//! - [`money`]: amounts in minor units
//! - [`order`]: orders, their items and their customers
//! - [`order_number`]: order numbers

pub mod money;
pub mod order;
pub mod order_number;

pub use money::{Currency, Money};
pub use order::{Customer, CustomerId, ItemReturn, Order, OrderItem, OrderStatus};
pub use order_number::OrderNumber;
