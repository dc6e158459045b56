use std::collections::BTreeMap;

use frontdesk::domain::returns::{Priority, Resolution};
use frontdesk::domain::{AuditEntry, ConversationId, ConversationStatus, Handoff};
use frontdesk::store::returns::escalate::{Escalated, NewEscalation, PAYMENT};
use frontdesk::store::returns::resolve::Resolving;

use super::super::orders_import::listed;
use super::*;

pub(super) fn damage(rma: Option<&frontdesk::domain::returns::RmaNumber>) -> NewEscalation<'_> {
    NewEscalation {
        rma,
        order: None,
        locks_returns: true,
        priority: Priority::High,
        reason: "Damaged items",
        summary: "Asked for a return, then reported damage.",
        claim: None,
        once: None,
    }
}

#[tokio::test]
async fn named_event_gets_one_ticket() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let event = |name| NewEscalation { once: Some(name), ..damage(None) };
    let opened = door.escalate(&event("short"), &shop.desk()).await.unwrap();
    let Escalated::Created(ticket) = opened else { panic!("{opened:?}") };
    assert!(matches!(door.escalate(&event("short"), &shop.desk()).await.unwrap(), Escalated::Duplicate(_)));
    assert!(matches!(door.escalate(&event("reversed"), &shop.desk()).await.unwrap(), Escalated::Created(_)));
    // A job may run again after the decision.
    shop.resolve(&ticket.id, Resolution::Reject, "compared").await;
    let again = door.escalate(&event("short"), &shop.desk()).await.unwrap();
    let Escalated::Duplicate(known) = again else { panic!("{again:?}") };
    assert_eq!((&known.id, known.resolved.is_some()), (&ticket.id, true));
}

#[tokio::test]
async fn escalated_rma_waits_for_approval() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let opened = door.escalate(&damage(Some(&rma.number)), &shop.desk()).await.unwrap();
    let Escalated::Created(ticket) = opened else { panic!("{opened:?}") };
    assert_eq!((ticket.priority, ticket.rma.as_ref()), (Some(Priority::High), Some(&rma.number)));
    assert!(matches!(door.escalate(&damage(Some(&rma.number)), &shop.desk()).await.unwrap(), Escalated::Duplicate(_)));

    for by in [shop.desk(), shop.person()] {
        let label = door.issue_label(&rma.number, &TrackingNumber::new(1), &by).await.unwrap();
        assert!(matches!(label, LabelOutcome::Refused(NoStep::Locked { .. })), "{label:?}");
    }
    let locked = shop.rma(&rma).await;
    assert_eq!((locked.status, locked.escalated), (RmaStatus::Initiated, true));
    assert_eq!(locked.escalation_reason.as_deref(), Some("Damaged items"));
    // The job that found it locked is finished.
    let lease = std::time::Duration::from_secs(60);
    let jobs = shop.store().lease_jobs(&[ISSUE_LABEL], shop.now, lease, 9).await.unwrap();
    shop.store().finish_jobs(&jobs).await.unwrap();

    let more = shop.resolve(&ticket.id, Resolution::MoreInfo, "photos, please").await;
    assert!(matches!(more, Resolving::Done(ticket, _) if ticket.resolved.is_none()));
    assert!(shop.rma(&rma).await.escalated);

    let done = shop.resolve(rma.number.as_str(), Resolution::Approve, "seen").await;
    let Resolving::Done(ticket, rmas) = done else { panic!("{done:?}") };
    let resolved = ticket.resolved.unwrap();
    assert_eq!((resolved.decision, resolved.by.as_str(), resolved.why.as_str()), (Resolution::Approve, "Thu", "seen"));
    assert_eq!((rmas.len(), rmas[0].escalated), (1, false));
    let jobs = shop.store().lease_jobs(&[ISSUE_LABEL], shop.now, lease, 9).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.subject).collect::<Vec<_>>(), [rma.id.0]);
    let label = door.issue_label(&rma.number, &TrackingNumber::new(1), &shop.desk()).await.unwrap();
    assert!(matches!(label, LabelOutcome::Issued(_)), "{label:?}");

    let again = shop.resolve(&ticket.id, Resolution::Reject, "x").await;
    assert!(matches!(again, Resolving::Resolved(_)), "{again:?}");
    let recorded = shop.recorded("77893").await;
    let about = recorded.iter().filter(|what| what.contains("ticket.") || what.contains("escalated"));
    assert_eq!(
        about.collect::<Vec<_>>(),
        [
            "desk ticket.escalated",
            "desk rma.escalated",
            "Thu ticket.resolved",
            "Thu ticket.resolved",
            "Thu rma.escalated"
        ]
    );
}

