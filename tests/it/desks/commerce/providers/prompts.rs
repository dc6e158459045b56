//! M-PESA prompts on the customer's phone.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use frontdesk::config::{Config, Env};
use frontdesk::domain::PaymentId;
use frontdesk::domain::commerce::payment::{CallbackPurpose, PaymentStatus};
use frontdesk::store::payments::SETTLE_PAYMENT;
use frontdesk::tools::payment_callback::PaymentCallbacks;
use serde_json::json;
use tokio::sync::Notify;

use super::super::super::retail::chat::Chat;
use super::super::{TENANT_KEY, ask, at_providers, customer, say_all, wait_for_results};
use super::{DEFAULT, Desk, ORDER, PHONE, call_back, payments_in, settle, wait_for};
use crate::store::TestStore;
use crate::support::app::TestApp;
use crate::support::payments::{Daraja, Push, path_of};
use crate::support::{eventually, eventually_async};

async fn paid(desk: &Desk, chat: &Chat<'_>, push: usize) -> String {
    desk.daraja.decide(push, "0");
    let url = desk.daraja.pushes()[push]["CallBackURL"].clone();
    desk.call_back(&url, &Daraja::callback(push, Some("QKJ41HAY6L"))).await;
    wait_for_results(desk.app(), &chat.id, 1).await.pop().unwrap()
}

#[tokio::test]
async fn prompt_is_paid_and_the_customer_is_told() {
    let desk = Desk::open().await;
    let (chat, said) = desk.buy(PHONE, "1").await;
    assert!(said.contains("M-PESA prompt for KSh 2,500 to +254700000001") && !said.contains("SANDBOX"), "{said}");
    let push = desk.daraja.pushes().remove(0);
    assert_eq!(
        (&push["Amount"], &push["PhoneNumber"], &push["PartyB"], &push["TransactionType"]),
        (&json!(2500), &json!("254700000001"), &json!("174379"), &json!("CustomerPayBillOnline"))
    );
    let payment = desk.wait_for(&chat, PaymentStatus::Pending).await;
    assert_eq!(push["AccountReference"], payment.sale.as_str());
    let result = paid(&desk, &chat, 0).await;
    // On a busy machine, the job that asks may come before the callback, which names the receipt.
    assert!(result.contains("KSh 2,500 received"), "{result}");
    desk.settle().await;
    let payment = desk.wait_for(&chat, PaymentStatus::Paid).await;
    assert_eq!(payment.request.receipts, ["QKJ41HAY6L"]);
    assert!(desk.daraja.state().wrong.is_empty(), "{:?}", desk.daraja.state().wrong);
    assert_eq!(desk.daraja.state().logins, 1, "the token is kept");
}

#[tokio::test]
async fn poll_finds_a_payment_without_callback() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    desk.daraja.decide(0, "0");
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("KSh 2,500 received. Order"), "{results:?}");
    // The callback comes after all.
    let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
    desk.call_back(&url, &Daraja::callback(0, Some("QKJ41HAY6L"))).await;
    desk.settle().await;
    let payment = desk.wait_for(&chat, PaymentStatus::Paid).await;
    assert_eq!((payment.request.receipts, desk.tickets(&chat).await.len()), (vec!["QKJ41HAY6L".to_owned()], 0));
    assert_eq!(wait_for_results(desk.app(), &chat.id, 1).await.len(), 1, "the customer gets one message");
    let said = ask(desk.app(), &chat.id, "where is my order").await;
    assert!(said.contains("receipt QKJ41HAY6L"), "{said}");
}

