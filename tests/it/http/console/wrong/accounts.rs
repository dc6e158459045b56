//! Cases of the telecom desk, replayed on a snapshot of the shop's accounts.

use chrono::Utc;
use frontdesk::cli::seed::accounts::accounts;
use frontdesk::domain::telecom::{CaseId, Verdict};
use frontdesk::domain::{ActorKind, TenantId};
use frontdesk::store::audit::Actor;
use serde_json::json;

use super::{case, changed, eval_json, keep};
use crate::http::console::desk::Desk;
use crate::support::app::TestApp;

#[tokio::test]
async fn replayed_refund_sees_the_account_of_its_time() {
    let desk = Desk::open(TestApp::builder().every_desk(), &[]).await;
    let (tenant, sample) = (TenantId::default(), accounts());
    let store = desk.app.inner.store.tenant(&tenant);
    store.make_sample_accounts(&sample).await.unwrap();
    let id = desk.app.open(&json!({"persona": "telecom_en"})).await;
    let texts =
        ["How much is my plan?", "u123", "INV-12345", "Refund PLN 100 of invoice INV-12345, I was overcharged", "yes"];
    for (turn, text) in (1..).zip(texts) {
        assert_eq!(desk.app.ask(&id, text).await.status(), "completed", "{text}");
        keep(&desk, &id, turn, json!({})).await;
    }
    // The replay does not see the later decision.
    let by = Actor { kind: ActorKind::Person, who: "Ola", conversation: None, now: Utc::now() };
    store.decide_refund_case(CaseId::FIRST, Verdict::Approve, "charged twice", &by).await.unwrap();
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 5], "{report:#}");
    assert_eq!((&report["same"], &report["failed"]), (&json!(5), &json!(0)));
    assert_eq!(store.list_refund_cases_of("u123").await.unwrap().len(), 1, "a replay opens no case in the shop");
}

#[tokio::test]
async fn replayed_refund_knows_the_bound_customer() {
    let desk = Desk::open(TestApp::builder().every_desk(), &[]).await;
    let tenant = TenantId::default();
    desk.app.inner.store.tenant(&tenant).make_sample_accounts(&accounts()).await.unwrap();
    let id = desk.app.open(&json!({"persona": "telecom_en", "user_id": "u123"})).await;
    for (turn, text) in (1..).zip(["How much is my plan?", "Refund PLN 100 of invoice INV-20251001, I was overcharged"])
    {
        assert_eq!(desk.app.ask(&id, text).await.status(), "completed", "{text}");
        keep(&desk, &id, turn, json!({})).await;
    }
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 2], "{report:#}");
    assert_eq!((&report["same"], &report["failed"]), (&json!(2), &json!(0)));
}

#[tokio::test]
async fn long_message_does_not_hide_the_account() {
    let desk = Desk::open(TestApp::builder().every_desk(), &[]).await;
    desk.app.inner.store.tenant(&TenantId::default()).make_sample_accounts(&accounts()).await.unwrap();
    let id = desk.app.open(&json!({"persona": "telecom_en"})).await;
    let words = ('a'..='z').flat_map(|a| ('a'..='j').map(move |b| format!("{a}o{b}o")));
    let long = words.take(250).collect::<Vec<_>>().join(" ");
    for text in ["How much is my plan?", "u123", "INV-12345", long.as_str(), "How much is my plan?"] {
        assert_eq!(desk.app.ask(&id, text).await.status(), "completed", "{text}");
    }
    let kept = case(&desk, &keep(&desk, &id, 5, json!({})).await);
    assert_eq!(kept["rows"]["subscriptions"][0]["user_id"], "u123", "{kept:#}");
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]], "{report:#}");
}
