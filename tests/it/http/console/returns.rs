//! `GET /console/api/conversations/{id}/returns`, steps of RMAs and decisions.

use chrono::Utc;
use frontdesk::domain::AuditEntry;
use frontdesk::domain::AuditKind;
use frontdesk::domain::TenantId;
use reqwest::Method;
use serde_json::{Value, json};

use super::desk::answer;
use super::{Browser, guarded};
use crate::desks::returns::shop;
use crate::http::live::Live;
use crate::http::problem::refused;
use crate::support::app::TestApp;
use crate::support::eventually_async;

const JOHN: &str = "john.doe@example.com";

/// A person of the shop with a customer's conversation.
struct Case<'a> {
    lan: Browser<'a>,
    id: String,
}

impl<'a> Case<'a> {
    async fn open(app: &'a TestApp, said: &[&str]) -> Self {
        Self::open_with(app, &json!({"language": "en"}), said).await
    }

    async fn open_with(app: &'a TestApp, wish: &Value, said: &[&str]) -> Self {
        let lan = Browser::sign_in(app, "key-of-the-shop-0", "Lan").await;
        let opened: Value = lan.post("/conversations", wish).send().await.unwrap().json().await.unwrap();
        let case = Self { lan, id: opened["id"].as_str().unwrap().to_owned() };
        for text in said {
            case.say(text).await;
        }
        case
    }

    /// Sends the message as the customer and waits for the end of the turn.
    async fn say(&self, text: &str) {
        let path = format!("/conversations/{}/stream", self.id);
        let response = self.lan.post(&path, &json!({ "text": text })).send().await.unwrap();
        let events = response.text().await.unwrap();
        assert!(events.contains("turn.done"), "{events}");
    }

    async fn returns(&self) -> Value {
        self.lan.json(&format!("/console/api/conversations/{}/returns", self.id)).await
    }

    async fn only_rma(&self) -> Value {
        let returns = self.returns().await;
        assert_eq!(returns["rmas"].as_array().unwrap().len(), 1, "{returns:#}");
        returns["rmas"][0].clone()
    }

    async fn advance(&self, rma: &Value, to: &str) -> Value {
        answer(self.lan.post(&path_of(rma), &json!({ "to": to })), 200).await["rma"].clone()
    }

    async fn resolve(&self, ticket: &str, decision: &str, why: &str) -> Value {
        answer(self.lan.post(&decide(ticket), &json!({"decision": decision, "why": why})), 200).await
    }
}

fn path_of(rma: &Value) -> String {
    format!("/console/api/rmas/{}/advance", rma["number"].as_str().unwrap())
}

fn decide(id: &str) -> String {
    format!("/console/api/escalations/{id}/resolve")
}

