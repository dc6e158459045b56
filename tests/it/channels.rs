//! WhatsApp over a stand-in for Twilio, from the webhook to the delivered reply.

mod delivery;
mod sessions;
mod webhook;

use std::cell::Cell;

use chrono::Utc;
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::Tenant;
use frontdesk::domain::commerce::tenant::CredentialName;
use frontdesk::domain::sealed::SealingKey;
use frontdesk::store::tenants::{CredentialChanges, Saving, credential_owner};
use reqwest::StatusCode;
use serde_json::Value;

use crate::desks::commerce::open_desk_with;
use crate::desks::retail::chat::Shop;
use crate::store::count_jobs;
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::eventually_async;
use crate::support::twilio::{PUBLIC_URL, ScriptedTwilio, post, sign};

const SECRET: &str = "a secret of at least thirty-two characters";
const CUSTOMER: &str = "+254711000001";

/// A shop at Twilio.
#[derive(Clone, Copy)]
struct Line {
    tenant: &'static str,
    number: &'static str,
    account: &'static str,
    token: &'static str,
}

const SAVANNA: Line =
    Line { tenant: "default", number: "+254700000001", account: "AC-savanna", token: "token-of-savanna" };
const KIJANI: Line = Line { tenant: "kijani", number: "+254700000002", account: "AC-kijani", token: "token-of-kijani" };

/// The settings of a server that talks to the stand-in.
fn settings(builder: TestAppBuilder, twilio: &ScriptedTwilio) -> TestAppBuilder {
    let persona = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts/commerce_en.md");
    builder
        .env("PERSONA_PATH", persona.display())
        .env("PUBLIC_URL", PUBLIC_URL)
        .env("TWILIO_URL", &twilio.url)
        .env("TENANT_SECRET_KEY", SECRET)
        .env("WHATSAPP_PACE_SECONDS", 0)
        .env("OUTBOX_BACK_OFF_SECONDS", "0.000001")
}

async fn open(twilio: &ScriptedTwilio) -> Shop {
    open_with(TestApp::builder(), twilio).await
}

async fn open_with(builder: TestAppBuilder, twilio: &ScriptedTwilio) -> Shop {
    let desk = open_desk_with(settings(builder, twilio)).await;
    connect(&desk.app, twilio).await;
    desk
}

/// Connects the shops to Twilio.
async fn connect(app: &TestApp, twilio: &ScriptedTwilio) {
    for line in [SAVANNA, KIJANI] {
        twilio.has_account(line.account, line.token);
        let tokens = [(CredentialName::TwilioAccountSid, line.account), (CredentialName::TwilioAuthToken, line.token)];
        change(app, line, &tokens, |tenant| tenant.whatsapp_number = Some(line.number.parse().unwrap())).await;
    }
}

/// Changes a shop and its credentials.
async fn change(app: &TestApp, line: Line, credentials: &[(CredentialName, &str)], change: impl Fn(&mut Tenant)) {
    let tenant: TenantId = line.tenant.parse().unwrap();
    let key = SealingKey::new(SECRET).unwrap();
    let seal = |(name, value): &(CredentialName, &str)| {
        (*name, Some(key.seal(&credential_owner(&tenant, *name), value, rand::random()).unwrap()))
    };
    let sealed: CredentialChanges = credentials.iter().map(seal).collect();
    let changed = |found: Option<Tenant>| {
        let mut found = found.unwrap();
        change(&mut found);
        Ok(found)
    };
    let saved = app.inner.store.tenant(&tenant).save_tenant(changed, &sealed, "test", Utc::now()).await.unwrap();
    assert!(matches!(saved, Saving::Done(_)));
}

/// A customer's phone.
struct Phone<'a> {
    app: &'a TestApp,
    line: Line,
    number: &'static str,
    messages: Cell<u32>,
}

impl<'a> Phone<'a> {
    fn of(app: &'a TestApp, line: Line, number: &'static str) -> Self {
        Self { app, line, number, messages: Cell::new(0) }
    }

    fn new(app: &'a TestApp) -> Self {
        Self::of(app, SAVANNA, CUSTOMER)
    }

    /// The parameters of the next message.
    fn form(&self, text: &str) -> Vec<(String, String)> {
        self.messages.set(self.messages.get() + 1);
        [
            ("MessageSid", format!("SM{}{}{}", self.line.tenant, &self.number[1..], self.messages.get())),
            ("AccountSid", self.line.account.to_owned()),
            ("From", format!("whatsapp:{}", self.number)),
            ("To", format!("whatsapp:{}", self.line.number)),
            ("Body", text.to_owned()),
            ("NumMedia", "0".to_owned()),
            ("ProfileName", "Wanjikũ & co".to_owned()),
            ("SmsStatus", "received".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    async fn post(&self, form: &[(String, String)]) -> StatusCode {
        let signature = sign(self.line.token, &format!("{PUBLIC_URL}/webhooks/twilio"), form);
        post(self.app, "/webhooks/twilio", form, &signature).await.status()
    }

    async fn send(&self, text: &str) {
        let form = self.form(text);
        assert_eq!(self.post(&form).await, StatusCode::OK, "{text}");
    }

    /// The customer's conversations, newest first.
    async fn conversations(&self) -> Vec<Value> {
        conversations(self.app).await.into_iter().filter(|found| found["user_id"] == self.number).collect()
    }

    async fn conversation(&self) -> String {
        self.conversations().await[0]["id"].as_str().unwrap().to_owned()
    }
}

async fn conversations(app: &TestApp) -> Vec<Value> {
    let listed: Value = app.get("/conversations").send().await.unwrap().json().await.unwrap();
    listed["conversations"].as_array().unwrap().clone()
}

/// Waits until all deliveries are done.
async fn all_delivered(app: &TestApp) {
    eventually_async("all deliveries are done", async || {
        // In this order: a turn stores its deliveries before it ends.
        let idle = app.inner.store.list_unfinished().await.unwrap().is_empty();
        idle && count_jobs(&app.inner.store, &["deliver_message"]).await.waiting == 0
    })
    .await;
}

/// The texts, senders and deliveries of a conversation, as the shop sees them.
async fn deliveries(app: &TestApp, conversation: &str) -> Vec<(String, Value)> {
    let messages = app.history(conversation).await;
    let own = messages.into_iter().filter(|message| message["sender"] != "user");
    own.map(|message| (message["text"].as_str().unwrap().to_owned(), message["delivery"].clone())).collect()
}

fn status(delivery: &Value) -> &str {
    delivery["status"].as_str().unwrap_or("none")
}
