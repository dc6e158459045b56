//! Serial numbers must not be guessable by trying.

use serde_json::json;

use super::chat::{Chat, Shop, open_shop};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;

const WAIT: &str = "Dạ quý khách đã tra khá nhiều số serial";

async fn keyed() -> Shop {
    open_shop(TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0")).await
}

async fn miss(chat: &mut Chat<'_>, times: usize) {
    for n in 0..times {
        let text = chat.say(&format!("bảo hành QQQ-{n}")).await.text("warranty_result");
        assert!(text.contains(&format!("'QQQ-{n}'")), "{text}");
    }
}

/// Whether the conversation is asked to wait, in the same words for a serial that exists and one that does not.
async fn is_told_to_wait(chat: &mut Chat<'_>) -> bool {
    let real = chat.say("bảo hành FUT-2099").await.text("warranty_result");
    if !real.starts_with(WAIT) {
        return false;
    }
    assert_eq!(real, chat.say("bảo hành QQQ-999").await.text("warranty_result"));
    true
}

#[tokio::test]
async fn five_failed_attempts_stop_lookups() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    miss(&mut chat, 4).await;
    assert!(!is_told_to_wait(&mut chat).await, "four are forgiven");
    miss(&mut chat, 1).await;
    let real = chat.say("bảo hành FUT-2099").await;
    assert_dialogue!("retail_warranty_wait", real);
    assert!(is_told_to_wait(&mut chat).await);
    assert_eq!(chat.say("phí giao hàng bao nhiêu").await.kinds(), ["cute_greeting", "reply", "follow_up"]);
    assert_eq!(chat.say("em muốn kiểm tra bảo hành").await.kinds(), ["cute_greeting", "warranty_prompt"]);
    assert!(!is_told_to_wait(&mut shop.chat().await).await, "another conversation is not to blame");
}

#[tokio::test]
async fn several_misses_in_one_message_count_each() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    chat.say("bảo hành QQ1, QQ2, QQ3, QQ4, QQ5").await;
    assert!(is_told_to_wait(&mut chat).await);
}

#[tokio::test]
async fn telephone_like_guesses_count_as_failed() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    for n in 0..5 {
        assert!(
            chat.say(&format!("kiểm tra bảo hành máy 090123456{n}"))
                .await
                .kinds()
                .last()
                .unwrap()
                .starts_with("warranty_prompt")
        );
    }
    assert!(is_told_to_wait(&mut chat).await);
}

#[tokio::test]
async fn misses_of_a_customer_count_over_all_conversations() {
    let shop = keyed().await;
    let of = |user: &'static str| shop.chat_as("key-of-the-shop-0", json!({ "user_id": user }));
    miss(&mut of("u-1").await, 3).await;
    miss(&mut of("u-1").await, 2).await;
    assert!(is_told_to_wait(&mut of("u-1").await).await);
    assert!(!is_told_to_wait(&mut of("u-2").await).await);
}

#[tokio::test]
async fn misses_of_a_browser_count_by_its_address() {
    let shop = keyed().await;
    miss(&mut shop.chat_in_a_browser("key-of-the-shop-0", json!({})).await, 3).await;
    miss(&mut shop.chat_in_a_browser("key-of-the-shop-0", json!({})).await, 2).await;
    assert!(is_told_to_wait(&mut shop.chat_in_a_browser("key-of-the-shop-0", json!({})).await).await);
}

#[tokio::test]
async fn back_end_address_is_not_counted() {
    let shop = keyed().await;
    for _ in 0..3 {
        miss(&mut shop.chat_as("key-of-the-shop-0", json!({})).await, 4).await;
    }
    assert!(!is_told_to_wait(&mut shop.chat_as("key-of-the-shop-0", json!({})).await).await);
    assert!(!is_told_to_wait(&mut shop.chat_in_a_browser("key-of-the-shop-0", json!({})).await).await);
}

#[tokio::test]
async fn concurrent_guesses_are_counted_before_next_lookup() {
    let shop = keyed().await;
    let guess = async |n: usize| {
        let mut chat = shop.chat_in_a_browser("key-of-the-shop-0", json!({})).await;
        let text = chat.say(&format!("bảo hành QQQ-{n}")).await.text("warranty_result");
        usize::from(!text.starts_with(WAIT))
    };
    let looked_up: usize = futures_util::future::join_all((0..20).map(guess)).await.into_iter().sum();
    assert_eq!(looked_up, 5);
}

#[tokio::test]
async fn the_limit_can_be_set_and_switched_off() {
    let shop = open_shop(TestApp::builder().env("WARRANTY_MISS_LIMIT", 2)).await;
    let mut chat = shop.chat().await;
    miss(&mut chat, 2).await;
    assert!(is_told_to_wait(&mut chat).await);
    let shop = open_shop(TestApp::builder().env("WARRANTY_MISS_LIMIT", 0)).await;
    let mut chat = shop.chat().await;
    miss(&mut chat, 7).await;
    assert!(!is_told_to_wait(&mut chat).await);
}
