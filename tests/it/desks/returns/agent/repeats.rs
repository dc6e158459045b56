//! Repeated tool calls are idempotent, recorded, and announced.

use frontdesk::domain::ConversationId;
use serde_json::json;

use super::script::{create, driven, label, look, mail, say, tenant, whole_return};
use crate::desks::returns::shop::{Chat, mails, metadata};
use crate::support::app::TestApp;

const WISH: &str = "return order 77893, too small, john.doe@example.com";

#[tokio::test]
async fn repeated_calls_have_one_effect() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    let twice = |step: super::script::Step| [step.clone(), step];
    let mut steps = vec![look("77893")];
    steps.extend(twice(create("77893", &[1], "too small")));
    steps.extend(twice(label("77893")));
    steps.extend(twice(mail("77893", "return_approved")));
    steps.push(say("Your return {rma} is set up."));
    shop.then(steps);
    let done = chat.say(WISH).await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
    assert_eq!(metadata(&done, "return_ticket")["action_ticket"]["status"], "created");
    let results = shop.results();
    let same = |a: usize, b: usize, field: &str| assert_eq!(results[a].1[field], results[b].1[field], "{field}");
    same(1, 2, "rma_number");
    same(3, 4, "tracking_number");
    same(5, 6, "message_id");
    assert_eq!((shop.rmas_of("77893").await.len(), mails(&shop.app).len()), (1, 1));
}

#[tokio::test]
async fn return_is_found_after_state_loss() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893")]);
    shop.then(whole_return("77893", &[1], "too small"));
    let first = metadata(&chat.say(WISH).await, "return_ticket");
    // As after a kill that follows the tool's commit: the return exists, and the state has only the order.
    let store = shop.app.inner.store.tenant(&tenant()).find_conversation(id(&chat)).await.unwrap().unwrap();
    let mut state = store.state;
    for field in ["action_ticket", "email_status", "refund", "eligibility", "desired_action", "user_confirmed_order"] {
        state[field] = json!(null);
    }
    state["conversation_complete"] = json!(false);
    state["meta"]["last_rma"] = json!(null);
    shop.app.inner.store.tenant(&tenant()).save_state(id(&chat), &state).await.unwrap();
    shop.then(whole_return("77893", &[1], "too small")[1..].to_vec());
    let again = chat.say("are you still there?").await;
    assert_eq!(again.kinds(), ["return_ticket", "follow_up"]);
    let again = metadata(&again, "return_ticket");
    assert_eq!(again["action_ticket"], first["action_ticket"], "created, and not a duplicate: it is the same asking");
    assert_eq!((shop.rmas_of("77893").await.len(), mails(&shop.app).len()), (1, 1));
}

fn id(chat: &Chat<'_>) -> ConversationId {
    chat.id.parse().unwrap()
}

#[tokio::test]
async fn calls_are_recorded_without_personal_data() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893")]);
    shop.then(whole_return("77893", &[1], "too small for john.doe@example.com"));
    let done = chat.say(WISH).await;
    let names = ["get_order_details", "check_eligibility", "create_rma", "generate_return_label", "send_email"];
    let of =
        |kind: &str| -> Vec<_> { done.data().into_iter().filter(|event| event["type"] == kind).cloned().collect() };
    let (starts, ends) = (of("tool.start"), of("tool.end"));
    assert_eq!(starts, names.map(|name| json!({"type": "tool.start", "name": name})));
    for (end, name) in ends.iter().zip(names) {
        assert_eq!((&end["name"], &end["ok"]), (&json!(name), &json!(true)));
        assert!(end["ms"].is_u64() && end.as_object().unwrap().len() == 4, "{end}");
    }
    assert_eq!(ends.len(), 5);
    let rows = shop.audit(&chat.id).await;
    let tools: Vec<&str> = rows.iter().filter_map(|(what, _)| what.strip_prefix("tool.")).collect();
    assert_eq!(tools, names);
    for decided in
        ["eligibility.decided", "rma.created", "order.status", "rma.status", "label.issued", "mail.queued", "mail.sent"]
    {
        assert!(rows.iter().any(|(what, _)| what == decided), "{decided}: {rows:?}");
    }
    for (what, after) in &rows {
        let after = after.to_string();
        assert!(!after.contains("john.doe") && !after.contains("too small"), "{what}: {after}");
    }
}
