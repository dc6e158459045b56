//! `GET /console/api/figures`

use serde_json::{Value, json};

use super::{answer, hand};
use crate::http::live::{QUESTION, ended};
use crate::http::problem::refused;
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

async fn figures(app: &TestApp, query: &str) -> Value {
    let response = app.get(&format!("/console/api/figures{query}")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.json().await.unwrap()
}

#[tokio::test]
async fn figures_match_manual_count() {
    let ollama = ScriptedOllama::start().await;
    ollama.otherwise(|_| Some(Play::refuses(500, "out of memory")));
    let app = TestApp::builder().ollama(&ollama).start().await;
    let id = app.open(&json!({})).await;
    // Two warranty checks without the model, a question for which the model fails, and a request for a person.
    for text in ["kiểm tra bảo hành ABC123", "kiểm tra bảo hành XYZ789", QUESTION, "cho gặp nhân viên"] {
        assert_eq!(app.ask(&id, text).await.status(), "completed", "{text}");
    }
    hand(&app, &id, "take").await;
    app.ask(&id, "có ai không").await;
    let turn = answer(&app, &id, "Dạ em đây").await;
    assert_eq!(ended(&app, &id, turn).await, "completed");
    let figures = figures(&app, "?days=2").await;
    assert_eq!(figures["time_zone"], "Asia/Ho_Chi_Minh");
    assert_eq!(figures["parts"]["store"], "ok");
    assert!(["ok", "down"].contains(&figures["parts"]["language_model"].as_str().unwrap()), "{figures}");
    assert_eq!(figures["parts"]["vectors"], "off");
    // A test that runs over midnight has turns on both days.
    let days = figures["days"].as_array().unwrap();
    assert_eq!(days.len(), 2);
    let sum = |path: &str| days.iter().filter_map(|day| day.pointer(path)).filter_map(Value::as_u64).sum::<u64>();
    let counted = [
        ("/turns", 5),
        ("/by_intent/warranty", 2),
        ("/by_intent/shopping", 1),
        ("/by_intent/unknown", 1),
        ("/without_person", 3),
        ("/asked_person", 1),
        ("/model_failed", 1),
        ("/statuses/completed", 5),
    ];
    for (path, expected) in counted {
        assert_eq!(sum(path), expected, "{path} in {figures}");
    }
    let first_text = &days[1]["first_text_ms"];
    assert!(first_text["p50"].as_u64() <= first_text["p95"].as_u64() && first_text["p95"].is_u64(), "{figures}");
}

#[tokio::test]
async fn figures_cover_every_day_of_limited_range() {
    let app = TestApp::start().await;
    let whole = figures(&app, "").await;
    let dates: Vec<&str> = whole["days"].as_array().unwrap().iter().map(|day| day["date"].as_str().unwrap()).collect();
    assert_eq!(dates.len(), 30);
    assert!(dates.is_sorted());
    let empty = json!({
        "date": dates[0], "turns": 0, "by_intent": {}, "without_person": 0, "asked_person": 0,
        "first_text_ms": {"p50": null, "p95": null}, "model_failed": 0, "statuses": {}
    });
    assert_eq!(whole["days"][0], empty);
    assert_eq!(whole["parts"], json!({"store": "ok", "language_model": "off", "vectors": "off"}));
    assert_eq!(figures(&app, "?days=366").await["days"].as_array().unwrap().len(), 366);
    for query in ["?days=0", "?days=367", "?days=x", "?weeks=1"] {
        refused(app.get(&format!("/console/api/figures{query}")), 422, "invalid_request").await;
    }
}
