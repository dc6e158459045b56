//! A person's decisions about lines of an order, and what they open or close.

use frontdesk::domain::ConversationId;
use frontdesk::domain::returns::Claim;
use frontdesk::store::returns::escalate::NewEscalation;

use super::escalations::damage;
use super::*;

fn claim(lines: &[u32]) -> Claim {
    Claim { action: Action::Return, lines: lines.to_vec(), reason: "arrived shattered".to_owned() }
}

/// Creates an escalation of an order without RMA in the conversation.
async fn reviewed(shop: &Shop, order: &str, lines: &[u32], conversation: Option<ConversationId>) -> String {
    let (order, claim) = (number(order), claim(lines));
    let new = NewEscalation { order: Some(&order), claim: Some(&claim), ..damage(None) };
    let by = Actor { conversation, ..shop.desk() };
    shop.store().tenant(&shop.tenant).escalate(&new, &by).await.unwrap().ticket().id.clone()
}

#[tokio::test]
async fn repeated_approval_creates_one_return() {
    let shop = std::sync::Arc::new(Shop::open().await);
    let conversation = opened(shop.store(), &shop.tenant).await;
    let ticket = reviewed(&shop, "77893", &[1], Some(conversation)).await;
    let refused = shop.ask("77893", &[1], Action::Return, "r-1", "arrived shattered").await;
    assert!(matches!(&refused, ReturnOutcome::Refused(decision) if decision.cause == Cause::Damaged), "{refused:?}");
    let approving = (0..8).map(|_| {
        let (shop, ticket) = (shop.clone(), ticket.clone());
        tokio::spawn(async move { shop.resolve(&ticket, Resolution::Approve, "photos seen").await })
    });
    let mut made = Vec::new();
    for approved in approving.collect::<Vec<_>>() {
        match approved.await.unwrap() {
            Resolving::Done(_, rmas) => made.extend(rmas),
            other => assert!(matches!(other, Resolving::Resolved(_)), "{other:?}"),
        }
    }
    let door = shop.store().tenant(&shop.tenant);
    let rmas = door.list_rmas_of(&number("77893")).await.unwrap();
    assert_eq!((&made, rmas.len(), rmas[0].conversation), (&rmas, 1, Some(conversation)));
    let mails = door.list_mails_of(&rmas[0].number).await.unwrap();
    assert_eq!(mails.iter().map(|mail| mail.template.as_str()).collect::<Vec<_>>(), ["return_approved"]);
    let jobs = shop.due_jobs().await;
    let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["issue_label", "say_decision", "send_mail"]);
}

#[tokio::test]
async fn approval_covers_its_lines_once() {
    let shop = Shop::open().await;
    // The customer of 77897 is suspected of fraud.
    let ticket = reviewed(&shop, "77897", &[1], None).await;
    let Resolving::Done(_, rmas) = shop.resolve(&ticket, Resolution::Approve, "known").await else { panic!() };
    use RmaStatus::{InTransit, Inspected, LabelSent, Received, Rejected};
    shop.labelled(&rmas[0]).await;
    assert_eq!(shop.rma(&rmas[0]).await.status, LabelSent);
    shop.walk(&rmas[0], &[InTransit, Received, Inspected, Rejected]).await;
    let again = shop.ask("77897", &[1], Action::Return, "r-2", "too small").await;
    assert!(matches!(&again, ReturnOutcome::Refused(decision) if decision.cause == Cause::FraudFlag), "{again:?}");
}

