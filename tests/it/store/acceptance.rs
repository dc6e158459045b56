//! Accepting messages.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use frontdesk::domain::{Channel, ConversationId};
use frontdesk::store::acceptance::{Acceptance, NewTurn};
use frontdesk::store::channels::Inbound;
use futures_util::future::join_all;

use super::{TestStore, accept, accepted, conversation, key, opened, tenant, turn_of};

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
    let at = |hours: i64, minutes: i64| now + TimeDelta::hours(hours) + TimeDelta::minutes(minutes);
    let first = turn_of(id, "a", now);
    let first_message = first.message_id;
    let accepted = Acceptance::Accepted { turn: 1, message_id: first_message };
    assert_eq!(accept(&store, &shop, &NewTurn { idempotency: Some(&mine), ..first }).await, accepted);
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
        assert_eq!(accept(&store, &shop, &again).await, repeated);
        let reused = NewTurn { idempotency: Some(&other), ..turn_of(id, "b", when) };
        assert_eq!(accept(&store, &shop, &reused).await, Acceptance::KeyReused);
    }
    let late = turn_of(id, "b", at(24, 0));
    let message_id = late.message_id;
    let late = NewTurn { idempotency: Some(&other), ..late };
    assert_eq!(accept(&store, &shop, &late).await, Acceptance::Accepted { turn: 2, message_id });
    assert_eq!(
        store.tenant(&shop).find_conversation(id).await.unwrap().unwrap().last_turn,
        2,
        "no refusal took a number"
    );
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
                accept(&store, &shop, &new).await
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
    let ask = async |seconds: i64| {
        let new = NewTurn { per_minute: Some(2), ..turn_of(id, "a", begin + TimeDelta::seconds(seconds)) };
        accept(&store, &shop, &new).await
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
        let answer = accept(&store, &tenant(shop), &turn_of(conversation, "a", now())).await;
        assert_eq!(answer, Acceptance::NotFound);
    }
    assert_eq!(accepted(&store, &tenant("acme"), id, 1).await, 1);
}

#[tokio::test]
async fn batch_decides_each_message() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (acme, beta) = (tenant("acme"), tenant("beta"));
    let (first, other) = (opened(&store, &acme).await, opened(&store, &beta).await);
    let (mine, reused) = (key("k", "body"), key("k", "another body"));
    let midnight: DateTime<Utc> = "2026-03-01T00:00:00Z".parse().unwrap();
    let of = |conversation| turn_of(conversation, "a", midnight);
    let new = [
        (&acme, NewTurn { idempotency: Some(&mine), ..of(first) }),
        (&beta, NewTurn { idempotency: Some(&mine), ..of(other) }),
        (&acme, NewTurn { idempotency: Some(&mine), ..of(first) }),
        (&acme, NewTurn { idempotency: Some(&reused), ..of(first) }),
        (&beta, of(first)),
        (&acme, of(first)),
        (&beta, NewTurn { per_day: Some(1), ..of(other) }),
        (&beta, NewTurn { per_day: Some(1), ..of(other) }),
        (&acme, NewTurn { waiting_max: 2, ..of(first) }),
    ];
    let batch: Vec<_> = new.iter().map(|(shop, new)| (store.tenant(shop), new)).collect();
    let decisions = store.acceptor(Duration::from_secs(30)).await.accept_all(&batch).await.unwrap();
    let accepted = |turn: u32, at: usize| Acceptance::Accepted { turn, message_id: new[at].1.message_id };
    let results: Vec<Acceptance> = decisions.iter().map(|(acceptance, _)| *acceptance).collect();
    let expected = [
        accepted(1, 0),
        accepted(1, 1),
        Acceptance::Repeated { turn: 1, message_id: new[0].1.message_id },
        Acceptance::KeyReused,
        Acceptance::NotFound,
        accepted(2, 5),
        accepted(2, 6),
        Acceptance::TooManyPerDay { retry_after: 86_400 },
        Acceptance::TooManyWaiting,
    ];
    assert_eq!(results, expected);
    let open: Vec<bool> = decisions.iter().map(|(_, open)| open.is_some()).collect();
    assert_eq!(open, [true, true, false, false, false, false, false, false, false], "only the next turn to run");
}

#[tokio::test]
async fn full_server_refuses_a_first_message() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let (opened, _) = conversation(&shop, now());
    let id = opened.id;
    let inbound = Inbound {
        channel: Channel::WhatsApp,
        from: "+254700000071".parse().unwrap(),
        opens: Some(Box::new(opened)),
        notice: None,
    };
    let new = NewTurn { inbound: Some(&inbound), full: true, ..turn_of(id, "hi", now()) };
    // Not `NotFound`, which would tell Twilio not to repeat it.
    assert_eq!(accept(&store, &shop, &new).await, Acceptance::Full);
    assert!(store.tenant(&shop).find_conversation(id).await.unwrap().is_none());
}
