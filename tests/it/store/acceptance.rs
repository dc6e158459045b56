//! Accepting messages.

use chrono::{DateTime, TimeDelta, Utc};
use frontdesk::domain::ConversationId;
use frontdesk::store::acceptance::{Acceptance, NewTurn};
use futures_util::future::join_all;

use super::{TestStore, accepted, key, opened, tenant, turn_of};

/// Returns the time in microseconds, which databases store exactly.
fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_micros(Utc::now().timestamp_micros()).unwrap()
}

#[tokio::test]
async fn message_key_expires_after_24_hours() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    let now = now();
    let (mine, other) = (key("k", "body"), key("k", "another body"));
    let door = store.tenant(&shop);
    let at = |hours: i64, minutes: i64| now + TimeDelta::hours(hours) + TimeDelta::minutes(minutes);
    let first = turn_of(id, "a", now);
    let first_message = first.message_id;
    let accepted = Acceptance::Accepted { turn: 1, message_id: first_message };
    assert_eq!(door.accept(&NewTurn { idempotency: Some(&mine), ..first }).await.unwrap(), accepted);
    let repeated = Acceptance::Repeated { turn: 1, message_id: first_message };
    for when in [at(0, 0), at(1, 0), at(23, 59)] {
        // Limits do not apply.
        let again = NewTurn {
            waiting_max: 0,
            per_minute: Some(1),
            full: true,
            idempotency: Some(&mine),
            ..turn_of(id, "a", when)
        };
        assert_eq!(door.accept(&again).await.unwrap(), repeated);
        let reused = NewTurn { idempotency: Some(&other), ..turn_of(id, "b", when) };
        assert_eq!(door.accept(&reused).await.unwrap(), Acceptance::KeyReused);
    }
    let late = turn_of(id, "b", at(24, 0));
    let message_id = late.message_id;
    let late = NewTurn { idempotency: Some(&other), ..late };
    assert_eq!(door.accept(&late).await.unwrap(), Acceptance::Accepted { turn: 2, message_id });
    assert_eq!(door.find_conversation(id).await.unwrap().unwrap().last_turn, 2, "no refusal took a number");
}

#[tokio::test]
async fn limits_are_exact_when_many_ask_at_once() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    for (waiting_max, per_minute) in [(5, None), (100, Some(5))] {
        let id = opened(&store, &shop).await;
        let now = now();
        let asked = (0..40).map(|_| {
            let (store, shop) = (store.clone(), shop.clone());
            async move {
                let new = NewTurn { waiting_max, per_minute, ..turn_of(id, "a", now) };
                store.tenant(&shop).accept(&new).await.unwrap()
            }
        });
        let mut turns: Vec<u32> = join_all(asked)
            .await
            .into_iter()
            .filter_map(|answer| match answer {
                Acceptance::Accepted { turn, .. } => Some(turn),
                Acceptance::TooManyWaiting => (waiting_max == 5).then_some(0),
                Acceptance::TooManyPerMinute { retry_after } => {
                    assert_eq!(retry_after, 61);
                    Some(0)
                }
                other => panic!("{other:?}"),
            })
            .filter(|turn| *turn > 0)
            .collect();
        turns.sort_unstable();
        assert_eq!(turns, [1, 2, 3, 4, 5]);
    }
}

#[tokio::test]
async fn minute_limit_uses_a_sliding_window() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    let begin = now();
    let door = store.tenant(&shop);
    let ask = async |seconds: i64| {
        let new = NewTurn { per_minute: Some(2), ..turn_of(id, "a", begin + TimeDelta::seconds(seconds)) };
        door.accept(&new).await.unwrap()
    };
    assert!(matches!(ask(0).await, Acceptance::Accepted { .. }));
    assert!(matches!(ask(20).await, Acceptance::Accepted { .. }));
    assert_eq!(ask(30).await, Acceptance::TooManyPerMinute { retry_after: 31 });
    assert_eq!(ask(59).await, Acceptance::TooManyPerMinute { retry_after: 2 });
    assert!(matches!(ask(60).await, Acceptance::Accepted { .. }));
    assert_eq!(ask(61).await, Acceptance::TooManyPerMinute { retry_after: 20 });
}

#[tokio::test]
async fn nobody_speaks_in_another_shops_conversation() {
    let TestStore { store, _folder } = TestStore::open().await;
    let id = opened(&store, &tenant("acme")).await;
    for (shop, conversation) in [("beta", id), ("acme", ConversationId::now())] {
        let answer = store.tenant(&tenant(shop)).accept(&turn_of(conversation, "a", now())).await.unwrap();
        assert_eq!(answer, Acceptance::NotFound);
    }
    assert_eq!(accepted(&store, &tenant("acme"), id, 1).await, 1);
}
