use serde_json::json;

use super::*;

fn load(stored: serde_json::Value) -> State {
    serde_json::from_value(stored).expect("a state")
}

#[test]
fn flat_stored_fields_become_stages() {
    let asked = load(json!({ "intent": "return", "asked": "confirm", "error": null, "conversation_complete": false }));
    assert_eq!(
        asked,
        State { intent: Some(Intent::Return), stage: Stage::Asked(Question::Confirm), ..State::default() }
    );
    let failed = load(json!({ "error": "ORDER_LOCKED", "asked": null }));
    assert_eq!(failed.stage, Stage::Failed(Trouble::OrderLocked));
    let over = load(json!({ "conversation_complete": true, "asked": "mail_failed" }));
    assert_eq!(over.stage, Stage::Over);
    assert_eq!(load(json!({})), State::default());
}

#[test]
fn stored_handoff_keeps_reason_and_ticket() {
    let due = load(json!({ "escalate": "damage_later", "escalation_ticket": null }));
    assert_eq!(due.handoff, Handoff::Due(HandoffReason::DamageLater));
    let opened = load(json!({ "escalate": "review", "escalation_ticket": "TICKET-1-AAAA" }));
    assert_eq!(opened.handoff, Handoff::Opened(HandoffReason::Review, "TICKET-1-AAAA".to_owned()));
}

#[test]
fn stored_mail_fields_become_one_value() {
    let mail = |status: Option<&str>, missing: bool, left: bool| {
        let ticket = json!({ "id": "RMA-1-AAAA", "status": "created" });
        let stored = json!({
            "action_ticket": ticket, "email_status": status, "mail_missing": missing, "leaves_mail": left,
            "mail_to": "b@example.com",
        });
        let ticket = load(stored).ticket.expect("a ticket");
        assert_eq!(ticket.mail_to.as_deref(), Some("b@example.com"));
        ticket.mail
    };
    assert_eq!(mail(None, false, false), Mail::Due);
    assert_eq!(mail(Some("failed"), false, false), Mail::Settled(EmailStatus::Failed));
    assert_eq!(mail(Some("sent"), true, false), Mail::Missing(EmailStatus::Sent));
    assert_eq!(mail(Some("failed"), false, true), Mail::Left(EmailStatus::Failed));
    assert_eq!(load(json!({ "email_status": "sent", "action_ticket": null })).ticket, None);
}

#[test]
fn saved_state_has_the_flat_fields() {
    let ticket = FlowTicket::new(ActionTicket { id: "RMA-1-AAAA".to_owned(), status: TicketStatus::Created });
    let state = State {
        stage: Stage::Asked(Question::MailFailed),
        handoff: Handoff::Due(HandoffReason::Person),
        ticket: Some(FlowTicket { mail: Mail::Missing(EmailStatus::Queued), ..ticket }),
        ..State::default()
    };
    let stored = serde_json::to_value(&state).expect("JSON");
    for (field, expected) in [
        ("asked", json!("mail_failed")),
        ("conversation_complete", json!(false)),
        ("escalate", json!("person")),
        ("action_ticket", json!({ "id": "RMA-1-AAAA", "status": "created" })),
        ("email_status", json!("queued")),
        ("mail_missing", json!(true)),
    ] {
        assert_eq!(stored[field], expected, "{field}");
    }
    assert_eq!(load(stored), state);
}
