//! Jobs in the store: leases, retries and dead letters.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use frontdesk::store::jobs::{
    DELIVER_MESSAGE, EMBED_MESSAGE, EMBEDDING_JOBS, FORGET_CONVERSATION, FORGET_MESSAGE, JobCounts, LeasedJob, NewJob,
};
use frontdesk::store::payment_callbacks::{APPLY_RECEIPT, CHECK_RECEIPT};
use frontdesk::store::payments::SAY_PAYMENT;

use super::{TestStore, accepted, count_jobs, opened, tenant};

const LEASE: Duration = Duration::from_secs(60);

/// A store with two messages to embed: a greeting and a customer's message.
async fn two_jobs() -> (TestStore, DateTime<Utc>) {
    let TestStore { store, _folder } = TestStore::open().await;
    let store = store.embedding(true);
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    accepted(&store, &shop, id, 1).await;
    (TestStore { store, _folder }, Utc::now())
}

fn subjects(jobs: &[LeasedJob]) -> Vec<uuid::Uuid> {
    let mut subjects: Vec<_> = jobs.iter().map(|job| job.subject).collect();
    subjects.sort();
    subjects
}

#[tokio::test]
async fn each_message_has_one_embedding_job() {
    let (TestStore { store, _folder }, now) = two_jobs().await;
    let jobs = store.lease_jobs(&[EMBED_MESSAGE], now, LEASE, 10).await.unwrap();
    assert_eq!(jobs.len(), 2);
    assert!(jobs.iter().all(|job| job.attempts == 1), "{jobs:?}");
    let messages = store.list_messages_of_jobs(&jobs).await.unwrap();
    let mut texts: Vec<&str> = messages.iter().map(|(_, _, message)| message.text.as_str()).collect();
    texts.sort_unstable();
    assert_eq!((texts.len(), texts[1]), (2, "kiểm tra bảo hành ABC123"));
    assert!(messages.iter().all(|(shop, user, _)| shop.as_str() == "acme" && user.as_deref() == Some("u-1")));

    let TestStore { store, _folder } = TestStore::open().await;
    opened(&store, &tenant("acme")).await;
    assert_eq!(count_jobs(&store, &EMBEDDING_JOBS).await, JobCounts::default());
}

