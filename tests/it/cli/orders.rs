//! `frontdesk seed returns`, `frontdesk import orders` and `frontdesk rma`, run as programs on a real database.

use std::process::{Command, Stdio};

use chrono::Utc;
use frontdesk::domain::commerce::Order;
use frontdesk::domain::commerce::OrderStatus;
use frontdesk::domain::returns::{Action, DamageWords, Frequency, Priority, Rma, RmaStatus, Terms, Windows};
use frontdesk::domain::{ActorKind, TenantId};
use frontdesk::store::Store;
use frontdesk::store::audit::Actor;
use frontdesk::store::returns::create::{NewReturn, ReturnOutcome};
use frontdesk::store::returns::escalate::NewEscalation;
use tempfile::TempDir;

use super::Run;
use crate::support::database;

/// A folder with a database.
pub(super) struct Shop {
    pub folder: TempDir,
    pub url: String,
}

const HEADER: &str =
    "order_number,customer_email,customer_name,status,ordered_at,delivered_at,currency,item_name,unit_price,quantity\n";

impl Shop {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = database::fresh(&folder.path().join("data")).await;
        Self { folder, url }
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.current_dir(self.folder.path()).env("DATABASE_URL", &self.url).stdin(Stdio::null());
        command.args(arguments).output().unwrap().into()
    }

    fn import(&self, file: &str, content: &str, arguments: &[&str]) -> Run {
        std::fs::write(self.folder.path().join(file), content).unwrap();
        self.run(&[&["import", "orders", "--file", file], arguments].concat())
    }

    async fn store(&self) -> Store {
        crate::store::open(&self.url).await
    }

    async fn order(&self, number: &str) -> Option<Order> {
        self.store().await.tenant(&TenantId::default()).find_order(&number.parse().unwrap()).await.unwrap()
    }

    /// A return of order 77893, as the desk makes it.
    async fn returned(&self) -> Rma {
        let terms = Terms {
            windows: Windows::default(),
            frequency: Frequency::default(),
            damage: DamageWords::default(),
            damage_reported: false,
            time_zone: chrono_tz::Asia::Ho_Chi_Minh,
        };
        let order = "77893".parse().unwrap();
        let new = NewReturn {
            order: &order,
            lines: &[1],
            action: Action::Return,
            agreed: None,
            reason: "too small",
            request: "r-1",
            terms: &terms,
            asked_at: Utc::now(),
            random: [1; 4],
            mail: &|_, _| None,
        };
        let store = self.store().await;
        match store.tenant(&TenantId::default()).create_return(&new, &desk()).await.unwrap() {
            ReturnOutcome::Created { rma, .. } => *rma,
            other => panic!("{other:?}"),
        }
    }
}

fn desk() -> Actor<'static> {
    Actor { kind: ActorKind::Automatic, who: "desk", conversation: None, now: Utc::now() }
}

