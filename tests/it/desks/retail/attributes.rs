//! "And how long is the warranty on that?": what customers ask of the products that were just shown.

use serde_json::json;

use crate::desks::returns::shop::open;
use crate::support::app::TestApp;

/// A field of a row in English and in Vietnamese, and how customers ask for it.
const ASKED: [(&str, &str, &[&str], &[&str]); 4] = [
    (
        "Warranty: ",
        "Bảo hành: ",
        &[
            "how long is the warranty on that?",
            "how long is it guaranteed",
            "how many years warranty do i get with it",
            "do they come with warranty",
            "so what warranty does the cheaper one have",
            "and how long would the warranty be",
        ],
        &[
            "nó có bảo hành không",
            "con rẻ hơn bảo hành mấy năm",
            "thời gian bảo hành?",
            "mua về được bảo hành bao lâu",
            "bao hanh may thang the",
        ],
    ),
    (
        "In stock: ",
        "Còn hàng: ",
        &[
            "how many left",
            "any left?",
            "do you actually have these",
            "is the cheapest one in stock?",
            "still in stock?",
        ],
        &["con rẻ nhất còn hàng không", "hàng có sẵn ko", "còn mấy cái", "con hang k"],
    ),
    (
        "Price: ",
        "Giá: ",
        &["how much would i pay for it", "how much is the cheapest one", "what's the cheaper one cost", "cost?"],
        &["con rẻ nhất giá bao nhiêu", "cái rẻ hơn bao nhiêu tiền", "nhiêu vậy"],
    ),
    (
        "Brand: ",
        "Hãng: ",
        &["who makes it", "who's the manufacturer", "brand?", "which brand is that"],
        &["của hãng gì", "hãng gì thế shop", "thương hiệu gì"],
    ),
];

#[tokio::test]
async fn rows_that_were_shown_answer() {
    let app = open(TestApp::builder().every_desk()).await;
    let mut missed = Vec::new();
    for (english, vietnamese, in_english, in_vietnamese) in ASKED {
        let ways = in_english.iter().map(|asked| ("en", "do you have wireless mice?", english, asked));
        let others = in_vietnamese.iter().map(|asked| ("vi", "shop có chuột không dây ko", vietnamese, asked));
        for (language, wish, field, asked) in ways.chain(others) {
            let id = app.open(&json!({"persona": format!("system_persona_{language}"), "language": language})).await;
            let shown = app.ask(&id, wish).await.text("reply");
            let names: Vec<&str> =
                shown.lines().filter(|line| line.contains(field)).filter_map(|line| line.split(':').next()).collect();
            assert!(names.len() > 1, "a list is shown: {shown}");
            let said = app.ask(&id, asked).await.text("reply");
            let is_row = |line: &str| names.iter().any(|name| line.starts_with(name)) && line.contains(field);
            if !said.lines().any(is_row) {
                missed.push(format!("{asked}: {said}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
