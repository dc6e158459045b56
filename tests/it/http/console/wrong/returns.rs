//! Cases of the returns desk, replayed on a snapshot of the shop's rows.

use std::path::Path;

use chrono::{DateTime, Utc};
use frontdesk::domain::returns::{DamageWords, ListedOrder, Resolution, RmaStatus, TrackingNumber};
use frontdesk::domain::{ActorKind, TenantId};
use frontdesk::store::audit::Actor;
use frontdesk::store::returns::advance::Advance;
use frontdesk::store::returns::overview::Overview;
use frontdesk::store::returns::resolve::{Resolving, Verdict};
use serde_json::{Value, json};

use super::{case, changed, eval_json, eval_json_with, keep};
use crate::desks::returns::agent::script::{Step, look, scripted, whole_return};
use crate::desks::returns::shop;
use crate::http::console::desk::Desk;
use crate::support::app::TestApp;
use crate::support::ollama::ScriptedOllama;

const JOHN: &str = "john.doe@example.com";

fn person(now: DateTime<Utc>) -> Actor<'static> {
    Actor { kind: ActorKind::Person, who: "Thu", conversation: None, now }
}

/// The sample shop with a copy of the files.
async fn open() -> Desk {
    let desk = Desk::open(TestApp::builder().every_desk(), &[]).await;
    shop::seed(&desk.app).await;
    desk
}

impl Desk {
    /// Sends messages in a conversation of the returns desk and reports every reply as wrong.
    async fn ask_all(&self, wish: &Value, texts: &[&str]) -> String {
        let mut wish = wish.clone();
        wish["persona"] = json!("returns_en");
        let id = self.app.open(&wish).await;
        for text in texts {
            assert_eq!(self.app.ask(&id, text).await.status(), "completed", "{text}");
        }
        for turn in 1..=u32::try_from(texts.len()).unwrap() {
            keep(self, &id, turn, json!({})).await;
        }
        id
    }

    async fn overview(&self, conversation: &str) -> Overview {
        let tenant = TenantId::default();
        let store = self.app.inner.store.tenant(&tenant);
        store.overview_of_returns(conversation.parse().unwrap()).await.unwrap()
    }

    /// Approves the escalated case and pays the refund.
    async fn pay_back(&self, order: &str, escalation: &str) {
        let tenant = TenantId::default();
        let store = self.app.inner.store.tenant(&tenant);
        let by = person(Utc::now());
        let terms = self.app.inner.config.returns.terms(DamageWords::default(), chrono_tz::Asia::Ho_Chi_Minh);
        let verdict = Verdict { decision: Resolution::Approve, why: "photos seen", terms: &terms, random: [1; 4] };
        let approved = store.resolve_escalation(escalation, &verdict, &by).await.unwrap();
        assert!(matches!(approved, Resolving::Done(..)), "{approved:?}");
        let rma = store.list_rmas_of(&order.parse().unwrap()).await.unwrap().pop().unwrap();
        use RmaStatus::{Approved, InTransit, Inspected, Received, Refunded};
        for to in [InTransit, Received, Inspected, Approved, Refunded] {
            let done = store.advance_rma(&rma.number, to, &by).await.unwrap();
            assert!(matches!(done, Advance::Done(_)), "{to}: {done:?}");
        }
    }
}

/// A return that is requested, created, announced and escalated. The RMA has its label before the announcement.
async fn returned_and_shattered(desk: &Desk) -> String {
    let id = desk.app.open(&json!({"persona": "returns_en"})).await;
    for text in ["where is order 77893?", JOHN, "I want to return order 77893", "yes"] {
        desk.app.ask(&id, text).await;
    }
    let tenant = TenantId::default();
    let store = desk.app.inner.store.tenant(&tenant);
    let rma = store.list_rmas_of(&"77893".parse().unwrap()).await.unwrap().pop().unwrap();
    // As the job does, whichever is faster: for a label that a person issues, a mail is sent.
    let job = Actor { kind: ActorKind::Automatic, who: "job", ..person(Utc::now()) };
    store.issue_label(&rma.number, &TrackingNumber::new(7), &job).await.unwrap();
    let status = desk.app.ask(&id, "where is order 77893?").await.text("order_status");
    assert!(status.contains("RMA-") && status.contains("abel"), "{status}");
    let shattered = desk.app.ask(&id, "they arrived shattered").await;
    assert_eq!(shattered.kinds(), ["escalation", "follow_up"]);
    for turn in 1..=6 {
        keep(desk, &id, turn, json!({})).await;
    }
    id
}

#[tokio::test]
async fn replayed_return_ends_the_same_without_changes() {
    let desk = open().await;
    let id = returned_and_shattered(&desk).await;
    let (before, mails) = (desk.overview(&id).await, shop::mails(&desk.app));
    assert_eq!((before.rmas.len(), before.tickets.len(), mails.len()), (1, 2, 1));
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 6], "{report:#}");
    assert_eq!((&report["same"], &report["failed"]), (&json!(6), &json!(0)));
    let text = &report["cases"][3]["now"]["messages"][0]["text"];
    assert!(!text.as_str().unwrap().contains(before.rmas[0].number.as_str()), "another RMA: {text}");
    assert_eq!(desk.overview(&id).await, before);
    assert_eq!(shop::mails(&desk.app), mails);
    assert!(!desk.path("database").exists(), "no mail is written, and no database made");

    let escalation = before.tickets.iter().find(|ticket| ticket.id.starts_with("TICKET-")).unwrap();
    desk.pay_back("77893", &escalation.id).await;
    let asked = desk.app.ask(&id, "where is order 77893?").await;
    let status = asked.text("order_status");
    assert!(status.contains("Returned"), "{status}");
    // The announcement of the decision is a turn as well, before or after this one.
    let waiting = keep(&desk, &id, asked.turn(), json!({})).await;
    assert_eq!(case(&desk, &waiting)["status"], "bot", "a person has decided about the damage");
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 7], "what has happened since is taken back: {report:#}");
}

