//! Several shops with separate accounts, and settings that a server refuses.

use frontdesk::app::App;
use frontdesk::config::{Config, Env};
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::payment::PaymentStatus;
use frontdesk::store::{Store, StoreOptions};
use serde_json::json;

use super::super::super::retail::chat::Chat;
use super::super::{TENANT_KEY, ask, give_credentials, open_desk_at, say_all, wait_for_results};
use super::{Desk, ORDER, PHONE, payments_in, wait_for};
use crate::support::app::TestApp;
use crate::support::payments::{Daraja, Pesapal, Push, path_of};

const SAVANNA: &str = "0123456789abcdef-savanna";
const KIJANI: &str = "0123456789abcdef-kijani";

/// Two shops with accounts of their own: `savanna` is `a`, `kijani` is `b`.
async fn two_shops() -> (super::Shop, Daraja) {
    let (daraja, pesapal) = (Daraja::open().await, Pesapal::open().await);
    let keys = format!("savanna:{SAVANNA},kijani:{KIJANI}");
    let shop = open_desk_at(TestApp::builder().env("X_API_KEYS", keys), &daraja, &pesapal).await;
    give_credentials(&shop.app, "savanna", &Daraja::credentials("a")).await;
    give_credentials(&shop.app, "kijani", &Daraja::credentials("b")).await;
    (shop, daraja)
}

async fn buy<'a>(shop: &'a super::Shop, key: &str, phone: &str) -> Chat<'a> {
    let mut chat = shop.chat_as(key, json!({ "user_id": phone })).await;
    let color = if key == KIJANI { "canvas shoes size 40 green" } else { ORDER[0] };
    say_all(&mut chat, &[color, "pay", "mpesa", "yes"]).await;
    chat
}

#[tokio::test]
async fn shops_are_paid_to_their_own_accounts() {
    let (shop, daraja) = two_shops().await;
    let (savanna, kijani) = (buy(&shop, SAVANNA, PHONE).await, buy(&shop, KIJANI, PHONE).await);
    let pushes = daraja.pushes();
    assert_eq!(
        (&pushes[0]["BusinessShortCode"], &pushes[1]["BusinessShortCode"]),
        (&json!("174379"), &json!("600000"))
    );
    assert!(daraja.state().wrong.is_empty());
    // The callback of one shop names the prompt of the other: each secret belongs to one payment.
    daraja.decide(1, "0");
    let path = path_of(&pushes[0]["CallBackURL"]);
    super::call_back(&shop.app, &path, &Daraja::callback(1, Some("QKJ41HAY6L"))).await;
    super::settle(&shop.app).await;
    let tenant = |name: &str| name.parse::<TenantId>().unwrap();
    let store = &shop.app.inner.store;
    wait_for(store, &tenant("kijani"), &kijani.id, PaymentStatus::Paid).await;
    let payments = payments_in(store, &tenant("savanna"), &savanna.id).await;
    assert_eq!(payments[0].request.status, PaymentStatus::Pending);
    assert_eq!(payments[0].reference.as_deref(), Some("ws_CO_0000"));
}

#[tokio::test]
async fn breaker_opens_for_one_shop_only() {
    for push in [Push::Break("174379"), Push::Limit("174379")] {
        let (shop, daraja) = two_shops().await;
        daraja.state().push = push;
        let calls = |of: &str| daraja.state().calls.get(of).copied().unwrap_or_default();
        for number in 1..=3 {
            buy(&shop, SAVANNA, &format!("+25470000001{number}")).await;
        }
        let before = calls("174379");
        let refused = buy(&shop, SAVANNA, "+254700000019").await;
        assert_eq!(calls("174379"), before, "the breaker is open");
        let store = &shop.app.inner.store;
        wait_for(store, &"savanna".parse().unwrap(), &refused.id, PaymentStatus::Failed).await;
        let kijani = buy(&shop, KIJANI, PHONE).await;
        wait_for(store, &"kijani".parse().unwrap(), &kijani.id, PaymentStatus::Pending).await;
    }
}

