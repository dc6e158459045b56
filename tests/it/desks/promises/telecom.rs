//! Promises of the telecom desk.

use frontdesk::cli::seed::accounts::accounts;
use frontdesk::domain::TenantId;
use serde_json::json;

use super::{Promise, broken, promise, said_last};
use crate::desks::telecom::dialogues::open_sample_desk;
use crate::support::app::TestApp;

const INVOICES: &str = "knowledge/telecom/billing.en.md";
const REFUNDS: &str = "knowledge/telecom/refunds.en.md";
const SUPPORT_PL: &str = "knowledge/telecom/support.pl.md";
const TELECOM_EN: &str = "prompts/texts/telecom.en.toml";
const TEAM: (&str, &str) = ("social", "someone will reply here");

/// Promises of the telecom desk on its sample documents and accounts.
const TELECOM: &[Promise] = &[
    promise(
        ("knowledge/telecom/bridge.en.md", "ask us in this chat to switch it on"),
        &["can you switch on bridge mode for me in this chat?", "yes"],
        TEAM,
    ),
    promise(
        ("knowledge/telecom/internet.en.md", "Report an outage in this chat"),
        &["I want to report an outage", "yes"],
        TEAM,
    ),
    promise(
        ("knowledge/telecom/sim.en.md", "in this chat by asking for a person"),
        &["my phone was stolen, block my SIM. I want a person"],
        TEAM,
    ),
    promise(
        (INVOICES, "ask a colleague to send it again"),
        &["please send me the invoice again by e-mail", "yes"],
        TEAM,
    ),
    promise(
        ("knowledge/telecom/support.en.md", "you can ask for a person at any time"),
        &["I want to talk to a person"],
        TEAM,
    ),
    promise(
        (SUPPORT_PL, "poprosić o konsultanta"),
        &["chcę porozmawiać z konsultantem"],
        ("social", "ktoś odpisze tutaj"),
    ),
    promise(
        ("knowledge/telecom/plans.en.md", "Ask in this chat which plan you have"),
        &["which plan do I have?", "u123", "INV-12345"],
        ("billing_info", "45.00 PLN"),
    ),
    promise(
        (REFUNDS, "You open a refund case in this chat"),
        &["I want to open a refund case", "u123, INV-12345", "145 PLN", "overcharge", "yes"],
        ("refund_case", "145.00 PLN"),
    ),
    promise(
        (REFUNDS, "Ask in this chat for the status of your case"),
        &["what is the status of my case?", "u123, INV-12345"],
        ("billing_info", "INV-12345"),
    ),
    promise(
        (REFUNDS, "if you disagree, ask for a person"),
        &["why was my case rejected? I disagree, I want a person"],
        TEAM,
    ),
    promise((TELECOM_EN, "Just say yes, or call"), &["blub", "hm", "blub blub", "yes"], TEAM),
    promise(
        (TELECOM_EN, "If you don't want the refund any more"),
        &["I want to open a refund case", "u123, INV-20251001", "never mind"],
        ("billing_info", "leave that"),
    ),
];

#[tokio::test]
async fn telecom_desk_keeps_what_pages_promise() {
    let desk = open_sample_desk("en", TestApp::builder().env("CONSOLE", "on")).await;
    desk.app.inner.store.tenant(&TenantId::default()).make_sample_accounts(&accounts()).await.unwrap();
    let mut wrong = Vec::new();
    for promise in TELECOM {
        let language = if promise.made.0.contains(".pl.") { "pl" } else { "en" };
        let mut chat = desk.chat_with(json!({ "language": language })).await;
        wrong.extend(broken(promise, &said_last(&mut chat, promise).await));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
