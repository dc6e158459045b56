//! What a desk receives from memory equals what is stored, whatever happened before.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{TimeDelta, Utc};
use frontdesk::desks::{Desk, DeskError, DeskFactory, OpenDesk, Services, Turn};
use frontdesk::domain::{Kind, Language, LanguageSource, TenantId};
use frontdesk::persona::{PromptError, Prompts};
use frontdesk::turn::retention;
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::http::console::{answer, hand};
use crate::http::live::ended;
use crate::support::app::TestApp;

/// How many earlier messages a turn receives.
const HISTORY_MESSAGES: u64 = 80;
const STEPS: usize = 250;
const STEP_TIMEOUT: Duration = Duration::from_secs(300);

/// A desk that compares its turn with the store. Takes the place of the retail desk.
#[derive(Clone, Default)]
struct ComparingFactory {
    turns: Arc<Mutex<usize>>,
    differences: Arc<Mutex<Vec<String>>>,
}

struct ComparingDesk(ComparingFactory, Services);

impl DeskFactory for ComparingFactory {
    fn name(&self) -> &'static str {
        "retail"
    }

    fn load(&self, _: &Prompts, _: &[Language]) -> Result<OpenDesk, PromptError> {
        let compared = self.clone();
        Ok(Box::new(|services| Arc::new(ComparingDesk(compared, services.clone()))))
    }
}

#[async_trait]
impl Desk for ComparingDesk {
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let Self(compared, services) = self;
        let (id, number) = (turn.conversation.id, turn.number());
        let store = services.store.tenant(&turn.conversation.tenant);
        let history = store.list_messages_before(id, number, HISTORY_MESSAGES).await?;
        let stored = store.find_conversation(id).await?.map(|mut stored| {
            // Messages that wait have changed them since.
            stored.last_turn = turn.conversation.last_turn;
            stored.last_activity_at = turn.conversation.last_activity_at;
            stored
        });
        *compared.turns.lock().unwrap() += 1;
        if turn.history != history || stored.as_ref() != Some(&turn.conversation) {
            let (mine, of) = (&turn.history, &turn.conversation);
            let difference = format!("turn {number}: {mine:?} instead of {history:?}, {of:?} instead of {stored:?}");
            compared.differences.lock().unwrap().push(difference);
        }
        turn.state = json!({ "turn": number });
        match turn.message.text.as_str() {
            "language" => turn.set_language("en".parse().unwrap(), LanguageSource::Requested),
            "person" => turn.call_person(),
            "panic" => panic!("as the customer wished"),
            _ => {}
        }
        for n in 0..number % 3 {
            turn.say(Kind::Reply, &format!("{n}: {}", turn.message.text.clone())).await?;
        }
        Ok(())
    }
}

async fn say(app: &TestApp, id: &str, text: &str) -> Option<u64> {
    let path = format!("/conversations/{id}/messages");
    let response = app.post(&path, &json!({ "text": text })).send().await.unwrap();
    if response.status() != 202 {
        return None;
    }
    response.json::<serde_json::Value>().await.unwrap()["turn"].as_u64()
}

async fn until_ended(app: &TestApp, id: &str, turn: Option<u64>) {
    if let Some(turn) = turn {
        ended(app, id, turn.try_into().unwrap()).await;
    }
}

/// Waits until no turn runs: what changes in the middle of one is not compared.
async fn until_idle(app: &TestApp, ids: &[String]) {
    for id in ids {
        let id = id.parse().unwrap();
        while app.inner.store.tenant(&TenantId::default()).find_open_turn(id).await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Say,
    SayManyAtOnce,
    TakeAndGiveBack,
    Close,
    Cancel,
    Forget,
    Delete,
    /// Another process erases the customer.
    Erase,
}

impl Step {
    /// The steps, and how often each is chosen among all.
    const WEIGHTS: [(Self, usize); 8] = [
        (Self::Say, 12),
        (Self::SayManyAtOnce, 2),
        (Self::TakeAndGiveBack, 3),
        (Self::Close, 1),
        (Self::Cancel, 2),
        (Self::Forget, 1),
        (Self::Delete, 1),
        (Self::Erase, 2),
    ];

    fn choose(random: &mut StdRng) -> Self {
        let all = Self::WEIGHTS.iter().flat_map(|(step, weight)| std::iter::repeat_n(*step, *weight));
        let all: Vec<Self> = all.collect();
        all[random.random_range(0..all.len())]
    }

    /// Whether it may meet a running turn.
    fn may_interfere(self) -> bool {
        matches!(self, Self::Say | Self::SayManyAtOnce | Self::Cancel)
    }
}

async fn random_step(app: &TestApp, random: &mut StdRng, ids: &mut [String]) {
    let (index, step) = (random.random_range(0..ids.len()), Step::choose(random));
    if !step.may_interfere() {
        until_idle(app, ids).await;
    }
    let id = &ids[index];
    match step {
        Step::Say => {
            let text = ["hello", "language", "person", "panic", ""][random.random_range(0..5)];
            let turn = say(app, id, text).await;
            // Sometimes the next step meets a running turn.
            if random.random_bool(0.8) {
                until_ended(app, id, turn).await;
            }
        }
        Step::SayManyAtOnce => {
            let turns = join_all((0..random.random_range(2..12)).map(|_| say(app, id, "at once"))).await;
            until_ended(app, id, turns.into_iter().flatten().max()).await;
        }
        Step::TakeAndGiveBack => {
            hand(app, id, "take").await;
            let said = say(app, id, "to a person").await;
            answer(app, id, "from a person").await;
            hand(app, id, "give-back").await;
            until_ended(app, id, said).await;
        }
        Step::Close => drop(hand(app, id, "close").await),
        Step::Cancel => {
            let turn = say(app, id, "cancelled").await;
            let path = format!("/conversations/{id}/turns/{}/cancel", turn.unwrap_or(1));
            app.request(reqwest::Method::POST, &path).send().await.unwrap();
            until_ended(app, id, turn).await;
        }
        Step::Forget => {
            let now = Utc::now() + TimeDelta::days(31);
            let (engine, config) = (&app.inner.engine, &app.inner.config);
            retention::forget(engine, config, now, &CancellationToken::new()).await.unwrap();
        }
        Step::Delete => {
            app.request(reqwest::Method::DELETE, &format!("/conversations/{id}")).send().await.unwrap();
            assert_eq!(say(app, id, "too late").await, None);
            ids[index] = app.open(&json!({})).await;
        }
        Step::Erase => {
            let erased = app.inner.store.tenant(&TenantId::default()).delete_conversation(id.parse().unwrap()).await;
            assert!(erased.is_ok());
            ids[index] = app.open(&json!({})).await;
        }
    }
}

#[tokio::test]
async fn desk_receives_exactly_what_is_stored() {
    for seed in 1..=2 {
        let compared = ComparingFactory::default();
        let builder = TestApp::builder().desk(compared.clone());
        let app = builder.env("MESSAGE_RETENTION_DAYS", 30).env("TURNS_PER_MINUTE", 100_000).start().await;
        let mut random = StdRng::seed_from_u64(seed);
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(app.open(&json!({})).await);
        }
        for _ in 0..STEPS {
            let step = random_step(&app, &mut random, &mut ids);
            // Only so that a turn that never ends fails the test.
            tokio::time::timeout(STEP_TIMEOUT, step).await.expect("a turn never ended");
        }
        assert_eq!(*compared.differences.lock().unwrap(), Vec::<String>::new(), "seed {seed}");
        assert!(*compared.turns.lock().unwrap() > STEPS / 2);
    }
}