#[tokio::test]
async fn late_receipt_is_of_its_own_prompt() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    desk.daraja.decide(0, "0");
    desk.wait_for(&chat, PaymentStatus::Paid).await;
    let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
    desk.call_back(&url, &Daraja::callback(0, Some("QKJ41HAY6L"))).await;
    let (other, _) = desk.buy("+254700000002", "1").await;
    desk.daraja.decide(1, "0");
    desk.wait_for(&other, PaymentStatus::Paid).await;
    let url = desk.daraja.pushes()[1]["CallBackURL"].clone();
    // A callback of another prompt, and the receipt of another payment.
    for (push, receipt) in [(7, "FORGED1234"), (1, "QKJ41HAY6L")] {
        desk.call_back(&url, &Daraja::callback(push, Some(receipt))).await;
        desk.settle().await;
        assert_eq!(desk.payments(&other).await[0].request.receipts, ["ws_CO_0001"], "{receipt}");
    }
}

#[tokio::test]
async fn prompt_goes_to_the_own_number_only() {
    let desk = Desk::open().await;
    let mut chat = customer(&desk.shop, PHONE).await;
    say_all(&mut chat, &ORDER).await;
    say_all(&mut chat, &["pay", "1", "use 0711222333 instead", "yes"]).await;
    say_all(&mut chat, &["pay", "1", "yes"]).await;
    let pushes = desk.daraja.pushes();
    assert!(pushes.iter().all(|push| push["PhoneNumber"] == "254700000001"), "{pushes:?}");
    // A number of another country cannot be asked.
    let (chat, _) = desk.buy("+48601234567", "1").await;
    desk.wait_for(&chat, PaymentStatus::Failed).await;
    assert_eq!(desk.daraja.pushes().len(), pushes.len());
}

#[tokio::test]
async fn typed_number_gets_no_prompt() {
    let desk = Desk::open().await;
    let mut chat = desk.shop.chat().await;
    say_all(&mut chat, &ORDER).await;
    let offered = say_all(&mut chat, &["my number is 0711222333", "pay"]).await.to_lowercase();
    assert!(!offered.contains("prompt") && offered.contains("paybill") && offered.contains("card"), "{offered}");
    say_all(&mut chat, &["mpesa", "yes", "0711222333", "yes"]).await;
    assert!(desk.daraja.pushes().is_empty());
}

#[tokio::test]
async fn lost_answer_is_not_repeated() {
    let desk = Desk::open_with(TestApp::builder().env("STK_WAIT_SECONDS", "0")).await;
    desk.daraja.state().push = Push::LoseAnswer;
    let (chat, said) = desk.buy(PHONE, "1").await;
    assert!(said.contains("has not confirmed the prompt"), "{said}");
    // The poller closes it, and offers other ways.
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("no word of a payment") && results[0].contains("paybill"), "{results:?}");
    assert_eq!(desk.daraja.pushes().len(), 1);
    // The customer has paid: the late callback names the prompt.
    let result = {
        desk.daraja.decide(0, "0");
        let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
        desk.call_back(&url, &Daraja::callback(0, Some("QKJ41HAY6L"))).await;
        wait_for_results(desk.app(), &chat.id, 2).await.pop().unwrap()
    };
    assert!(result.contains("receipt QKJ41HAY6L"), "{result}");
}

#[tokio::test]
async fn unanswered_prompt_offers_other_ways() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    desk.daraja.decide(0, "1037");
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(
        results[0].contains("again") && results[0].contains("paybill") && results[0].contains("card"),
        "{results:?}"
    );
    let said = ask(desk.app(), &chat.id, "paybill").await;
    assert!(said.contains("KSh 2,500"), "{said}");
    let said = ask(desk.app(), &chat.id, "yes").await;
    assert!(said.contains("Paybill 174379"), "{said}");
    assert_eq!(desk.daraja.pushes().len(), 1);
}

