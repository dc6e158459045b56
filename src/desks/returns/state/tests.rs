use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::desks::returns::tests::sample;

fn load(stored: serde_json::Value) -> State {
    serde_json::from_value(stored).expect("a state")
}

#[test]
fn flat_stored_fields_become_stages() {
    let asked = load(json!({ "intent": "return", "asked": "confirm", "error": null, "conversation_complete": false }));
    assert_eq!(
        asked,
        State {
            case: Case { intent: Some(Intent::Return), ..Case::default() },
            phase: Phase::Asked(Question::Confirm),
            ..State::default()
        }
    );
    let failed = load(json!({ "error": "ORDER_LOCKED", "asked": null }));
    assert_eq!(failed.phase, Phase::Failed(Trouble::OrderLocked));
    let over = load(json!({ "conversation_complete": true, "asked": "mail_failed" }));
    assert_eq!(over.phase, Phase::Over);
    assert_eq!(load(json!({})), State::default());
}

#[test]
fn message_and_contact_are_stored_flat() {
    let stored = json!({
        "needs_contact": true, "contact_given": true, "other_contact": "b@example.com", "is_aside": true, "called_off": true,
    });
    let state = load(stored.clone());
    let contact = OrderContact { is_needed: true, is_given: true, other: Some("b@example.com".to_owned()) };
    let message = LastMessage { is_aside: true, called_off: true, ..LastMessage::default() };
    assert_eq!((&state.case.contact, &state.case.message), (&contact, &message));
    let saved = serde_json::to_value(&state).expect("JSON");
    for (name, value) in stored.as_object().expect("an object") {
        assert_eq!(&saved[name], value, "{name}");
    }
}

#[test]
fn texts_of_earlier_versions_are_left_out() {
    let state = load(json!({ "intent": "return", "meta": { "said": { "confirm_order": 1, "clarify": 2 } } }));
    assert_eq!(state.case.intent, Some(Intent::Return));
    assert_eq!(state.meta.said, BTreeMap::from([(Scenario::Clarify, 2)]));
}

#[test]
fn stored_handoff_keeps_reason_and_ticket() {
    let due = load(json!({ "escalate": "damage_later", "escalation_ticket": null }));
    assert_eq!(due.handoff, HandoffStatus::Due(HandoffReason::DamageLater));
    let opened = load(json!({ "escalate": "review", "escalation_ticket": "TICKET-1-AAAA" }));
    assert_eq!(opened.handoff, HandoffStatus::Opened(HandoffReason::Review, "TICKET-1-AAAA".to_owned()));
}

#[test]
fn reported_damage_keeps_its_stored_names() {
    let damaged = load(json!({ "damage_told": true, "escalate": "damage_told" }));
    assert!(damaged.case.damage_reported);
    assert_eq!(damaged.handoff, HandoffStatus::Due(HandoffReason::DamagedButRefused));
    let saved = serde_json::to_value(&damaged).expect("JSON");
    assert_eq!((&saved["damage_told"], &saved["escalate"]), (&json!(true), &json!("damage_told")));
}

#[test]
fn stored_mail_fields_become_one_value() {
    let mail = |status: Option<&str>, missing: bool, left: bool| {
        let ticket = json!({ "id": "RMA-1-AAAA", "status": "created" });
        let stored = json!({
            "order_number": "77893", "order": sample::order(), "action_ticket": ticket, "email_status": status, "mail_missing": missing, "leaves_mail": left,
            "mail_to": "b@example.com",
        });
        let state = load(stored);
        let ticket = state.ticket().expect("a ticket");
        assert_eq!(ticket.mail_to.as_deref(), Some("b@example.com"));
        ticket.mail
    };
    assert_eq!(mail(None, false, false), Mail::Due);
    assert_eq!(mail(Some("failed"), false, false), Mail::Settled(EmailStatus::Failed));
    assert_eq!(mail(Some("sent"), true, false), Mail::Missing(EmailStatus::Sent));
    assert_eq!(mail(Some("failed"), false, true), Mail::Left(EmailStatus::Failed));
    assert_eq!(load(json!({ "email_status": "sent", "action_ticket": null })).ticket(), None);
}

#[test]
fn saved_state_has_the_flat_fields() {
    let ticketed = sample::ticketed(TicketStatus::Created, Mail::Missing(EmailStatus::Queued));
    let state =
        State { handoff: HandoffStatus::Due(HandoffReason::Person), ..sample::after(Question::MailFailed, ticketed) };
    let stored = serde_json::to_value(&state).expect("JSON");
    for (field, expected) in [
        ("asked", json!("mail_failed")),
        ("conversation_complete", json!(false)),
        ("escalate", json!("person")),
        ("action_ticket", json!({ "id": "RMA-1700000000-AB12", "status": "created" })),
        ("order_number", json!("77893")),
        ("user_confirmed_order", json!(true)),
        ("desired_action", json!("return")),
        ("email_status", json!("queued")),
        ("mail_missing", json!(true)),
    ] {
        assert_eq!(stored[field], expected, "{field}");
    }
    assert_eq!(load(stored), state);
}

#[test]
fn stored_options_become_one_progress() {
    let stored = |fields: serde_json::Value| {
        let mut stored = json!({ "order_number": "77893", "order": sample::order(), "lines": [1] });
        stored.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        load(stored).subject().expect("an order").progress.clone()
    };
    let (decision, refund) = (sample::approved(), sample::refund());
    for (fields, expected) in [
        (json!({}), Progress::Undecided),
        (json!({ "user_confirmed_order": false }), Progress::Declined(None)),
        (json!({ "eligibility": decision, "refund": refund, "desired_action": "refund" }), {
            Progress::Decided { decision: decision.clone(), action: Some(Action::Refund) }
        }),
        (
            json!({ "user_confirmed_order": true, "eligibility": decision, "refund": refund, "desired_action": "refund" }),
            Progress::Agreed { decision: decision.clone(), action: Action::Refund },
        ),
        (json!({ "user_confirmed_order": true, "eligibility": decision, "conversation_complete": true }), {
            Progress::Decided { decision: decision.clone(), action: None }
        }),
        // What earlier versions asked named no money: the desk decides and asks again.
        (json!({ "user_confirmed_order": true, "agreed_to_cancel": true }), Progress::Undecided),
        (
            json!({ "user_confirmed_order": true, "eligibility": decision, "desired_action": "refund" }),
            Progress::Undecided,
        ),
        (json!({ "eligibility": decision }), Progress::Undecided),
        (json!({ "desired_action": "refund" }), Progress::Undecided),
    ] {
        assert_eq!(stored(fields.clone()), expected, "{fields}");
    }
    let declined = load(json!({ "user_confirmed_order": false }));
    assert_eq!(declined.stage, Stage::Declined);
    let named = load(json!({ "order_number": "77893", "order_match_confidence": 0.7 }));
    assert_eq!(named.stage, Stage::Named { number: sample::number(), confidence: 0.7 });
}
