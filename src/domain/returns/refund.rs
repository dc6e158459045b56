//! Computes refunds.

use super::rma::RmaLine;
use crate::domain::commerce::money::{Money, MoneyError};
use crate::domain::commerce::order::Order;

/// Returns the refund for these lines: price × quantity, less earlier refunds of the same items. All refunds of an order together
/// never exceed what was paid.
///
/// If the order was discounted, the first RMAs are refunded in full and the last one gets the rest. Unknown lines count as 0.
pub fn refund(order: &Order, lines: &[u32]) -> Result<(Money, Vec<RmaLine>), MoneyError> {
    let zero = Money::zero(order.paid.currency);
    let mut left = order.paid;
    for item in order.items.iter().filter(|item| item.is_in_rma()) {
        let paid_back = item.rma.as_ref().map_or(zero, |rma| rma.amount);
        left = left.minus(paid_back)?;
    }
    let mut sum = zero;
    let mut parts = Vec::new();
    for item in order.items.iter().filter(|item| lines.contains(&item.line)) {
        let earlier = item.rma.as_ref().filter(|_| item.is_in_rma()).map_or(zero, |rma| rma.amount);
        let amount = item.unit_price.times(item.quantity)?.minus(earlier)?.at_most(left)?;
        left = left.minus(amount)?;
        sum = sum.plus(amount)?;
        parts.push(RmaLine { line: item.line, amount });
    }
    Ok((sum, parts))
}

#[cfg(test)]
mod tests {
    use super::super::eligibility::tests::{delivered_order, item};
    use super::super::rma::RmaStatus;
    use super::*;
    use crate::domain::commerce::money::Currency;
    use crate::domain::commerce::order::{ItemReturn, OrderItem};

    fn usd(cents: i64) -> Money {
        Money::new(cents, Currency::Usd)
    }

    /// An order of items with these prices and quantities.
    fn order(items: &[(i64, u32)], paid: i64) -> Order {
        let priced = |((price, quantity), line): (&(i64, u32), u32)| OrderItem {
            quantity: *quantity,
            unit_price: usd(*price),
            ..item(line)
        };
        Order { paid: usd(paid), items: items.iter().zip(1..).map(priced).collect(), ..delivered_order() }
    }

    fn in_rma(order: &mut Order, line: usize, status: RmaStatus, cents: i64) {
        let number = "RMA-1701234567-ABCD".parse().unwrap();
        order.items[line - 1].rma = Some(ItemReturn { number, status, amount: usd(cents) });
    }

    #[test]
    fn refund_never_exceeds_the_payment() {
        for (items, paid, lines, expected) in [
            (&[(12_999, 1)][..], 12_999, &[1][..], 12_999),
            (&[(1_000, 3), (500, 2)], 4_000, &[1, 2], 4_000),
            (&[(1_000, 3), (500, 2)], 4_000, &[2], 1_000),
            (&[(1_000, 3), (500, 2)], 3_500, &[1, 2], 3_500),
            (&[(1_000, 3), (500, 2)], 2_500, &[1], 2_500),
            (&[(1_000, 1)], 0, &[1], 0),
            (&[(1_000, 1)], 1_000, &[7], 0),
            (&[(1_000, 1)], 1_000, &[], 0),
        ] {
            let (sum, parts) = refund(&order(items, paid), lines).unwrap();
            assert_eq!(sum, usd(expected), "{items:?} {paid} {lines:?}");
            assert_eq!(parts.iter().map(|part| part.amount.minor).sum::<i64>(), expected);
        }
    }

    #[test]
    fn refund_subtracts_earlier_accepted_rmas() {
        let mut two = order(&[(1_000, 1), (2_000, 1)], 2_500);
        in_rma(&mut two, 1, RmaStatus::Refunded, 1_000);
        assert_eq!(refund(&two, &[2]).unwrap().0, usd(1_500), "the rest of what was paid");
        assert_eq!(refund(&two, &[1]).unwrap().0, usd(0));
        in_rma(&mut two, 1, RmaStatus::Rejected, 1_000);
        assert_eq!(refund(&two, &[1, 2]).unwrap().0, usd(2_500));
    }

    #[test]
    fn too_large_sum_is_an_error() {
        assert_eq!(refund(&order(&[(i64::MAX, 2)], 1), &[1]), Err(MoneyError::TooLarge));
    }
}
