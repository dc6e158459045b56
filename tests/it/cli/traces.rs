//! What a collector of traces gets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::shop::{Shop, taken_port};
use crate::support::ollama::{Play, ScriptedOllama};
use crate::support::sse::read_events;

type Bodies = Arc<Mutex<Vec<Bytes>>>;

/// A collector that keeps what it gets; its address.
async fn collector() -> (String, Bodies) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let bodies = Bodies::default();
    let keep = async |State(bodies): State<Bodies>, body: Bytes| bodies.lock().unwrap().push(body);
    let routes = Router::new().route("/v1/traces", post(keep)).with_state(bodies.clone());
    tokio::spawn(axum::serve(listener, routes).into_future());
    (url, bodies)
}

fn text(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == name);
    match found.and_then(|attribute| attribute.value.clone()).and_then(|value| value.value) {
        Some(any_value::Value::StringValue(text)) => text,
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        other => panic!("{name}: {other:?}"),
    }
}

async fn say(address: &str, message: &str) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let opened = client.post(format!("{address}/conversations")).json(&json!({})).send().await.unwrap();
    let opened: Value = opened.json().await.unwrap();
    let path = format!("{address}/conversations/{}/stream", opened["id"].as_str().unwrap());
    let said = client.post(path).json(&json!({ "text": message })).send().await.unwrap();
    assert_eq!(read_events(said).await.status(), "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn collector_gets_turn_and_step_spans_without_texts() {
    let (url, bodies) = collector().await;
    let ollama = ScriptedOllama::start().await;
    ollama.play(Play::reply("Dạ có nhiều loại ạ."));
    let shop = Shop::new();
    let (server, address) = shop.serve(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &url),
        ("OTEL_SERVICE_NAME", "shop-of-the-tests"),
        ("LLM", "auto"),
        ("OLLAMA_HOST", &ollama.url()),
    ]);
    let question = "SSD Kingston giá bao nhiêu vậy em";
    say(&address, question).await;
    say(&address, "kiểm tra bảo hành ABC123").await;
    server.signal("TERM");
    assert_eq!(server.ends().code, Some(0));

    let bodies = bodies.lock().unwrap().clone();
    assert!(!bodies.is_empty(), "the spans are sent before the end");
    let mut spans: Vec<Span> = Vec::new();
    for body in &bodies {
        assert!(!String::from_utf8_lossy(body).contains("Kingston"), "no words of a message");
        for resource in ExportTraceServiceRequest::decode(body.clone()).unwrap().resource_spans {
            assert_eq!(text(&resource.resource.unwrap().attributes, "service.name"), "shop-of-the-tests");
            spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
    let mut steps: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for turn in spans.iter().filter(|span| span.name == "turn") {
        assert_eq!(text(&turn.attributes, "desk"), "retail");
        assert_eq!(text(&turn.attributes, "status"), "completed");
        assert!(turn.parent_span_id.is_empty() && turn.events.is_empty(), "{turn:?}");
        let of_turn = spans.iter().filter(|span| span.parent_span_id == turn.span_id && span.trace_id == turn.trace_id);
        steps.insert(text(&turn.attributes, "kind"), of_turn.map(|span| span.name.as_str()).collect());
    }
    let expected = [
        ("reply", vec!["classify", "first_token", "generate", "journal", "model_queue", "retrieve"]),
        ("warranty_result", vec!["classify", "journal", "warranty"]),
    ];
    let expected = expected.map(|(kind, steps)| (kind.to_owned(), steps.into_iter().collect()));
    assert_eq!(steps, BTreeMap::from(expected));
}

#[tokio::test]
async fn unreachable_collector_logs_one_warning() {
    let shop = Shop::new();
    // Somebody holds the port and never answers.
    let (_held, silent) = taken_port();
    for endpoint in ["http://127.0.0.1:1".to_owned(), format!("http://{silent}")] {
        let (server, address) = shop.serve(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]);
        say(&address, "kiểm tra bảo hành ABC123").await;
        server.signal("TERM");
        let run = server.ends();
        assert_eq!(run.code, Some(0), "{run:?}");
        let warnings = run.stderr.matches("WARN").count();
        assert!(warnings == 1 || warnings == 2, "what is lost, and that the last were: {run:?}");
        assert!(run.stderr.contains("traces"), "{run:?}");
    }
    let wrong = shop.run(&["serve"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318")]);
    wrong.is_refused_with(&["OTEL_EXPORTER_OTLP_ENDPOINT: must be the URL of an OTLP/HTTP collector"]);
}