#[tokio::test]
async fn rejected_escalation_rejects_the_rma() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let order = number("77893");
    let about_the_order = NewEscalation { order: Some(&order), ..damage(None) };
    let opened = door.escalate(&about_the_order, &shop.desk()).await.unwrap();
    assert!(shop.rma(&rma).await.escalated, "the order's RMA is locked with it");
    let done = shop.resolve(&opened.ticket().id, Resolution::Reject, "worn").await;
    assert!(matches!(done, Resolving::Done(_, rmas) if rmas[0].status == RmaStatus::Rejected && !rmas[0].escalated));
    assert_eq!(shop.order("77893").await.open_lines(), [1]);
    let again = door.escalate(&about_the_order, &shop.desk()).await.unwrap();
    assert!(matches!(again, Escalated::Created(_)), "a resolved ticket takes no more");
}

#[tokio::test]
async fn concurrent_escalations_create_one_ticket() {
    let shop = std::sync::Arc::new(Shop::open().await);
    let conversation = opened(shop.store(), &shop.tenant).await;
    let asking = (0..20).map(|number| {
        let shop = shop.clone();
        tokio::spawn(async move {
            // Another day gives another number, so that only the subject is the same.
            let now = shop.now + TimeDelta::days(number % 2);
            let by = Actor { conversation: Some(conversation), now, ..shop.desk() };
            shop.store().tenant(&shop.tenant).escalate(&damage(None), &by).await.unwrap()
        })
    });
    let mut created = 0;
    for asked in asking.collect::<Vec<_>>() {
        created += usize::from(matches!(asked.await.unwrap(), Escalated::Created(_)));
    }
    let door = shop.store().tenant(&shop.tenant);
    assert_eq!((created, door.list_tickets_in(conversation).await.unwrap().len()), (1, 1));
    assert_eq!(audit::of_conversation(&door, conversation).await.len(), 1);
    let nothing = shop.resolve("TICKET-1-AAAA", Resolution::Approve, "x").await;
    assert_eq!(nothing, Resolving::NotFound);
}

#[tokio::test]
async fn order_under_review_cannot_be_returned() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let order = number("77893");
    let opened = door.escalate(&NewEscalation { order: Some(&order), ..damage(None) }, &shop.desk()).await.unwrap();
    for action in [Action::Return, Action::Refund] {
        match shop.ask("77893", &[1], action, "r-1", "too small").await {
            ReturnOutcome::Refused(decision) => {
                assert_eq!((decision.cause, decision.requires_manual_review), (Cause::UnderReview, true));
                assert_eq!((decision.is_return_eligible, decision.is_refund_eligible), (false, false));
            }
            other => panic!("{other:?}"),
        }
    }
    let seen = door.check_eligibility(&order, &[1], "too small", &shop.terms, shop.now).await.unwrap();
    assert_eq!(seen.cause, Cause::UnderReview, "nothing is offered that would be refused");
    assert_eq!(shop.waiting_jobs().await, 0);
    // A refusal by the rules keeps its reason.
    let late = number("77894");
    door.escalate(&NewEscalation { order: Some(&late), ..damage(None) }, &shop.desk()).await.unwrap();
    let seen = door.check_eligibility(&late, &[1], "x", &shop.terms, shop.now).await.unwrap();
    assert_eq!((seen.cause, seen.requires_manual_review), (Cause::WindowOver, false));

    let more = shop.resolve(&opened.ticket().id, Resolution::MoreInfo, "photos").await;
    assert!(matches!(more, Resolving::Done(..)));
    let asked = shop.ask("77893", &[1], Action::Return, "r-1", "too small").await;
    assert!(matches!(asked, ReturnOutcome::Refused(_)), "the person has not decided: {asked:?}");
    shop.resolve(&opened.ticket().id, Resolution::Approve, "seen").await;
    shop.returned("77893").await;
}

#[tokio::test]
async fn other_items_wait_for_an_escalated_rma() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let two = shop.order("77900").await.items[0].rma.clone().unwrap();
    let opened = door.escalate(&damage(Some(&two.number)), &shop.desk()).await.unwrap();
    let asked = shop.ask("77900", &[2], Action::Return, "r", "x").await;
    assert!(matches!(&asked, ReturnOutcome::Refused(decision) if decision.cause == Cause::UnderReview), "{asked:?}");
    shop.resolve(&opened.ticket().id, Resolution::Reject, "worn").await;
    assert!(matches!(shop.ask("77900", &[2], Action::Return, "r", "x").await, ReturnOutcome::Created { .. }));
}

