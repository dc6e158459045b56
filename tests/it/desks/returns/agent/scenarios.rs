//! Whole conversations with a model that works as instructed.

use serde_json::json;

use super::script::{check, create, create_by, driven, escalate, label, look, mail, say, whole_return};
use crate::desks::returns::shop::{Chat, mails, metadata};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;

const JOHN: &str = "john.doe@example.com";
const WHOSE: &str = "To protect your order: which e-mail address or phone number was it placed with?";

#[tokio::test]
async fn return_runs_from_question_to_mail() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![say("I can help with that. What's your order number?")]);
    assert_eq!(chat.say("I want to return my order").await.kinds(), ["order_prompt"]);
    shop.then(vec![look("77893"), say(WHOSE)]);
    let asked = chat.say("77893").await;
    assert_eq!(asked.kinds(), ["order_prompt"]);
    assert_eq!(shop.results()[0].1["error"], "NO_CONTACT");
    shop.then(vec![look("77893")]);
    shop.then(whole_return("77893", &[1], "the customer wants to return it"));
    let done = chat.say(JOHN).await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
    let reply = metadata(&done, "return_ticket");
    assert_eq!(reply["action_ticket"]["status"], "created");
    assert_eq!((&reply["eligibility"]["reason_code"], &reply["email_status"]), (&json!("APPROVED"), &json!("sent")));
    let text = done.text("return_ticket");
    assert!(text.contains("$129.99") && text.contains(reply["action_ticket"]["id"].as_str().unwrap()), "{text}");
    assert_dialogue!("returns_agent_happy_path", chat);
    let sent = mails(&shop.app);
    assert_eq!(sent.len(), 1, "the mail of the return and the one that the model asked for are one");
    assert!(sent[0].contains("To: john.doe@example.com"), "{}", sent[0]);
    let rmas = shop.rmas_of("77893").await;
    assert_eq!(rmas.len(), 1);
    assert_eq!(rmas[0].status.as_str(), "Label_Sent");
    assert_eq!(shop.left(), 0);
}

#[tokio::test]
async fn damage_after_return_locks_it_for_a_person() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893"), say(WHOSE)]);
    chat.say("I want to return my hiking boots from order 77893. They're too small.").await;
    shop.then(vec![look("77893")]);
    shop.then(whole_return("77893", &[1], "They're too small."));
    let done = chat.say(JOHN).await;
    let rma = metadata(&done, "return_ticket")["action_ticket"]["id"].as_str().unwrap().to_owned();
    let asked = shop.ollama.chats().len();
    let handed = chat.say("Actually, the boots are shattered. Can I get expedited processing?").await;
    assert_eq!(handed.kinds(), ["escalation", "follow_up"]);
    assert_eq!(metadata(&handed, "escalation")["escalation"]["priority"], "HIGH");
    assert!(handed.text("escalation").contains(&rma), "{handed:?}");
    assert_eq!(shop.ollama.chats().len(), asked, "damage after a return is the server's, whatever a model would say");
    assert!(shop.rmas_of("77893").await[0].escalated);
    assert_eq!(chat.status().await, "waiting");
    assert_dialogue!("returns_agent_damage_later", chat);
}

#[tokio::test]
async fn damage_goes_to_person_before_any_return() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![
        look("77893"),
        check("77893", &[1], "they arrived shattered"),
        escalate("LOW"),
        say("I'm sorry to hear that. A colleague will look at it; your ticket is {ticket}."),
    ]);
    let ended = chat.say(&format!("return order 77893, the boots arrived shattered. {JOHN}")).await;
    assert_eq!(ended.kinds(), ["escalation", "follow_up"]);
    let reply = metadata(&ended, "escalation");
    assert_eq!(
        (&reply["eligibility"]["reason_code"], &reply["escalation"]["priority"]),
        (&json!("DAMAGED_MANUAL"), &json!("HIGH"))
    );
    assert_eq!(chat.status().await, "waiting");
    assert_eq!(shop.rmas_of("77893").await.len(), 0);
    assert_eq!(mails(&shop.app), [] as [String; 0]);
    assert_dialogue!("returns_agent_damaged", chat);
}