#[tokio::test]
async fn rejected_lines_are_refused_without_a_person() {
    let shop = Shop::open().await;
    let ticket = reviewed(&shop, "77893", &[1], None).await;
    let done = shop.resolve(&ticket, Resolution::Reject, "worn").await;
    assert!(matches!(&done, Resolving::Done(_, rmas) if rmas.is_empty()), "{done:?}");
    for reason in ["too small", "arrived shattered"] {
        match shop.ask("77893", &[1], Action::Return, "r-1", reason).await {
            ReturnOutcome::Refused(decision) => {
                assert_eq!((decision.cause, decision.requires_manual_review), (Cause::Rejected, false), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    // A person may change their mind on a later ticket.
    let later = reviewed(&shop, "77893", &[1], None).await;
    assert_ne!(later, ticket);
    let Resolving::Done(_, rmas) = shop.resolve(&later, Resolution::Approve, "new photos").await else { panic!() };
    assert_eq!(rmas.len(), 1);
}

#[tokio::test]
async fn approval_overrides_no_other_refusal() {
    let shop = Shop::open().await;
    let ticket = reviewed(&shop, "77894", &[1], None).await;
    let refused = shop.resolve(&ticket, Resolution::Approve, "seen").await;
    assert!(matches!(&refused, Resolving::Refused(decision) if decision.cause == Cause::WindowOver), "{refused:?}");
    assert!(refused.why_not(&ticket).contains("window_over"), "{}", refused.why_not(&ticket));
    let door = shop.store().tenant(&shop.tenant);
    assert_eq!(door.find_ticket(&ticket).await.unwrap().unwrap().resolved, None);
    assert_eq!(shop.waiting_jobs().await, 0);
}

#[tokio::test]
async fn second_claim_joins_the_open_ticket() {
    let shop = Shop::open().await;
    let ticket = reviewed(&shop, "77893", &[1], None).await;
    assert_eq!(reviewed(&shop, "77893", &[2, 1], None).await, ticket);
    let stored = shop.store().tenant(&shop.tenant).find_ticket(&ticket).await.unwrap().unwrap();
    assert_eq!(stored.claim, Some(claim(&[1, 2])));
}

#[tokio::test]
async fn answer_is_stored_with_its_ticket_once() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let ticket = reviewed(&shop, "77893", &[1], None).await;
    assert_eq!(door.answer_question(&ticket, "hello", &shop.desk()).await.unwrap(), None, "nothing was asked");
    for _ in 0..2 {
        let Resolving::Done(asked, _) = shop.resolve(&ticket, Resolution::MoreInfo, "Which sole?").await else {
            panic!()
        };
        assert_eq!(asked.question.as_deref(), Some("Which sole?"));
    }
    let order_mails = shop.recorded("77893").await;
    assert_eq!(
        order_mails.iter().filter(|row| row.contains("mail.queued")).count(),
        1,
        "a click that comes twice is one"
    );
    let answered = door.answer_question(&ticket, "the left one", &shop.desk()).await.unwrap().unwrap();
    assert!(answered.summary.ends_with("Question: Which sole?\nAnswer: the left one"), "{}", answered.summary);
    assert_eq!(door.answer_question(&ticket, "and more", &shop.desk()).await.unwrap(), None);
}

#[tokio::test]
async fn each_milestone_is_mailed_once() {
    use RmaStatus::{Approved, InTransit, Inspected, Received, Refunded, Rejected};
    for (is_person, ends, expected) in [
        (false, &[Approved, Refunded][..], &["refund_paid", "return_approved", "return_received"][..]),
        (true, &[Rejected], &["label_ready", "return_approved", "return_received", "return_rejected"]),
    ] {
        let shop = Shop::open().await;
        let door = shop.store().tenant(&shop.tenant);
        let rma = shop.returned("77893").await;
        let issuer = if is_person { shop.person() } else { shop.desk() };
        for _ in 0..2 {
            door.issue_label(&rma.number, &TrackingNumber::new(7), &issuer).await.unwrap();
        }
        shop.walk(&rma, &[InTransit, Received, Inspected]).await;
        shop.walk(&rma, ends).await;
        assert!(matches!(door.advance_rma(&rma.number, Received, &shop.person()).await.unwrap(), Advance::Refused(_)));
        let mut sent: Vec<String> =
            door.list_mails_of(&rma.number).await.unwrap().into_iter().map(|mail| mail.template).collect();
        sent.sort();
        assert_eq!(sent, expected);
    }
}

/// Clears what retention clears after 60 days.
async fn age(shop: &Shop) {
    let days = |days| shop.now + TimeDelta::days(days);
    while shop.store().forget_aged(days(30), days(60)).await.unwrap() {}
}

#[tokio::test]
async fn approval_creates_the_return_after_a_deletion() {
    for is_deleted in [true, false] {
        let shop = Shop::open().await;
        let conversation = opened(shop.store(), &shop.tenant).await;
        let ticket = reviewed(&shop, "77893", &[1], Some(conversation)).await;
        if is_deleted {
            assert!(shop.store().tenant(&shop.tenant).delete_conversation(conversation).await.unwrap());
        } else {
            age(&shop).await;
        }
        let done = shop.resolve(&ticket, Resolution::Approve, "photos seen").await;
        let Resolving::Done(_, rmas) = done else { panic!("{done:?}") };
        // An open ticket keeps the customer's reason until it is decided.
        let reason = if is_deleted { "" } else { "arrived shattered" };
        assert_eq!(rmas.iter().map(|rma| rma.reason.as_str()).collect::<Vec<_>>(), [reason]);
    }
}

#[tokio::test]
async fn rejection_outlives_the_customers_words() {
    for is_deleted in [true, false] {
        let shop = Shop::open().await;
        let door = shop.store().tenant(&shop.tenant);
        let conversation = opened(shop.store(), &shop.tenant).await;
        let ticket = reviewed(&shop, "77893", &[1], Some(conversation)).await;
        shop.resolve(&ticket, Resolution::Reject, "worn").await;
        if is_deleted {
            assert!(door.delete_conversation(conversation).await.unwrap());
        } else {
            age(&shop).await;
        }
        let kept = door.find_ticket(&ticket).await.unwrap().unwrap();
        assert_eq!((kept.summary.as_str(), kept.claim), ("", Some(Claim { reason: String::new(), ..claim(&[1]) })));
        let again = shop.ask("77893", &[1], Action::Return, "r-1", "arrived shattered").await;
        assert!(matches!(&again, ReturnOutcome::Refused(of) if of.cause == Cause::Rejected), "{again:?}");
    }
}
