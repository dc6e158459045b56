//! Handoff: a person takes a conversation, answers in it, and gives it back.

use std::time::Duration;

use chrono::Utc;
use frontdesk::domain::{Author, Event, EventId, Handoff, MessageId, Sender, TenantId};
use frontdesk::store::acceptance::{Acceptance, NewTurn};
use frontdesk::store::journal::{Change, Entry};
use frontdesk::store::turns::StoredEvent;
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::http::console::{answer, hand};
use crate::http::live::{BEGINNING, Live, QUESTION, ended, stalled, turn};
use crate::store;
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};
use crate::support::sse::Events;
use crate::support::{eventually, eventually_async};

const WARRANTY: &str = "kiểm tra bảo hành ABC123";

fn types(events: &Events) -> Vec<&str> {
    events.data().into_iter().map(|event| event["type"].as_str().unwrap()).collect()
}

async fn conversation(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/conversations/{id}")).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn bot_answers_while_customer_waits_for_a_person() {
    let app = TestApp::start().await;
    for (wish, reply) in [("cho gặp nhân viên", "báo cho nhân viên"), ("I want to talk to a human", "told the team")]
    {
        let id = app.open(&json!({})).await;
        let events = app.ask(&id, wish).await;
        assert_eq!(events.kinds(), ["social"], "{wish}");
        let text = events.text("social");
        assert!(text.contains(reply) && text.contains("1900 636 979"), "{text}");
        assert_eq!(conversation(&app, &id).await["status"], "waiting", "{wish}");
        assert_eq!(app.ask(&id, WARRANTY).await.kinds().first().map(String::as_str), Some("cute_greeting"));
        assert_eq!(conversation(&app, &id).await["status"], "waiting");
    }
}

#[tokio::test]
async fn without_console_no_handoff_is_offered() {
    let app = TestApp::builder().env("CONSOLE", "off").start().await;
    let id = app.open(&json!({})).await;
    let text = app.ask(&id, "cho gặp nhân viên").await.text("social");
    assert!(text.contains("1900 636 979") && !text.contains("báo cho nhân viên"), "{text}");
    assert_eq!(conversation(&app, &id).await["status"], "bot");
}

#[tokio::test]
async fn handoff_request_needs_no_model() {
    let ollama = ScriptedOllama::start().await;
    for classifier in ["rules_first", "llm_first"] {
        let app = TestApp::builder().ollama(&ollama).env("CLASSIFIER", classifier).start().await;
        let id = app.open(&json!({})).await;
        app.ask(&id, "cho gặp nhân viên").await;
        assert_eq!(conversation(&app, &id).await["status"], "waiting");
    }
    assert_eq!(ollama.chats(), Vec::<Value>::new());
}

#[tokio::test]
async fn turn_of_taken_conversation_has_no_reply() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, WARRANTY).await;
    let taken = hand(&app, &id, "take").await;
    assert_eq!((&taken["status"], &taken["agent"]), (&json!("taken"), &Value::Null), "development mode has no names");
    let events = app.ask(&id, "cho gặp nhân viên").await;
    assert_eq!(events.ids(), ["2.1", "2.2"]);
    assert_eq!(types(&events), ["turn.start", "turn.done"]);
    assert_eq!((events.status(), &events.first("turn.start")["sender"]), ("completed", &json!("user")));
    assert_eq!(conversation(&app, &id).await["status"], "taken", "a taken conversation does not wait");
    // Taking twice is allowed. After giving back, the bot answers again.
    hand(&app, &id, "take").await;
    assert_eq!(hand(&app, &id, "give-back").await["status"], "bot");
    assert!(app.ask(&id, WARRANTY).await.kinds().contains(&"warranty_result".to_owned()));
}

#[tokio::test]
async fn customer_message_reopens_a_closed_conversation() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    assert_eq!(hand(&app, &id, "close").await["status"], "closed");
    assert!(app.ask(&id, WARRANTY).await.kinds().contains(&"warranty_result".to_owned()));
    assert_eq!(conversation(&app, &id).await["status"], "bot");
    hand(&app, &id, "close").await;
    assert_eq!(hand(&app, &id, "reopen").await["status"], "bot");
    let waiting = app.ask(&id, "talk to a human").await;
    assert_eq!(waiting.status(), "completed");
    hand(&app, &id, "close").await;
    let closed = hand(&app, &id, "reopen").await;
    assert_eq!(
        (&closed["status"], &closed["waiting_since"]),
        (&json!("bot"), &Value::Null),
        "the customer no longer waits"
    );
    // A late click on "reopen" does not change a waiting conversation.
    app.ask(&id, "talk to a human").await;
    assert_eq!(hand(&app, &id, "reopen").await["status"], "waiting");
    assert_eq!(hand(&app, &id, "take").await["status"], "taken");
    assert_eq!(hand(&app, &id, "reopen").await["status"], "taken");
    assert_eq!(hand(&app, &id, "close").await["status"], "closed");
    assert_eq!(hand(&app, &id, "give-back").await["status"], "closed");
}

