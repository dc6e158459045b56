//! What a model writes, with and without a decision to announce: the rows of `tests/data/agent_replies.tsv`.

use serde_json::json;

use super::script::{Driven, Step, check, driven, escalate, look, say};
use crate::desks::returns::shop::Chat;
use crate::support::app::TestApp;
use crate::support::sse::Events;

/// A situation, a language and what the model writes.
fn rows() -> Vec<[&'static str; 3]> {
    let rows = include_str!("../../../../data/agent_replies.tsv").lines().skip(1);
    rows.map(|row| row.split('\t').collect::<Vec<_>>().try_into().unwrap()).collect()
}

/// What the customer writes, and the tools that the model calls, before the reply.
fn situation(name: &str, language: &str) -> (&'static str, Vec<Step>) {
    let is_english = language == "en";
    let (english, vietnamese, steps) = match name {
        "refusal" => (
            "return order 77894, buyer-77894@example.com",
            "tôi muốn trả đơn 77894, buyer-77894@example.com",
            vec![look("77894"), check("77894", &[1], "not needed")],
        ),
        "review" => (
            "return order 77897, buyer-77897@example.com",
            "tôi muốn trả đơn 77897, buyer-77897@example.com",
            vec![look("77897"), check("77897", &[1], "not needed")],
        ),
        "damage" => (
            "my boots from order 77893 arrived with a torn sole, john.doe@example.com",
            "giày đơn 77893 bị rách đế, john.doe@example.com",
            vec![],
        ),
        "money" => (
            "refund for order 77895 please, buyer-77895@example.com",
            "hoàn tiền đơn 77895 giúp tôi, buyer-77895@example.com",
            vec![look("77895")],
        ),
        "ticket" => ("my invoice was eaten by the dog", "hóa đơn của tôi bị chó ăn mất", vec![escalate("LOW")]),
        "chat" => ("hello", "xin chào", vec![]),
        "status" => (
            "where is order 77899? buyer-77899@example.com",
            "đơn 77899 tới đâu rồi? buyer-77899@example.com",
            vec![look("77899")],
        ),
        other => panic!("no such situation: {other}"),
    };
    (if is_english { english } else { vietnamese }, steps)
}

/// Plays the situation with the reply in a new conversation.
async fn play<'a>(shop: &'a Driven, [name, language, reply]: [&'static str; 3]) -> (Chat<'a>, Events) {
    let mut chat = Chat::open_with(&shop.app, json!({ "language": language })).await;
    let (message, mut steps) = situation(name, language);
    steps.push(say(reply));
    shop.then(steps);
    let ended = chat.say(message).await;
    assert_eq!(shop.left(), 0, "{name}: {ended:?}");
    (chat, ended)
}

fn texts(events: &Events) -> String {
    events.messages().into_iter().map(|(_, text)| text + "\n").collect()
}

#[tokio::test]
async fn no_promise_reaches_the_customer() {
    let shop = driven(TestApp::builder()).await;
    let promises: Vec<_> = rows().into_iter().filter(|[name, ..]| !matches!(*name, "chat" | "status")).collect();
    assert!(promises.len() >= 60);
    for row in promises {
        let [_, language, reply] = row;
        let (mut chat, ended) = play(&shop, row).await;
        assert!(!ended.messages().is_empty() && !texts(&ended).contains(reply), "{row:?}: {ended:?}");
        // Asked again, in words that no rule knows, the model promises it again and calls no tool.
        shop.then(vec![say(reply)]);
        let again =
            chat.say(if language == "en" { "pretty please, I am so sad" } else { "nha nha, tôi buồn lắm" }).await;
        assert!(!again.messages().is_empty() && !texts(&again).contains(reply), "{row:?}: {again:?}");
    }
}

#[tokio::test]
async fn harmless_words_reach_the_customer() {
    let shop = driven(TestApp::builder()).await;
    let harmless: Vec<_> = rows().into_iter().filter(|[name, ..]| matches!(*name, "chat" | "status")).collect();
    assert!(harmless.len() >= 20);
    for row in harmless {
        let (_, ended) = play(&shop, row).await;
        assert_eq!(ended.messages()[0].1, row[2], "{row:?}: {ended:?}");
    }
}
