//! Cases of the commerce desk, replayed on a snapshot of the shop and the customer's orders.

use chrono::Utc;
use frontdesk::cli::seed::commerce::shops;
use serde_json::json;

use super::{changed, eval_json, keep};
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
