//! Clients that disconnect at any moment.

use std::time::Duration;

use frontdesk::domain::TurnStatus;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::live::{count_rows, ended};
use super::raw;
use crate::support::app::TestApp;

#[tokio::test]
async fn stored_message_runs_after_client_disconnects() {
    let app = TestApp::start().await;
    let mut ids = Vec::new();
    for n in 0..60_u64 {
        let id = app.open(&json!({})).await;
        let body = json!({"text": "kiểm tra bảo hành ABC123"}).to_string();
        let route = if n % 2 == 0 { "messages" } else { "stream" };
        let request = raw::post(&app, &format!("/conversations/{id}/{route}"), "", body.as_bytes());
        let mut leaving = raw::connect(&app).await;
        leaving.write_all(&request).await.unwrap();
        tokio::time::sleep(Duration::from_micros(n * 100)).await;
        drop(leaving);
        ids.push(id);
    }
    for id in ids {
        // Whether or not the first message was stored, the next one is answered and no stream is left open.
        let path = format!("/conversations/{id}/messages");
        let response = app.post(&path, &json!({"text": "kiểm tra bảo hành XYZ789"})).send().await.unwrap();
        assert_eq!(response.status(), 202);
        let turn = response.json::<serde_json::Value>().await.unwrap()["turn"].as_u64().unwrap();
        for turn in 1..=turn {
            let status = ended(&app, &id, u32::try_from(turn).unwrap()).await;
            assert_eq!(status, TurnStatus::Completed.as_str());
        }
        assert_eq!(count_rows(&app, "turns", &id).await, i64::try_from(turn).unwrap());
    }
}