#[tokio::test]
async fn ticket_state_is_told_after_a_handoff() {
    let shop = driven(TestApp::builder()).await;
    for (language, handoff, question) in [
        ("en", "my invoice was eaten by the dog", "my ticket?"),
        ("vi", "hóa đơn của tôi bị chó ăn mất", "ticket của tôi đâu rồi ạ?"),
    ] {
        let mut chat = Chat::open_with(&shop.app, json!({ "language": language })).await;
        shop.then(vec![escalate("LOW"), say("A colleague will look at it.")]);
        let handed = chat.say(handoff).await;
        let ticket = metadata(&handed, "escalation")["escalation"]["ticket_id"].clone();
        let reply = chat.say(question).await;
        assert_eq!(reply.kinds(), ["escalation", "follow_up"], "{question}");
        assert!(reply.text("escalation").contains(ticket.as_str().unwrap()), "{reply:?}");
    }
}

#[tokio::test]
async fn refund_covers_items_not_yet_returned() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![
        look("77900"),
        check("77900", &[2], "the customer wants the money back"),
        create_by("refund", "77900", &[2], "the customer wants the money back"),
        say("Done: your refund {rma} over {refund} is under way."),
    ]);
    let done = chat.say("I want a refund for order 77900, my mail is buyer-77900@example.com").await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"], "{:?}", shop.results());
    assert!(done.text("return_ticket").contains("$59.00"), "{done:?}");
    assert_dialogue!("returns_agent_refund", chat);
}

#[tokio::test]
async fn model_learns_which_window_is_open() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![
        look("77893"),
        check("77893", &[1], "money back"),
        create_by("refund", "77893", &[1], "money back"),
        say("The days for a refund are over, but you can return it. Shall I do that?"),
    ]);
    let offered = chat.say(&format!("refund for 77893 please, {JOHN}")).await;
    assert_eq!(offered.kinds(), ["action_prompt"]);
    let (_, refused) = shop.results().pop().unwrap();
    assert!(refused["message"].as_str().unwrap().contains("a return is"), "{refused}");
    assert_eq!(metadata(&offered, "action_prompt")["eligibility"]["is_refund_eligible"], false);
    assert_eq!(chat.say("yes please").await.kinds(), ["return_ticket", "follow_up"]);
    assert_dialogue!("returns_agent_only_return", chat);
}

#[tokio::test]
async fn a_status_is_told_without_a_question() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77899"), say("Your order 77899 with the Hiking Boots has been shipped and is on its way.")]);
    let shown = chat.say("Where's my order 77899? buyer-77899@example.com").await;
    assert_eq!(shown.kinds(), ["order_status", "follow_up"]);
    assert_dialogue!("returns_agent_status", chat);
}

#[tokio::test]
async fn wrong_number_is_asked_again_then_found() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77999"), say("I can't find order 77999 with those details. Could you check them?")]);
    assert_eq!(chat.say(&format!("Where's my order 77999? {JOHN}")).await.kinds(), ["order_prompt"]);
    assert_eq!(shop.results()[0].1["error"], "NOT_FOUND");
    shop.then(vec![look("77893"), say("I found it: order 77893 was delivered.")]);
    assert_eq!(chat.say(&format!("sorry, it is 77893, {JOHN}")).await.kinds(), ["order_status", "follow_up"]);
    assert_dialogue!("returns_agent_not_found", chat);
}