#[tokio::test]
async fn samples_can_be_created_again() {
    let shop = Shop::new().await;
    for _ in 0..2 {
        let run = shop.run(&["seed", "returns"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.starts_with("20 customers, 55 orders, 5 policies, 4 RMAs"), "{}", run.stdout);
    }
    let order = shop.order("77893").await.unwrap();
    assert_eq!((order.status, order.email.as_str()), (OrderStatus::Delivered, "john.doe@example.com"));
    shop.import("own.csv", &format!("{HEADER}OWN-1,a@b.vn,An,Pending,2026-11-01,,USD,Boots,10,1\n"), &[]);
    let run = shop.run(&["seed", "returns"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("already has 1 orders") && run.stderr.contains("--tenant"), "{}", run.stderr);
    let run = shop.run(&["seed", "returns", "--force"]);
    assert!(run.code == 0 && run.stdout.contains("kept the shop's own policies"), "{}", run.stdout);
    assert!(shop.order("OWN-1").await.is_some());
}

#[tokio::test]
async fn rma_advances_only_by_legal_steps() {
    let shop = Shop::new().await;
    shop.run(&["seed", "returns"]);
    let rma = shop.returned().await;
    let number = rma.number.as_str();
    let run = shop.run(&["rma", "advance", number, "label_sent", "--by", "Thu"]);
    assert!(run.stdout.starts_with(&format!("{number} is now Label_Sent, with the label ")), "{}", run.stderr);
    let label = run.stdout.trim().rsplit(' ').next().unwrap().to_owned();
    let run = shop.run(&["rma", "advance", number, "label-sent"]);
    assert_eq!((run.code, run.stderr.trim()), (1, format!("error: {number} already has a label: {label}").as_str()));
    let stored = shop.store().await.tenant(&TenantId::default()).find_rma(&rma.number).await.unwrap().unwrap();
    assert_eq!(stored.label.map(|label| label.tracking.to_string()), Some(label));
    for (to, told) in [("In-Transit", "In_Transit"), ("received", "Received")] {
        let run = shop.run(&["rma", "advance", number, to, "--by", "Thu"]);
        assert_eq!(run.stdout.trim(), format!("{number} of order 77893 is now {told}"), "{}", run.stderr);
    }
    let run = shop.run(&["rma", "advance", number, "refunded"]);
    let expected = "error: an RMA cannot go from Received to Refunded; it may go to Inspected";
    assert_eq!((run.code, run.stderr.trim()), (1, expected));
    let run = shop.run(&["rma", "advance", "RMA-1-AAAA", "received"]);
    assert!(run.code == 1 && run.stderr.contains("has no RMA-1-AAAA"), "{}", run.stderr);
    assert_eq!(shop.run(&["rma", "advance", number, "lost"]).code, 2);
}

#[tokio::test]
async fn escalation_is_resolved_with_a_reason() {
    let shop = Shop::new().await;
    shop.run(&["seed", "returns"]);
    let rma = shop.returned().await;
    let store = shop.store().await;
    let door_tenant = TenantId::default();
    let door = store.tenant(&door_tenant);
    let number = rma.number.as_str();
    let new = NewEscalation {
        rma: Some(&rma.number),
        order: None,
        locks_returns: false,
        priority: Priority::High,
        reason: "Damaged items",
        summary: "…",
        claim: None,
        once: None,
    };
    let ticket = door.escalate(&new, &desk()).await.unwrap().ticket().id.clone();
    let run = shop.run(&["rma", "advance", number, "label_sent"]);
    assert!(run.code == 1 && run.stderr.contains("resolve the escalation first"), "{}", run.stderr);
    assert_eq!(shop.run(&["rma", "resolve", number, "approve", "--by", "Thu"]).code, 2, "a reason is needed");
    let run = shop.run(&["rma", "resolve", number, "more-info", "--by", "Thu", "--why", " "]);
    assert!(run.code == 2 && run.stderr.contains("the text is empty"), "{}", run.stderr);
    let run = shop.run(&["rma", "resolve", &ticket, "reject", "--by", "Thu", "--why", "worn out"]);
    let expected = format!("{ticket}: reject, by Thu\n{number} of order 77893 is Rejected, not locked\n");
    assert_eq!((run.code, run.stdout.as_str()), (0, expected.as_str()), "{}", run.stderr);
    assert_eq!(door.find_rma(&rma.number).await.unwrap().unwrap().status, RmaStatus::Rejected);
    let run = shop.run(&["rma", "resolve", number, "approve", "--by", "An", "--why", "x"]);
    assert!(run.code == 1 && run.stderr.contains("was already resolved: reject, by Thu"), "{}", run.stderr);
}

#[tokio::test]
async fn order_import_is_all_or_nothing() {
    let shop = Shop::new().await;
    let good = "AB-1001,a@b.vn,An,Delivered,2026-11-01,2026-11-03,USD,Boots,129.99,1\n\
        AB-1001,a@b.vn,An,Delivered,2026-11-01,2026-11-03,USD,Poles,59,2\n\
        AB-1002,b@b.vn,Bình,Shipped,02/11/2026,,VND,Tai nghe,1290000,1\n";
    let bad = "AB-1003,c@b.vn,Chi,Lost,2026-11-01,,USD,Boots,10,1\nAB-1004,d@b.vn\n";
    let list = format!("{HEADER}{good}{bad}");
    let run = shop.import("orders.csv", &list, &[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "2 new, 0 changed, 0 unchanged orders, 2 refused rows");
    assert!(lines[1].starts_with("line 5: status \"Lost\": it is none of Pending"), "{}", lines[1]);
    assert!(lines[2].starts_with("line 6: row \"AB-1004\": the row has 2 columns"), "{}", lines[2]);
    assert_eq!(shop.order("AB-1001").await, None);

    let good = format!("{HEADER}{good}");
    let run = shop.import("orders.csv", &good, &["--dry-run"]);
    assert_eq!((run.code, run.stdout.trim()), (0, "2 new, 0 changed, 0 unchanged orders, 0 refused rows"));
    assert_eq!(shop.order("AB-1001").await, None);
    assert_eq!(shop.import("orders.csv", &good, &[]).code, 0);
    let order = shop.order("AB-1001").await.unwrap();
    assert_eq!((order.items.len(), order.paid.to_string()), (2, "247.99 USD".to_owned()));
    let run = shop.import("orders.csv", &good, &["--json"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&report["unchanged"], &report["written"]), (&2.into(), &true.into()));

    let json = r#"[{"order_number": "AB-1002", "customer_email": "b@b.vn", "customer_name": "Bình", "status": "Delivered",
        "ordered_at": "2026-11-02", "delivered_at": "2026-11-05", "currency": "VND", "is_vip": true,
        "items": [{"item_name": "Tai nghe", "unit_price": 1290000}]}]"#;
    let run = shop.import("orders.json", json, &[]);
    assert_eq!(run.stdout.trim(), "0 new, 1 changed, 0 unchanged orders, 0 refused rows", "{}", run.stderr);
    let order = shop.order("AB-1002").await.unwrap();
    assert!(order.customer.is_vip && order.status == OrderStatus::Delivered);
    let run = shop.import("orders.json", "{", &[]);
    assert!(run.code == 2 && run.stderr.contains("JSON array of orders"), "{}", run.stderr);
}

#[tokio::test]
async fn orders_of_a_customer_share_the_customer() {
    let shop = Shop::new().await;
    let header = HEADER.trim_end().to_owned() + ",is_vip,fraud_flag,user_id\n";
    let list = header
        + "AB-1001,a@b.vn,An,Delivered,2026-11-01,2026-11-03,USD,Boots,129.99,1,true,,u-1\n\
           AB-1002,a@b.vn,An N.,Delivered,2026-11-02,2026-11-04,USD,Poles,59,1,,true,\n";
    let run = shop.import("orders.csv", &list, &[]);
    assert_eq!(run.stdout.trim(), "2 new, 0 changed, 0 unchanged orders, 0 refused rows", "{}", run.stderr);
    for number in ["AB-1001", "AB-1002"] {
        let customer = shop.order(number).await.unwrap().customer;
        let seen = (customer.name.as_str(), customer.user_id.as_deref(), customer.is_vip, customer.fraud_flag);
        assert_eq!(seen, ("An N.", Some("u-1"), true, true), "{number}");
    }
    let run = shop.import("orders.csv", &list, &[]);
    assert_eq!(run.stdout.trim(), "0 new, 0 changed, 2 unchanged orders, 0 refused rows", "{}", run.stderr);
    let back = list.replace("Delivered,2026-11-02,2026-11-04", "Shipped,2026-11-02,");
    let run = shop.import("orders.csv", &back, &[]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!((run.code, lines[0]), (1, "0 new, 0 changed, 1 unchanged orders, 1 refused rows"));
    assert!(lines[1].starts_with("line 3: status \"Shipped\": order AB-1002 is already Delivered"), "{}", lines[1]);
}
