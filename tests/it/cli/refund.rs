//! `frontdesk seed telecom` and `frontdesk refund`.

use chrono::Utc;
use frontdesk::domain::commerce::{Currency, Money};
use frontdesk::domain::telecom::{RefundClaim, RefundReason};
use frontdesk::domain::{ActorKind, TenantId};
use frontdesk::store::audit::Actor;
use frontdesk::store::refund_cases::Opening;

use super::shop::Shop;

/// Opens a case of 100.00 PLN for INV-12345 in the shop's database.
async fn open_case(shop: &Shop) {
    let url = format!("sqlite://{}", shop.path("database/frontdesk.db").display());
    let store = crate::store::open(&url).await;
    let amount = Money::new(10_000, Currency::Pln);
    let claim = RefundClaim::new("INV-12345".parse().unwrap(), RefundReason::Overcharge, amount, None).unwrap();
    let by = Actor { kind: ActorKind::Automatic, who: "desk", conversation: None, now: Utc::now() };
    let tenant = TenantId::default();
    let opened = store.tenant(&tenant).open_refund_case("u123", &claim, chrono_tz::UTC, &by).await.unwrap();
    assert!(matches!(opened, Opening::Opened(_)), "{opened:?}");
    store.close().await.unwrap();
}

#[tokio::test]
async fn refund_is_listed_and_decided_once() {
    let shop = Shop::new();
    let seeded = shop.run(&["seed", "telecom"], &[]);
    assert_eq!(seeded.code, Some(0), "{seeded:?}");
    assert!(seeded.stdout.starts_with("3 plans, 2 customers, 3 invoices\n"), "{seeded:?}");
    assert_eq!(shop.run(&["refund", "list"], &[]).stdout, "no cases\n");
    open_case(&shop).await;
    let listed = shop.run(&["refund", "list"], &[]).stdout;
    assert!(
        listed.starts_with("R10001  opened  100.00 PLN  invoice INV-12345 of u123  overcharge  decide by "),
        "{listed}"
    );
    let decide =
        |what: &str, case: &str| shop.run(&["refund", what, case, "--by", "Ola", "--why", "charged twice"], &[]);
    let approved = decide("approve", "r10001");
    assert!(approved.stdout.starts_with("R10001  approved  100.00 PLN"), "{approved:?}");
    let again = decide("reject", "R10001");
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("R10001 was already decided: approved"), "{again:?}");
    assert!(decide("reject", "R10002").stderr.contains("has no case R10002"));
    assert!(decide("reject", "10001").stderr.contains("a case number is written R10001"));
    assert_eq!(shop.run(&["refund", "list"], &[]).stdout, "no cases\n");
    assert!(shop.run(&["refund", "list", "--user", "u123"], &[]).stdout.starts_with("R10001  approved"));
}
