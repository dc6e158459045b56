use super::*;

type Obstacle = (&'static str, fn(&mut Case), Why);

/// What stands in the way, in the order of the steps. Two with one name would undo each other.
const IN_THE_WAY: &[Obstacle] = &[
    ("items", |c| c.lines = vec![1, 9], Why::ItemsUnknown),
    ("state", |c| c.order().status = OrderStatus::Pending, Why::NotShipped),
    ("state", |c| c.order().status = OrderStatus::Shipped, Why::NotDelivered),
    ("state", |c| c.order().status = OrderStatus::Returned, Why::AlreadyInRma),
    ("rma", |c| c.in_rma(1, RmaStatus::InTransit), Why::AlreadyInRma),
    ("rejected", |c| c.reviewed(1, Review::Rejected), Why::Rejected),
    ("damage", |c| c.reason = "they came shattered".into(), Why::Damaged),
    ("fraud", |c| c.order().customer.fraud_flag = true, Why::FraudFlag),
    ("frequency", |c| c.returned_days_ago(&[1, 2, 3]), Why::ReturnsTooFrequent),
    ("final sale", |c| c.item().is_final_sale = true, Why::FinalSale),
    ("returnable", |c| c.item().is_returnable = false, Why::NotReturnable),
    ("policy", |c| c.only_these_policies = true, Why::NoPolicy),
    ("window", |c| c.delivered(400), Why::WindowOver),
];

#[test]
fn of_every_two_that_stand_in_the_way_the_earlier_step_decides() {
    let mut pairs = 0;
    for (first, (name, change, why)) in IN_THE_WAY.iter().enumerate() {
        for (other, other_change, _) in &IN_THE_WAY[first + 1..] {
            if name == other {
                continue;
            }
            for changes in [[change, other_change], [other_change, change]] {
                let mut case = Case::new();
                changes.into_iter().for_each(|change| change(&mut case));
                assert_eq!(case.decide().why, *why, "{name} and {other}");
                case.order = None;
                assert_eq!(case.decide().why, Why::OrderNotFound, "{name} and {other}");
            }
            pairs += 1;
        }
    }
    assert_eq!(pairs, 13 * 12 / 2 - 3);
}

#[test]
fn with_all_of_them_at_once_the_steps_are_met_in_their_order() {
    let mut case = Case::new();
    let met: Vec<Why> = IN_THE_WAY
        .iter()
        .rev()
        .map(|(_, change, _)| {
            change(&mut case);
            case.decide().why
        })
        .collect();
    let expected: Vec<Why> = IN_THE_WAY.iter().rev().map(|(_, _, why)| *why).collect();
    assert_eq!(met, expected);
}
