use frontdesk::domain::ConversationId;
use frontdesk::domain::identity::Contact;
use frontdesk::domain::identity::attempts::{AttemptLimit, AttemptSubject};
use frontdesk::store::attempts::{AttemptBy, Verification};

use super::*;

fn contact(text: &str) -> Contact {
    Contact::Email(text.parse().unwrap())
}

fn subjects(order: &str) -> Vec<AttemptSubject> {
    vec![AttemptSubject::Conversation(ConversationId::now()), AttemptSubject::Order(number(order))]
}

#[tokio::test]
async fn five_wrong_contacts_lock_the_order() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let limit = AttemptLimit::default();
    let verify = async |order: &str, email: &str, at: DateTime<Utc>| {
        let by = AttemptBy { subjects: &subjects(order), limit: &limit, now: at };
        door.verify_order(&number(order), &contact(email), by).await.unwrap()
    };
    let opened = verify("77893", "John.Doe@example.com", shop.now).await;
    assert!(matches!(&opened, Verification::Verified(order) if order.number == number("77893")), "{opened:?}");
    assert_eq!(verify("00000", "john.doe@example.com", shop.now).await, Verification::Missed);
    for _ in 0..5 {
        // Each time from another conversation.
        assert_eq!(verify("77893", "other@example.com", shop.now).await, Verification::Missed);
    }
    let until = shop.now + TimeDelta::hours(1);
    match verify("77893", "john.doe@example.com", shop.now).await {
        Verification::Locked { until: seen } => assert_eq!(seen.timestamp(), until.timestamp()),
        other => panic!("{other:?}"),
    }
    let locked = door.find_miss_lock(&subjects("77893"), shop.now).await.unwrap();
    assert_eq!(locked.map(|until| until.timestamp()), Some(until.timestamp()));
    assert!(matches!(verify("77894", "buyer-77894@example.com", shop.now).await, Verification::Verified(_)));
    assert!(matches!(verify("77893", "john.doe@example.com", until).await, Verification::Verified(_)));
}

#[tokio::test]
async fn concurrent_attempts_cannot_exceed_the_limit() {
    let shop = std::sync::Arc::new(Shop::open().await);
    let conversation = ConversationId::now();
    let guessing = (0..100).map(|n| {
        let shop = shop.clone();
        tokio::spawn(async move {
            let subjects = [AttemptSubject::Conversation(conversation), AttemptSubject::Client(format!("hash-{n}"))];
            let (order, contact) = (number(&format!("9{n:04}")), contact("a@example.com"));
            let door = shop.store().tenant(&shop.tenant);
            let by = AttemptBy { subjects: &subjects, limit: &AttemptLimit::default(), now: shop.now };
            door.verify_order(&order, &contact, by).await.unwrap()
        })
    });
    let mut answered = 0;
    for guessed in guessing.collect::<Vec<_>>() {
        answered += usize::from(guessed.await.unwrap() == Verification::Missed);
    }
    assert_eq!(answered, 5);
}

#[tokio::test]
async fn expired_counts_are_removed_but_not_locks() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let limit = AttemptLimit { misses: 2, lock: TimeDelta::hours(1) };
    let miss = async |subject: &AttemptSubject, at: DateTime<Utc>| {
        let subjects = std::slice::from_ref(subject);
        let by = AttemptBy { subjects, limit: &limit, now: at };
        door.verify_order(&number("77893"), &contact("other@example.com"), by).await.unwrap()
    };
    let (guesser, other) = (AttemptSubject::Client("a".to_owned()), AttemptSubject::Client("b".to_owned()));
    miss(&guesser, shop.now).await;
    shop.store().forget_misses(shop.now + TimeDelta::minutes(59), limit.lock).await.unwrap();
    let later = shop.now + TimeDelta::minutes(59);
    miss(&guesser, later).await;
    miss(&other, later).await;
    let locked = async |at| door.find_miss_lock(std::slice::from_ref(&guesser), at).await.unwrap().is_some();
    assert!(locked(later).await, "the first guess was counted still");
    let until = later + limit.lock;
    shop.store().forget_misses(until - TimeDelta::seconds(1), TimeDelta::minutes(30)).await.unwrap();
    assert!(locked(until - TimeDelta::seconds(1)).await);
    shop.store().forget_misses(until, limit.lock).await.unwrap();
    // It was locked at this time, but its row is removed.
    assert!(!locked(later).await);
}
