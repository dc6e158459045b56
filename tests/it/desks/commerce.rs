//! The commerce desk, driven over HTTP.

mod changes;
mod dialogues;
mod nodes;
mod payments;
mod people;
mod properties;
mod providers;
mod shops;

use std::path::Path;

use chrono::Utc;
use frontdesk::cli::seed::commerce::shops;
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::Tenant;
use frontdesk::domain::commerce::tenant::CredentialName;
use frontdesk::domain::sealed::SealingKey;
use frontdesk::store::tenants::{Saving, credential_owner};
use serde_json::json;

use super::retail::chat::{Chat, Shop, open_shop_with};
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::eventually_async;
use crate::support::payments::{Daraja, Pesapal};

/// The shipped documents of the desk.
fn documents() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge/commerce");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            (format!("commerce/{}", path.file_name().unwrap().display()), std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// Starts the server with the sample shops.
pub async fn open_desk_with(builder: TestAppBuilder) -> Shop {
    let documents = documents();
    let documents: Vec<(&str, &str)> = documents.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let persona = Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts/commerce_en.md");
    let desk = open_shop_with(builder.env("PERSONA_PATH", persona.display()), &documents).await;
    desk.app.inner.store.make_sample_tenants(&shops(Utc::now()).unwrap()).await.unwrap();
    desk
}

pub async fn open_desk() -> Shop {
    open_desk_with(TestApp::builder()).await
}

/// A conversation of the customer with this number.
pub async fn customer<'a>(desk: &'a Shop, phone: &str) -> Chat<'a> {
    desk.chat_with(json!({ "user_id": phone })).await
}

/// Says several things. Returns the last reply.
async fn say_all(chat: &mut Chat<'_>, texts: &[&str]) -> String {
    let mut said = String::new();
    for text in texts {
        said = chat.say(text).await.messages().into_iter().map(|(_, text)| text + "\n").collect();
    }
    said
}

/// Says something after the shop started a turn.
async fn ask(app: &TestApp, conversation: &str, text: &str) -> String {
    app.ask(conversation, text).await.messages().into_iter().map(|(_, text)| text + "\n").collect()
}

/// Waits for messages of the shop itself, such as the result of a payment. Returns all of them.
pub async fn wait_for_results(app: &TestApp, conversation: &str, count: usize) -> Vec<String> {
    let mut own = Vec::new();
    eventually_async("the shop has sent its messages", async || {
        own = app.history(conversation).await;
        own.retain(|message| message["sender"] == "agent");
        own.len() >= count
    })
    .await;
    own.iter().map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

/// Seals the credentials of the shops.
pub const TENANT_KEY: &str = "a-key-of-the-tests-0123456789-abcdef";

/// Starts the server with the sample shops and these stand-ins, without credentials of any shop.
async fn open_desk_at(builder: TestAppBuilder, daraja: &Daraja, pesapal: &Pesapal) -> Shop {
    open_desk_with(at_providers(builder, daraja, pesapal)).await
}

fn at_providers(builder: TestAppBuilder, daraja: &Daraja, pesapal: &Pesapal) -> TestAppBuilder {
    builder
        .env("TENANT_SECRET_KEY", TENANT_KEY)
        .env("DARAJA_URL", daraja.url())
        .env("PESAPAL_URL", pesapal.url())
        .env("PUBLIC_URL", "https://shop.example")
        .env("PAYMENT_POLL_SECONDS", "0.05")
}

/// Stores credentials of a shop. An empty value removes one.
pub async fn give_credentials(app: &TestApp, tenant: &str, credentials: &[(&str, String)]) {
    let (tenant, key): (TenantId, _) = (tenant.parse().unwrap(), SealingKey::new(TENANT_KEY).unwrap());
    let seal = |(name, value): &(&str, String)| {
        let name = CredentialName::parse(name).unwrap();
        let sealed = key.seal(&credential_owner(&tenant, name), value, rand::random()).unwrap();
        (name, Some(sealed).filter(|_| !value.is_empty()))
    };
    let changes = credentials.iter().map(seal).collect();
    let keep = |found: Option<Tenant>| found.ok_or(Saving::Missing);
    let saved = app.inner.store.tenant(&tenant).save_tenant(keep, &changes, "test", Utc::now()).await.unwrap();
    assert!(matches!(saved, Saving::Done(_)), "{saved:?}");
}
