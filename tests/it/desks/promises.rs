//! Plays what the shop's pages and texts promise about the desks. Each row quotes the sentence, so that a change of the sentence is
//! noticed here. Promises that a desk's own tests play are not repeated.

mod commerce;
mod telecom;

use std::path::Path;

use chrono::Utc;
use frontdesk::domain::returns::{Resolution, RmaStatus};
use frontdesk::domain::{ActorKind, TenantId};
use frontdesk::store::audit::Actor;
use frontdesk::store::returns::advance::Advance;
use serde_json::{Value, json};

use super::retail::chat::Chat as DeskChat;
use super::returns::decisions::{mailed, resolve};
use super::returns::shop::{Chat, mails, metadata, open, seed};
use crate::support::app::TestApp;
use crate::support::eventually_async;
use crate::support::sse::Events;

const JOHN: &str = "john.doe@example.com";

/// A sentence, and a customer who relies on it.
struct Promise {
    /// The file and a part of the sentence in it.
    made: (&'static str, &'static str),
    customer: &'static [&'static str],
    /// The kind of a message of the last turn, and a part of its text.
    kept: (&'static str, &'static str),
}

const fn promise(
    made: (&'static str, &'static str),
    customer: &'static [&'static str],
    kept: (&'static str, &'static str),
) -> Promise {
    Promise { made, customer, kept }
}

/// Returns what is wrong: the file no longer has the sentence, or the desk does something else.
fn broken(promise: &Promise, last: &Events) -> Option<String> {
    let Promise { made: (file, sentence), customer, kept: (kind, text) } = promise;
    let written = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    if !written.contains(sentence) {
        return Some(format!("{file} has no {sentence:?}"));
    }
    let said = last.messages();
    let is_kept = said.iter().any(|(of, said)| of == kind && said.contains(text));
    (!is_kept).then(|| format!("{file}: {sentence}\n  {customer:?}\n  expected {kind} with {text:?}\n  {said:?}"))
}

async fn said_last(chat: &mut DeskChat<'_>, promise: &Promise) -> Events {
    let mut last = None;
    for text in promise.customer {
        last = Some(chat.say(text).await);
    }
    last.unwrap()
}

const EXCEPTIONS_EN: &str = "knowledge/returns/exception_handling.en.md";
const EXCEPTIONS_VI: &str = "knowledge/returns/exception_handling.vi.md";
const HELP_EN: &str = "knowledge/returns/troubleshooting.en.md";
const HELP_VI: &str = "knowledge/returns/troubleshooting.vi.md";
const POLICY_EN: &str = "knowledge/returns/return_policy.en.md";
const POLICY_VI: &str = "knowledge/returns/return_policy.vi.md";
const TEXTS_EN: &str = "prompts/texts/returns.en.toml";
const TEXTS_VI: &str = "prompts/texts/returns.vi.toml";

