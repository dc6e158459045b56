//! Whatever a customer writes, the turn completes and its stream is well-formed.

use frontdesk::domain::text::is_blank;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::chat::open_shop;
use crate::support::app::TestApp;

/// Messages made of what trips programs up, and of the desk's own words.
fn message() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{1,40}",
        "[\u{300}-\u{36f}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}]{1,30}",
        "[💖👩‍👩‍👧‍👦🇻🇳🏳️‍🌈é̂]{1,20}",
        "[ء-ي\u{5d0}-\u{5ea} ]{1,30}",
        "[A-Za-z0-9-]{1,40}",
        "[\\n\\t ,.;:!?…()'\"{}<>&]{1,10}",
        Just("speak english ".to_owned()),
        Just("nói tiếng Việt ".to_owned()),
        Just("bảo hành ".to_owned()),
        Just("serial ABC123 ".to_owned()),
        Just("giá bao nhiêu ".to_owned()),
        Just("em khỏe không ".to_owned()),
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat()).prop_filter("not empty, no NUL", |text| {
        !is_blank(text) && !text.contains('\0') && text.chars().count() <= 4000
    })
}

#[tokio::test]
async fn any_text_gets_well_formed_answer() {
    let shop = open_shop(TestApp::builder().env("WARRANTY_MISS_LIMIT", 0)).await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, b"a customer may write anything at");
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let message = message();
    for _ in 0..24 {
        let mut chat = shop.chat().await;
        for _ in 0..4 {
            let text = message.new_tree(&mut runner).unwrap().current();
            let events = chat.say(&text).await;
            assert_eq!(events.status(), "completed", "{text:?}");
            assert!(!events.kinds().is_empty(), "{text:?} is answered");
        }
    }
}

#[tokio::test]
async fn longest_message_is_always_answered() {
    let shop = open_shop(TestApp::builder().env("WARRANTY_MISS_LIMIT", 0)).await;
    for piece in [
        "a",
        "A1B ",
        "em ",
        "mua bảo hành ",
        "1,",
        "💖",
        "a\u{301}\u{323}",
        "{serial}",
        "\u{200b}x",
        "(",
        "speak english ",
    ] {
        let text: String = piece.chars().cycle().take(4000).collect();
        let mut chat = shop.chat().await;
        let events = chat.say(&text).await;
        assert_eq!(events.status(), "completed", "{piece:?}");
        assert!(!events.kinds().is_empty(), "{piece:?}");
    }
}