#[tokio::test]
async fn repeated_return_is_one_ticket_and_mail() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893")]);
    shop.then(whole_return("77893", &[1], "too small"));
    let first = chat.say(&format!("return order 77893, too small, {JOHN}")).await;
    shop.then(vec![check("77893", &[1], "too small"), say("You have asked for this before: your return is {rma}.")]);
    let again = chat.say("I want to return order 77893").await;
    assert_eq!(again.kinds(), ["return_ticket", "follow_up"]);
    let (first, again) = (metadata(&first, "return_ticket"), metadata(&again, "return_ticket"));
    assert_eq!(again["action_ticket"], json!({"id": first["action_ticket"]["id"], "status": "duplicate"}));
    let mut other = Chat::open(&shop.app).await;
    shop.then(vec![look("77893"), create("77893", &[1], "too small"), say("There is a return for it already: {rma}.")]);
    let third = other.say(&format!("return order 77893, {JOHN}")).await;
    assert_eq!(metadata(&third, "return_ticket")["action_ticket"], again["action_ticket"]);
    assert_eq!((mails(&shop.app).len(), shop.rmas_of("77893").await.len()), (1, 1));
    assert_dialogue!("returns_agent_duplicate", chat);
}

#[tokio::test]
async fn failed_mail_is_reported_and_retried_on_request() {
    let shop = driven(TestApp::builder().env("OUTBOX_BACK_OFF_SECONDS", 3600)).await;
    let in_the_way = shop.app.folder().join("outbox");
    std::fs::write(&in_the_way, "").unwrap();
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893")]);
    shop.then(whole_return("77893", &[1], "too small"));
    let failed = chat.say(&format!("return order 77893, too small, {JOHN}")).await;
    assert_eq!(failed.kinds(), ["return_ticket"]);
    let reply = metadata(&failed, "return_ticket");
    assert_eq!(reply["email_status"], "failed");
    assert!(!failed.text("return_ticket").contains("Great news"), "{failed:?}");
    std::fs::remove_file(&in_the_way).unwrap();
    let sent = chat.say("try again").await;
    assert_eq!(metadata(&sent, "return_ticket")["email_status"], "sent");
    assert_eq!(mails(&shop.app).len(), 1);
    assert_dialogue!("returns_agent_mail_failed", chat);
}

#[tokio::test]
async fn a_no_asks_for_another_order() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893"), say("I found order 77893 with Hiking Boots. Is this the one you want to return?")]);
    assert_eq!(chat.say(&format!("return order 77893, {JOHN}")).await.kinds(), ["order_confirm"]);
    assert_eq!(chat.say("no, wrong order").await.kinds(), ["order_prompt"]);
    assert_eq!(shop.rmas_of("77893").await.len(), 0);
    assert_dialogue!("returns_agent_declined", chat);
}

#[tokio::test]
async fn conversation_continues_between_status_and_return() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893"), say("Your order 77893 was delivered.")]);
    chat.say(&format!("where is order 77893, {JOHN}")).await;
    shop.then(whole_return("77893", &[1], "too small"));
    let done = chat.say("Actually I want to return it, too small. Order 77893").await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"], "who the customer is was shown before");
    shop.then(vec![look("77893"), say("A return has been started for order 77893.")]);
    let status = chat.say("what's the status of order 77893?").await;
    assert_eq!(status.kinds(), ["order_status", "follow_up"]);
    assert_dialogue!("returns_agent_status_return_status", chat);
}

#[tokio::test]
async fn two_orders_become_two_tickets() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("ABC-100003")]);
    shop.then(whole_return("ABC-100003", &[1], "not needed"));
    let first = chat.say("return ABC-100003, not needed, julia.weber@example.com").await;
    shop.then(vec![look("ABC-100015")]);
    shop.then(whole_return("ABC-100015", &[1], "not needed"));
    let second = chat.say("I also want to return order ABC-100015").await;
    let ticket = |events| metadata(events, "return_ticket")["action_ticket"]["id"].clone();
    assert_ne!(ticket(&first), ticket(&second));
    assert_ne!(first.text("follow_up"), second.text("follow_up"), "no text of the desk's is said twice in a row");
    assert_eq!(mails(&shop.app).len(), 2);
    assert_dialogue!("returns_agent_two_orders", chat);
}

