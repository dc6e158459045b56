//! Promises of the commerce desk.

use super::{Promise, broken, promise, said_last};
use crate::desks::commerce::{customer, open_desk};

const SHOP_EN: &str = "prompts/texts/commerce.en.toml";

/// Promises of the commerce desk on its sample shop.
const COMMERCE: &[Promise] = &[
    promise(
        ("knowledge/commerce/returns.en.md", "A colleague arranges it with you here"),
        &["can I return shoes that do not fit?", "yes, a colleague please"],
        ("escalation", "colleague"),
    ),
    promise((SHOP_EN, "Send START to turn them on again"), &["STOP", "START"], ("reply", "on again")),
    promise(
        (SHOP_EN, "Write **pay** when you are ready"),
        &["canvas shoes", "black, 40", "pay", "1", "no", "pay"],
        ("payment_prompt", "1. M-PESA"),
    ),
    promise(
        (SHOP_EN, "**0000** for a wrong PIN"),
        &["canvas shoes", "black, 40", "pay", "1", "yes", "0000"],
        ("payment", "nothing is charged"),
    ),
    promise(
        (SHOP_EN, "**pin cancel** to refuse"),
        &["canvas shoes", "black, 40", "pay", "1", "yes", "pin cancel"],
        ("payment", "nothing is charged"),
    ),
    promise(
        (SHOP_EN, "Type **1234** here as your PIN to pay"),
        &["canvas shoes", "black, 40", "pay", "1", "yes", "1234"],
        ("payment", "is paid"),
    ),
    promise(
        (SHOP_EN, "I'll count {code} as soon as"),
        &["use KARIBU10", "canvas shoes black 40"],
        ("cart", "KSh 1,125"),
    ),
    promise((SHOP_EN, "Shall I ask a colleague?"), &["do you repair drones?", "yes"], ("escalation", "colleague")),
    promise(
        (SHOP_EN, "Shall I get a person to help you?"),
        &["what about my order?", "it is under another number", "yes"],
        ("escalation", "colleague"),
    ),
];

#[tokio::test]
async fn commerce_desk_keeps_what_pages_promise() {
    let desk = open_desk().await;
    let mut wrong = Vec::new();
    for (number, promise) in COMMERCE.iter().enumerate() {
        let mut chat = customer(&desk, &format!("+2547222{number:05}")).await;
        wrong.extend(broken(promise, &said_last(&mut chat, promise).await));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
