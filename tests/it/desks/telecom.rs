//! The telecom desk, driven over HTTP.

mod agent;
mod billing;
mod citations;
pub mod dialogues;
mod fallback;
mod polish;
mod routing;
mod technical;

use std::path::{Path, PathBuf};

use frontdesk::cli::seed::accounts::accounts;
use frontdesk::domain::TenantId;
use frontdesk::domain::telecom::RefundCase;
use regex::Regex;

use super::retail::chat::{Chat, Shop, open_shop_with};
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::dialogue::Dialogue;
use crate::support::sse::Events;

/// The documents of these tests. They are small and separate, so that no change of the sample shop changes a dialogue.
const DOCUMENTS: [(&str, &str); 4] = [
    (
        "telecom/ont.en.md",
        "---\ntitle: \"ONT lights\"\nversion: \"2.1\"\nlanguage: en\n---\n# ONT lights\n\n## PON light\n\
         The PON LED of the router or ONT shows the connection. A steady green PON light means that it is fine. A blinking PON light means that the ONT is synchronizing, \
         which takes up to 2 minutes.\n\n\
         A red PON light means that there is no signal. Check that the fibre cable is pushed in, then restart the ONT.\n\n\
         ## LOS light\nA red LOS light means that no optical signal arrives. Call us if it stays red.\n",
    ),
    (
        "telecom/ont.pl.md",
        "---\ntitle: \"Lampki ONT\"\nversion: \"2.1\"\nlanguage: pl\n---\n# Lampki ONT\n\n## Lampka PON\n\
         Zielona lampka PON oznacza, że połączenie działa. Migająca lampka PON oznacza, że ONT się synchronizuje, co trwa \
         do 2 minut. Gdy lampka PON miga dłużej, trzeba sprawdzić kabel.\n",
    ),
    (
        "telecom/apn.en.md",
        "---\ntitle: \"Mobile internet settings\"\nversion: \"1.0\"\nlanguage: en\n---\n# Mobile internet settings\n\n## APN\n\
         Open the mobile network settings, add an access point and enter the APN name internet. User name and password stay \
         empty.\n",
    ),
    (
        "telecom/bridge.en.md",
        "---\ntitle: \"Bridge mode\"\nversion: \"1.3\"\nlanguage: en\n---\n# Bridge mode\n\n## Huawei\n\
         Sign in to the Huawei HG8245 as an administrator, open WAN and choose Bridge WAN. This works on FTTH lines only.\n",
    ),
];

/// The desk's persona in English (`en`) or Polish (`pl`).
fn persona(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("prompts/telecom_{language}.md"))
}

/// Starts the server with the desk's English persona.
async fn open_desk(builder: TestAppBuilder) -> Shop {
    open_desk_in("en", builder).await
}

/// Starts the server with the desk's persona in this language, and the sample accounts.
async fn open_desk_in(language: &str, builder: TestAppBuilder) -> Shop {
    let desk = open_shop_with(builder.env("PERSONA_PATH", persona(language).display()), &DOCUMENTS).await;
    desk.app.inner.store.tenant(&TenantId::default()).make_sample_accounts(&accounts()).await.unwrap();
    desk
}

/// Starts the server without a model.
pub async fn open_plain_desk() -> Shop {
    open_desk(TestApp::builder()).await
}

/// The refund cases of a customer, newest first.
async fn cases_of(desk: &Shop, user_id: &str) -> Vec<RefundCase> {
    desk.app.inner.store.tenant(&TenantId::default()).list_refund_cases_of(user_id).await.unwrap()
}

async fn talk(chat: &mut Chat<'_>, texts: &[&str]) -> Vec<Events> {
    let mut turns = Vec::new();
    for text in texts {
        turns.push(chat.say(text).await);
    }
    turns
}

/// Several turns, with the day of a decision replaced.
struct Turns(Vec<Events>);

impl Dialogue for Turns {
    fn dialogue(&self) -> String {
        let shown: String = self.0.iter().map(Dialogue::dialogue).collect();
        Regex::new(r"(decide by|zapadnie do) \S+( \d+, \d{4})?").unwrap().replace_all(&shown, "$1 DAY").into_owned()
    }
}
