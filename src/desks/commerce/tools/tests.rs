use super::catalog::{CatalogGetItem, CatalogSearch};
use super::customer::{CustomerGetOrCreate, CustomerUpdatePreferences, TenantGetContext};
use super::order::{OffersGetApplicable, OrderApplyCoupon, OrderCreate, OrderGetStatus};
use super::payment::{
    PayTo, PaymentCreatePesapalCheckout, PaymentGetC2bInstructions, PaymentGetMethods, PaymentInitiateStkPush,
};
use super::support::{HandoffCreateTicket, KbRetrieve};
use serde_json::json;

use super::*;
use crate::retrieval::search::{By, Found};

fn arguments<T: JsonSchema>() -> Vec<String> {
    let schema = serde_json::to_value(schemars::schema_for!(T)).expect("JSON");
    assert_eq!(schema["additionalProperties"], json!(false), "unknown fields are refused");
    schema["properties"].as_object().map(|known| known.keys().cloned().collect()).unwrap_or_default()
}

fn described<T: Tool>() -> (&'static str, Vec<String>) {
    (T::NAME, arguments::<T>())
}

#[test]
fn more_than_eight_snippets_are_refused() {
    let found = Found { passages: Vec::new(), by: By::Words, similarity: None, question: None };
    let output = |top_k| KbRetrieve { query: "delivery".to_owned(), source_types: Vec::new(), top_k }.output(&found);
    assert!(output(0).is_err() && output(1).is_ok());
    assert!(output(8).is_ok() && output(9).is_err());
}

#[test]
fn till_is_not_called_paybill() {
    let shown = |pay_to: PayTo| serde_json::to_value(pay_to).expect("JSON");
    assert_eq!(shown(PayTo::Till("5012345".to_owned())), json!({ "till": "5012345" }));
    assert_eq!(shown(PayTo::Paybill("174379".to_owned())), json!({ "paybill": "174379" }));
}

#[test]
fn fifteen_tools_have_their_names_and_arguments() {
    let tools = [
        described::<TenantGetContext>(),
        described::<CustomerGetOrCreate>(),
        described::<CustomerUpdatePreferences>(),
        described::<CatalogSearch>(),
        described::<CatalogGetItem>(),
        described::<OrderCreate>(),
        described::<OffersGetApplicable>(),
        described::<OrderApplyCoupon>(),
        described::<PaymentGetMethods>(),
        described::<PaymentGetC2bInstructions>(),
        described::<PaymentInitiateStkPush>(),
        described::<PaymentCreatePesapalCheckout>(),
        described::<OrderGetStatus>(),
        (KbRetrieve::NAME, arguments::<KbRetrieve>()),
        described::<HandoffCreateTicket>(),
    ];
    let shown: Vec<String> = tools
        .into_iter()
        .map(|(name, mut arguments)| {
            arguments.sort();
            format!("{name}({})", arguments.join(","))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "tenant_get_context()",
            "customer_get_or_create(phone_e164)",
            "customer_update_preferences(language,marketing_opt_in,notification_prefs,source_message_id)",
            "catalog_search(filters,limit,query)",
            "catalog_get_item(item_id)",
            "order_create(items)",
            "offers_get_applicable(item_ids,order_id)",
            "order_apply_coupon(code,order_id)",
            "payment_get_methods(order_id)",
            "payment_get_c2b_instructions(order_id)",
            "payment_initiate_stk_push(confirmed_amount,order_id,phone_e164)",
            "payment_create_pesapal_checkout(confirmed_amount,order_id)",
            "order_get_status(order_id)",
            "kb_retrieve(query,source_types,top_k)",
            "handoff_create_ticket(journey,priority,reason,step,summary)",
        ]
    );
}
