//! What the webhook accepts.

use frontdesk::domain::commerce::tenant::CredentialName;
use reqwest::StatusCode;
use serde_json::Value;

use super::{
    CUSTOMER, KIJANI, Line, Phone, SAVANNA, Shop, all_delivered, change, conversations, open, open_with, settings,
};
use crate::desks::commerce::open_desk_with;
use crate::support::app::TestApp;
use crate::support::database::assert_clean;
use crate::support::twilio::{PUBLIC_URL, ScriptedTwilio, post, sign};

const PATH: &str = "/webhooks/twilio";

fn url() -> String {
    format!("{PUBLIC_URL}{PATH}")
}

fn field(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[tokio::test]
async fn message_becomes_a_turn_and_a_reply() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    let form = phone.form("can\0vas \u{202e}shoes\u{7}");
    let response = post(&desk.app, PATH, &form, &sign(SAVANNA.token, &url(), &form)).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/xml"));
    assert!(response.text().await.unwrap().ends_with("<Response/>"));
    let sent = twilio.wait_for(1).await;
    assert!(sent[0].body().contains("KSh 1,250"), "{sent:?}");
    assert_eq!((sent[0].to(), sent[0].account.as_str()), ("whatsapp:+254711000001", SAVANNA.account));
    let listed = phone.conversations().await;
    assert_eq!((listed.len(), listed[0]["channel"].as_str()), (1, Some("whatsapp")));
    let history = desk.app.history(listed[0]["id"].as_str().unwrap()).await;
    assert_eq!((history[0]["text"].as_str(), history[0]["turn"].as_u64()), (Some("canvas shoes"), Some(1)));
    assert_clean(&desk.app.database_url).await;
}

#[tokio::test]
async fn draining_server_keeps_messages_for_the_next() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    desk.app.inner.engine.drain();
    let phone = Phone::new(&desk.app);
    for text in ["hi", "hello again"] {
        phone.send(text).await;
    }
    assert_eq!((phone.conversations().await.len(), twilio.sent().len()), (1, 0));
    let Shop { app, .. } = desk;
    let _next = settings(app.stop().await, &twilio).start().await;
    twilio.wait_for(2).await;
}

#[tokio::test]
async fn unsigned_messages_store_nothing() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    let form = phone.form("hi");
    let right = sign(SAVANNA.token, &url(), &form);
    let with = |name: &str, value: &str| {
        let mut form = form.clone();
        form.iter_mut().filter(|(field, _)| field == name).for_each(|(_, field)| *field = value.to_owned());
        form
    };
    let mut refused = vec![
        (form.clone(), String::new()),
        (form.clone(), "AAAA".to_owned()),
        (form.clone(), sign(KIJANI.token, &url(), &form)),
        (form.clone(), sign("", &url(), &form)),
        (form.clone(), sign(SAVANNA.token, "https://other.example/webhooks/twilio", &form)),
        (with("Body", "something else"), right.clone()),
        (Vec::new(), right.clone()),
    ];
    // Signed, but with the account of another shop, or for an unknown number.
    for changed in
        [with("AccountSid", KIJANI.account), with("To", "whatsapp:+254799999999"), with("To", "+254700000001")]
    {
        let signature = sign(SAVANNA.token, &url(), &changed);
        refused.push((changed, signature));
    }
    for (form, signature) in refused {
        let response = post(&desk.app, PATH, &form, &signature).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{form:?}");
        assert_eq!(response.json::<Value>().await.unwrap()["code"], "forbidden");
    }
    assert_eq!(conversations(&desk.app).await, Vec::<Value>::new());
    assert_eq!(post(&desk.app, PATH, &form, &right).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn both_tokens_and_ports_are_accepted() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    change(&desk.app, SAVANNA, &[(CredentialName::TwilioSecondAuthToken, "the-next-token")], |_| {}).await;
    let phone = Phone::new(&desk.app);
    for token in [SAVANNA.token, "the-next-token"] {
        for public_url in [PUBLIC_URL, "https://shop.example:443"] {
            let form = phone.form("hi");
            let signature = sign(token, &format!("{public_url}{PATH}"), &form);
            assert_eq!(post(&desk.app, PATH, &form, &signature).await.status(), StatusCode::OK, "{token} {public_url}");
        }
    }
    // Twilio knows the second token only.
    all_delivered(&desk.app).await;
    twilio.has_account(SAVANNA.account, "the-next-token");
    let count = twilio.sent().len();
    phone.send("hi").await;
    twilio.wait_for(count + 1).await;
}

#[tokio::test]
async fn unknown_parameters_are_allowed() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    let mut form = phone.form("hi");
    form.extend([field("FutureParameter", "1"), field("AnotherOne", ""), field("Émoji", "😀 +%&=")]);
    assert_eq!(phone.post(&form).await, StatusCode::OK);
    twilio.wait_for(1).await;
}

