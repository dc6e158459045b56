use super::*;

#[derive(Clone, Debug)]
struct Drawn {
    delivered: i64,
    status: OrderStatus,
    vip: bool,
    fraud: bool,
    final_sale: bool,
    returnable: bool,
    reason: &'static str,
    rma: Option<RmaStatus>,
    returns: Vec<i64>,
    lines: Vec<u32>,
    policies: Vec<(Scope, u32, Option<u32>)>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let reason = prop::sample::select(vec!["", "too small", "damaged", "giày bị rách", "not damaged"]);
    let scope = prop_oneof![
        Just(Scope::Vip),
        Just(Scope::General),
        Just(Scope::Category("shoes".to_owned())),
        Just(Scope::Category("food".to_owned()))
    ];
    let policy = (scope, 0..150_u32, prop::option::of(0..60_u32));
    (
        (-2..140_i64, prop::sample::select(OrderStatus::ALL), any::<bool>(), prop::bool::weighted(0.2)),
        (prop::bool::weighted(0.2), prop::bool::weighted(0.8), reason),
        prop::option::weighted(0.3, prop::sample::select(RmaStatus::ALL)),
        prop::collection::vec(0..60_i64, 0..5),
        prop::sample::select(vec![vec![1], vec![2], vec![1, 2], vec![2, 1], vec![], vec![3]]),
        prop::collection::vec(policy, 0..4),
    )
        .prop_map(
            |((delivered, status, vip, fraud), (final_sale, returnable, reason), rma, returns, lines, policies)| {
                Drawn { delivered, status, vip, fraud, final_sale, returnable, reason, rma, returns, lines, policies }
            },
        )
}

impl Drawn {
    fn case(&self) -> Case {
        let mut case = Case::new();
        case.delivered(self.delivered);
        case.order().items.push(OrderItem { category: Some("food".to_owned()), ..item(2) });
        case.order().status = self.status;
        case.order().customer.is_vip = self.vip;
        case.order().customer.fraud_flag = self.fraud;
        case.item().is_final_sale = self.final_sale;
        case.item().is_returnable = self.returnable;
        case.reason = self.reason.to_owned();
        if let Some(status) = self.rma {
            case.in_rma(1, status);
        }
        case.returned_days_ago(&self.returns);
        case.lines = self.lines.clone();
        for (scope, return_days, refund_days) in &self.policies {
            if !case.policies.iter().any(|policy| policy.scope == *scope) {
                case.policy(scope.clone(), *return_days, *refund_days);
            }
        }
        case
    }
}

/// What makes a case riskier, and nothing else.
const RISKS: &[fn(&mut Case)] = &[
    |c| c.order().customer.fraud_flag = true,
    |c| c.reason.push_str(" and shattered"),
    |c| c.damage_reported = true,
    |c| c.returned_days_ago(&[1, 1, 1, 1]),
    |c| c.item().is_final_sale = true,
    |c| c.item().is_returnable = false,
    |c| c.in_rma(1, RmaStatus::Received),
    // Not a later today, by which earlier returns would fall out of their 30 days.
    |c| c.delivered(400),
    |c| c.lines.push(77),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_result_depends_on_nothing_but_the_arguments(drawn in drawn()) {
        let case = drawn.case();
        let decision = case.decide();
        prop_assert_eq!(&case.decide(), &decision);
        // The order of lists carries no meaning, and who the customer is none either.
        let mut other = case;
        other.policies.reverse();
        other.history.returns.reverse();
        other.order().items.reverse();
        other.order().customer.name = "Somebody Else".to_owned();
        other.order().number = "OTHER-1".parse().unwrap();
        prop_assert_eq!(other.decide(), decision);
    }

    #[test]
    fn added_risk_never_approves_a_refusal(drawn in drawn(), risk in prop::sample::select(RISKS)) {
        let before = drawn.case();
        let mut after = before.clone();
        risk(&mut after);
        let (before, after) = (before.decide(), after.decide());
        prop_assert!(before.eligible || !after.eligible, "{before:?} {after:?}");
        prop_assert!(before.is_return_eligible || !after.is_return_eligible);
        prop_assert!(before.is_refund_eligible || !after.is_refund_eligible);
    }

    #[test]
    fn only_approved_codes_leave_actions_open(drawn in drawn()) {
        let decision = drawn.case().decide();
        prop_assert_eq!(decision.eligible, decision.reason_code == ReasonCode::Approved);
        prop_assert_eq!(decision.eligible, decision.is_return_eligible || decision.is_refund_eligible);
    }
}
