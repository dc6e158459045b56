//! The desk with a language model: five nodes that answer with JSON, and seven that word a reply.

use frontdesk::domain::TenantId;
use serde_json::{Value, json};

use super::{customer, open_desk, open_desk_with, say_all};
use crate::desks::retail::chat::{Chat, Shop};
use crate::support::app::TestApp;
use crate::support::dialogue::{Dialogue, assert_dialogue};
use crate::support::ollama::{Play, ScriptedOllama};
use crate::support::sse::Events;

/// What the model says at each node, by the heading of its prompt.
const WORDED: [(&str, &str); 7] = [
    ("# This reply: a list of goods", "Good choice, have a look!\n{list}\nWhich number do you like?"),
    ("# This reply: one item", "{item} A favourite of many. Which do you want: {choices}"),
    ("# This reply: an answer from the shop's documents", "We deliver all over the country."),
    ("# This reply: the shop's offers", "You are in luck:\n{offers}"),
    ("# This reply: where orders stand", "I had a look for you:\n{orders}"),
    ("# This reply: saved preferences", "Done, as you wish. {settings}"),
    ("# This reply: a person takes over", "A colleague has your case and writes within {minutes} minutes."),
];

async fn open_with(ollama: &ScriptedOllama) -> Shop {
    open_desk_with(TestApp::builder().ollama(ollama).env("LLM_BREAKER_FAILURES", 100)).await
}

/// Starts the server with a model that begins no reply in time.
async fn open_late(ollama: &ScriptedOllama) -> Shop {
    ollama.otherwise(|_| Some(Play::new().stalls()));
    let builder = TestApp::builder().ollama(ollama);
    open_desk_with(builder.env("INTENT_TIMEOUT_MS", 400).env("WORDING_TIMEOUT_MS", 400)).await
}

/// Words every reply as [`WORDED`] says.
fn word_all(ollama: &ScriptedOllama) {
    ollama.otherwise(|chat| {
        let prompt = chat["messages"][0]["content"].as_str()?;
        let (_, said) = WORDED.iter().find(|(heading, _)| prompt.contains(heading))?;
        Some(Play::answer(said))
    });
}

fn choose(ollama: &ScriptedOllama, choice: &str, confidence: f64) {
    ollama.classify(&json!({ "choice": choice, "confidence": confidence }));
}

/// The names of the nodes that were asked in the last turn, and whether they answered.
async fn nodes_of(chat: &Chat<'_>) -> Vec<(String, bool)> {
    let history = chat.history().await;
    let nodes = history.last().unwrap()["receipt"]["nodes"].as_array().cloned().unwrap_or_default();
    nodes.iter().map(|node| (node["node"].as_str().unwrap().to_owned(), node["ok"].as_bool().unwrap())).collect()
}

/// The headings of the prompts that were sent since.
fn headings(ollama: &ScriptedOllama, since: usize) -> Vec<String> {
    let of = |chat: &Value| {
        let prompt = chat["messages"][0]["content"].as_str().unwrap();
        prompt.lines().rfind(|line| line.starts_with("# ")).unwrap().to_owned()
    };
    ollama.chats()[since..].iter().map(of).collect()
}

struct Turns(Vec<Events>);

impl Dialogue for Turns {
    fn dialogue(&self) -> String {
        let order = regex::Regex::new(r"\b[A-Z0-9]{6,8}\b").unwrap();
        let date = regex::Regex::new(r"Until [^.\n]*").unwrap();
        let shown: Vec<String> = self.0.iter().map(Dialogue::dialogue).collect();
        let shown = shown.join("\n").replace("KARIBU10", "coupon");
        date.replace_all(&order.replace_all(&shown, "ORDER"), "Until DATE").into_owned()
    }
}

/// Goes through every journey.
async fn play_journeys(desk: &Shop) -> Vec<Events> {
    let mut chat = customer(desk, "+254700000001").await;
    let mut turns = Vec::new();
    for text in [
        "hi",
        "I am looking for shoes",
        "canvas shoes",
        "size 40, black",
        "any offers?",
        "pay",
        "what about delivery to Kisumu?",
        "1",
        "yes",
        "where is my order",
        "stop sending me offers",
        "I want to talk to a person",
    ] {
        turns.push(chat.say(text).await);
    }
    turns
}

#[tokio::test]
async fn every_journey_works_without_a_model() {
    let desk = open_desk().await;
    assert_dialogue!("commerce_without_a_model", Turns(play_journeys(&desk).await));
}

#[tokio::test]
async fn model_words_every_journey() {
    let ollama = ScriptedOllama::start().await;
    word_all(&ollama);
    let desk = open_with(&ollama).await;
    let turns = play_journeys(&desk).await;
    assert_dialogue!("commerce_with_a_model", Turns(turns));
    let asked = headings(&ollama, 0);
    for (heading, _) in WORDED {
        assert!(asked.iter().any(|of| of == heading), "{heading}: {asked:?}");
    }
}