#[tokio::test]
async fn replayed_return_uses_current_policies() {
    let desk = open().await;
    returned_and_shattered(&desk).await;
    desk.write("policies.csv", "name,scope,category,return_days,refund_days\nAll,general,,10,10\n");
    let imported = super::frontdesk(&desk, &[], &["import", "policies", "--file", "policies.csv"]).await;
    assert_eq!(imported.status.code(), Some(0), "{imported:?}");
    let report = eval_json(&desk).await;
    let differences = changed(&report);
    // The status has the last days, and the rules decide before the question and again after the yes.
    let expected = |turn: usize| match turn {
        1 => vec!["text"],
        2 | 3 => vec!["kind", "text"],
        _ => Vec::new(),
    };
    assert!(differences.iter().enumerate().all(|(turn, found)| *found == expected(turn)), "{report:#}");
    let [kind, text] = &report["cases"][3]["changed"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!((&kind["was"][0], &kind["is"][0]), (&json!("return_ticket"), &json!("return_decision")));
    let told = text["is"].as_str().unwrap();
    assert!(told.contains("10 days") && told.contains("15 days"), "{told}");
    assert!(text["was"].as_str().unwrap().contains("RMA-"), "{text}");
}

#[tokio::test]
async fn case_keeps_the_customer_of_the_shop() {
    let desk = open().await;
    let tenant = TenantId::default();
    let store = desk.app.inner.store.tenant(&tenant);
    let mut order = store.find_order(&"77895".parse().unwrap()).await.unwrap().unwrap();
    order.customer.user_id = Some("u-1".to_owned());
    let listed = ListedOrder { order, is_vip: None, fraud_flag: None };
    store.import_orders(&[listed], false, Utc::now()).await.unwrap();
    desk.ask_all(&json!({"user_id": "u-1"}), &["where is order 77895?", "where is order 77893?"]).await;
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 2], "{report:#}");
    assert_eq!(report["cases"][0]["now"]["messages"][0]["kind"], "order_status");
    let file = report["cases"][0]["case"].as_str().unwrap();
    let mut kept = case(&desk, file);
    assert_eq!(kept["user_id"], "u-1");
    kept.as_object_mut().unwrap().remove("user_id");
    desk.write(&format!("evals/conversations/{file}"), &kept.to_string());
    assert!(changed(&eval_json(&desk).await)[0].contains(&"kind"), "a named customer is not verified again");
}

#[tokio::test]
async fn replay_restores_locked_and_cancelled_orders() {
    let desk = open().await;
    let mut guesses: Vec<String> = (0..5).map(|guess| format!("order 77894, guess{guess}@example.com")).collect();
    guesses.insert(0, "where is order 77894?".to_owned());
    guesses.push("order 77894, buyer-77894@example.com".to_owned());
    let guesses: Vec<&str> = guesses.iter().map(String::as_str).collect();
    let guesser = desk.ask_all(&json!({}), &guesses).await;
    let told = desk.app.history(&guesser).await;
    assert!(told.last().unwrap()["text"].as_str().unwrap().contains("minutes"), "{told:?}");
    let cancelling = ["cancel order ABC-100001", "an.nguyen@example.com", "yes, cancel it"];
    let cancelled = desk.ask_all(&json!({}), &cancelling).await;
    assert_eq!(desk.overview(&cancelled).await.tickets.len(), 1);
    let report = eval_json(&desk).await;
    // Only the attempt that locks the order: earlier attempts are counted in the same turn.
    let cases = report["cases"].as_array().unwrap().iter();
    let others: Vec<&Value> = cases.filter(|case| case["outcome"] != "same").map(|case| &case["asked"]).collect();
    assert_eq!(others, ["order 77894, guess4@example.com"], "{report:#}");
    assert_eq!(report["same"], 9, "{report:#}");
}

#[tokio::test]
async fn replay_uses_model_if_available() {
    let (ollama, files) = (ScriptedOllama::start().await, tempfile::tempdir().unwrap());
    let script = scripted(&ollama);
    std::fs::create_dir_all(files.path().join("knowledge/returns")).unwrap();
    let path = |name: &str| files.path().join(name).display().to_string();
    let builder = TestApp::builder().env("EVALS_PATH", path("evals")).env("KNOWLEDGE_PATH", path("knowledge"));
    let app = shop::open_driven(builder, &ollama, Path::new(&path("prompts"))).await;
    let desk = Desk { app, files };
    let steps =
        || -> Vec<Step> { std::iter::once(look("77893")).chain(whole_return("77893", &[1], "too small")).collect() };
    script.lock().unwrap().extend(steps());
    let id = desk.ask_all(&json!({}), &[&format!("return order 77893, {JOHN}, too small")]).await;
    let before = desk.overview(&id).await;
    assert_eq!(before.rmas.len(), 1);
    script.lock().unwrap().extend(steps());
    let url = ollama.url();
    let persona = ("PERSONA_PATH", "prompts/returns_en.md");
    let report = eval_json_with(&desk, &[("LLM", "auto"), ("OLLAMA_HOST", &url), persona]).await;
    assert_eq!(script.lock().unwrap().len(), 0, "the model was asked");
    assert_eq!(changed(&report), [[""; 0]; 1], "{report:#}");
    let by_table = eval_json_with(&desk, &[persona]).await;
    assert_eq!(by_table["cases"][0]["now"]["messages"][0]["kind"], "order_confirm", "{by_table:#}");
    assert_eq!(desk.overview(&id).await, before);
}
