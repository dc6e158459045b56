//! Payments at stand-ins for M-PESA and PesaPal, driven over HTTP.

mod c2b;
mod card;
mod prompts;
mod shops;

use std::time::Duration;

use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::payment::{Payment, PaymentStatus};
use frontdesk::store::Store;
use serde_json::Value;

use super::super::retail::chat::Chat;
use super::{Shop, customer, give_credentials, open_desk_at, say_all};
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::payments::{Daraja, Pesapal, path_of};
use crate::support::{LIMIT, eventually_async};

const PHONE: &str = "+254700000001";
/// Two pairs of shoes for KSh 2,500. The ways to pay follow.
const ORDER: [&str; 2] = ["canvas shoes size 40 black", "make it 2"];

/// A shop at the stand-ins.
struct Desk {
    shop: Shop,
    daraja: Daraja,
    pesapal: Pesapal,
}

impl Desk {
    async fn open() -> Self {
        Self::open_with(TestApp::builder()).await
    }

    /// The default shop has an account at both providers.
    async fn open_with(builder: TestAppBuilder) -> Self {
        let (daraja, pesapal) = (Daraja::open().await, Pesapal::open().await);
        let shop = open_desk_at(builder, &daraja, &pesapal).await;
        give_credentials(&shop.app, "default", &Daraja::credentials("a")).await;
        give_credentials(&shop.app, "default", &Pesapal::credentials()).await;
        Self { shop, daraja, pesapal }
    }

    fn app(&self) -> &TestApp {
        &self.shop.app
    }

    /// A customer who has ordered and said yes to this way to pay.
    async fn buy(&self, phone: &str, method: &str) -> (Chat<'_>, String) {
        let mut chat = customer(&self.shop, phone).await;
        say_all(&mut chat, &ORDER).await;
        say_all(&mut chat, &["pay", method]).await;
        let said = say_all(&mut chat, &["yes"]).await;
        (chat, said)
    }

    /// The payments that began in a conversation, oldest first.
    async fn payments(&self, chat: &Chat<'_>) -> Vec<Payment> {
        payments_in(&self.app().inner.store, &TenantId::default(), &chat.id).await
    }

    /// Waits until the last payment of the conversation has this state.
    async fn wait_for(&self, chat: &Chat<'_>, status: PaymentStatus) -> Payment {
        wait_for(&self.app().inner.store, &TenantId::default(), &chat.id, status).await
    }

    /// Calls back at an address that a stand-in was given.
    async fn call_back(&self, url: &Value, body: &Value) -> (u16, Value) {
        call_back(self.app(), &path_of(url), body).await
    }

    /// The summaries of the tickets of a conversation about money.
    async fn tickets(&self, chat: &Chat<'_>) -> Vec<String> {
        let door = self.app().inner.store.tenant(&DEFAULT);
        let tickets = door.list_tickets_in(chat.id.parse().unwrap()).await.unwrap();
        tickets.into_iter().map(|ticket| ticket.summary).collect()
    }

    /// Waits until no job about payments is waiting, apart from polls.
    async fn settle(&self) {
        settle(self.app()).await;
    }
}

static DEFAULT: std::sync::LazyLock<TenantId> = std::sync::LazyLock::new(TenantId::default);

async fn payments_in(store: &Store, tenant: &TenantId, conversation: &str) -> Vec<Payment> {
    let door = store.tenant(tenant);
    let Some(last) = door.find_last_payment(conversation.parse().unwrap()).await.unwrap() else { return Vec::new() };
    door.list_payments(&last.sale).await.unwrap()
}

async fn wait_for(store: &Store, tenant: &TenantId, conversation: &str, status: PaymentStatus) -> Payment {
    let mut all = Vec::new();
    let waiting = async {
        while all.last().is_none_or(|last: &Payment| last.request.status != status) {
            tokio::time::sleep(Duration::from_millis(20)).await;
            all = payments_in(store, tenant, conversation).await;
        }
    };
    let is_ended = tokio::time::timeout(LIMIT, waiting).await.is_ok();
    assert!(is_ended, "no payment became {status}: {all:?}");
    all.pop().unwrap()
}

async fn call_back(app: &TestApp, path: &str, body: &Value) -> (u16, Value) {
    let response = app.post(path, body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

async fn settle(app: &TestApp) {
    const NAMES: [&str; 3] = ["settle_payment", "say_payment", "apply_receipt"];
    eventually_async("no job about payments waits", async || {
        let counts = app.inner.store.count_jobs().await.unwrap();
        NAMES.iter().all(|name| counts.get(*name).is_none_or(|of| of.waiting == 0))
    })
    .await;
}