#[tokio::test]
async fn forged_callback_changes_nothing() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    let path = path_of(&desk.daraja.pushes()[0]["CallBackURL"]);
    let forged = Daraja::callback(0, Some("FORGED1234"));
    let other = if path.ends_with('0') { "1" } else { "0" };
    for path in [
        format!("{}{other}", &path[..path.len() - 1]),
        path[..path.len() - 1].to_owned(),
        format!("{path}0"),
        "/webhooks/pay/0".to_owned(),
        "/webhooks/pay/%00".to_owned(),
    ] {
        let (status, _) = call_back(desk.app(), &path, &forged).await;
        assert_eq!(status, 404, "{path}");
    }
    // With the right secret it only causes a query, and the prompt is still open.
    let (status, answer) = call_back(desk.app(), &path, &forged).await;
    assert_eq!((status, &answer["ResultCode"]), (200, &json!("0")));
    desk.settle().await;
    let payments = desk.payments(&chat).await;
    assert_eq!(payments[0].request.status, PaymentStatus::Pending);
    assert!(desk.daraja.state().queries > 0);
}

#[tokio::test]
async fn callback_may_come_before_the_answer() {
    let desk = Desk::open().await;
    let release = Arc::new(Notify::new());
    desk.daraja.state().push = Push::Hold(release.clone());
    let mut chat = customer(&desk.shop, PHONE).await;
    say_all(&mut chat, &ORDER).await;
    say_all(&mut chat, &["pay", "1"]).await;
    let early = async {
        eventually("the phone is prompted", || !desk.daraja.pushes().is_empty()).await;
        desk.daraja.decide(0, "0");
        let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
        desk.call_back(&url, &Daraja::callback(0, Some("QKJ41HAY6L"))).await;
        desk.settle().await;
        release.notify_one();
    };
    let id = chat.id.clone();
    let (_, ()) = tokio::join!(ask(desk.app(), &id, "yes"), early);
    let results = wait_for_results(desk.app(), &id, 1).await;
    assert!(results[0].contains("receipt QKJ41HAY6L"), "{results:?}");
    assert_eq!(desk.payments(&chat).await[0].request.status, PaymentStatus::Paid);
}

#[tokio::test]
async fn doubled_callback_is_one_payment() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    paid(&desk, &chat, 0).await;
    let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
    for receipt in ["QKJ41HAY6L", "QKJ41HAY6L", "QKJ41HAY7M"] {
        desk.call_back(&url, &Daraja::callback(0, Some(receipt))).await;
        desk.settle().await;
    }
    let payments = desk.payments(&chat).await;
    assert_eq!((payments.len(), &payments[0].request.receipts), (1, &vec!["QKJ41HAY6L".to_owned()]));
    assert_eq!(desk.tickets(&chat).await, Vec::<String>::new());
    assert_eq!(wait_for_results(desk.app(), &chat.id, 1).await.len(), 1);
}

#[tokio::test]
async fn fifty_yeses_push_once() {
    let desk = Desk::open_with(TestApp::builder().env("TURNS_WAITING_MAX", "100")).await;
    let mut chat = customer(&desk.shop, PHONE).await;
    say_all(&mut chat, &ORDER).await;
    say_all(&mut chat, &["pay", "1"]).await;
    let path = format!("/conversations/{}/messages", chat.id);
    let sent = (0..50).map(|_| desk.app().post(&path, &json!({ "text": "yes" })).send());
    let sent = futures_util::future::join_all(sent).await;
    assert!(sent.iter().all(|response| response.as_ref().unwrap().status().is_success()));
    eventually_async("every message is answered", async || {
        let history = desk.app().history(&chat.id).await;
        history.iter().filter(|message| message["sender"] == "assistant").count() >= 4 + 50
    })
    .await;
    assert_eq!((desk.daraja.pushes().len(), desk.payments(&chat).await.len()), (1, 1));
}

#[tokio::test]
async fn expired_token_is_replaced() {
    let desk = Desk::open().await;
    desk.daraja.state().expires_in = "30".to_owned();
    desk.buy(PHONE, "1").await;
    let logins = desk.daraja.state().logins;
    desk.buy("+254700000002", "1").await;
    assert!(desk.daraja.state().logins > logins, "a token about to expire is not used");
    desk.daraja.state().expires_in = "3599".to_owned();
    desk.buy("+254700000003", "1").await;
    // Daraja may end a token early. The push was refused then, and is sent once with a new token.
    desk.daraja.state().revoke_tokens();
    desk.buy("+254700000004", "1").await;
    assert_eq!(desk.daraja.pushes().len(), 4);
}

