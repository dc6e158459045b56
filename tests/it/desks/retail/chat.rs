//! A customer of the retail desk, and what must hold of every turn, whatever its path.

use frontdesk::cli::lists::{ImportOptions, ListArgs};
use frontdesk::cli::upsert_warranty;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::dialogue::assert_well_formed;
use crate::support::sse::{Events, parse, read_events};

/// The documents of these tests. They are small and separate, so that no change of the sample shop changes a dialogue.
const DOCUMENTS: [(&str, &str); 3] = [
    (
        "giao-hang.md",
        "---\ntitle: \"Giao hàng\"\nversion: \"1.2\"\n---\n# Giao hàng\n\n## Nội thành\n\
         Đơn nội thành được giao trong ngày, phí giao hàng 30.000đ.\n",
    ),
    (
        "delivery.md",
        "---\ntitle: \"Delivery\"\nversion: \"1.2\"\n---\n# Delivery\n\n## In town\n\
         Orders in town are delivered on the same day, delivery costs 30.000đ.\n",
    ),
    (
        "products.csv",
        "sku,name,category,price_vnd,stock,warranty_months,specs\n\
         SSD-1,SSD Kingston NV3 1TB,SSD,1590000,7,60,\"NVMe PCIe 4.0, đọc 6.000 MB/s\"\n\
         MOU-1,Chuột Logitech G102,Chuột,390000,0,24,\"8.000 DPI, có dây\"\n",
    ),
];

/// A shop, with what must live as long as its server.
pub struct Shop {
    pub app: TestApp,
    _knowledge: TempDir,
}

/// Starts the server, as the builder says, on the documents of these tests.
pub async fn open_shop(builder: TestAppBuilder) -> Shop {
    open_shop_with(builder, &DOCUMENTS).await
}

/// Starts the server on these documents.
pub async fn open_shop_with(builder: TestAppBuilder, documents: &[(&str, &str)]) -> Shop {
    let knowledge = tempfile::tempdir().unwrap();
    // The shipped personas of the other desks name them.
    for folder in ["commerce", "returns", "telecom"] {
        std::fs::create_dir(knowledge.path().join(folder)).unwrap();
    }
    for (name, text) in documents {
        std::fs::write(knowledge.path().join(name), text).unwrap();
    }
    let app = builder.env("KNOWLEDGE_PATH", knowledge.path().display()).start().await;
    Shop { app, _knowledge: knowledge }
}