#[tokio::test]
async fn second_escalation_locks_new_rmas_and_raises_priority() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let rma = shop.returned("77893").await;
    let first = door.escalate(&damage(Some(&rma.number)), &shop.desk()).await.unwrap();
    let order = number("77893");
    let low = NewEscalation { order: Some(&order), priority: Priority::Low, ..damage(None) };
    let opened = door.escalate(&low, &shop.desk()).await.unwrap();
    assert!(matches!(opened, Escalated::Created(_)), "the order is more than its RMA: {opened:?}");
    shop.resolve(&first.ticket().id, Resolution::Approve, "seen").await;
    assert!(!shop.rma(&rma).await.escalated);
    let recorded = shop.recorded("77893").await.len();
    let again = NewEscalation { priority: Priority::Urgent, ..low };
    for priority in [Priority::Urgent, Priority::Medium] {
        let joined = door.escalate(&NewEscalation { priority, ..again }, &shop.desk()).await.unwrap();
        let Escalated::Duplicate(ticket) = joined else { panic!("{joined:?}") };
        assert_eq!((&ticket.id, ticket.priority), (&opened.ticket().id, Some(Priority::Urgent)));
    }
    assert!(shop.rma(&rma).await.escalated);
    let ticket = door.find_ticket(&opened.ticket().id).await.unwrap().unwrap();
    assert_eq!(ticket.priority, Some(Priority::Urgent));
    assert_eq!(shop.recorded("77893").await[recorded..], ["desk rma.escalated", "desk ticket.priority"]);
    let done = shop.resolve(&ticket.id, Resolution::Reject, "worn").await;
    assert!(
        matches!(done, Resolving::Done(_, rmas) if rmas[0].number == rma.number && rmas[0].status == RmaStatus::Rejected)
    );
}

#[tokio::test]
async fn second_request_is_in_the_ticket_once() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let order = number("77893");
    let first = NewEscalation { order: Some(&order), ..damage(None) };
    door.escalate(&first, &shop.desk()).await.unwrap();
    let second = NewEscalation { reason: "Exchange", summary: "Wants another size.", ..first };
    for new in [&first, &second, &second] {
        door.escalate(new, &shop.desk()).await.unwrap();
    }
    let joined = door.escalate(&first, &shop.desk()).await.unwrap();
    assert_eq!(joined.ticket().summary, format!("{}\nAlso: Wants another size.", first.summary));
    let long = "x".repeat(30_000);
    let joined =
        door.escalate(&NewEscalation { reason: "Other", summary: &long, ..first }, &shop.desk()).await.unwrap();
    assert!(joined.ticket().summary.len() < 1_000);
}

#[tokio::test]
async fn deleted_conversation_leaves_no_words_in_joined_ticket() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let (opener, joiner) = (opened(shop.store(), &shop.tenant).await, opened(shop.store(), &shop.tenant).await);
    let in_conversation = |id| Actor { conversation: Some(id), ..shop.desk() };
    let order = number("77893");
    let first = NewEscalation { order: Some(&order), ..damage(None) };
    let ticket = door.escalate(&first, &in_conversation(opener)).await.unwrap().ticket().id.clone();
    let second = NewEscalation { reason: "Exchange", summary: "Wants another size.", ..first };
    door.escalate(&second, &in_conversation(joiner)).await.unwrap();
    assert!(door.delete_conversation(joiner).await.unwrap());
    let left = door.find_ticket(&ticket).await.unwrap().unwrap();
    assert_eq!((left.summary.as_str(), left.conversation), ("", Some(opener)));
}

#[tokio::test]
async fn locked_rma_joins_its_ticket() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let order = number("77893");
    let opened = door.escalate(&NewEscalation { order: Some(&order), ..damage(None) }, &shop.desk()).await.unwrap();
    let joined = door.escalate(&damage(Some(&rma.number)), &shop.desk()).await.unwrap();
    assert!(matches!(&joined, Escalated::Duplicate(_)), "{joined:?}");
    assert_eq!(joined.ticket().id, opened.ticket().id);
    let done = shop.resolve(&joined.ticket().id, Resolution::Reject, "worn").await;
    assert!(matches!(done, Resolving::Done(_, rmas) if rmas[0].status == RmaStatus::Rejected && !rmas[0].escalated));
}

