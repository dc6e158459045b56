//! Reported damage reaches a person, however and whenever the customer reports it.

use super::shop::{Chat, metadata, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";

#[tokio::test]
async fn damage_in_any_words_needs_a_person() {
    let app = open(TestApp::builder()).await;
    let long = format!("{}The sole is torn. I want to return 77893", "I wore them in the park. ".repeat(50));
    for said in [&[long.as_str(), JOHN][..], &["this thing is a lemon", "77893", JOHN]] {
        let mut chat = Chat::open(&app).await;
        let reply = chat.say_all(said).await;
        assert_eq!(metadata(&reply, "escalation")["eligibility"]["reason_code"], "DAMAGED_MANUAL", "{reply:?}");
    }
}
