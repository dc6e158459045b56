//! Handoffs, claims and commands.

use std::time::Duration;

use frontdesk::domain::returns::Resolution;
use frontdesk::domain::{ConversationStatus, TenantId};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use super::{ask, customer, open_desk, say_all, wait_for_results};
use crate::desks::retail::chat::Shop;
use crate::desks::returns::decisions::resolve;
use crate::http::console::{answer, hand};

#[tokio::test]
async fn claim_while_waiting_joins_the_ticket() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000001").await;
    say_all(&mut chat, &["I want to talk to a person"]).await;
    let said = say_all(&mut chat, &["I was charged twice, I want my money back"]).await;
    assert!(said.contains("already knows"), "{said}");
    let (tenant, id) = (TenantId::default(), chat.id.parse().unwrap());
    let tickets = desk.app.inner.store.tenant(&tenant).list_tickets_in(id).await.unwrap();
    let [ticket] = tickets.as_slice() else { panic!("{tickets:?}") };
    assert!(ticket.summary.contains("a dispute"), "{}", ticket.summary);
}

#[tokio::test]
async fn decision_is_said_in_the_customers_language() {
    let desk = open_desk().await;
    let (app, tenant) = (&desk.app, TenantId::default());
    for (at, (code, question, closed)) in [
        ("sw", "tunahitaji kujua zaidi: Which colour?", "limefungwa"),
        ("sheng", "tunahitaji kujua zaidi: Which colour?", "limefungwa"),
        ("en", "we need to know a little more: Which colour?", "is closed"),
    ]
    .into_iter()
    .enumerate()
    {
        let of = json!({ "user_id": format!("+25470000010{at}"), "persona": "commerce_sw", "language": code });
        let mut chat = desk.chat_with(of).await;
        say_all(&mut chat, &["I want to talk to a person"]).await;
        let id = chat.id.parse().unwrap();
        let tickets = app.inner.store.tenant(&tenant).list_tickets_in(id).await.unwrap();
        for (decision, why) in [(Resolution::MoreInfo, "Which colour?"), (Resolution::Approve, "sent one")] {
            resolve(app, &tickets[0].id, decision, why).await;
        }
        let said = wait_for_results(app, &chat.id, 2).await;
        assert!(said[0].contains(question) && said[1].contains(closed), "{code}: {said:?}");
        assert!(said.iter().all(|text| text.contains(&tickets[0].id)), "{said:?}");
    }
}

#[tokio::test]
async fn answer_to_a_person_reaches_the_ticket() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000007").await;
    say_all(&mut chat, &["I want to talk to a person"]).await;
    let (tenant, id) = (TenantId::default(), chat.id.parse().unwrap());
    let store = desk.app.inner.store.tenant(&tenant);
    let ticket = store.list_tickets_in(id).await.unwrap().remove(0);
    let mut answers = Vec::new();
    for (at, (question, answer, reply)) in [
        ("Which colour did you get?", "Black, size 42", "passed that on"),
        ("Shall we exchange them?", "yes, thanks", "passed that on"),
        // The desk answers what it can.
        ("Where do you live?", "Kisumu. Where is my order?", "order"),
    ]
    .into_iter()
    .enumerate()
    {
        resolve(&desk.app, &ticket.id, Resolution::MoreInfo, question).await;
        wait_for_results(&desk.app, &chat.id, at + 1).await;
        // A greeting is no answer.
        ask(&desk.app, &chat.id, "hello").await;
        let said = ask(&desk.app, &chat.id, answer).await;
        assert!(said.contains(reply), "{answer}: {said}");
        answers.push(format!("Question: {question}\nAnswer: {answer}"));
        let stored = store.find_ticket(&ticket.id).await.unwrap().unwrap();
        assert!(answers.iter().all(|answer| stored.summary.contains(answer)), "{}", stored.summary);
        assert_eq!(stored.question, None);
        let conversation = store.find_conversation(id).await.unwrap().unwrap();
        assert_eq!(conversation.status, ConversationStatus::Waiting);
    }
}

#[tokio::test]
async fn abuse_gets_no_reply_while_waiting() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000002").await;
    say_all(&mut chat, &["I want to talk to a person"]).await;
    assert_eq!(say_all(&mut chat, &["you are stupid"]).await, "");
}

