//! What agent mode costs, counted and timed: printed, not judged.

use std::time::Instant;

use chrono::Utc;
use frontdesk::domain::returns::{Action, Hand, Rma, TrackingNumber, Windows};
use frontdesk::store::mails::NewMail;
use frontdesk::store::returns::By;
use frontdesk::store::returns::create::NewReturn;
use serde_json::json;

use super::script::{Step, check, driven, escalate, look, mail, say, tenant, whole_return};
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

/// A return with five tool calls and a model that answers at once, compared with the same statements alone. To be run by itself, as a release:
/// `cargo test --release --test it five_tools -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "a measurement"]
async fn five_tools_beside_the_same_statements_alone() {
    const TIMES: usize = 40;
    let shop = driven(TestApp::builder()).await;
    let (mut with_model, mut alone) = (Vec::new(), Vec::new());
    let tenant = tenant();
    let zone = shop.app.inner.config.shops.time_zone;
    for _ in 0..TIMES {
        let sample = frontdesk::cli::seed::sample::shop(&tenant, Utc::now(), zone);
        shop.app.inner.store.tenant(&tenant).make_sample(&sample, true).await.unwrap();
        let mut chat = Chat::open(&shop.app).await;
        shop.then(vec![look("77893")]);
        shop.then(whole_return("77893", &[1], "too small"));
        let began = Instant::now();
        chat.say("return order 77893, too small, john.doe@example.com").await;
        with_model.push(began.elapsed());

        shop.app.inner.store.tenant(&tenant).make_sample(&sample, true).await.unwrap();
        let began = Instant::now();
        statements(&shop.app).await;
        alone.push(began.elapsed());
    }
    with_model.sort();
    alone.sort();
    let (model, sql) = (with_model[TIMES / 2], alone[TIMES / 2]);
    println!(
        "a five-tool return, median of {TIMES}: {model:?} with six calls of a model that answers at once, {sql:?} for its statements alone"
    );
}

/// What the five tools write and read.
async fn statements(app: &TestApp) {
    let tenant = tenant();
    let store = app.inner.store.tenant(&tenant);
    let number = "77893".parse().unwrap();
    let terms = frontdesk::domain::returns::Terms {
        windows: Windows::default(),
        frequency: Default::default(),
        damage: frontdesk::domain::returns::DamageWords::new(&["broken"], &["not"]).unwrap(),
        time_zone: app.inner.config.shops.time_zone,
    };
    let by = By { hand: Hand::Automatic, who: "measure", conversation: None, now: Utc::now() };
    store.find_order(&number).await.unwrap().unwrap();
    store.check_eligibility(&number, &[1], "too small", &terms, by.now).await.unwrap();
    let mail = |order: &frontdesk::domain::commerce::Order, rma: &Rma| {
        Some(NewMail {
            number: NewMail::number_for(rma, "return_approved"),
            to: order.email.clone(),
            template: "return_approved".to_owned(),
            language: frontdesk::domain::Language::EN,
            context: json!({}),
            conversation: None,
            order: Some(order.number.clone()),
            rma: Some(rma.number.clone()),
        })
    };
    let new = NewReturn {
        order: &number,
        lines: &[1],
        action: Action::Return,
        agreed: None,
        reason: "too small",
        request: "measure",
        terms: &terms,
        asked_at: by.now,
        random: [1, 2, 3, 4],
        mail: &mail,
    };
    store.create_return(&new, &by).await.unwrap();
    let rma = store.list_rmas_of(&number).await.unwrap().pop().unwrap();
    store.issue_label(&rma.number, &TrackingNumber::new(7), &by).await.unwrap();
    store.list_mails_of(&rma.number).await.unwrap();
}
