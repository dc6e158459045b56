//! Cases of the commerce desk, replayed on a snapshot of the shop and the customer's orders.

use chrono::{TimeDelta, Utc};
use frontdesk::cli::seed::commerce::shops;
use serde_json::json;

use super::{case, changed, eval_json, keep};
use crate::http::console::desk::Desk;
use crate::support::app::TestApp;

#[tokio::test]
async fn replayed_sale_sees_the_order_of_its_time() {
    let desk = Desk::open(TestApp::builder().every_desk(), &[]).await;
    desk.app.inner.store.make_sample_tenants(&shops(Utc::now()).unwrap()).await.unwrap();
    let id = desk.app.open(&json!({"persona": "commerce_en", "user_id": "+254700000001"})).await;
    let texts = ["canvas shoes size 40 black", "make it 2", "use KARIBU10", "1", "yes", "where is my order"];
    for (turn, text) in (1..).zip(texts) {
        assert_eq!(desk.app.ask(&id, text).await.status(), "completed", "{text}");
        keep(&desk, &id, turn, json!({})).await;
    }
    // The replay does not see that the order was paid later.
    desk.app.ask(&id, "1234").await;
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 6], "{report:#}");
    assert_eq!((&report["same"], &report["failed"]), (&json!(6), &json!(0)));
}

#[tokio::test]
async fn replay_shows_no_offer_that_had_ended() {
    let desk = Desk::open(TestApp::builder().every_desk(), &[]).await;
    // The offers of the sample shops last 30 days.
    let samples = shops(Utc::now() - TimeDelta::days(31)).unwrap();
    desk.app.inner.store.make_sample_tenants(&samples).await.unwrap();
    let id = desk.app.open(&json!({"persona": "commerce_en", "user_id": "+254700000001"})).await;
    desk.app.ask(&id, "any offers today?").await;
    keep(&desk, &id, 1, json!({})).await;
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 1], "{report:#}");
}

#[tokio::test]
async fn replay_counts_an_offer_that_ended_since() {
    let desk = Desk::open(TestApp::builder().every_desk(), &[]).await;
    desk.app.inner.store.make_sample_tenants(&shops(Utc::now()).unwrap()).await.unwrap();
    let id = desk.app.open(&json!({"persona": "commerce_en", "user_id": "+254700000001"})).await;
    for text in ["canvas shoes size 40 black", "use KARIBU10"] {
        desk.app.ask(&id, text).await;
    }
    let file = keep(&desk, &id, 2, json!({})).await;
    // The question was asked three hours ago, and the offer ended an hour ago.
    let (mut case, hours_ago) = (case(&desk, &file), |hours| json!(Utc::now() - TimeDelta::hours(hours)));
    case["asked_at"] = hours_ago(3);
    for offer in case["rows"]["offers"].as_array_mut().unwrap() {
        offer["ends_at"] = hours_ago(1);
        offer["offer"]["ends_at"] = hours_ago(1);
    }
    desk.write(&format!("evals/conversations/{file}"), &case.to_string());
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 1], "{report:#}");
}