#[tokio::test]
async fn repeated_webhook_changes_nothing() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    let form = phone.form("hi");
    let posts = futures_util::future::join_all((0..8).map(|_| phone.post(&form))).await;
    assert!(posts.iter().all(|status| *status == StatusCode::OK));
    all_delivered(&desk.app).await;
    assert_eq!(phone.post(&form).await, StatusCode::OK);
    let listed = phone.conversations().await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    let history = desk.app.history(listed[0]["id"].as_str().unwrap()).await;
    assert_eq!(history.iter().filter(|message| message["sender"] == "user").count(), 1);
    assert_eq!(twilio.sent().len(), history.len() - 1);
}

/// Deliveries run while later ones are leased, and both write.
#[tokio::test]
async fn many_customers_at_once_are_all_answered() {
    const CUSTOMERS: usize = 40;
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let posted = (0..CUSTOMERS).map(async |number| {
        let mut form = Phone::new(&desk.app).form("canvas shoes");
        let (from, sid) = (format!("whatsapp:+2547220{number:05}"), format!("SMmany{number}"));
        form.retain(|(name, _)| name != "From" && name != "MessageSid");
        form.extend([field("From", &from), field("MessageSid", &sid)]);
        tokio::time::sleep(std::time::Duration::from_millis(10 * number as u64)).await;
        post(&desk.app, PATH, &form, &sign(SAVANNA.token, &url(), &form)).await.status()
    });
    let statuses = futures_util::future::join_all(posted).await;
    assert!(statuses.iter().all(|status| *status == StatusCode::OK), "{statuses:?}");
    assert_eq!(twilio.wait_for(CUSTOMERS).await.len(), CUSTOMERS);
}

#[tokio::test]
async fn webhooks_have_no_limit_per_address() {
    let twilio = ScriptedTwilio::start().await;
    let builder = TestApp::builder().env("RATE_LIMIT_PER_SECOND", 1).env("RATE_LIMIT_BURST", 1);
    let keyed = builder.env("X_API_KEYS", "default:0123456789abcdef");
    let desk = open_with(keyed, &twilio).await;
    let phone = Phone::new(&desk.app);
    for _ in 0..5 {
        phone.send("hi").await;
    }
}

#[tokio::test]
async fn missing_credentials_refuse_every_message() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open_desk_with(settings(TestApp::builder(), &twilio)).await;
    change(&desk.app, SAVANNA, &[], |tenant| tenant.whatsapp_number = Some(SAVANNA.number.parse().unwrap())).await;
    let phone = Phone::of(&desk.app, Line { token: "", ..SAVANNA }, CUSTOMER);
    let form = phone.form("hi");
    assert_eq!(phone.post(&form).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn first_reply_says_that_an_ai_answers() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    for text in ["canvas shoes", "gum boots"] {
        phone.send(text).await;
        all_delivered(&desk.app).await;
    }
    let bodies = twilio.bodies();
    assert!(bodies[0].starts_with("Hi, I'm Zuri, the AI assistant of Savanna Shoes."), "{bodies:?}");
    assert!(bodies[0].contains("KSh") && !bodies[1].contains("AI assistant"), "{bodies:?}");
}

#[tokio::test]
async fn message_without_text_gets_a_sentence() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    let mut form = phone.form("");
    form.extend([field("NumMedia", "1"), field("MediaContentType0", "image/jpeg")]);
    assert_eq!(phone.post(&form).await, StatusCode::OK);
    let sent = twilio.wait_for(1).await;
    assert!(sent[0].body().contains("only read text"), "{sent:?}");
    // A caption is text.
    let mut form = phone.form("do you have sandals?");
    form.push(field("NumMedia", "1"));
    assert_eq!(phone.post(&form).await, StatusCode::OK);
    let sent = twilio.wait_for(2).await;
    assert!(sent[1].body().contains("KSh"), "{sent:?}");
}

#[tokio::test]
async fn over_the_limit_is_stored_and_answered_once() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open_with(TestApp::builder().env("TURNS_PER_MINUTE", 2), &twilio).await;
    let phone = Phone::new(&desk.app);
    for text in ["hi", "canvas shoes", "1", "sandals", "boots"] {
        phone.send(text).await;
        all_delivered(&desk.app).await;
    }
    let history = desk.app.history(&phone.conversation().await).await;
    let said: Vec<&Value> = history.iter().filter(|message| message["sender"] == "user").collect();
    assert_eq!(said.len(), 5);
    assert!(said[2..].iter().all(|message| message["metadata"]["notice"] == "over_limit"), "{said:?}");
    let bodies = twilio.bodies();
    assert_eq!(bodies.iter().filter(|body| body.contains("faster than I can answer")).count(), 1, "{bodies:?}");
    assert_eq!(bodies.len(), history.len() - 5, "{bodies:?}");
}

#[tokio::test]
async fn stop_counts_over_the_limit() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open_with(TestApp::builder().env("TURNS_PER_MINUTE", 2), &twilio).await;
    let phone = Phone::new(&desk.app);
    for text in ["hi", "canvas shoes", "1", "STOP"] {
        phone.send(text).await;
        all_delivered(&desk.app).await;
    }
    assert!(twilio.bodies().last().unwrap().contains("START"), "{:?}", twilio.bodies());
}
