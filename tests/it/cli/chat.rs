//! `frontdesk chat` through a pipe, with a temporary server and with a running one.

use std::process::Stdio;

use serde_json::Value;

use self::network::Network;
use super::shop::{Running, Shop};

mod network;
#[cfg(target_os = "linux")]
mod terminal;

const GREETING: &str =
    "SSTC: Chào quý khách! Em là nhân viên SSTC, rất vui được hỗ trợ quý khách... Em là trợ lý AI của SSTC ạ.";
const RESULT: &str = "Thông tin bảo hành: Sản phẩm 'Laptop Dell', Serial 'ABC123', hết bảo hành vào ngày 31/12/2024.";

/// The paragraphs of an output.
fn paragraphs(text: &str) -> Vec<&str> {
    text.trim_end().split("\n\n").collect()
}

async fn get(address: &str, path: &str, key: Option<&str>) -> Value {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = client.get(format!("{address}{path}"));
    if let Some(key) = key {
        request = request.header("x-api-key", key);
    }
    request.send().await.unwrap().json().await.unwrap()
}

/// The id of the server's newest conversation.
async fn newest(address: &str, key: Option<&str>) -> String {
    let list = get(address, "/conversations", key).await;
    list["conversations"][0]["id"].as_str().unwrap().to_owned()
}

/// What customers have said at the server, in its newest conversation.
async fn said(address: &str, key: Option<&str>) -> Vec<String> {
    let id = newest(address, key).await;
    let history = get(address, &format!("/conversations/{id}/history"), key).await;
    let messages = history["messages"].as_array().unwrap();
    let said = messages.iter().filter(|message| message["sender"] == "user");
    said.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn pipe_gets_clean_paragraphs() {
    let shop = Shop::new();
    let run = shop.run_with_input(&["chat"], &[], "kiểm tra bảo hành ABC123\n\n/history\n/nothing\n/quit\nnot heard\n");
    assert_eq!(run.code, Some(0), "{run:?}");
    let paragraphs = paragraphs(&run.stdout);
    let [greeting, cute, result, follow_up, history @ ..] = paragraphs.as_slice() else { panic!("{run:?}") };
    assert_eq!(*greeting, GREETING);
    assert!(result.starts_with(RESULT), "{result}");
    let expected = [
        GREETING.to_owned(),
        "you: kiểm tra bảo hành ABC123".to_owned(),
        format!("SSTC: {cute}"),
        format!("SSTC: {result}"),
        format!("SSTC: {follow_up}"),
    ];
    assert_eq!(history, expected);
    assert_eq!(run.stderr, "Unknown command /nothing. Type /help for commands.\n");
    assert!(!run.stdout.contains('\x1b'), "{run:?}");
}

#[test]
fn persona_and_language_can_be_chosen() {
    let shop = Shop::new();
    let english = "SSTC: Hi, I'm SSTC's AI assistant. How can I help?\n\n";
    for arguments in [&["chat", "--persona", "system_persona_en"][..], &["chat", "--language", "en"]] {
        let run = shop.run(arguments, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), english), "{arguments:?}: {run:?}");
    }
    let run = shop.run(&["chat", "--persona", "nobody"], &[]);
    run.is_refused_with(&[
        "The persona does not exist; send one of commerce_en, commerce_sw, returns_en, returns_vi, system_persona_en, system_persona_vi, telecom_en, telecom_pl.",
    ]);
    let run = shop.run(&["chat", "--language", "english"], &[]);
    run.is_refused_with(&["The persona does not speak this language; send one of"]);
    assert_eq!(shop.run(&["chat", "--language", "EN"], &[]).code, Some(2));
}