#[tokio::test]
async fn every_refusal_carries_the_decision() {
    let shop = driven(TestApp::builder()).await;
    for (number, code) in [("77894", "TIME_EXP"), ("77896", "ITEM_EXCL"), ("77899", "DATA_ERR")] {
        let mut chat = Chat::open(&shop.app).await;
        shop.then(vec![
            look(number),
            check(number, &[1], "not needed"),
            say("I'm sorry, this one cannot be returned."),
        ]);
        let ended = chat.say(&format!("return order {number}, buyer-{number}@example.com")).await;
        assert_eq!(ended.kinds(), ["return_decision", "follow_up"], "{number}");
        assert_eq!(metadata(&ended, "return_decision")["eligibility"]["reason_code"], code, "{number}");
    }
    for number in ["77897", "77898"] {
        let mut chat = Chat::open(&shop.app).await;
        shop.then(vec![look(number), check(number, &[1], "not needed")]);
        shop.then(vec![escalate("MEDIUM"), say("A colleague will look at it. Your ticket is {ticket}.")]);
        let ended = chat.say(&format!("return order {number}, buyer-{number}@example.com")).await;
        assert_eq!(ended.kinds(), ["escalation", "follow_up"], "{number}");
        let reply = shop.results().into_iter().map(|(_, reply)| reply.to_string()).collect::<String>();
        assert!(!reply.contains("fraud") && !reply.contains("frequen"), "{reply}");
    }
}

#[tokio::test]
async fn unshipped_order_is_cancelled_after_desks_question() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("ABC-100001"), check("ABC-100001", &[1], "changed my mind")]);
    let offered = chat.say("cancel order ABC-100001, an.nguyen@example.com").await;
    assert_eq!(offered.kinds(), ["action_prompt"]);
    let done = chat.say("yes, cancel it").await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
    assert_eq!(shop.left(), 0);
    assert_dialogue!("returns_agent_cancelled", chat);
}

#[tokio::test]
async fn the_same_goes_in_vietnamese() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open_with(&shop.app, json!({"language": "vi"})).await;
    shop.then(vec![look("77893"), check("77893", &[1], "chật quá"), create("77893", &[1], "chật quá"), label("77893")]);
    shop.then(vec![
        mail("77893", "label_ready"),
        say("Dạ em đã tạo yêu cầu trả hàng {rma} ạ. Quý khách được hoàn {refund} khi hàng về."),
    ]);
    let done = chat.say(&format!("tôi muốn trả đơn 77893, giày chật quá, {JOHN}")).await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"], "{:?}", shop.results());
    assert_eq!(mails(&shop.app).len(), 2, "the return's and the label's");
    let system = shop.ollama.chats()[0]["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("`vi`"), "{system}");
    assert_dialogue!("returns_agent_happy_path_vi", chat);
}

#[tokio::test]
async fn model_can_call_a_person() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![escalate("URGENT"), say("I've asked a colleague to help you. Your ticket is {ticket}.")]);
    let handed = chat.say("my cat has eaten the invoice and I am desperate").await;
    assert_eq!(handed.kinds(), ["escalation", "follow_up"]);
    assert_eq!(metadata(&handed, "escalation")["escalation"]["priority"], "URGENT");
    assert_eq!(chat.status().await, "waiting");
    let asked = shop.ollama.chats().len();
    let wanted = chat.say("I want to talk to a human").await;
    assert_eq!(wanted.kinds(), ["escalation", "follow_up"]);
    assert_eq!(shop.ollama.chats().len(), asked, "who wants a person gets one without a model");
}

#[tokio::test]
async fn policy_question_during_return_is_answered_from_documents() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![say("Sure. What's your order number?")]);
    chat.say("I want to return my order").await;
    let answered = chat.say("how many days do I have to return something?").await;
    assert_eq!(answered.kinds(), ["reply", "order_prompt"]);
    assert!(answered.text("reply").contains("30"), "{answered:?}");
    assert!(!answered.first("sources")["items"].as_array().unwrap().is_empty());
}
