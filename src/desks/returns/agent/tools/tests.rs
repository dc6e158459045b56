use serde_json::{Value, json};

use super::*;
use crate::agent::InvalidCall;
use crate::providers::llm::ToolSpec;

fn specs() -> Vec<ToolSpec> {
    tool_set().specs()
}

#[test]
fn every_tool_and_argument_has_a_description() {
    let specs = specs();
    assert_eq!(specs.len(), 6);
    for spec in specs {
        assert!(spec.description.len() > 40, "{spec:?}");
        let parameters = &spec.parameters;
        assert_eq!(
            (&parameters["type"], &parameters["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{spec:?}"
        );
        for (name, property) in parameters["properties"].as_object().expect("properties") {
            assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{}: {name}", spec.name);
            assert!(property["type"].is_string(), "{}: {name} has one type: {property}", spec.name);
        }
        assert!(!parameters.to_string().contains("null"), "{parameters}");
    }
}

#[test]
fn schemas_come_from_the_argument_types() {
    let schemas: Vec<Value> =
        specs().into_iter().map(|spec| json!({ spec.name: without_words(spec.parameters) })).collect();
    insta::assert_snapshot!(schemas.iter().map(|schema| format!("{schema}\n")).collect::<String>(), @r#"
    {"get_order_details":{"type":"object","additionalProperties":false,"properties":{"order_id":{"type":"string"},"email":{"type":"string"}}}}
    {"check_eligibility":{"type":"object","additionalProperties":false,"properties":{"order_id":{"type":"string"},"item_ids":{"type":"array","items":{"type":"integer","format":"uint32","minimum":0}},"return_reason":{"type":"string"}},"required":["order_id","item_ids","return_reason"]}}
    {"create_rma":{"type":"object","additionalProperties":false,"properties":{"order_id":{"type":"string"},"item_ids":{"type":"array","items":{"type":"integer","format":"uint32","minimum":0}},"return_reason":{"type":"string"},"reason_code":{"type":"string"},"action":{"type":"string","enum":["return","refund"]}},"required":["order_id","item_ids","return_reason"]}}
    {"generate_return_label":{"type":"object","additionalProperties":false,"properties":{"order_id":{"type":"string"},"rma_number":{"type":"string"}},"required":["order_id","rma_number"]}}
    {"send_email":{"type":"object","additionalProperties":false,"properties":{"order_id":{"type":"string"},"template_name":{"type":"string","enum":["return_approved","return_rejected","label_ready"]},"rma_number":{"type":"string"},"customer_email":{"type":"string"}},"required":["order_id","template_name"]}}
    {"escalate_to_human":{"type":"object","additionalProperties":false,"properties":{"reason":{"type":"string"},"priority":{"type":"string","enum":["LOW","MEDIUM","HIGH","URGENT"]}},"required":["reason"]}}
    "#);
}

/// The schema without its descriptions.
fn without_words(mut schema: Value) -> Value {
    for property in schema["properties"].as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
        property.as_object_mut().map(|fields| fields.remove("description"));
    }
    schema
}

#[test]
fn invalid_arguments_name_the_mistake() {
    let mistake = |name: &str, arguments: Value| match tool_set().parse(name, &arguments) {
        Ok(_) => "fits".to_owned(),
        Err(InvalidCall::UnknownTool(_)) => "no such tool".to_owned(),
        Err(InvalidCall::Arguments(why)) => why,
    };
    let check = json!({"order_id": "77893", "item_ids": [1], "return_reason": "too small"});
    let with = |name: &str, value: Value| {
        let mut changed = check.clone();
        changed[name] = value;
        changed
    };
    for (name, arguments, expected) in [
        ("get_order_details", json!({"order_id": "77893"}), "fits"),
        ("get_order_details", json!({"order_id": 77893}), "fits"),
        ("get_order_details", json!({"email": "a@b.vn", "order_id": null}), "fits"),
        ("get_order_details", json!({"order": "77893"}), "unknown field `order`"),
        ("get_order_details", json!("77893"), "not a JSON object"),
        ("get_order_details", json!({"order_id": [1]}), "must be a text"),
        ("check_eligibility", check.clone(), "fits"),
        ("check_eligibility", with("item_ids", json!(["1"])), "invalid type"),
        ("check_eligibility", with("item_ids", json!([-1])), "invalid value"),
        ("check_eligibility", json!({"order_id": "77893"}), "missing field"),
        ("create_rma", check.clone(), "fits"),
        ("create_rma", with("reason_code", json!("APPROVED")), "fits"),
        ("create_rma", with("action", json!("refund")), "fits"),
        ("create_rma", with("action", json!("cancel")), "unknown variant `cancel`"),
        // The customer comes from the session.
        ("create_rma", with("customer_id", json!(7)), "unknown field `customer_id`"),
        ("send_email", json!({"order_id": "77893", "template_name": "label_ready"}), "fits"),
        ("send_email", json!({"order_id": "77893", "template_name": "free_money"}), "unknown variant"),
        (
            "send_email",
            json!({"order_id": "77893", "template_name": "label_ready", "context": {}}),
            "unknown field `context`",
        ),
        ("escalate_to_human", json!({"reason": "damage", "priority": "URGENT"}), "fits"),
        ("escalate_to_human", json!({"reason": "damage", "priority": "now"}), "unknown variant"),
        ("delete_everything", json!({}), "no such tool"),
    ] {
        let found = mistake(name, arguments.clone());
        assert!(found.contains(expected), "{name} {arguments}: {found}");
    }
}

#[test]
fn recorded_arguments_hold_no_personal_data() {
    let secret = "john.doe@example.com";
    for (name, arguments) in [
        ("get_order_details", json!({"email": secret})),
        ("get_order_details", json!({"order_id": secret})),
        ("check_eligibility", json!({"order_id": "77893", "item_ids": [1], "return_reason": secret})),
        ("create_rma", json!({"order_id": "77893", "item_ids": [1], "return_reason": secret, "reason_code": secret})),
        ("generate_return_label", json!({"order_id": "77893", "rma_number": secret})),
        (
            "send_email",
            json!({"order_id": "77893", "template_name": "label_ready", "rma_number": secret, "customer_email": secret}),
        ),
        ("escalate_to_human", json!({"reason": secret, "priority": "LOW"})),
    ] {
        let Ok(call) = tool_set().parse(name, &arguments) else { panic!("{name} takes {arguments}") };
        let recorded = call.recorded().to_string();
        assert!(!recorded.contains("john"), "{name}: {recorded}");
    }
}

#[test]
fn model_never_sees_why_a_review_is_needed() {
    use crate::desks::returns::tests::sample;
    use crate::domain::returns::{Cause, Decision};
    for why in [Cause::FraudFlag, Cause::ReturnsTooFrequent] {
        let decision = Decision { requires_manual_review: true, ..sample::refused(why) };
        let results = [shown(&decision), ToolError::Refused(Box::new(decision)).to_tool_result()];
        for result in results {
            let result = result.to_string();
            assert!(!result.contains("fraud") && !result.contains("frequent"), "{result}");
            assert!(result.contains("escalate_to_human"), "{result}");
        }
    }
}