/// Promises of the returns desk, each in a separate conversation.
const RETURNS: &[Promise] = &[
    promise(
        (EXCEPTIONS_EN, "ask for a colleague: say why"),
        &["return order 77894", "buyer-77894@example.com", "I was in hospital, please ask a colleague"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (EXCEPTIONS_VI, "quý khách hãy yêu cầu gặp nhân viên và nêu lý do"),
        &["trả đơn 77894", "buyer-77894@example.com", "em nằm viện nên trễ, cho em gặp nhân viên"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (EXCEPTIONS_EN, "If you do not have them, ask for a colleague"),
        &["it was a gift, I want to return it", "I don't have the order number, can I talk to a colleague?"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (POLICY_EN, "If such an item arrived damaged, write to us all the same"),
        &["return order 77896, the boots arrived torn", "buyer-77896@example.com"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (POLICY_VI, "Nếu món đó đến nơi đã hư hỏng, quý khách vẫn nên nhắn"),
        &["trả đơn 77896, giày giao tới bị rách", "buyer-77896@example.com"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (POLICY_EN, "If the box, a tag or an accessory is missing or gone, ask for a colleague"),
        &["the box is gone, can a colleague help me?"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (POLICY_EN, "If you want to swap it in one go, ask for a colleague"),
        &["I want to swap the boots for a bigger size, please get me a colleague"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (POLICY_VI, "Nếu muốn đổi trong một lần, quý khách hãy yêu cầu gặp nhân viên"),
        &["em muốn đổi size lớn hơn, cho em gặp nhân viên"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (POLICY_EN, "electronics, for example, can be returned within 15 days"),
        &["return order ABC-100011", "yuki.tanaka@example.com"],
        ("return_decision", "15"),
    ),
    promise(
        (POLICY_VI, "chẳng hạn hàng điện tử được trả trong 15 ngày"),
        &["trả đơn ABC-100011", "yuki.tanaka@example.com"],
        ("return_decision", "15"),
    ),
    promise(
        (POLICY_EN, "An order that has not been shipped can be cancelled in this chat"),
        &["cancel order ABC-100009", "lan.vo@example.com", "yes, cancel it"],
        ("return_ticket", "ABC-100009"),
    ),
    promise(
        (POLICY_EN, "You start a return right in this chat"),
        &["I want to start a return", "order 77893", JOHN, "yes"],
        ("return_ticket", "RMA-"),
    ),
    promise(
        (HELP_EN, "write to us with the tracking number"),
        &["my parcel has not moved for four days, the tracking number is 616847147. I need a person"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (HELP_VI, "quý khách nhắn cho cửa hàng kèm mã vận đơn"),
        &["kiện hàng đứng yên bốn ngày rồi, mã vận đơn 616847147, cho em gặp nhân viên"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (TEXTS_EN, "Just write **yes** or **colleague**"),
        &["blub", "hm what", "blub blub", "yes"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (TEXTS_EN, "Write **colleague** and a person"),
        &["blub", "hm", "blub", "colleague"],
        ("escalation", "TICKET-"),
    ),
    promise((TEXTS_VI, "nhân viên"), &["blub", "hm", "blub", "nhân viên"], ("escalation", "TICKET-")),
    promise(
        (TEXTS_EN, "Ask me for a colleague, and they will cancel it"),
        &["return order 77893, the boots arrived torn", JOHN, "never mind my return", "a colleague please"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (TEXTS_EN, "A **colleague** can help with fewer pieces"),
        &["I want to return one of the two from order ABC-100011", "yuki.tanaka@example.com", "colleague"],
        ("escalation", "TICKET-"),
    ),
    promise(
        (TEXTS_EN, "or ask me for a colleague."),
        &["do you sell gift vouchers in Japan?", "then a colleague please"],
        ("escalation", "TICKET-"),
    ),
];

#[tokio::test]
async fn returns_desk_keeps_what_pages_promise() {
    let app = open(TestApp::builder()).await;
    let mut wrong = Vec::new();
    for promise in RETURNS {
        // Removes what the conversation before left on the orders.
        seed(&app).await;
        let mut chat = Chat::open_with(&app, json!({})).await;
        let last = chat.say_all(promise.customer).await;
        wrong.extend(broken(promise, &last));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

const CONTACT_EN: &str = "knowledge/contact.md";
const RETAIL_EN: &str = "prompts/texts/retail.en.toml";
const RETAIL_VI: &str = "prompts/texts/retail.vi.toml";
const PERSONA_EN: &str = "prompts/system_persona_en.md";
const PERSONA_VI: &str = "prompts/system_persona_vi.md";

/// Promises of the retail desk on its sample documents. The console is on, as the pages say.
const RETAIL: &[Promise] = &[
    promise(
        (RETAIL_EN, "are you looking for shopping advice"),
        &["what about this one then", "shopping advice"],
        ("reply", "Which product"),
    ),
    promise(
        (RETAIL_EN, "a warranty check, or just to chat?"),
        &["what about this one then", "a warranty check"],
        ("warranty_prompt", ""),
    ),
    promise((RETAIL_EN, "or just to chat?"), &["what about this one then", "just to chat"], ("social", "")),
    promise(
        (RETAIL_VI, "đang cần tư vấn mua hàng"),
        &["cái này thế nào", "tư vấn mua hàng"],
        ("reply", "sản phẩm nào"),
    ),
    promise((RETAIL_VI, "kiểm tra bảo hành hay"), &["cái này thế nào", "kiểm tra bảo hành"], ("warranty_prompt", "")),
    promise((RETAIL_VI, "hay muốn trò chuyện thôi ạ?"), &["cái này thế nào", "trò chuyện thôi"], ("social", "")),
    promise(
        (PERSONA_EN, "simply a friendly chat"),
        &["how much is delivery?", "a friendly chat would be nice"],
        ("social", ""),
    ),
    promise(
        (PERSONA_VI, "hoặc trò chuyện cùng quý khách"),
        &["phí giao hàng bao nhiêu", "trò chuyện với em đi"],
        ("social", ""),
    ),
    promise(
        (RETAIL_EN, "tell me which product you are interested in and I'll look it up"),
        &["do you rent out helicopters?", "Logitech G102"],
        ("reply", "G102"),
    ),
    promise(
        (RETAIL_EN, "Which product are you looking for, for example a laptop"),
        &["I want to buy something", "a mouse for office work, 500,000 VND"],
        ("reply", "Chuột"),
    ),
    promise(
        (RETAIL_EN, "Please send me the others in your next message"),
        &["warranty for AAA-111, AAA-222, AAA-333, AAA-444, AAA-555, AAA-666", "AAA-666"],
        ("warranty_result", "AAA-666"),
    ),
    promise(
        (CONTACT_EN, "ask for one in the chat, and our staff answer right there"),
        &["I want to talk to a human"],
        ("social", "someone will reply here"),
    ),
    promise(
        ("knowledge/exchange-and-returns.md", "ask for a colleague before you send it back"),
        &["can I talk to a colleague please"],
        ("social", "someone will reply here"),
    ),
    promise(
        ("knowledge/doi-tra.md", "quý khách hãy yêu cầu gặp nhân viên trước khi gửi trả"),
        &["cho em gặp nhân viên"],
        ("social", "nhân viên sẽ trả lời quý khách ngay tại đây"),
    ),
    promise(
        ("knowledge/warranty-terms.md", "Send the serial number in the chat and you will see at once"),
        &["serial FUT-2099"],
        ("warranty_result", "2099"),
    ),
    promise((PERSONA_EN, "say truthfully that you are an AI assistant"), &["are you a real person?"], ("social", "AI")),
    promise((PERSONA_VI, "trợ lý AI"), &["em là người thật hả"], ("social", "AI")),
];

#[tokio::test]
async fn retail_desk_keeps_what_pages_promise() {
    let app = TestApp::builder().env("CONSOLE", "on").env("WARRANTY_MISS_LIMIT", 0).start().await;
    let mut wrong = Vec::new();
    for promise in RETAIL {
        let conversation = app.open(&json!({})).await;
        let mut last = None;
        for text in promise.customer {
            last = Some(app.ask(&conversation, text).await);
        }
        wrong.extend(broken(promise, &last.unwrap()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What the pages say about mails: one for each step, in the customer's language, from the shop's own address.
#[tokio::test]
async fn each_step_of_a_return_has_its_mail() {
    for (language, customer) in
        [("en", ["return order 77893", JOHN, "yes"]), ("vi", ["trả đơn 77893", JOHN, "đúng rồi"])]
    {
        let app = open(TestApp::builder().env("MAIL_FROM", "service@shop.example")).await;
        let mut chat = Chat::open_with(&app, json!({ "language": language })).await;
        let made = chat.say_all(&customer).await;
        let rma = metadata(&made, "return_ticket")["action_ticket"]["id"].as_str().unwrap().parse().unwrap();
        let tenant = TenantId::default();
        let store = app.inner.store.tenant(&tenant);
        let status = async || store.find_rma(&rma).await.unwrap().unwrap().status;
        eventually_async("the label is sent", async || status().await == RmaStatus::LabelSent).await;
        use RmaStatus::{Approved, InTransit, Inspected, Received, Refunded};
        for step in [InTransit, Received, Inspected, Approved, Refunded] {
            let by = Actor { kind: ActorKind::Person, who: "Lan", conversation: None, now: Utc::now() };
            let done = store.advance_rma(&rma, step, &by).await.unwrap();
            assert!(matches!(done, Advance::Done(_)), "{step}: {done:?}");
        }
        app.inner.jobs.wake();
        let sent = mailed(&app, 3).await;
        assert!(sent.iter().all(|mail| mail.contains("From: service@shop.example")), "{sent:?}");
        let mails = store.list_mails_of(&rma).await.unwrap();
        let seen: Vec<(&str, &str)> = mails.iter().map(|mail| (mail.template.as_str(), mail.language.code())).collect();
        let expected = ["return_approved", "return_received", "refund_paid"].map(|template| (template, language));
        assert_eq!(seen, expected);
    }
}

/// A decision about a cancellation is announced in the chat alone, one about a return by mail as well.
#[tokio::test]
async fn open_ticket_promises_no_mail_that_never_comes() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let made = chat.say_all(&["cancel order ABC-100001", "an.nguyen@example.com", "yes, cancel it"]).await;
    let ticket = metadata(&made, "return_ticket")["action_ticket"]["id"].as_str().unwrap().to_owned();
    for _ in 0..3 {
        let open = chat.say("any news about my ticket?").await.text("escalation");
        assert!(open.contains(&ticket) && !open.contains("mail"), "{open}");
    }
    resolve(&app, &ticket, Resolution::Approve, "stopped in time").await;
    let told: Value = chat.decisions(1).await.remove(0);
    assert!(told["text"].as_str().unwrap().contains(&ticket), "{told}");
    assert_eq!(mails(&app), [""; 0]);
}