#[tokio::test]
async fn decided_rma_does_not_block_other_rejections() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let mut two = listed(&shop, "77900").await;
    two.order.number = number("TWO-1");
    two.order.status = OrderStatus::Delivered;
    let order = two.order.number.clone();
    door.import_orders(&[two], false, shop.now).await.unwrap();
    let mut made = Vec::new();
    for line in [1, 2] {
        let ReturnOutcome::Created { rma, .. } = shop.ask("TWO-1", &[line], Action::Return, "r", "x").await else {
            panic!()
        };
        shop.labelled(&rma).await;
        made.push(rma);
    }
    use RmaStatus::{Approved, InTransit, Inspected, Received, Rejected};
    shop.walk(&made[0], &[InTransit, Received, Inspected, Approved]).await;
    let opened = door.escalate(&NewEscalation { order: Some(&order), ..damage(None) }, &shop.desk()).await.unwrap();
    let done = shop.resolve(&opened.ticket().id, Resolution::Reject, "worn").await;
    let Resolving::Done(_, rmas) = done else { panic!("{done:?}") };
    let mut now: Vec<_> = rmas.iter().map(|rma| (&rma.number, rma.status, rma.escalated)).collect();
    now.sort_by_key(|(_, status, _)| *status);
    assert_eq!(now, [(&made[0].number, Approved, false), (&made[1].number, Rejected, false)]);
    let mails = door.list_mails_of(&made[1].number).await.unwrap();
    assert!(
        mails.iter().any(|mail| mail.template == "return_rejected"),
        "the mail names the rejected return: {mails:?}"
    );
}

#[tokio::test]
async fn tickets_outlive_the_conversation() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let conversation = opened(shop.store(), &shop.tenant).await;
    let by = Actor { conversation: Some(conversation), ..shop.desk() };
    let order = number("77893");
    let talk = door.escalate(&damage(None), &by).await.unwrap().ticket().id.clone();
    let about_order = NewEscalation { order: Some(&order), ..damage(None) };
    let about_order = door.escalate(&about_order, &by).await.unwrap().ticket().id.clone();
    let money = NewEscalation { once: Some("short"), reason: PAYMENT, summary: "Payment: short", ..damage(None) };
    let money = door.escalate(&money, &by).await.unwrap().ticket().id.clone();
    assert_eq!(shop.store().list_loose_tickets().await.unwrap(), []);
    assert!(door.delete_conversation(conversation).await.unwrap());
    let loose = shop.store().list_loose_tickets().await.unwrap();
    let loose: BTreeMap<&str, &str> =
        loose.iter().map(|(_, ticket)| (ticket.id.as_str(), ticket.summary.as_str())).collect();
    // The shop has written about the payment, not the customer.
    assert_eq!(loose, BTreeMap::from([(talk.as_str(), ""), (&about_order, ""), (&money, "Payment: short")]));

    // A later conversation about the order shows its ticket.
    let later = Actor { conversation: Some(opened(shop.store(), &shop.tenant).await), ..shop.desk() };
    let seen = AuditEntry {
        conversation: later.conversation,
        order: Some(order),
        ..AuditEntry::system("desk", "tool.get_order_details", shop.now)
    };
    door.record(&seen).await.unwrap();
    let overview = door.overview_of_returns(later.conversation.unwrap()).await.unwrap();
    assert_eq!(overview.tickets.iter().map(|ticket| &ticket.id).collect::<Vec<_>>(), [&about_order]);
}

#[tokio::test]
async fn problem_with_money_makes_conversation_wait() {
    use ConversationStatus::{Bot, Closed, Taken, Waiting};
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let event = |name| NewEscalation { once: Some(name), ..damage(None) };
    for (name, handoff, (before, after)) in [
        ("short", None, (Bot, Waiting)),
        ("excess", Some(Handoff::Close), (Closed, Waiting)),
        ("double", Some(Handoff::Take { agent: None }), (Taken, Taken)),
    ] {
        let conversation = opened(shop.store(), &shop.tenant).await;
        if let Some(handoff) = handoff {
            door.hand_over(conversation, &handoff, shop.now).await.unwrap();
        }
        let status = async || door.find_conversation(conversation).await.unwrap().unwrap().status;
        assert_eq!(status().await, before);
        let by = Actor { conversation: Some(conversation), ..shop.desk() };
        let opened = door.escalate(&event(name), &by).await.unwrap();
        assert_eq!((status().await, opened.ticket().conversation), (after, Some(conversation)));
    }
    let gone = Actor { conversation: Some(ConversationId::now()), ..shop.desk() };
    assert_eq!(door.escalate(&event("reversed"), &gone).await.unwrap().ticket().conversation, None);
}