#[tokio::test]
async fn amounts_and_payments_are_never_worded() {
    let ollama = ScriptedOllama::start().await;
    word_all(&ollama);
    let desk = open_with(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    say_all(&mut chat, &["canvas shoes", "size 40, black"]).await;
    let since = ollama.chats().len();
    for text in ["pay", "1", "yes", "pay", "yes", "1234"] {
        chat.say(text).await;
    }
    assert_eq!(headings(&ollama, since), Vec::<String>::new());
}

#[tokio::test]
async fn reply_that_breaks_a_rule_is_replaced() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_with(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    let plain = "Here's what I found:";
    for bad in [
        Play::answer("Only KSh 99 today!\n{list}"),
        Play::answer("Everything is 50% off!\n{list}"),
        Play::answer("Your total is twenty shillings.\n{list}"),
        Play::answer("See https://elsewhere.example\n{list}"),
        Play::answer("1. Canvas shoes – KSh 1,250"),
        Play::answer("{list}\n{list}"),
        Play::answer("{list}\nYou pay {total}"),
        Play::answer("You get a free gift with every pair.\n{list}"),
        Play::answer("Please send me your PIN.\n{list}"),
        Play::answer("Hivi ndivyo viatu tulivyo navyo leo, tafadhali chagua namba unayopenda.\n{list}"),
        Play::answer(&format!("{{list}} {}", "very nice ".repeat(100))),
        Play::refuses(500, "out of memory"),
    ] {
        ollama.play_call(bad.clone());
        let said = say_all(&mut chat, &["show me shoes"]).await;
        assert!(said.starts_with(plain) && said.contains("1. "), "{bad:?}: {said}");
        let nodes = nodes_of(&chat).await;
        assert_eq!(nodes, [("catalog_present_options".to_owned(), false)], "{bad:?}");
    }
    ollama.play_call(Play::answer("A good start:\n{list}"));
    assert!(say_all(&mut chat, &["show me shoes"]).await.starts_with("A good start:\n1. "));
}

#[tokio::test]
async fn late_reply_is_replaced() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_late(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    let said = say_all(&mut chat, &["show me shoes"]).await;
    assert!(said.starts_with("Here's what I found:") && said.contains("1. "), "{said}");
    assert_eq!(nodes_of(&chat).await, [("catalog_present_options".to_owned(), false)]);
}

#[tokio::test]
async fn prices_never_reach_the_model_as_words() {
    let ollama = ScriptedOllama::start().await;
    word_all(&ollama);
    let desk = open_with(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    say_all(&mut chat, &["show me shoes"]).await;
    let given: Value = serde_json::from_str(
        ollama.chats()[0]["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap(),
    )
    .unwrap();
    let draft = given["draft"].as_str().unwrap();
    assert!(draft.contains("{list}") && !draft.contains("KSh"), "{draft}");
    assert!(given["values"]["list"].as_str().unwrap().contains("KSh"), "{given}");
}

#[tokio::test]
async fn model_sorts_messages_that_rules_do_not() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_with(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    choose(&ollama, "order_status", 0.9);
    let events = chat.say("zzqx vrbl?").await;
    let intent = events.first("intent");
    assert_eq!((&intent["source"], &intent["route"]), (&json!("llm"), &json!("orders")), "{events:?}");
    choose(&ollama, "order_status", 0.6);
    assert_eq!(chat.say("zzqx vrbl?").await.kinds(), ["clarify"]);
    // Clear words and answers to the desk's questions do not wait for a model.
    let asked = ollama.chats().iter().filter(|chat| chat.get("format").is_some()).count();
    say_all(&mut chat, &["canvas shoes", "size 40, black", "pay", "1", "yes", "thanks"]).await;
    assert_eq!(ollama.chats().iter().filter(|chat| chat.get("format").is_some()).count(), asked);
}

#[tokio::test]
async fn unusable_answers_leave_the_rules_result() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_with(&ollama).await;
    for bad in [
        Play::answer("{\"choice\": \"weather\", \"confidence\": 0.9}"),
        Play::answer("{\"choice\": \"order_status\", \"confidence\": 9}"),
        Play::answer("{\"choice\": \"order_status\"}"),
        Play::answer("I think it is about an order."),
        Play::refuses(500, "out of memory"),
    ] {
        let mut chat = customer(&desk, "+254700000001").await;
        ollama.play_answer(bad.clone());
        let asked = ollama.chats().len();
        let events = chat.say("zzqx vrbl?").await;
        assert_eq!(events.first("intent")["source"], "fallback", "{bad:?}");
        assert_eq!(events.kinds(), ["clarify"], "{bad:?}");
        assert_eq!(ollama.chats().len(), asked + 1, "it is asked once in a turn: {bad:?}");
    }
}

#[tokio::test]
async fn late_answer_leaves_the_rules_result() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_late(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    let events = chat.say("zzqx vrbl?").await;
    assert_eq!(
        (events.first("intent")["source"].as_str(), events.kinds()),
        (Some("fallback"), vec!["clarify".to_owned()])
    );
    // On a slow machine, the deadline may pass before the request is sent.
    assert!(ollama.chats().len() <= 1, "it is asked once in a turn");
}

#[tokio::test]
async fn model_tells_small_talk_from_business() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_with(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    choose(&ollama, "unknown", 0.9);
    choose(&ollama, "casual", 0.9);
    assert_eq!(chat.say("zzqx vrbl?").await.kinds(), ["social"]);
    choose(&ollama, "spam_casual", 0.9);
    choose(&ollama, "spam", 0.9);
    let events = chat.say("zzqx vrbl?").await;
    assert!(events.messages()[0].1.contains("Savanna Shoes"), "{events:?}");
    choose(&ollama, "unknown", 0.9);
    choose(&ollama, "abuse", 0.6);
    assert_eq!(chat.say("zzqx vrbl?").await.kinds(), ["clarify"], "an unsure class is business");
}

#[tokio::test]
async fn model_names_the_language_where_words_do_not() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_with(&ollama).await;
    for (choice, confidence, expected) in [("sw", 0.9, "sw"), ("sw", 0.7, "en"), ("mixed", 0.99, "en")] {
        let mut chat = customer(&desk, "+254700000001").await;
        choose(&ollama, choice, confidence);
        choose(&ollama, "unknown", 0.9);
        choose(&ollama, "business", 0.9);
        let events = chat.say("zzqx vrbl krtt pflm").await;
        assert_eq!(events.first("intent")["language"], expected, "{choice} {confidence}");
    }
}

#[tokio::test]
async fn model_names_goods_that_a_search_missed() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_with(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    ollama.classify(&json!({ "words": ["sandals"] }));
    let said = say_all(&mut chat, &["I am looking for flipflaps under 900"]).await;
    assert!(said.contains("Sandals") && said.contains("KSh 800") && !said.contains("1. Maasai"), "{said}");
    assert_eq!(nodes_of(&chat).await[0], ("sales_narrow_query".to_owned(), true));
    // Words that find nothing, and none at all, change nothing.
    for words in [json!([]), json!(["spaceship"])] {
        let mut chat = customer(&desk, "+254700000002").await;
        ollama.classify(&json!({ "words": words }));
        let said = say_all(&mut chat, &["I am looking for flipflaps"]).await;
        assert!(said.contains("nothing for \"flipflaps\""), "{said}");
    }
}

#[tokio::test]
async fn model_chooses_a_way_but_never_pays() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_with(&ollama).await;
    let phone = "+254700000001";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &["canvas shoes size 40 black", "pay"]).await;
    choose(&ollama, "mpesa_stk", 0.95);
    let said = say_all(&mut chat, &["zzqx vrbl"]).await;
    assert!(said.contains(phone) && said.contains("KSh 1,250") && said.contains("yes"), "{said}");
    for (intent, text) in [("payment_help", "zzqx vrbl"), ("sales_discovery", "vrbl zzqx")] {
        choose(&ollama, intent, 0.99);
        say_all(&mut chat, &[text]).await;
    }
    let tenant = TenantId::default();
    let door = desk.app.inner.store.tenant(&tenant);
    assert!(door.find_last_payment(chat.id.parse().unwrap()).await.unwrap().is_none());
}

