use super::*;

type Obstacle = (&'static str, fn(&mut Case), Cause);

/// The causes of a refusal, in the order of the steps. Two with one name would undo each other.
const IN_THE_WAY: &[Obstacle] = &[
    ("items", |c| c.lines = vec![1, 9], Cause::ItemsUnknown),
    ("state", |c| c.order().status = OrderStatus::Pending, Cause::NotShipped),
    ("state", |c| c.order().status = OrderStatus::Shipped, Cause::NotDelivered),
    ("state", |c| c.order().status = OrderStatus::Returned, Cause::AlreadyInRma),
    ("rma", |c| c.in_rma(1, RmaStatus::InTransit), Cause::AlreadyInRma),
    ("rejected", |c| c.reviewed(1, Review::Rejected), Cause::Rejected),
    ("damage", |c| c.reason = "they came shattered".into(), Cause::Damaged),
    ("fraud", |c| c.order().customer.fraud_flag = true, Cause::FraudFlag),
    ("frequency", |c| c.returned_days_ago(&[1, 2, 3]), Cause::ReturnsTooFrequent),
    ("final sale", |c| c.item().is_final_sale = true, Cause::FinalSale),
    ("returnable", |c| c.item().is_returnable = false, Cause::NotReturnable),
    ("policy", |c| c.only_these_policies = true, Cause::NoPolicy),
    ("window", |c| c.delivered(400), Cause::WindowOver),
];

#[test]
fn earlier_of_two_obstacles_decides() {
    let mut pairs = 0;
    for (first, (name, change, cause)) in IN_THE_WAY.iter().enumerate() {
        for (other, other_change, _) in &IN_THE_WAY[first + 1..] {
            if name == other {
                continue;
            }
            for changes in [[change, other_change], [other_change, change]] {
                let mut case = Case::new();
                changes.into_iter().for_each(|change| change(&mut case));
                assert_eq!(case.decide().cause, *cause, "{name} and {other}");
                case.order = None;
                assert_eq!(case.decide().cause, Cause::OrderNotFound, "{name} and {other}");
            }
            pairs += 1;
        }
    }
    assert_eq!(pairs, 13 * 12 / 2 - 3);
}

#[test]
fn all_obstacles_together_apply_in_order() {
    let mut case = Case::new();
    let met: Vec<Cause> = IN_THE_WAY
        .iter()
        .rev()
        .map(|(_, change, _)| {
            change(&mut case);
            case.decide().cause
        })
        .collect();
    let expected: Vec<Cause> = IN_THE_WAY.iter().rev().map(|(_, _, cause)| *cause).collect();
    assert_eq!(met, expected);
}
