//! How many calls of the model agent mode needs.

use super::script::{Step, check, driven, escalate, look, mail, say, whole_return};
use crate::desks::returns::shop::{Chat, open};
use crate::support::app::TestApp;
use crate::support::ollama::ScriptedOllama;

/// What the customer writes, and what a model does then in agent mode.
type Said = (&'static str, Vec<Step>);

fn dialogues() -> Vec<(&'static str, Vec<Said>)> {
    let whose = || vec![look("77893"), say("Which e-mail address or phone number was it placed with?")];
    let returned = |order: &str, items: &[u32], reason: &str| {
        let mut steps = vec![look(order)];
        steps.extend(whole_return(order, items, reason));
        steps
    };
    vec![
        (
            "a return, step by step",
            vec![
                ("I want to return my order", vec![say("What's your order number?")]),
                ("77893", whose()),
                ("john.doe@example.com", returned("77893", &[1], "the customer wants to return it")),
            ],
        ),
        (
            "a status",
            vec![
                ("Where's my order?", vec![say("What's your order number?")]),
                ("77899", vec![look("77899"), say("Which e-mail address was it placed with?")]),
                ("buyer-77899@example.com", vec![look("77899"), say("Order 77899 is on its way.")]),
            ],
        ),
        (
            "a refusal",
            vec![(
                "return order 77894, buyer-77894@example.com",
                vec![
                    look("77894"),
                    check("77894", &[1], "return"),
                    mail("77894", "return_rejected"),
                    say("I'm sorry, it cannot be returned."),
                ],
            )],
        ),
        (
            "damage after a return",
            vec![
                ("return order 77895, too small, buyer-77895@example.com", returned("77895", &[1], "too small")),
                ("Actually, they are shattered.", vec![]),
            ],
        ),
        (
            "a person",
            vec![("my invoice was eaten by the dog", vec![escalate("LOW"), say("A colleague has it: {ticket}.")])],
        ),
    ]
}

#[tokio::test]
async fn the_calls_of_the_model_in_both_modes() {
    let by_table = ScriptedOllama::start().await;
    // What the rules do not understand, the model is asked about in supervisor mode.
    by_table.otherwise(|_| Some(crate::support::ollama::Play::answer("{\"intent\":\"other\"}")));
    let table = open(TestApp::builder().ollama(&by_table)).await;
    let shop = driven(TestApp::builder()).await;
    let (mut turns, mut agent, mut supervisor) = (0, 0, 0);
    for (name, dialogue) in dialogues() {
        let (before_agent, before_table) = (shop.ollama.chats().len(), by_table.chats().len());
        let mut chat = Chat::open(&shop.app).await;
        let mut other = Chat::open(&table).await;
        for (said, steps) in &dialogue {
            shop.then(steps.clone());
            chat.say(said).await;
            other.say(said).await;
        }
        if dialogue.iter().any(|(said, _)| said.contains("return")) {
            // The table asks whether it is the right order; the model may continue at once.
            other.say("yes").await;
        }
        let (a, s) = (shop.ollama.chats().len() - before_agent, by_table.chats().len() - before_table);
        println!("{name}: {} turns, agent mode {a} calls, supervisor mode {s}", dialogue.len());
        (turns, agent, supervisor) = (turns + dialogue.len(), agent + a, supervisor + s);
    }
    println!("all: {turns} turns, agent mode {agent} calls, supervisor mode {supervisor}");
    assert_eq!(shop.left(), 0);
    assert!(supervisor < agent);
}
