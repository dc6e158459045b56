//! Reading event streams as a strict client would.

use serde_json::Value;

/// The frames of a stream: the `id:` where there is one, and the data.
#[derive(Clone, Debug)]
pub struct Events(pub Vec<(Option<String>, Value)>);

/// Reads a stream to its end.
pub async fn read_events(response: reqwest::Response) -> Events {
    let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    assert_eq!(kind.as_deref(), Some("text/event-stream"));
    parse(&response.text().await.unwrap())
}

/// Parses what an event stream said.
pub fn parse(text: &str) -> Events {
    let mut events = Vec::new();
    for block in text.split("\n\n") {
        let (mut id, mut data) = (None, None);
        for line in block.lines() {
            match line.split_once(':') {
                Some(("id", value)) => id = Some(value.trim().to_owned()),
                Some(("data", value)) => {
                    let value = value.strip_prefix(' ').unwrap_or(value);
                    assert!(data.replace(serde_json::from_str(value).unwrap()).is_none(), "one data line an event");
                }
                Some(("event", name)) => panic!("an event has no name, but this one is {name}"),
                _ => {}
            }
        }
        if let Some(data) = data {
            events.push((id, data));
        }
    }
    Events(events)
}

impl Events {
    /// The events without the opening frame.
    pub fn data(&self) -> Vec<&Value> {
        self.0.iter().map(|(_, data)| data).filter(|data| data.get("debug").is_none()).collect()
    }

    /// The ids of all events that have one.
    pub fn ids(&self) -> Vec<&str> {
        self.0.iter().filter_map(|(id, _)| id.as_deref()).collect()
    }

    /// The events with their ids, without the opening frame.
    pub fn with_ids(&self) -> Vec<(String, Value)> {
        self.0.iter().filter_map(|(id, data)| Some((id.clone()?, data.clone()))).collect()
    }

    /// The first event of that type.
    pub fn first(&self, kind: &str) -> &Value {
        self.data().into_iter().find(|event| event["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {self:?}"))
    }

    /// How the turn ended.
    pub fn status(&self) -> &str {
        self.first("turn.done")["status"].as_str().unwrap()
    }

    /// The turn's number.
    pub fn turn(&self) -> u32 {
        self.ids()[0].split('.').next().unwrap().parse().unwrap()
    }

    /// Kind and text of each assistant message, in order; the text is its deltas joined.
    pub fn messages(&self) -> Vec<(String, String)> {
        let mut messages: Vec<(String, String, String)> = Vec::new();
        for event in self.data() {
            let id = event["message_id"].as_str().unwrap_or_default().to_owned();
            match event["type"].as_str() {
                Some("message.start") => messages.push((id, event["kind"].as_str().unwrap().to_owned(), String::new())),
                Some("delta") => {
                    let message = messages.iter_mut().find(|message| message.0 == id).unwrap();
                    message.2.push_str(event["text"].as_str().unwrap());
                }
                _ => {}
            }
        }
        messages.into_iter().map(|(_, kind, text)| (kind, text)).collect()
    }

    /// The kinds of its messages, in order.
    pub fn kinds(&self) -> Vec<String> {
        self.messages().into_iter().map(|(kind, _)| kind).collect()
    }

    /// The text of the message of that kind.
    pub fn text(&self, kind: &str) -> String {
        let found = self.messages().into_iter().find(|(known, _)| known == kind);
        found.unwrap_or_else(|| panic!("no {kind}: {self:?}")).1
    }
}
