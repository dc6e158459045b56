//! Mails about returns: each has one address at a time, and its result is stored once.

use frontdesk::domain::identity::Email;
use frontdesk::store::mails::MailId;

use super::*;

/// Leases the due jobs that send mails.
async fn due(shop: &Shop, now: DateTime<Utc>) -> Vec<LeasedJob> {
    let lease = std::time::Duration::from_secs(60);
    shop.store().lease_jobs(&[SEND_MAIL], now, lease, 9).await.unwrap()
}

/// Creates a return, and returns its mail and address.
async fn mailed(shop: &Shop) -> (MailId, Email) {
    let rma = shop.returned("77893").await;
    let mail = shop.store().tenant(&shop.tenant).list_mails_of(&rma.number).await.unwrap().remove(0);
    (mail.id, mail.to)
}

#[tokio::test]
async fn failed_mail_can_go_to_another_address() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let mail = door.list_mails_of(&rma.number).await.unwrap().remove(0);
    let (id, first) = (mail.id, mail.to);
    assert!(!door.requeue_mail(id, None, "desk", shop.now).await.unwrap(), "it has not failed");
    let lease = std::time::Duration::from_secs(60);
    let jobs = shop.store().lease_jobs(&[SEND_MAIL], shop.now, lease, 9).await.unwrap();
    shop.store().make_dead_letter(&jobs[0], "refused").await.unwrap();
    assert!(door.finish_mail(id, &first, &MailOutcome::Failed { error: "refused" }, shop.now).await.unwrap());
    let other: Email = "john@example.org".parse().unwrap();
    assert!(door.requeue_mail(id, Some(&other), "desk", shop.now).await.unwrap());
    let mail = door.find_mail(id).await.unwrap().unwrap();
    assert_eq!((mail.status, &mail.to, mail.error), (MailStatus::Queued, &other, None));
    let jobs = shop.store().lease_jobs(&[SEND_MAIL], shop.now, lease, 9).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.subject).collect::<Vec<_>>(), [id.0]);
    assert!(door.finish_mail(id, &other, &MailOutcome::Sent { preview: "Hello" }, shop.now).await.unwrap());
    assert!(!door.finish_mail(id, &other, &MailOutcome::Failed { error: "late" }, shop.now).await.unwrap());
    let mail = door.find_mail(id).await.unwrap().unwrap();
    assert_eq!((mail.status, mail.preview.as_deref(), mail.sent_at.is_some()), (MailStatus::Sent, Some("Hello"), true));
    let recorded = shop.recorded("77893").await;
    assert_eq!(recorded[2..], ["desk mail.queued", "job mail.failed", "desk mail.queued", "job mail.sent"]);
}

#[tokio::test]
async fn new_address_survives_an_attempt_at_the_old() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let (id, old) = mailed(&shop).await;
    let new: Email = "john@example.org".parse().unwrap();
    let failed = MailOutcome::Failed { error: "mailbox full" };
    for outcome in [MailOutcome::Sent { preview: "Hello" }, failed.clone()] {
        let begun = shop.now + TimeDelta::minutes(i64::from(outcome == failed) * 10);
        let in_flight = due(&shop, begun).await;
        assert_eq!(in_flight.len(), 1);
        assert!(door.finish_mail(id, &old, &failed, begun).await.unwrap());
        // The old address is tried again while the customer names the new one.
        let asked = begun + TimeDelta::seconds(1);
        assert!(door.requeue_mail(id, Some(&new), "desk", asked).await.unwrap());
        assert!(!door.finish_mail(id, &old, &outcome, asked).await.unwrap());
        shop.store().retry_jobs(&in_flight, asked + TimeDelta::days(1), "late", true).await.unwrap();
        shop.store().finish_jobs(&in_flight).await.unwrap();
        let mail = door.find_mail(id).await.unwrap().unwrap();
        assert_eq!((mail.status, &mail.to, mail.preview), (MailStatus::Queued, &new, None));
        assert_eq!(due(&shop, asked).await.iter().map(|job| job.subject).collect::<Vec<_>>(), [id.0]);
        // Back to the first address.
        assert!(door.finish_mail(id, &new, &failed, asked).await.unwrap());
        assert!(door.requeue_mail(id, Some(&old), "desk", asked + TimeDelta::seconds(1)).await.unwrap());
    }
}