#[tokio::test]
async fn leased_job_is_exclusive_until_its_lease_ends() {
    let (TestStore { store, _folder }, now) = two_jobs().await;
    let first = store.lease_jobs(&[EMBED_MESSAGE], now, LEASE, 1).await.unwrap();
    let second = store.lease_jobs(&[EMBED_MESSAGE], now, LEASE, 10).await.unwrap();
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_ne!(first[0].subject, second[0].subject);
    let later = now + TimeDelta::seconds(59);
    assert_eq!(store.lease_jobs(&[EMBED_MESSAGE], later, LEASE, 10).await.unwrap(), []);
    let after = now + TimeDelta::seconds(61);
    let again = store.lease_jobs(&[EMBED_MESSAGE], after, LEASE, 10).await.unwrap();
    assert_eq!(subjects(&again), subjects(&[first, second].concat()));
    assert!(again.iter().all(|job| job.attempts == 2));
    store.release_jobs(&[EMBED_MESSAGE], after).await.unwrap();
    assert_eq!(store.lease_jobs(&[EMBED_MESSAGE], after, LEASE, 10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn oldest_jobs_of_all_names_come_first() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (shop, now) = (tenant("acme"), Utc::now());
    let names = ["c", "a", "b", "a", "unknown"];
    for (age, name) in (1_u8..).zip(names) {
        let created_at = now - TimeDelta::seconds(age.into());
        let job = NewJob::new(name, uuid::Uuid::from_u128(age.into()), &shop, created_at);
        store.tenant(&shop).enqueue_job(&job).await.unwrap();
    }
    assert_eq!(store.list_due_jobs(&["b", "c", "d"], now).await.unwrap(), ["b", "c"]);
    let leased = store.lease_jobs(&["a", "b", "c"], now, LEASE, 3).await.unwrap();
    assert_eq!(leased.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["a", "b", "a"]);
    let left = store.lease_jobs(&["a", "b", "c"], now, LEASE, 3).await.unwrap();
    assert_eq!(left.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["c"]);
}

#[tokio::test]
async fn failed_job_is_retried_and_dead_letter_stays() {
    let (TestStore { store, _folder }, now) = two_jobs().await;
    let jobs = store.lease_jobs(&[EMBED_MESSAGE], now, LEASE, 10).await.unwrap();
    let (counted, held) = (&jobs[..1], &jobs[1..]);
    store.retry_jobs(counted, now + TimeDelta::seconds(10), "no", true).await.unwrap();
    store.retry_jobs(held, now + TimeDelta::seconds(20), "down", false).await.unwrap();
    assert_eq!(store.lease_jobs(&[EMBED_MESSAGE], now + TimeDelta::seconds(9), LEASE, 10).await.unwrap(), []);
    let due = store.lease_jobs(&[EMBED_MESSAGE], now + TimeDelta::seconds(21), LEASE, 10).await.unwrap();
    let attempts = |subject| due.iter().find(|job| job.subject == subject).map(|job| job.attempts);
    assert_eq!((attempts(counted[0].subject), attempts(held[0].subject)), (Some(2), Some(1)));
    store.make_dead_letter(&counted[0], "no again").await.unwrap();
    store.finish_jobs(held).await.unwrap();
    assert_eq!(count_jobs(&store, &EMBEDDING_JOBS).await, JobCounts { waiting: 0, dead: 1 });
    assert_eq!(store.lease_jobs(&[EMBED_MESSAGE], now + TimeDelta::days(1), LEASE, 10).await.unwrap(), []);
}

#[tokio::test]
async fn conversation_has_one_running_delivery() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let (id, now) = (opened(&store, &shop).await, Utc::now());
    let deliver = async |subject: u128, created_at| {
        let job = NewJob::new(DELIVER_MESSAGE, uuid::Uuid::from_u128(subject), &shop, created_at).in_conversation(id);
        store.tenant(&shop).enqueue_job(&job).await.unwrap();
    };
    let lease = async |at| store.lease_jobs(&[DELIVER_MESSAGE], at, LEASE, 10).await.unwrap();
    deliver(2, now).await;
    let first = lease(now).await;
    // Stored later, although its message is older: its transaction took longer.
    deliver(1, now - TimeDelta::seconds(1)).await;
    assert_eq!((first.len(), lease(now).await), (1, vec![]));
    assert!(store.list_due_jobs(&[DELIVER_MESSAGE], now).await.unwrap().is_empty());
    store.finish_jobs(&first).await.unwrap();
    assert_eq!(subjects(&lease(now).await), [uuid::Uuid::from_u128(1)]);
    // A worker that died does not stop the conversation.
    deliver(3, now).await;
    assert_eq!(subjects(&lease(now + TimeDelta::seconds(61)).await), [uuid::Uuid::from_u128(1)]);
}

#[tokio::test]
async fn deleting_a_conversation_enqueues_one_job() {
    let TestStore { store, _folder } = TestStore::open().await;
    let store = store.embedding(true);
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    assert!(store.tenant(&shop).delete_conversation(id).await.unwrap());
    let jobs = store.lease_jobs(&[FORGET_CONVERSATION], Utc::now(), LEASE, 10).await.unwrap();
    assert_eq!(subjects(&jobs), [id.0]);
}

#[tokio::test]
async fn jobs_about_money_outlive_the_conversation() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (shop, now) = (tenant("acme"), Utc::now());
    let id = opened(&store, &shop).await;
    let money = [SAY_PAYMENT, CHECK_RECEIPT, APPLY_RECEIPT];
    for name in money.iter().chain(&[DELIVER_MESSAGE]) {
        let job = NewJob::new(name, uuid::Uuid::from_u128(1), &shop, now).in_conversation(id);
        store.tenant(&shop).enqueue_job(&job).await.unwrap();
    }
    assert!(store.tenant(&shop).delete_conversation(id).await.unwrap());
    assert_eq!(count_jobs(&store, &money).await.waiting, 3);
    assert_eq!(count_jobs(&store, &[DELIVER_MESSAGE]).await.waiting, 0);
}

#[tokio::test]
async fn expired_messages_enqueue_jobs_to_forget_them() {
    let (TestStore { store, _folder }, now) = two_jobs().await;
    store.finish_jobs(&store.lease_jobs(&[EMBED_MESSAGE], now, LEASE, 10).await.unwrap()).await.unwrap();
    assert!(store.forget_messages(now + TimeDelta::seconds(1)).await.unwrap());
    assert!(!store.forget_messages(now + TimeDelta::seconds(1)).await.unwrap());
    let jobs = store.lease_jobs(&[FORGET_MESSAGE], Utc::now(), LEASE, 10).await.unwrap();
    assert!(jobs.len() == 2, "{jobs:?}");
}

#[tokio::test]
async fn external_vectors_are_forgotten_without_embedding() {
    let TestStore { store, _folder } = TestStore::open().await;
    let store = store.external_vectors(true);
    let shop = tenant("acme");
    let (id, _) = (opened(&store, &shop).await, opened(&store, &shop).await);
    assert!(store.tenant(&shop).delete_conversation(id).await.unwrap());
    assert!(store.forget_messages(Utc::now() + TimeDelta::seconds(1)).await.unwrap());
    for name in [FORGET_CONVERSATION, FORGET_MESSAGE] {
        assert_eq!(count_jobs(&store, &[name]).await, JobCounts { waiting: 1, dead: 0 }, "{name}");
    }
}
