use frontdesk::domain::returns::{Priority, Resolution};
use frontdesk::store::returns::escalate::{Escalated, NewEscalation, Resolving};

use super::*;

fn damage(rma: Option<&frontdesk::domain::returns::RmaNumber>) -> NewEscalation<'_> {
    NewEscalation {
        rma,
        order: None,
        priority: Priority::High,
        reason: "Damaged items",
        summary: "Asked for a return, then told of damage.",
    }
}

#[tokio::test]
async fn an_escalated_rma_stays_where_it_is_until_a_person_approves_and_then_gets_its_label() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let opened = door.escalate(&damage(Some(&rma.number)), &shop.desk()).await.unwrap();
    let Escalated::Created(ticket) = opened else { panic!("{opened:?}") };
    assert_eq!((ticket.priority, ticket.rma.as_ref()), (Some(Priority::High), Some(&rma.number)));
    assert!(matches!(door.escalate(&damage(Some(&rma.number)), &shop.desk()).await.unwrap(), Escalated::Duplicate(_)));

    let label = door.issue_label(&rma.number, &TrackingNumber::new(1), &shop.desk()).await.unwrap();
    assert!(matches!(label, LabelOutcome::Refused(NoStep::Locked { .. })), "{label:?}");
    let locked = shop.rma(&rma).await;
    assert_eq!((locked.status, locked.escalated), (RmaStatus::Initiated, true));
    assert_eq!(locked.escalation_reason.as_deref(), Some("Damaged items"));
    // The job that found it locked is done with.
    let lease = std::time::Duration::from_secs(60);
    let jobs = shop.store().lease_jobs(&[JobKind::IssueLabel], shop.now, lease, 9).await.unwrap();
    shop.store().finish_jobs(&jobs).await.unwrap();

    let more =
        door.resolve_escalation(&ticket.id, Resolution::MoreInfo, "photos, please", &shop.person()).await.unwrap();
    assert!(matches!(more, Resolving::Done(ticket, _) if ticket.resolved.is_none()));
    assert!(shop.rma(&rma).await.escalated);

    let done = door.resolve_escalation(rma.number.as_str(), Resolution::Approve, "seen", &shop.person()).await.unwrap();
    let Resolving::Done(ticket, rmas) = done else { panic!("{done:?}") };
    let resolved = ticket.resolved.unwrap();
    assert_eq!((resolved.decision, resolved.by.as_str(), resolved.why.as_str()), (Resolution::Approve, "Thu", "seen"));
    assert_eq!((rmas.len(), rmas[0].escalated), (1, false));
    let jobs = shop.store().lease_jobs(&[JobKind::IssueLabel], shop.now, lease, 9).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.subject).collect::<Vec<_>>(), [rma.id.0]);
    let label = door.issue_label(&rma.number, &TrackingNumber::new(1), &shop.desk()).await.unwrap();
    assert!(matches!(label, LabelOutcome::Issued(_)), "{label:?}");

    let again = door.resolve_escalation(&ticket.id, Resolution::Reject, "x", &shop.person()).await.unwrap();
    assert!(matches!(again, Resolving::Resolved(_)), "{again:?}");
    let recorded = shop.recorded("77893").await;
    let about = recorded.iter().filter(|what| what.contains("ticket.") || what.contains("escalated"));
    assert_eq!(
        about.collect::<Vec<_>>(),
        [
            "desk ticket.escalated",
            "desk rma.escalated",
            "Thu ticket.resolved",
            "Thu rma.escalated",
            "Thu ticket.resolved"
        ]
    );
}

#[tokio::test]
async fn a_rejected_escalation_ends_the_rma_and_opens_the_item_again() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let order = number("77893");
    let about_the_order = NewEscalation { order: Some(&order), ..damage(None) };
    let opened = door.escalate(&about_the_order, &shop.desk()).await.unwrap();
    assert!(shop.rma(&rma).await.escalated, "the order's RMA is locked with it");
    let done = door.resolve_escalation(&opened.ticket().id, Resolution::Reject, "worn", &shop.person()).await.unwrap();
    assert!(matches!(done, Resolving::Done(_, rmas) if rmas[0].status == RmaStatus::Rejected && !rmas[0].escalated));
    assert_eq!(shop.order("77893").await.open_lines(), [1]);
    let again = door.escalate(&about_the_order, &shop.desk()).await.unwrap();
    assert!(matches!(again, Escalated::Created(_)), "a resolved ticket takes no more");
}

#[tokio::test]
async fn many_escalations_of_one_conversation_at_once_are_one_ticket() {
    let shop = std::sync::Arc::new(Shop::open().await);
    let conversation = opened(shop.store(), &shop.tenant).await;
    let asking = (0..20).map(|_| {
        let shop = shop.clone();
        tokio::spawn(async move {
            let by = By { conversation: Some(conversation), ..shop.desk() };
            shop.store().tenant(&shop.tenant).escalate(&damage(None), &by).await.unwrap()
        })
    });
    let mut created = 0;
    for asked in asking.collect::<Vec<_>>() {
        created += usize::from(matches!(asked.await.unwrap(), Escalated::Created(_)));
    }
    let door = shop.store().tenant(&shop.tenant);
    assert_eq!((created, door.list_tickets_in(conversation).await.unwrap().len()), (1, 1));
    assert_eq!(door.list_audit(conversation).await.unwrap().len(), 1);
    let nothing = door.resolve_escalation("TICKET-1-AAAA", Resolution::Approve, "x", &shop.person()).await.unwrap();
    assert_eq!(nothing, Resolving::NotFound);
}
