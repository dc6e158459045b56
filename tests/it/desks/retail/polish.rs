//! A desk speaks another language of the shop with files alone: the steps of "A language" in CONTRIBUTING.md, with few words.

use std::path::Path;

use serde_json::json;

use super::chat::open_shop_with;
use crate::support::app::TestApp;
use crate::support::copy;

#[tokio::test]
async fn another_language_needs_only_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let prompts = folder.path();
    copy(&root.join("prompts"), prompts);
    copy(&root.join("tests/data/polish"), prompts);
    let builder = TestApp::builder()
        .env("PROMPTS_PATH", prompts.display())
        .env("PERSONA_PATH", prompts.join("polish.md").display());
    let page = "---\nlanguage: pl\n---\n# Dostawa\n\n## W mieście\nDostawa w mieście kosztuje 30.000đ.\n";
    let shop = open_shop_with(builder, &[("dostawa.md", page)]).await;
    let mut chat = shop.chat_with(json!({})).await;
    assert_eq!(chat.view().await["preferred_language"], "pl");
    let reply = chat.say("Dzień dobry, ile kosztuje dostawa?").await;
    assert_eq!(reply.first("intent")["intent"], "shopping");
    assert_eq!(reply.kinds(), ["cute_greeting", "reply", "follow_up"]);
    let text = reply.text("reply");
    assert!(text.starts_with("Oto co mówią dokumenty") && text.contains("30.000đ"), "{text}");
    let warranty = chat.say("Czy FUT-2099 jest jeszcze na gwarancji?").await;
    assert_eq!(warranty.kinds(), ["cute_greeting", "warranty_result", "follow_up"]);
    let text = warranty.text("warranty_result");
    assert!(text.starts_with("Gwarancja: produkt") && text.contains("Produkt jest na gwarancji do"), "{text}");
    let thanks = chat.say("dziękuję!").await.text("social");
    assert!(thanks.ends_with("Czy mogę pomóc w zakupach albo w sprawie gwarancji?"), "{thanks}");
    assert!(chat.say("do widzenia").await.text("social").starts_with("Do "));
    assert_eq!(chat.say("please speak English").await.first("intent")["language"], "en");
    let back = chat.say("mów po polsku").await;
    assert_eq!(back.messages(), [("language_ack".to_owned(), "Oczywiście, możemy rozmawiać po polsku.".to_owned())]);
}