#[tokio::test]
async fn second_failure_of_provider_calls_a_person() {
    let Desk { shop, daraja, pesapal: _pesapal } = Desk::open().await;
    drop(daraja);
    let mut chat = super::customer(&shop, PHONE).await;
    say_all(&mut chat, &ORDER).await;
    say_all(&mut chat, &["pay", "1", "yes"]).await;
    let results = wait_for_results(&shop.app, &chat.id, 1).await;
    assert!(results[0].contains("did not go through"), "{results:?}");
    let (store, tenant) = (&shop.app.inner.store, TenantId::default());
    let conversation = chat.id.parse().unwrap();
    let tickets = async || store.tenant(&tenant).list_tickets_in(conversation).await.unwrap();
    assert_eq!(tickets().await.len(), 0, "one failure calls no person");
    ask(&shop.app, &chat.id, "again").await;
    ask(&shop.app, &chat.id, "yes").await;
    let reasons: Vec<String> = tickets().await.into_iter().map(|ticket| ticket.summary).collect();
    assert!(reasons.len() == 1 && reasons[0].contains("tools failed repeatedly"), "{reasons:?}");
}

#[tokio::test]
async fn shop_with_credentials_gets_no_sandbox() {
    let desk = Desk::open().await;
    let none = Daraja::credentials("a").into_iter().map(|(name, _)| (name, String::new())).collect::<Vec<_>>();
    give_credentials(desk.app(), "default", &none).await;
    // PesaPal is left, so the prompt is not offered, not even at the sandbox.
    let mut chat = super::customer(&desk.shop, PHONE).await;
    say_all(&mut chat, &ORDER).await;
    let said = say_all(&mut chat, &["pay"]).await;
    assert!(said.contains("card") && !said.contains("M-PESA"), "{said}");
}

#[tokio::test]
async fn sandbox_refuses_shops_with_credentials() {
    let desk = Desk::open().await;
    let url = desk.app().database_url.clone();
    let env = [("DATABASE_URL", url.clone()), ("PAYMENTS", "sandbox".to_owned()), ("LLM", "offline".to_owned())];
    let env = env.into_iter().chain([("TENANT_SECRET_KEY", TENANT_KEY.to_owned())]);
    let config = Config::read(Env::of(env.map(|(name, value)| (name.to_owned(), value)))).unwrap();
    let Desk { shop, .. } = desk;
    let super::Shop { app, .. } = shop;
    let _stopped = app.stop().await;
    let options = StoreOptions { url, timeout: config.store.timeout, connections: 2 };
    let store = Store::open(&options).await.unwrap();
    let error = App::start(config, store).await.err().unwrap().to_string();
    assert!(error.contains("PAYMENTS=sandbox, but the shop default has credentials"), "{error}");
    assert!(error.contains("set PAYMENTS=auto"), "{error}");
}

#[tokio::test]
async fn callbacks_are_not_limited_by_address() {
    let (daraja, pesapal) = (Daraja::open().await, Pesapal::open().await);
    let builder = TestApp::builder().env("RATE_LIMIT_PER_SECOND", "1").env("RATE_LIMIT_BURST", "1");
    let keys = format!("default:{SAVANNA}");
    let shop = open_desk_at(builder.env("X_API_KEYS", keys), &daraja, &pesapal).await;
    give_credentials(&shop.app, "default", &Daraja::credentials("a")).await;
    let chat = buy(&shop, SAVANNA, PHONE).await;
    let path = path_of(&daraja.pushes()[0]["CallBackURL"]);
    for _ in 0..10 {
        let response = shop.app.post(&path, &json!({})).header("x-forwarded-for", "196.201.214.200");
        assert_eq!(response.send().await.unwrap().status(), 200);
    }
    daraja.decide(0, "0");
    super::call_back(&shop.app, &path, &Daraja::callback(0, Some("QKJ41HAY6L"))).await;
    wait_for(&shop.app.inner.store, &TenantId::default(), &chat.id, PaymentStatus::Paid).await;
}