#[tokio::test]
async fn model_learns_the_tone_of_the_shop() {
    const KEY: &str = "0123456789abcdef-kijani";
    let ollama = ScriptedOllama::start().await;
    word_all(&ollama);
    let builder = TestApp::builder().ollama(&ollama).env("X_API_KEYS", format!("kijani:{KEY}"));
    let desk = open_desk_with(builder).await;
    let mut chat = desk.chat_as(KEY, json!({ "user_id": "+254700000001" })).await;
    assert!(say_all(&mut chat, &["hi"]).await.starts_with("Hey! 👋 I'm Baraka"));
    say_all(&mut chat, &["show me shoes"]).await;
    let prompt = ollama.chats()[0]["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(prompt.contains("Tone: relaxed and warm"), "{prompt}");
}

#[tokio::test]
async fn reply_is_in_the_customers_language() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_with(&ollama).await;
    let mut chat = customer(&desk, "+254700000001").await;
    ollama.play_call(Play::answer("Here are the shoes that we have for you today.\n{list}"));
    let said = say_all(&mut chat, &["naomba viatu tafadhali, nionyeshe"]).await;
    assert!(said.starts_with("Hivi ndivyo nilivyopata:"), "{said}");
    ollama.play_call(Play::answer("Karibu sana, hivi hapa viatu vyetu:\n{list}"));
    let said = say_all(&mut chat, &["naomba viatu tafadhali, nionyeshe"]).await;
    assert!(said.starts_with("Karibu sana, hivi hapa"), "{said}");
    for bad in
        ["Bei ni shilingi mia tano tu.\n{list}", "Kuna zawadi kwa kila mteja.\n{list}", "Nitumie PIN yako.\n{list}"]
    {
        ollama.play_call(Play::answer(bad));
        let said = say_all(&mut chat, &["naomba viatu tafadhali, nionyeshe"]).await;
        assert!(said.starts_with("Hivi ndivyo nilivyopata:"), "{bad}: {said}");
    }
}