#[tokio::test]
async fn sent_mail_goes_only_to_another_address() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let (id, old) = mailed(&shop).await;
    shop.store().finish_jobs(&due(&shop, shop.now).await).await.unwrap();
    assert!(door.finish_mail(id, &old, &MailOutcome::Sent { preview: "Hello" }, shop.now).await.unwrap());
    let later = shop.now + TimeDelta::minutes(1);
    assert!(!door.requeue_mail(id, None, "desk", later).await.unwrap());
    assert!(!door.requeue_mail(id, Some(&old), "desk", later).await.unwrap());
    assert!(due(&shop, later).await.is_empty());
    let new: Email = "john@example.org".parse().unwrap();
    assert!(door.requeue_mail(id, Some(&new), "desk", later).await.unwrap());
    let mail = door.find_mail(id).await.unwrap().unwrap();
    assert_eq!((mail.status, mail.to, mail.sent_at), (MailStatus::Queued, new, None));
    assert_eq!(due(&shop, later).await.len(), 1);
}

#[tokio::test]
async fn repeated_mail_failure_is_recorded_once() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let (id, to) = mailed(&shop).await;
    for error in ["refused", "no answer", "refused"] {
        assert!(door.finish_mail(id, &to, &MailOutcome::Failed { error }, shop.now).await.unwrap());
        assert_eq!(door.find_mail(id).await.unwrap().unwrap().error.as_deref(), Some(error));
    }
    assert_eq!(shop.recorded("77893").await[2..], ["desk mail.queued", "job mail.failed"]);
}

#[tokio::test]
async fn queued_mail_can_go_to_another_address() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let (id, old) = mailed(&shop).await;
    assert!(!door.requeue_mail(id, Some(&old), "desk", shop.now).await.unwrap());
    let in_flight = due(&shop, shop.now).await;
    let new: Email = "john@example.org".parse().unwrap();
    let later = shop.now + TimeDelta::seconds(1);
    assert!(door.requeue_mail(id, Some(&new), "desk", later).await.unwrap());
    // The mail to the old address was being sent.
    assert!(!door.finish_mail(id, &old, &MailOutcome::Sent { preview: "Hello" }, later).await.unwrap());
    shop.store().finish_jobs(&in_flight).await.unwrap();
    assert_eq!(due(&shop, later).await.len(), 1);
    assert!(door.finish_mail(id, &new, &MailOutcome::Sent { preview: "Hello" }, later).await.unwrap());
    assert_eq!(shop.recorded("77893").await[2..], ["desk mail.queued", "desk mail.queued", "job mail.sent"]);
}

#[tokio::test]
async fn later_mails_outlive_retention() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let rma = shop.returned("77893").await;
    let first = door.list_mails_of(&rma.number).await.unwrap().remove(0);
    assert!(door.finish_mail(first.id, &first.to, &MailOutcome::Sent { preview: "Hello" }, shop.now).await.unwrap());
    let later = shop.now + TimeDelta::days(1);
    while shop.store().forget_aged(later, later).await.unwrap() {}
    assert!(door.find_mail(first.id).await.unwrap().unwrap().to.is_erased());
    shop.labelled(&rma).await;
    shop.walk(&rma, &[RmaStatus::InTransit, RmaStatus::Received]).await;
    let mails = door.list_mails_of(&rma.number).await.unwrap();
    let received = mails.iter().find(|mail| mail.template == "return_received").unwrap();
    assert_eq!((&received.to, received.language), (&first.to, first.language));
}

#[tokio::test]
async fn retention_keeps_mails_that_are_retried() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let (id, to) = mailed(&shop).await;
    let is_erased = async || door.find_mail(id).await.unwrap().unwrap().to.is_erased();
    let forget = async |days| {
        let now = shop.now + TimeDelta::days(days);
        while shop.store().forget_aged(now - TimeDelta::days(1), now).await.unwrap() {}
    };
    forget(30).await;
    assert!(!is_erased().await, "it waits");
    assert!(door.finish_mail(id, &to, &MailOutcome::Failed { error: "refused" }, shop.now).await.unwrap());
    forget(4).await;
    assert!(!is_erased().await, "it is tried again");
    forget(6).await;
    assert!(is_erased().await);
}
