//! Property tests: whatever the order of turns, readers and disconnects, each reader sees the events 1 to n of its turns
//! exactly once.

use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use frontdesk::domain::{ConversationId, Event, EventId, MessageId, TenantId, Timings, TurnFigures, TurnStatus};
use frontdesk::store::Store;
use frontdesk::store::journal::{Change, Entry};
use frontdesk::store::turns::StoredEvent;
use frontdesk::turn::feed::Feeds;
use frontdesk::turn::reader::Source;
use frontdesk::turn::{Frame, Item, Reader, Start};
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::store::{TestStore, accepted, opened, tenant};

/// A turn: whether each of its events is published after its commit (a commit may succeed although it seems to fail), and
/// how often other tasks run before the next one.
type Play = Vec<(bool, u8)>;

/// A reader: the turn it reads, how many steps later it starts, and its pauses, repeated.
type Reading = (prop::sample::Index, u8, Vec<u8>);

fn turns() -> impl Strategy<Value = Vec<Play>> {
    let event = (prop::bool::weighted(0.85), 0_u8..4);
    prop::collection::vec(prop::collection::vec(event, 1..12), 1..5)
}

fn readings() -> impl Strategy<Value = Vec<Reading>> {
    let reading = (any::<prop::sample::Index>(), 0_u8..120, prop::collection::vec(0_u8..6, 1..5));
    prop::collection::vec(reading, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn readers_of_a_turn_see_each_event_once(turns in turns(), readings in readings()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let seen = runtime.block_on(play(turns.clone(), readings.clone()));
        for ((index, ..), seen) in readings.iter().zip(seen) {
            let turn = index.index(turns.len());
            let number = u32::try_from(turn + 1).unwrap();
            let expected: Vec<EventId> =
                (1..=u32::try_from(turns[turn].len()).unwrap()).map(|n| EventId::new(number, n)).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reconnecting_reader_sees_each_event_once(
        turns in turns(),
        late in 0_u8..120,
        cuts in prop::collection::vec(1_usize..9, 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let seen = runtime.block_on(come_and_go(turns.clone(), late, cuts));
        let expected: Vec<EventId> = (1..)
            .zip(&turns)
            .flat_map(|(turn, play)| (1..=u32::try_from(play.len()).unwrap()).map(move |n| EventId::new(turn, n)))
            .collect();
        prop_assert_eq!(seen, expected);
    }
}

/// A turn of so many events, each published.
fn whole(events: usize) -> Play {
    vec![(true, 0); events]
}

#[tokio::test]
async fn reader_of_a_forgotten_turn_is_reset() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (shop, feeds) = (tenant("acme"), Feeds::default());
    let id = opened(&store, &shop).await;
    accepted(&store, &shop, id, 1).await;
    write(&store, &shop, id, vec![whole(3)], &feeds).await;
    while store.forget_events(Utc::now() + TimeDelta::days(1)).await.unwrap() {}
    let mut reader = Reader::of_turn(source(&store, &feeds, &shop, id), 1);
    assert_eq!(reader.next().await, Some(Item::Reset(EventId::new(1, 3))));
    assert_eq!(reader.next().await, None);
}

#[tokio::test]
async fn turn_without_events_resets_readers_once() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (shop, feeds) = (tenant("acme"), Feeds::default());
    let id = opened(&store, &shop).await;
    accepted(&store, &shop, id, 3).await;
    write(&store, &shop, id, vec![whole(2)], &feeds).await;
    let without = EventId::new(2, 0);
    store.close_turn(id, without, Utc::now()).await.unwrap();
    let event = StoredEvent { id: EventId::new(3, 1), body: serde_json::to_string(&delta()).unwrap() };
    let entry = Entry { tenant: shop.clone(), conversation: id, event: event.clone(), at: Utc::now(), changes: vec![] };
    store.append(&[entry]).await.unwrap();
    let next = Some(Item::Event(Frame::from(event)));
    let mut reader = Reader::of_conversation(source(&store, &feeds, &shop, id), Start::After(EventId::new(1, 2)));
    assert_eq!((reader.next().await, reader.next().await), (Some(Item::Reset(without)), next.clone()));
    let mut reader = Reader::of_conversation(source(&store, &feeds, &shop, id), Start::After(without));
    assert_eq!(reader.next().await, next, "nothing was missed");
}

/// Reads the whole conversation in pieces: after so many events the reader disconnects, and the next one resumes after the
/// last event.
async fn come_and_go(turns: Vec<Play>, late: u8, cuts: Vec<usize>) -> Vec<EventId> {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    accepted(&store, &shop, id, u32::try_from(turns.len()).unwrap()).await;
    let total: usize = turns.iter().map(Vec::len).sum();
    let feeds = Arc::new(Feeds::default());
    let reading = {
        let (store, shop, feeds) = (store.clone(), shop.clone(), feeds.clone());
        tokio::spawn(async move {
            pause(late).await;
            let mut seen: Vec<EventId> = Vec::new();
            for cut in cuts.into_iter().cycle() {
                let last = seen.last().copied().unwrap_or(EventId::ZERO);
                let mut reader = Reader::of_conversation(source(&store, &feeds, &shop, id), Start::After(last));
                for _ in 0..cut.min(total - seen.len()) {
                    match reader.next().await {
                        Some(Item::Event(frame)) => seen.push(frame.id),
                        other => panic!("unexpected item {other:?} after {seen:?}"),
                    }
                }
                if seen.len() == total {
                    return seen;
                }
            }
            seen
        })
    };
    write(&store, &shop, id, turns, &feeds).await;
    reading.await.unwrap()
}

fn source(store: &Store, feeds: &Feeds, tenant: &TenantId, conversation: ConversationId) -> Source {
    Source {
        store: store.clone(),
        feed: feeds.get(conversation),
        tenant: tenant.clone(),
        conversation,
        closing: CancellationToken::new(),
    }
}

async fn play(turns: Vec<Play>, readings: Vec<Reading>) -> Vec<Vec<EventId>> {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    let count = turns.len();
    accepted(&store, &shop, id, u32::try_from(count).unwrap()).await;
    let feeds = Arc::new(Feeds::default());
    let reading: Vec<_> = readings
        .into_iter()
        .map(|(index, late, pauses)| {
            let (store, shop, feeds) = (store.clone(), shop.clone(), feeds.clone());
            let turn = u32::try_from(index.index(count) + 1).unwrap();
            tokio::spawn(async move {
                pause(late).await;
                let mut reader = Reader::of_turn(source(&store, &feeds, &shop, id), turn);
                let mut seen = Vec::new();
                for pauses in pauses.iter().cycle() {
                    let Some(Item::Event(frame)) = reader.next().await else { break };
                    seen.push(frame.id);
                    pause(*pauses).await;
                }
                seen
            })
        })
        .collect();
    write(&store, &shop, id, turns, &feeds).await;
    let mut seen = Vec::new();
    for reading in reading {
        seen.push(reading.await.unwrap());
    }
    seen
}

async fn pause(steps: u8) {
    for _ in 0..steps {
        tokio::task::yield_now().await;
    }
}

async fn write(store: &Store, shop: &TenantId, id: ConversationId, turns: Vec<Play>, feeds: &Feeds) {
    for (turn, play) in (1..).zip(turns) {
        let feed = feeds.get(id);
        let last = play.len();
        for (n, (shown, pauses)) in (1..).zip(play) {
            let is_last = usize::try_from(n).unwrap() == last;
            let (event, changes) = if is_last { done(turn) } else { (delta(), vec![]) };
            let event = StoredEvent { id: EventId::new(turn, n), body: serde_json::to_string(&event).unwrap() };
            let entry = Entry { tenant: shop.clone(), conversation: id, event: event.clone(), at: Utc::now(), changes };
            store.append(&[entry]).await.unwrap();
            if shown || is_last {
                feed.publish(Frame::from(event));
            }
            pause(pauses).await;
        }
    }
}

fn delta() -> Event {
    Event::Delta { message_id: MessageId::now(), text: "x".to_owned() }
}

fn done(turn: u32) -> (Event, Vec<Change>) {
    let (status, timings) = (TurnStatus::Completed, Timings::new());
    let event = Event::TurnDone { turn, status, timings_ms: timings.clone() };
    (event, vec![Change::TurnEnded { status, timings, state: None, figures: TurnFigures::default() }])
}