#[tokio::test]
async fn taking_over_cuts_off_the_running_reply() {
    let (app, ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let path = format!("/conversations/{id}/messages");
    assert_eq!(app.post(&path, &json!({"text": WARRANTY})).send().await.unwrap().status(), 202);
    hand(&app, &id, "take").await;
    // The request returns when the turn has ended.
    assert_eq!(turn(&app, &id, 1).await["status"], "cancelled");
    let events = running.events().await;
    assert_eq!(events.status(), "cancelled");
    let reply = app.history(&id).await.into_iter().find(|message| message["metadata"]["type"] == "reply").unwrap();
    assert_eq!(reply["metadata"]["cut"], true);
    assert_eq!(ended(&app, &id, 2).await, "completed", "waiting turns are not cancelled");
    assert_eq!(app.history(&id).await.iter().filter(|message| message["turn"] == 2).count(), 1, "and not answered");
    eventually("the request to the model is closed", || ollama.closed_early() == 1).await;
}

/// Many conversations at once, each taken at a random moment of its turn.
#[tokio::test]
async fn bot_is_silent_after_a_person_takes_over() {
    let ollama = ScriptedOllama::start().await;
    ollama.otherwise(|_| {
        Some(Play::reply(&"Dạ shop có hàng ạ. ".repeat(40)).in_packets_of(200).paced(Duration::from_millis(5)))
    });
    let app = TestApp::builder().ollama(&ollama).env("LLM_MAX_CONCURRENT", 100).start().await;
    let mut dice = StdRng::seed_from_u64(20_261_122);
    let mut rounds = Vec::new();
    for round in 0..56 {
        // Every fourth before the first event, the others during the reply.
        rounds.push(if round % 4 == 0 { 0 } else { dice.random_range(1..80) });
    }
    let mut cut = 0;
    for batch in rounds.chunks(8) {
        let taken = join_all(batch.iter().map(|after| take_over(&app, *after))).await;
        cut += taken.into_iter().filter(|was_cut| *was_cut).count();
    }
    assert!(cut > 10, "only {cut} replies were running: the race was not tested");
}

/// Takes a conversation with two waiting questions after so many events. Returns whether a reply was cut off.
async fn take_over(app: &TestApp, after: usize) -> bool {
    let id = app.open(&json!({})).await;
    let mut stream = Live::follow(app, &id, None).await;
    let path = format!("/conversations/{id}/messages");
    for _ in 0..2 {
        let said = app.post(&path, &json!({"text": QUESTION})).send().await.unwrap();
        assert_eq!(said.status(), 202);
    }
    while stream.so_far().await.ids().len() < after {
        stream.more().await;
    }
    hand(app, &id, "take").await;
    let at_take = events(app, &id).await;
    let answered = answer(app, &id, "Dạ em là Lan").await;
    let third = app.ask(&id, QUESTION).await;
    assert_eq!(types(&third), ["turn.start", "turn.done"]);
    assert_eq!(ended(app, &id, answered).await, "completed");
    only_people_speak(&events(app, &id).await[at_take.len()..]);
    turn(app, &id, 1).await["status"] == "cancelled"
}

fn only_people_speak(events: &[Value]) {
    for event in events {
        let speaks = ["message.start", "delta", "message.end"].contains(&event["type"].as_str().unwrap());
        let is_person = event["text"] == "Dạ em là Lan" || event["kind"] == "agent";
        assert!(!speaks || is_person, "{event} after the take");
    }
}

/// Turns start at the moment at which their conversations are taken.
#[tokio::test]
async fn turn_starting_during_handoff_is_silent() {
    let app = TestApp::start().await;
    let mut dice = StdRng::seed_from_u64(20_261_122);
    for _ in 0..15 {
        let rounds = (0..10).map(|_| {
            let (app, pause) = (&app, Duration::from_micros(dice.random_range(0..6000)));
            async move {
                let id = app.open(&json!({})).await;
                let (path, body) = (format!("/conversations/{id}/messages"), json!({"text": WARRANTY}));
                let take = async {
                    tokio::time::sleep(pause).await;
                    hand(app, &id, "take").await;
                    events(app, &id).await.len()
                };
                let (said, at_take) = tokio::join!(app.post(&path, &body).send(), take);
                assert_eq!(said.unwrap().status(), 202);
                ended(app, &id, 1).await;
                only_people_speak(&events(app, &id).await[at_take..]);
            }
        });
        join_all(rounds).await;
    }
}

/// Returns all stored events of the conversation.
async fn events(app: &TestApp, id: &str) -> Vec<Value> {
    let shop = TenantId::default();
    let stored = app.inner.store.tenant(&shop).list_events(id.parse().unwrap(), EventId::ZERO, None, 100_000).await;
    stored.unwrap().into_iter().map(|event| serde_json::from_str(&event.body).unwrap()).collect()
}

#[tokio::test]
async fn answers_and_messages_keep_acceptance_order() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    hand(&app, &id, "take").await;
    let mut stream = Live::follow(&app, &id, None).await;
    let (customer, person) =
        (format!("/conversations/{id}/messages"), format!("/console/api/conversations/{id}/answers"));
    let posts = (0..40).map(|n| {
        let (path, who) = if n % 2 == 0 { (&customer, "user") } else { (&person, "agent") };
        let request = app.post(path, &json!({"text": format!("{who} {n}")}));
        async move {
            let mut response = None;
            // At most eight messages of a customer may wait in a conversation.
            eventually_async("the message is accepted", async || {
                response.insert(request.try_clone().unwrap().send().await.unwrap()).status() != 429
            })
            .await;
            let accepted: Value = response.unwrap().json().await.unwrap();
            (accepted["turn"].as_u64().unwrap(), format!("{who} {n}"))
        }
    });
    let mut accepted = join_all(posts).await;
    accepted.sort();
    stream.until_done(40).await;
    let told = stream.so_far().await;
    let starts = told.data().into_iter().filter(|event| event["type"] == "turn.start");
    let starts: Vec<(u64, String)> =
        starts.map(|event| (event["turn"].as_u64().unwrap(), event["text"].as_str().unwrap().to_owned())).collect();
    assert_eq!(starts, accepted);
    assert_eq!(told.data().iter().filter(|event| event["type"] == "message.end").count(), 20);
    let said: Vec<String> =
        app.history(&id).await.iter().skip(1).map(|message| message["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(said, accepted.into_iter().map(|(_, text)| text).collect::<Vec<_>>());
}

#[tokio::test]
async fn answer_is_completed_after_a_kill() {
    for told in 1..=4_usize {
        let app = TestApp::start().await;
        let id = app.open(&json!({})).await;
        let database = app.database_url.clone();
        let builder = app.stop().await;
        let left = store::open(&database).await;
        let (shop, conversation) = (TenantId::default(), id.parse().unwrap());
        let door = left.tenant(&shop);
        let take = Handoff::Take { agent: Some("Lan".to_owned()) };
        door.hand_over(conversation, &take, Utc::now()).await.unwrap().unwrap();
        let author = Author::Agent { name: Some("Lan".to_owned()) };
        let new = NewTurn { author: &author, ..store::turn_of(conversation, "Dạ còn hàng ạ", Utc::now()) };
        let Acceptance::Accepted { message_id, .. } = store::accept(&left, &shop, &new).await else { panic!() };
        let all = answer_events(message_id);
        let entries: Vec<Entry> = (1..)
            .zip(&all[..told])
            .map(|(n, event)| Entry {
                tenant: shop.clone(),
                conversation,
                event: StoredEvent { id: EventId::new(1, n), body: event.to_string() },
                at: Utc::now(),
                changes: if n == 1 { vec![Change::TurnStarted] } else { vec![] },
            })
            .collect();
        left.append(&entries).await.unwrap();
        drop(left);
        let app = builder.start().await;
        assert_eq!(ended(&app, &id, 1).await, "completed");
        let mut stored = events(&app, &id).await;
        stored.last_mut().unwrap().as_object_mut().unwrap().remove("timings_ms");
        assert_eq!(stored, all, "after {told} events");
        assert_eq!(app.history(&id).await.len(), 2);
    }
}

/// The events of the first turn, an answer by Lan.
fn answer_events(message_id: MessageId) -> Vec<Value> {
    let start = Event::TurnStart { turn: 1, message_id, sender: Sender::Agent, text: "Dạ còn hàng ạ".to_owned() };
    vec![
        serde_json::to_value(start).unwrap(),
        json!({"type": "message.start", "message_id": message_id, "kind": "agent"}),
        json!({"type": "delta", "message_id": message_id, "text": "Dạ còn hàng ạ"}),
        json!({
            "type": "message.end", "message_id": message_id, "kind": "agent",
            "metadata": {"type": "agent", "name": "Lan"}
        }),
        json!({"type": "turn.done", "turn": 1, "status": "completed"}),
    ]
}

#[tokio::test]
async fn handoff_survives_a_restart() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    hand(&app, &id, "take").await;
    let app = app.stop().await.start().await;
    assert_eq!(types(&app.ask(&id, WARRANTY).await), ["turn.start", "turn.done"]);
    assert_eq!(answer(&app, &id, "Dạ").await, 2);
}

#[tokio::test]
async fn model_history_includes_the_persons_answers() {
    let ollama = ScriptedOllama::start().await;
    ollama.reply("Dạ shop có hàng ạ.");
    let app = TestApp::builder().ollama(&ollama).start().await;
    let id = app.open(&json!({})).await;
    hand(&app, &id, "take").await;
    app.ask(&id, "Anh muốn mua SSD").await;
    let turn = answer(&app, &id, "Dạ Lan tư vấn anh nhé").await;
    assert_eq!(ended(&app, &id, turn).await, "completed");
    hand(&app, &id, "give-back").await;
    app.ask(&id, QUESTION).await;
    let chats = ollama.chats();
    let said: Vec<(&str, &str)> = chats.last().unwrap()["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| (message["role"].as_str().unwrap(), message["content"].as_str().unwrap()))
        .collect();
    assert!(said.contains(&("user", "Anh muốn mua SSD")), "{said:?}");
    assert!(said.contains(&("assistant", "Dạ Lan tư vấn anh nhé")), "{said:?}");
}