/// Who did what.
fn recorded(returns: &Value) -> Vec<String> {
    let rows = returns["record"].as_array().unwrap();
    rows.iter().map(|row| format!("{} {}", row["who"].as_str().unwrap(), row["what"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn conversation_lists_its_order_rmas_and_audit_log() {
    let app = shop::open(guarded()).await;
    let case = Case::open(&app, &["where is order 77912?", "buyer-77898@example.com"]).await;
    let returns = case.returns().await;
    assert_eq!((&returns["takes_returns"], &returns["has_more"]), (&json!(true), &json!(false)));
    let order = &returns["orders"][0];
    assert_eq!((&order["number"], &order["status"]), (&json!("77912"), &json!("Return_Initiated")));
    let customer = json!({
        "name": "Lê Minh Quân", "email": "b***@example.com", "phone": null, "is_vip": false, "fraud_flag": false
    });
    assert_eq!(order["customer"], customer);
    let rma = case.only_rma().await;
    let item = json!({
        "line": 1, "name": "Wool Socks", "quantity": 1, "unit_price": {"minor": 1990, "currency": "USD"},
        "is_final_sale": false, "rma": rma["number"]
    });
    assert_eq!(order["items"], json!([item]));
    assert_eq!((&rma["order"], &rma["status"], &rma["locked"]), (&json!("77912"), &json!("Received"), &json!(false)));
    assert_eq!((&rma["next"], &rma["refund"]["minor"]), (&json!(["Inspected"]), &json!(1990)));
    assert_eq!((&rma["lines"][0]["line"], &rma["reason"]), (&json!(1), &json!("too small")));
    assert!(rma["tracking"].as_str().unwrap().contains('-'), "{rma}");
    assert_eq!((&returns["tickets"], &returns["mails"]), (&json!([]), &json!([])));
    assert_eq!(recorded(&returns), ["desk order.looked_up", "desk flow.ended"]);
    assert_eq!((&returns["record"][0]["type"], &returns["record"][0]["order"]), (&json!("tool"), &json!("77912")));
    for q in ["quan le", "LÊ MINH", "quân 77912", "zebra"] {
        let found = case.lan.json(&format!("/console/api/conversations?q={q}")).await;
        let name = found["conversations"][0]["customer_name"].clone();
        assert_eq!(name, if q == "zebra" { Value::Null } else { json!("Lê Minh Quân") }, "{q}");
    }
    let text = returns.to_string();
    assert!(!text.contains("buyer-77898"), "the address is masked: {text}");
}

#[tokio::test]
async fn return_has_ticket_mail_and_label() {
    let app = shop::open(guarded()).await;
    let case = Case::open(&app, &["return order 77893", JOHN, "yes"]).await;
    let rma = case.only_rma().await;
    let returns = case.returns().await;
    let ticket = &returns["tickets"][0];
    assert_eq!((&ticket["id"], &ticket["kind"], &ticket["resolved"]), (&rma["number"], &json!("return"), &Value::Null));
    let mail = &returns["mails"][0];
    assert_eq!((&mail["template"], &mail["to"]), (&json!("return_approved"), &json!("j***@example.com")));
    assert_eq!((&mail["status"], &mail["rma"]), (&json!("sent"), &rma["number"]));
    let record = recorded(&returns);
    let at = |what: &str| record.iter().position(|row| row == what).unwrap_or_else(|| panic!("{what}: {record:?}"));
    assert!(at("desk order.looked_up") < at("desk eligibility.decided"));
    assert!(at("desk rma.created") < at("job mail.sent"));
}

#[tokio::test]
async fn unverified_order_is_hidden_but_attempt_shown() {
    let app = shop::open(guarded()).await;
    let case = Case::open(&app, &["where is order 77893?", "unknown@example.com"]).await;
    let returns = case.returns().await;
    assert_eq!((&returns["orders"], &returns["rmas"]), (&json!([]), &json!([])));
    assert!(recorded(&returns).contains(&"desk order.looked_up".to_owned()), "{returns:#}");
}

#[tokio::test]
async fn other_desks_conversation_has_no_returns() {
    let app = shop::open(guarded().every_desk()).await;
    let retail = json!({"persona": "system_persona_vi"});
    let case = Case::open_with(&app, &retail, &["kiểm tra bảo hành ABC123"]).await;
    let nothing = json!({
        "takes_returns": false, "orders": [], "rmas": [], "tickets": [], "mails": [], "record": [], "has_more": false
    });
    assert_eq!(case.returns().await, nothing);
    refused(case.lan.get(&format!("/console/api/conversations/{}/returns", uuid::Uuid::now_v7())), 404, "not_found")
        .await;
}

#[tokio::test]
async fn long_audit_log_shows_newest_entries() {
    let app = shop::open(guarded()).await;
    let case = Case::open(&app, &[]).await;
    let tenant = TenantId::default();
    for n in 0..205 {
        let entry = AuditEntry {
            kind: AuditKind::Tool,
            who: "desk".to_owned(),
            what: format!("test.{n}"),
            before: None,
            after: None,
            conversation: Some(case.id.parse().unwrap()),
            order: None,
            rma: None,
            at: Utc::now(),
            account: None,
        };
        app.inner.store.tenant(&tenant).record(&entry).await.unwrap();
    }
    let returns = case.returns().await;
    let shown = recorded(&returns);
    assert_eq!((shown.len(), shown[0].as_str(), shown[199].as_str()), (200, "desk test.5", "desk test.204"));
    assert_eq!(returns["has_more"], true);
}

#[tokio::test]
async fn rma_steps_are_ordered_idempotent_and_signed() {
    let app = shop::open(guarded()).await;
    let case = Case::open(&app, &["where is order 77912?", "buyer-77898@example.com"]).await;
    let rma = case.only_rma().await;
    let stepped = case.advance(&rma, "Inspected").await;
    assert_eq!((&stepped["status"], &stepped["next"]), (&json!("Inspected"), &json!(["Approved", "Rejected"])));
    assert_eq!(case.advance(&rma, "Inspected").await, stepped, "a click that comes twice is one");
    for to in ["Refunded", "Received", "Label_Sent"] {
        let detail =
            refused(case.lan.post(&path_of(&rma), &json!({ "to": to })), 409, "illegal_step").await["detail"].clone();
        let detail = detail.as_str().unwrap();
        assert!(detail.contains("from Inspected to") && detail.contains(to), "{detail}");
    }
    let returns = case.returns().await;
    let steps: Vec<&Value> =
        returns["record"].as_array().unwrap().iter().filter(|row| row["what"] == "rma.status").collect();
    assert_eq!(steps.len(), 1, "{returns:#}");
    assert_eq!(
        (&steps[0]["type"], &steps[0]["who"], &steps[0]["rma"]),
        (&json!("system"), &json!("Lan"), &rma["number"])
    );
    let change = (&steps[0]["before"]["status"], &steps[0]["after"]["status"]);
    assert_eq!(change, (&json!("Received"), &json!("Inspected")));

    let unknown = json!({"number": "RMA-1-ABCD"});
    for (rma, body, status, code) in [
        (&unknown, json!({"to": "Inspected"}), 404, "not_found"),
        (&json!({"number": "77912"}), json!({"to": "Inspected"}), 404, "not_found"),
        (&rma, json!({"to": "lost"}), 422, "invalid_request"),
        (&rma, json!({}), 422, "invalid_request"),
        (&rma, json!({"to": "Approved", "by": "Minh"}), 422, "invalid_request"),
    ] {
        refused(case.lan.post(&path_of(rma), &body), status, code).await;
    }
    // A program with the key has no name.
    let by_key = app.post(&path_of(&rma), &json!({"to": "Approved"})).header("x-api-key", "key-of-the-shop-0");
    assert_eq!(answer(by_key, 200).await["rma"]["status"], "Approved");
    let last = recorded(&case.returns().await).pop().unwrap();
    assert_eq!(last, "operator rma.status");
}

#[tokio::test]
async fn escalated_rma_is_locked_until_resolved() {
    let app = shop::open(guarded()).await;
    let case = Case::open(&app, &["return order 77893", JOHN, "yes"]).await;
    // Wait for the label's job before anything locks the RMA.
    eventually_async("the label is sent", async || case.only_rma().await["status"] == "Label_Sent").await;
    case.say("Actually, the boots are shattered.").await;
    let locked = case.only_rma().await;
    assert_eq!((&locked["locked"], &locked["next"]), (&json!(true), &json!([])));
    let stepped = case.lan.post(&path_of(&locked), &json!({"to": "In_Transit"}));
    let detail = refused(stepped, 409, "illegal_step").await["detail"].clone();
    assert!(detail.as_str().unwrap().contains("resolve the escalation first"), "{detail}");
    let returns = case.returns().await;
    let open = |returns: &Value| {
        let tickets = returns["tickets"].as_array().unwrap().iter();
        let mut found = tickets.filter(|ticket| ticket["kind"] == "escalation").cloned();
        found.next().unwrap()
    };
    let ticket = open(&returns);
    assert_eq!((&ticket["rma"], &ticket["priority"]), (&locked["number"], &json!("HIGH")));
    assert!(ticket["summary"].as_str().unwrap().contains(locked["number"].as_str().unwrap()), "{ticket}");
    let number = ticket["id"].as_str().unwrap();

    for body in [
        json!({"decision": "approve"}),
        json!({"decision": "approve", "why": " \n"}),
        json!({"decision": "approve", "why": "x".repeat(2001)}),
        json!({"decision": "maybe", "why": "x"}),
    ] {
        refused(case.lan.post(&decide(number), &body), 422, "invalid_request").await;
    }
    for id in ["TICKET-1-AAAA", "77893", "%00", "x"] {
        refused(case.lan.post(&decide(id), &json!({"decision": "approve", "why": "x"})), 404, "not_found").await;
    }
    let more = case.resolve(number, "more_info", "photos\u{202e}, please\u{7}").await;
    assert_eq!(more["ticket"]["question"], "photos, please");
    assert_eq!((&more["ticket"]["resolved"], &more["rmas"][0]["locked"]), (&Value::Null, &json!(true)));

    let mut news = Live::open(case.lan.get("/console/api/events")).await.opened().await;
    let done = case.resolve(&number.to_lowercase(), "approve", " seen the photos ").await;
    let told = json!({"type": "conversation.changed", "conversation_id": case.id, "status": "bot"});
    news.until(&told.to_string()).await;
    let decision = &done["ticket"]["resolved"];
    let said = (&decision["decision"], &decision["by"], &decision["why"]);
    assert_eq!(said, (&json!("approve"), &json!("Lan"), &json!("seen the photos")));
    assert_eq!((&done["rmas"][0]["locked"], &done["rmas"][0]["status"]), (&json!(false), &json!("Label_Sent")));
    case.advance(&locked, "In_Transit").await;
    assert_eq!(case.resolve(number, "approve", "seen the photos").await["ticket"], done["ticket"], "twice is once");
    let audit = case.lan.json("/console/api/audit?limit=200").await;
    let decided = audit["entries"].as_array().unwrap().iter().filter(|entry| entry["what"] == "escalation_resolved");
    let decided = decided.map(|entry| (&entry["who"], &entry["subject"], &entry["detail"]));
    let by_lan = |decision: &str| (json!("Lan"), json!(number), json!(decision));
    let decided: Vec<_> = decided.map(|(who, of, what)| (who.clone(), of.clone(), what.clone())).collect();
    assert_eq!(decided, [by_lan("approve"), by_lan("more_info")], "{audit}");
    let minh = Browser::sign_in(&app, "key-of-the-shop-0", "Minh").await;
    let other = minh.post(&decide(number), &json!({"decision": "reject", "why": "no"}));
    let detail = refused(other, 409, "already_resolved").await["detail"].clone();
    assert!(detail.as_str().unwrap().contains("approve, by Lan"), "{detail}");
    let returns = case.returns().await;
    assert_eq!(open(&returns), done["ticket"]);
    let by_lan: Vec<String> = recorded(&returns).into_iter().filter(|row| row.starts_with("Lan ")).collect();
    let expected = [
        "Lan ticket.resolved",
        "Lan mail.queued",
        "Lan ticket.resolved",
        "Lan rma.escalated",
        "Lan mail.queued",
        "Lan rma.status",
    ];
    assert_eq!(by_lan, expected);
}

#[tokio::test]
async fn approval_creates_return_or_reports_refusal() {
    let app = shop::open(guarded()).await;
    let case = Case::open(&app, &["return order 77897", "buyer-77897@example.com"]).await;
    let ticket = case.returns().await["tickets"][0].clone();
    assert_eq!((&ticket["kind"], &ticket["claim"]["lines"]), (&json!("escalation"), &json!([1])));
    let done = case.resolve(ticket["id"].as_str().unwrap(), "approve", "a regular").await;
    assert_eq!(done["rmas"][0]["order"], "77897", "{done:#}");
    assert_eq!(case.only_rma().await["number"], done["rmas"][0]["number"]);
    let late = Case::open(&app, &["return order 77894, it arrived broken", "buyer-77894@example.com"]).await;
    let ticket = late.returns().await["tickets"][0]["id"].as_str().unwrap().to_owned();
    let approval = late.lan.post(&decide(&ticket), &json!({"decision": "approve", "why": "x"}));
    let detail = refused(approval, 409, "illegal_step").await["detail"].clone();
    assert!(detail.as_str().unwrap().contains("window_over"), "{detail}");
    assert_eq!(late.returns().await["rmas"], json!([]));
}

#[tokio::test]
async fn returns_are_hidden_from_other_shops_and_sites() {
    let app = shop::open(guarded()).await;
    let case = Case::open(&app, &["return order 77893", JOHN, "yes", "the boots are shattered"]).await;
    let returns = case.returns().await;
    let rma = &returns["rmas"][0];
    let path = format!("/console/api/conversations/{}/returns", case.id);
    let writes = || {
        let resolve = json!({"decision": "reject", "why": "x"});
        [
            app.post(&path_of(rma), &json!({"to": "In_Transit"})),
            app.post(&path_of(rma), &json!({"to": "Label_Sent"})),
            app.post(&decide(rma["number"].as_str().unwrap()), &resolve),
        ]
    };
    let all = || writes().into_iter().chain([app.request(Method::GET, &path)]);
    let theirs = Browser::sign_in(&app, "key-of-the-shop-1", "Minh").await;
    for request in all() {
        let request = request.header("cookie", &theirs.cookie).header("sec-fetch-site", "same-origin");
        refused(request, 404, "not_found").await;
    }
    for request in all() {
        refused(request, 401, "unauthorized").await;
    }
    for request in writes() {
        let forged = request.header("cookie", &case.lan.cookie).header("x-console", "1");
        refused(forged.header("sec-fetch-site", "cross-site"), 403, "forbidden_origin").await;
    }
    let after = case.returns().await;
    assert_eq!(after["rmas"][0]["locked"], true, "{after:#}");
    assert!(recorded(&after).iter().all(|row| !row.starts_with("Minh")), "{after:#}");
}
