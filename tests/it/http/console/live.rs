//! `GET /console/api/events`

use serde_json::{Value, json};

use super::{answer, guarded, hand};
use crate::http::live::Live;
use crate::support::app::TestApp;

const NEWS: &str = "/console/api/events";

/// The events of a stream so far.
async fn told(stream: &mut Live) -> Vec<Value> {
    stream.so_far().await.data().into_iter().cloned().collect()
}

fn changed(id: &str, status: &str) -> Value {
    json!({"type": "conversation.changed", "conversation_id": id, "status": status})
}

#[tokio::test]
async fn console_stream_reports_conversation_changes() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let mut stream = Live::open(app.get(NEWS)).await.opened().await;
    app.ask(&id, "kiểm tra bảo hành ABC123").await;
    let bot = changed(&id, "bot");
    stream.until(&bot.to_string()).await;
    app.ask(&id, "talk to a human").await;
    stream.until(&changed(&id, "waiting").to_string()).await;
    hand(&app, &id, "take").await;
    stream.until(&changed(&id, "taken").to_string()).await;
    let before = told(&mut stream).await.len();
    answer(&app, &id, "Dạ em đây ạ").await;
    while told(&mut stream).await.len() == before {
        stream.more().await;
    }
    hand(&app, &id, "close").await;
    stream.until(&changed(&id, "closed").to_string()).await;
    let gone = app.request(reqwest::Method::DELETE, &format!("/conversations/{id}")).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    stream.until(&json!({"type": "conversation.deleted", "conversation_id": id}).to_string()).await;
    let all = stream.so_far().await;
    assert!(all.ids().is_empty(), "news have no places: {all:?}");
    assert!(all.data().iter().all(|news| news["conversation_id"] == id.as_str()), "{all:?}");
}

#[tokio::test]
async fn console_stream_excludes_other_shops() {
    let app = guarded().start().await;
    let open = async |key: &str| {
        let opened = app.post("/conversations", &json!({})).header("x-api-key", key).send().await.unwrap();
        opened.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (ours, theirs) = (open("key-of-the-shop-0").await, open("key-of-the-shop-1").await);
    let mut stream = Live::open(app.get(NEWS).header("x-api-key", "key-of-the-shop-0")).await.opened().await;
    for (id, key) in [(&theirs, "key-of-the-shop-1"), (&ours, "key-of-the-shop-0")] {
        let take = app.request(reqwest::Method::POST, &format!("/console/api/conversations/{id}/take"));
        assert_eq!(take.header("x-api-key", key).send().await.unwrap().status(), 200);
    }
    stream.until(&changed(&ours, "taken").to_string()).await;
    assert_eq!(told(&mut stream).await, [changed(&ours, "taken")]);
}

#[tokio::test]
async fn console_stream_ends_at_shutdown() {
    let app = TestApp::start().await;
    let stream = Live::open(app.get(NEWS)).await.opened().await;
    app.begin_shutdown();
    stream.text().await;
}