impl Shop {
    pub async fn chat(&self) -> Chat<'_> {
        self.chat_with(json!({})).await
    }

    pub async fn chat_with(&self, body: Value) -> Chat<'_> {
        self.open(None, body).await
    }

    /// Says these things in a new conversation. Returns the last reply.
    pub async fn reply_to(&self, said: &[&str]) -> String {
        let mut chat = self.chat().await;
        let (last, before) = said.split_last().unwrap();
        for text in before {
            chat.say(text).await;
        }
        chat.say(last).await.text("reply")
    }

    /// A conversation that the shop's back end opens and carries.
    pub async fn chat_as(&self, key: &str, body: Value) -> Chat<'_> {
        self.open(Some(("x-api-key", key.to_owned())), body).await
    }

    /// A conversation that the shop's back end opens for a customer's browser.
    pub async fn chat_in_a_browser(&self, key: &str, body: Value) -> Chat<'_> {
        let mut chat = self.chat_as(key, body).await;
        chat.sent = Some(("authorization", format!("Bearer {}", chat.token)));
        chat
    }

    async fn open(&self, sent: Option<(&'static str, String)>, body: Value) -> Chat<'_> {
        let mut request = self.app.post("/conversations", &body);
        if let Some((name, value)) = &sent {
            request = request.header(*name, value);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 201);
        let opened: Value = response.json().await.unwrap();
        let text = |name: &str| opened[name].as_str().unwrap().to_owned();
        Chat { app: &self.app, id: text("id"), token: text("token"), sent, turns: 0 }
    }

    /// Puts these rows on a shop's warranty list.
    pub async fn import_warranties(&self, tenant: &str, rows: &str) {
        let file = self.app.folder().join(format!("{tenant}.csv"));
        std::fs::write(&file, format!("serial,product_name,warranty_end_date\n{rows}\n")).unwrap();
        upsert_warranty::import(&upsert_warranty::Args {
            list: ListArgs::new(file, tenant.parse().unwrap(), &self.app.database_url),
            options: ImportOptions::default(),
        })
        .await
        .unwrap();
    }
}

/// Says something to a desk whose model never ends its reply, on a server whose turns have a deadline. On a slow machine, what comes
/// before the deadline takes longer: tries later ones until a message of this kind has text.
pub async fn say_until_deadline(builder: impl Fn() -> TestAppBuilder, text: &str, kind: &str) -> (Shop, Events) {
    for seconds in [4, 40] {
        let (shop, events) = say_within(builder(), text, seconds).await;
        if events.messages().iter().any(|(known, text)| known == kind && !text.is_empty()) {
            return (shop, events);
        }
    }
    say_within(builder(), text, 250).await
}

async fn say_within(builder: TestAppBuilder, text: &str, seconds: u64) -> (Shop, Events) {
    let shop = open_shop(builder.env("TURN_DEADLINE_SECONDS", seconds)).await;
    let events = shop.chat().await.say(text).await;
    (shop, events)
}

/// One conversation.
pub struct Chat<'a> {
    pub app: &'a TestApp,
    pub id: String,
    token: String,
    /// What is sent to be let in, if anything is.
    sent: Option<(&'static str, String)>,
    /// Turns of the conversation so far.
    pub turns: u64,
}

impl Chat<'_> {
    /// Says something, and checks of the turn's stream what must hold of every one.
    pub async fn say(&mut self, text: &str) -> Events {
        let response = self.send(text).await;
        let events = read_events(response).await;
        self.turns += 1;
        assert_well_formed(&events, self.turns, text);
        self.check_history(&events).await;
        events
    }

    /// Says something, and does something once an event of that type has come.
    pub async fn say_and_when_it_shows<F: Future<Output = ()>>(
        &mut self,
        text: &str,
        kind: &str,
        act: impl FnOnce() -> F,
    ) -> Events {
        let mut response = self.send(text).await;
        let mut bytes = Vec::new();
        let mut act = Some(act);
        while let Some(chunk) = response.chunk().await.unwrap() {
            bytes.extend_from_slice(&chunk);
            if String::from_utf8_lossy(&bytes).contains(&format!("\"type\":\"{kind}\""))
                && let Some(act) = act.take()
            {
                act().await;
            }
        }
        assert!(act.is_none(), "no {kind} in {}", String::from_utf8_lossy(&bytes));
        let events = parse(std::str::from_utf8(&bytes).unwrap());
        self.turns += 1;
        assert_well_formed(&events, self.turns, text);
        self.check_history(&events).await;
        events
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.app.request(method, &format!("/conversations/{}{path}", self.id));
        match &self.sent {
            Some((name, value)) => request.header(*name, value),
            None => request,
        }
    }

    async fn send(&self, text: &str) -> reqwest::Response {
        let response = self.request(Method::POST, "/stream").json(&json!({ "text": text })).send().await.unwrap();
        assert_eq!(response.status(), 200, "{text:?}");
        response
    }

    pub async fn history(&self) -> Vec<Value> {
        let response = self.request(Method::GET, "/history?limit=200").send().await.unwrap();
        let body: Value = response.json().await.unwrap();
        body["messages"].as_array().unwrap().clone()
    }

    /// What the conversation looks like from outside.
    pub async fn view(&self) -> Value {
        self.request(Method::GET, "").send().await.unwrap().json().await.unwrap()
    }

    /// The history has exactly the messages of the stream, with the same texts and metadata.
    async fn check_history(&self, events: &Events) {
        let history = self.history().await;
        let stored: Vec<(&str, &str, &Value)> = history
            .iter()
            .filter(|message| message["turn"] == self.turns && message["sender"] == "assistant")
            .map(|message| (message["id"].as_str().unwrap(), message["text"].as_str().unwrap(), &message["metadata"]))
            .collect();
        let mut shown = Vec::new();
        for end in events.data().into_iter().filter(|event| event["type"] == "message.end") {
            let id = end["message_id"].as_str().unwrap();
            shown.push((id, deltas(events, id), &end["metadata"]));
        }
        let shown: Vec<(&str, &str, &Value)> =
            shown.iter().map(|(id, text, meta)| (*id, text.as_str(), *meta)).collect();
        assert_eq!(stored, shown);
        let asked =
            history.iter().find(|message| message["turn"] == self.turns && message["sender"] == "user").unwrap();
        assert_eq!(asked["text"], events.first("turn.start")["text"]);
        let (view, own) = (self.view().await, events.0.last().unwrap().0.as_deref().unwrap());
        let last = view["last_event_id"].as_str().unwrap();
        // A message that the shop starts, such as the result of a payment, may have followed.
        assert!(last == own || turn_of(last) > turn_of(own), "{last}, {own}");
    }
}

/// The products of a reply that quotes catalogue rows, in their order.
pub fn products(reply: &str) -> Vec<&str> {
    reply.lines().filter_map(|line| line.strip_prefix("• ")?.split_once(':')).map(|(title, _)| title).collect()
}

fn turn_of(event: &str) -> u32 {
    event.split('.').next().unwrap().parse().unwrap()
}

fn deltas(events: &Events, message: &str) -> String {
    let of_message = |event: &&Value| event["type"] == "delta" && event["message_id"] == message;
    events.data().into_iter().filter(of_message).map(|event| event["text"].as_str().unwrap()).collect()
}