#[tokio::test]
async fn stop_counts_while_a_person_answers() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000003").await;
    say_all(&mut chat, &["hi"]).await;
    hand(&desk.app, &chat.id, "take").await;
    assert_eq!(say_all(&mut chat, &["where is my order"]).await, "");
    let said = say_all(&mut chat, &["STOP"]).await;
    assert!(said.contains("START"), "{said}");
}

#[tokio::test]
async fn stop_counts_while_a_person_takes_over() {
    let desk = open_desk().await;
    let mut dice = StdRng::seed_from_u64(20_261_124);
    for round in 0..60 {
        let mut chat = customer(&desk, &format!("+2547000001{round:02}")).await;
        let id = chat.id.clone();
        let pause = Duration::from_micros(dice.random_range(0..12_000));
        let take = async {
            tokio::time::sleep(pause).await;
            hand(&desk.app, &id, "take").await;
        };
        let (said, ()) = tokio::join!(say_all(&mut chat, &["STOP"]), take);
        assert!(said.contains("START"), "round {round}, {pause:?}: {said}");
    }
}

#[tokio::test]
async fn requested_language_is_kept_for_the_customer() {
    let desk = open_desk().await;
    let phone = "+254700000004";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &["please speak Swahili"]).await;
    let mut later = customer(&desk, phone).await;
    let said = say_all(&mut later, &["1"]).await;
    assert!(said.contains("Samahani") || said.contains("Unatafuta"), "{said}");
}

#[tokio::test]
async fn receipt_is_no_coupon() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000005").await;
    say_all(&mut chat, &["gum boots size 41 black"]).await;
    for text in ["SGH7K2LQ9P", "0733444555"] {
        let said = say_all(&mut chat, &[text]).await;
        assert!(!said.contains("coupon"), "{text}: {said}");
    }
}

#[tokio::test]
async fn yes_to_a_person_pays_nothing() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000006").await;
    say_all(&mut chat, &["canvas shoes black 41"]).await;
    assert_eq!(chat.say("pay with mpesa").await.kinds(), ["payment_prompt"]);
    hand(&desk.app, &chat.id, "take").await;
    answer(&desk.app, &chat.id, "Shall I also put the white pair aside for you?").await;
    hand(&desk.app, &chat.id, "give-back").await;
    // The answer was a turn as well.
    chat.turns += 1;
    let asked_again = chat.say("yes please").await;
    assert_eq!(asked_again.kinds(), ["payment_prompt"]);
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 9: Conversation Governance
#[tokio::test]
async fn spam_counts_in_the_next_conversation() {
    let desk = open_desk().await;
    let spam = "buy bitcoin and forex signals";
    let mut first = customer(&desk, "+254700000001").await;
    for is_answered in [true, true, false] {
        assert_eq!(!say_all(&mut first, &[spam]).await.is_empty(), is_answered);
    }
    let mut next = customer(&desk, "+254700000001").await;
    assert_eq!(say_all(&mut next, &[spam]).await, "");
    let mut other = customer(&desk, "+254700000002").await;
    assert!(!say_all(&mut other, &[spam]).await.is_empty(), "another customer");
    assert!(say_all(&mut next, &["canvas shoes"]).await.contains("KSh 1,250"));
    assert!(!say_all(&mut next, &[spam]).await.is_empty(), "after business");
}

/// Says something until there is a ticket. Returns its summary, and how many messages it took.
async fn say_until_ticket(desk: &Shop, phone: &str, text: &str) -> (String, usize) {
    let mut chat = customer(desk, phone).await;
    for count in 1..=6 {
        say_all(&mut chat, &[text]).await;
        let (tenant, id) = (TenantId::default(), chat.id.parse().unwrap());
        let tickets = desk.app.inner.store.tenant(&tenant).list_tickets_in(id).await.unwrap();
        if let [ticket] = tickets.as_slice() {
            return (ticket.summary.clone(), count);
        }
    }
    panic!("{text}: no ticket")
}

#[tokio::test]
async fn frustration_and_clarifications_call_a_person() {
    let desk = open_desk().await;
    let (summary, count) =
        say_until_ticket(&desk, "+254700000001", "this is so frustrating, you are not helping").await;
    assert!(count == 2 && summary.contains("frustrated"), "{count}: {summary}");
    let (summary, count) = say_until_ticket(&desk, "+254700000002", "zzqx vrbl").await;
    assert!(count == 3 && summary.contains("questions did not help"), "{count}: {summary}");
}
