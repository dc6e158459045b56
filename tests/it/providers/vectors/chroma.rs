//! A Chroma server: a real one where `TEST_CHROMA_URL` names it, and else a scripted server when it is not there.

use std::process::Command;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use frontdesk::config::VectorConfig;
use frontdesk::providers::vector::{ChromaIndex, VectorError, VectorIndex};
use tokio::net::TcpListener;

use super::{ANY, angle, collection, collection_of, found, ids, label, record, space, suite};

fn chroma(url: &str, timeout: Duration) -> ChromaIndex {
    ChromaIndex::new(url, &VectorConfig { timeout, ..VectorConfig::default() }).unwrap()
}

/// The real server, if this run has one.
fn server() -> Option<ChromaIndex> {
    let url = std::env::var("TEST_CHROMA_URL").ok()?;
    Some(chroma(&url, Duration::from_secs(60)))
}

#[tokio::test]
async fn chroma_index_passes_the_suite() {
    let Some(index) = server() else { return };
    suite::run(&index).await;
}

#[tokio::test]
async fn recreated_chroma_collection_is_found() {
    let (Some(ours), Some(theirs)) = (server(), server()) else { return };
    let here = collection();
    ours.open(&here, &space(3)).await.unwrap();
    ours.upsert(&here, &[record("old", &angle(0.0), &[])]).await.unwrap();
    theirs.drop_collection(&here).await.unwrap();
    assert!(found(&ours, &here, 5, &ANY).await.is_empty());
    ours.open(&here, &space(3)).await.unwrap();
    theirs.drop_collection(&here).await.unwrap();
    theirs.open(&here, &space(3)).await.unwrap();
    theirs.upsert(&here, &[record("new", &angle(0.0), &[])]).await.unwrap();
    assert_eq!(found(&ours, &here, 5, &ANY).await, ["new"]);
    ours.drop_collection(&here).await.unwrap();
}

/// Runs `tests/py/chroma_client.py` with the Python that has Chroma's own client.
async fn python(arguments: &[&str]) -> serde_json::Value {
    let python = std::env::var("TEST_CHROMA_PYTHON").expect("TEST_CHROMA_PYTHON: what scripts/chroma --install prints");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/py/chroma_client.py");
    let url = std::env::var("TEST_CHROMA_URL").unwrap();
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let run = move || Command::new(python).arg(script).arg(url).args(arguments).output().unwrap();
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn chromas_client_reads_our_records() {
    let Some(index) = server() else { return };
    let here = collection();
    index.open(&here, &space(3)).await.unwrap();
    let mut record = record("tin nhắn 💬", &angle(90.0), &[("conversation_id", "c1"), ("user_id", "Đào")]);
    record.text = "Máy lọc nước \"bảo hành\" 24 tháng".to_owned();
    index.upsert(&here, &[record]).await.unwrap();
    let read = python(&["read", &here.name]).await;
    let expected = serde_json::json!({
        "metadata": { "embedding_model": "bge-m3", "embedding_dimension": 3 },
        "space": "cosine",
        "ids": ["tin nhắn 💬"],
        "documents": ["Máy lọc nước \"bảo hành\" 24 tháng"],
        "metadatas": [{ "conversation_id": "c1", "user_id": "Đào" }],
        "nearest": ["tin nhắn 💬"],
        "similarity": 1.0,
    });
    assert_eq!(read, expected);
    index.drop_collection(&here).await.unwrap();
}

#[tokio::test]
async fn we_read_records_of_chromas_client() {
    let Some(index) = server() else { return };
    let here = collection();
    python(&["write", &here.name]).await;
    index.open(&here, &space(3)).await.unwrap();
    assert_eq!(ids(&index, &here).await, ["with all", "without document", "without metadata"]);
    assert_eq!(found(&index, &here, 5, &ANY).await, ["with all", "without document", "without metadata"]);
    assert_eq!(found(&index, &here, 5, &label("kind", "tiếng Việt")).await, ["with all"]);
    index.drop_collection(&here).await.unwrap();
}

#[tokio::test]
async fn collection_of_another_client_is_refused() {
    let Some(index) = server() else { return };
    let here = collection();
    python(&["write-plain", &here.name]).await;
    let refused = index.open(&here, &space(3)).await.unwrap_err().to_string();
    assert!(refused.contains("an unknown model") && refused.contains("--rebuild"), "{refused}");
    index.drop_collection(&here).await.unwrap();
}

/// Everything that a server may be asked.
async fn ask_everything(index: &ChromaIndex) -> Vec<VectorError> {
    let here = collection_of("acme");
    let label = label("a", "b");
    vec![
        index.ping().await.unwrap_err(),
        index.open(&here, &space(3)).await.unwrap_err(),
        index.upsert(&here, &[record("a", &angle(0.0), &[])]).await.unwrap_err(),
        index.query(&here, &space(3), &angle(0.0), 5, &ANY).await.unwrap_err(),
        index.ids(&here).await.unwrap_err(),
        index.delete(&here, &["a".to_owned()]).await.unwrap_err(),
        index.delete_where(&here, &label).await.unwrap_err(),
        index.drop_collection(&here).await.unwrap_err(),
    ]
}

#[tokio::test]
async fn unreachable_chroma_is_reported_with_a_hint() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for error in ask_everything(&chroma(&format!("http://{address}"), Duration::from_secs(60))).await {
        assert!(matches!(error, VectorError::Unavailable(_)), "{error:?}");
        for word in [&address.to_string(), "scripts/chroma", "CHROMA_URL"] {
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}

#[tokio::test]
async fn silent_chroma_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    for error in ask_everything(&chroma(&url, Duration::from_millis(100))).await {
        assert!(matches!(error, VectorError::Unavailable(_)), "{error:?}");
        assert!(error.to_string().contains("CHROMA_TIMEOUT_SECONDS"), "{error}");
    }
}

#[tokio::test]
async fn other_servers_are_recognized() {
    let answers = [
        (StatusCode::OK, "<html>hello</html>"),
        (StatusCode::OK, "{\"models\":[]}"),
        (StatusCode::NOT_FOUND, "404 page not found"),
        (StatusCode::NOT_FOUND, "{\"detail\":\"Not Found\"}"),
        (StatusCode::NOT_FOUND, "{\"error\":\"model not found\"}"),
        (StatusCode::METHOD_NOT_ALLOWED, ""),
    ];
    for (status, body) in answers {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(move || async move { (status, body) });
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        let index = chroma(&url, Duration::from_secs(60));
        let errors = [index.ping().await.unwrap_err(), index.open(&collection(), &space(3)).await.unwrap_err()];
        for error in errors {
            assert!(matches!(error, VectorError::Refused(_)), "{status} {body}: {error:?}");
            assert!(error.to_string().contains("is not Chroma"), "{error}");
            assert!(error.to_string().contains("CHROMA_URL"), "{error}");
        }
        server.abort();
    }
}

#[tokio::test]
async fn too_long_path_is_recognized() {
    let Ok(url) = std::env::var("TEST_CHROMA_URL") else { return };
    let error = chroma(&format!("{url}/api/v2"), Duration::from_secs(60)).ping().await.unwrap_err();
    assert!(error.to_string().contains("is not Chroma"), "{error}");
}