#[tokio::test]
async fn refused_prompt_fails_at_once() {
    let desk = Desk::open().await;
    desk.daraja.state().push = Push::Refuse;
    let (chat, _) = desk.buy(PHONE, "1").await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("did not go through"), "{results:?}");
    desk.daraja.state().push = Push::Accept;
    ask(desk.app(), &chat.id, "again").await;
    ask(desk.app(), &chat.id, "yes").await;
    desk.wait_for(&chat, PaymentStatus::Pending).await;
}

#[tokio::test]
async fn restart_during_the_request_pushes_once() {
    let desk = Desk::open_with(TestApp::builder().env("DRAIN_SECONDS", "0")).await;
    let release = Arc::new(Notify::new());
    desk.daraja.state().push = Push::Hold(release.clone());
    let mut chat = customer(&desk.shop, PHONE).await;
    say_all(&mut chat, &ORDER).await;
    say_all(&mut chat, &["pay", "1"]).await;
    let id = chat.id.clone();
    // The server ends while the answer to the push is awaited: only the row is certain.
    let path = format!("/conversations/{id}/messages");
    desk.app().post(&path, &json!({ "text": "yes" })).send().await.unwrap();
    eventually("the phone is prompted", || !desk.daraja.pushes().is_empty()).await;
    let Desk { shop, daraja, pesapal } = desk;
    let super::Shop { app, .. } = shop;
    let stopped = app.stop().await;
    daraja.state().push = Push::Accept;
    let builder = at_providers(stopped, &daraja, &pesapal).env("STK_WAIT_SECONDS", "0");
    let app = builder.start().await;
    wait_for(&app.inner.store, &DEFAULT, &id, PaymentStatus::Timeout).await;
    settle(&app).await;
    let payments = payments_in(&app.inner.store, &DEFAULT, &id).await;
    assert_eq!((daraja.pushes().len(), payments.len()), (1, 1));
    release.notify_one();
}

#[tokio::test]
async fn reordered_callbacks_end_in_the_truth() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
    // The second one says that the customer refused; Daraja says that it was paid.
    desk.daraja.decide(0, "0");
    desk.call_back(&url, &Daraja::callback(0, None)).await;
    desk.call_back(&url, &Daraja::callback(0, Some("QKJ41HAY6L"))).await;
    let payment = desk.wait_for(&chat, PaymentStatus::Paid).await;
    desk.settle().await;
    assert_eq!((payment.request.receipts.len(), desk.tickets(&chat).await.len()), (1, 0));
}

#[tokio::test]
async fn callback_during_a_settle_job_is_kept() {
    let TestStore { store, _folder } = TestStore::open().await;
    let env = [("TENANT_SECRET_KEY".to_owned(), TENANT_KEY.to_owned())];
    let callbacks = PaymentCallbacks::new(&store, &Config::read(Env::of(env)).unwrap());
    let payment = PaymentId::now();
    let opened = callbacks.open(&DEFAULT, CallbackPurpose::Payment, "a prompt", Some(payment)).await.unwrap().unwrap();
    let secret = opened.url.rsplit('/').next().unwrap();
    let call_back = async || assert!(callbacks.receive(secret, &json!({})).await.unwrap().is_some());
    let lease = async || store.lease_jobs(&[SETTLE_PAYMENT], Utc::now(), Duration::from_secs(60), 10).await.unwrap();
    call_back().await;
    let running = lease().await;
    call_back().await;
    store.finish_jobs(&running).await.unwrap();
    let next: Vec<_> = lease().await.iter().map(|job| job.subject).collect();
    assert_eq!((running.len(), next), (1, vec![payment.0]));
}
