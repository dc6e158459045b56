//! Joins the customer data of several orders.

use std::collections::BTreeMap;

use super::{BadRow, Field, ListedOrder};
use crate::domain::commerce::order::{Customer, CustomerId};

/// Gives all orders of a customer the same customer data. A flag on one order holds for all of them; name and `user_id` come
/// from the newest order that has them. Orders whose flags contradict each other are refused. Each order has its place in the
/// list.
pub(super) fn made_one(orders: Vec<(u64, ListedOrder)>, bad: &mut Vec<BadRow>) -> Vec<ListedOrder> {
    let mut listed: BTreeMap<CustomerId, Vec<(u64, ListedOrder)>> = BTreeMap::new();
    for order in orders {
        listed.entry(order.1.order.customer.id).or_default().push(order);
    }
    let mut made: Vec<ListedOrder> = Vec::new();
    for mut of_customer in listed.into_values() {
        refuse_contradictions(&mut of_customer, Field::IsVip, |order| order.is_vip, bad);
        refuse_contradictions(&mut of_customer, Field::FraudFlag, |order| order.fraud_flag, bad);
        made.extend(agreed(of_customer.into_iter().map(|(_, order)| order).collect()));
    }
    made.sort_by(|a, b| a.order.number.cmp(&b.order.number));
    made
}

fn refuse_contradictions(
    orders: &mut Vec<(u64, ListedOrder)>,
    field: Field,
    flag: fn(&ListedOrder) -> Option<bool>,
    bad: &mut Vec<BadRow>,
) {
    let first = |said: bool| orders.iter().find(|(_, order)| flag(order) == Some(said)).map(|(place, _)| *place);
    let (Some(yes), Some(no)) = (first(true), first(false)) else { return };
    orders.retain(|(place, order)| {
        let Some(said) = flag(order) else { return true };
        let other = if said { no } else { yes };
        let hint = format!("row {other} says otherwise of the same customer; make them agree, or leave it empty");
        bad.push(BadRow { place: *place, field, value: said.to_string(), hint });
        false
    });
}

/// The orders of one customer, whose flags agree.
fn agreed(mut orders: Vec<ListedOrder>) -> Vec<ListedOrder> {
    // The number decides between two orders of one moment, so that the same list always gives the same customer.
    let mut newest_first: Vec<&ListedOrder> = orders.iter().collect();
    newest_first.sort_by_key(|listed| std::cmp::Reverse((listed.order.ordered_at, &listed.order.number)));
    let is_vip = orders.iter().find_map(|listed| listed.is_vip);
    let fraud_flag = orders.iter().find_map(|listed| listed.fraud_flag);
    let Some(newest) = newest_first.first() else { return orders };
    let customer = Customer {
        user_id: newest_first.iter().find_map(|listed| listed.order.customer.user_id.clone()),
        ..newest.order.customer.clone()
    };
    for listed in &mut orders {
        listed.is_vip = is_vip;
        listed.fraud_flag = fraud_flag;
        listed.order.customer = customer.clone();
    }
    orders
}