#[tokio::test]
async fn chat_uses_the_running_server() {
    let shop = Shop::new();
    let (server, address) = shop.serve(&[]);
    let run = shop.run_with_input(&["chat"], &[], "kiểm tra bảo hành ABC123\n");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains(RESULT), "{run:?}");
    assert!(run.stderr.contains(&address), "{run:?}");
    assert_eq!(said(&address, None).await, ["kiểm tra bảo hành ABC123"]);

    // A server that is named is talked to wherever one is.
    let elsewhere = Shop::new();
    let run = elsewhere.run_with_input(&["chat", "--url", &format!("{address}/")], &[], "xin chào\n");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(said(&address, None).await, ["xin chào"]);
    assert!(!elsewhere.path("database").exists());
    server.signal("INT");
    assert_eq!(server.ends().code, Some(0));
}

#[tokio::test]
async fn chat_uses_the_default_tenants_key() {
    let shop = Shop::new();
    let keys = [("X_API_KEYS", "other:key-of-the-shop-1,default:key-of-the-shop-2")];
    let (_server, address) = shop.serve(&keys);
    assert_eq!(shop.run_with_input(&["chat"], &keys, "xin chào\n").code, Some(0));
    assert_eq!(said(&address, Some("key-of-the-shop-2")).await, ["xin chào"]);
    shop.run(&["chat"], &[("X_API_KEYS", "a-wrong-key-of-16-characters")]).is_refused_with(&["set X_API_KEYS"]);
    // A temporary server uses the keys, too.
    assert_eq!(Shop::new().run_with_input(&["chat"], &keys, "xin chào\n").code, Some(0));
}

#[test]
fn unreachable_server_is_reported() {
    let shop = Shop::new();
    shop.run(&["chat", "--url", "http://127.0.0.1:1"], &[]).is_refused_with(&["annot reach the server"]);
    shop.run(&["chat", "--url", "here"], &[]).is_refused_with(&["here is not a URL"]);
}

#[test]
fn conversation_continues_after_a_refused_message() {
    let shop = Shop::new();
    let long = "a".repeat(4_001);
    let run = shop.run_with_input(&["chat"], &[], &format!("{long}\nkiểm tra bảo hành ABC123\n"));
    assert!(run.stdout.contains(RESULT), "{run:?}");
    assert!(run.stderr.contains("1 to 4000 characters") && run.stderr.contains("messages without an answer: 1"));
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_connection_resumes_without_repetition() {
    let shop = Shop::new();
    let (_server, address) = shop.serve(&[]);
    let whole = shop.run_with_input(&["chat"], &[], "kiểm tra bảo hành ABC123\n");
    let network = Network::to(&address).await;
    // Behind the second message's first word, so that a paragraph stands open.
    network.cuts_behind("Thông tin");
    let run = shop.run_with_input(&["chat", "--url", &network.url()], &[], "kiểm tra bảo hành ABC123\n");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("Lost the connection to the server. Retrying"), "{run:?}");
    let persona = |text: &str| text.replacen("system_persona_vi:", "SSTC:", 1).split_whitespace().collect::<String>();
    assert_eq!(persona(&run.stdout), persona(&whole.stdout), "every word once");
    assert_eq!(said(&address, None).await, ["kiểm tra bảo hành ABC123"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_before_the_answer_fails_a_pipe() {
    let shop = Shop::new();
    let (_server, address) = shop.serve(&[]);
    let network = Network::to(&address).await;
    network.hangs_at("/stream");
    let mut chat = Running::start(shop.command(&["chat", "--url", &network.url()], &[]).stdin(Stdio::piped()));
    chat.say("kiểm tra bảo hành ABC123\n");
    network.has_failed().await;
    chat.signal("TERM");
    let run = chat.ends();
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("messages without an answer: 1"), "{run:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_retries_when_the_server_asks() {
    let shop = Shop::new();
    let (_server, address) = shop.serve(&[]);
    let network = Network::to(&address).await;
    network.refuses_first("/stream");
    let run = shop.run_with_input(&["chat", "--url", &network.url()], &[], "kiểm tra bảo hành ABC123\n");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("Wait. Retrying in 1 s"), "{run:?}");
    assert!(run.stdout.contains(RESULT), "{run:?}");
}
