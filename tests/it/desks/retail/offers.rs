//! "Do you have a mouse for the office?": wishes for each kind of goods that the sample shop sells, in many frames.

use serde_json::json;

use crate::desks::returns::shop::open;
use crate::support::app::TestApp;

/// The kinds of goods in English and in Vietnamese, and what the names of their products have.
const KINDS: [(&str, &str, &str); 15] = [
    ("laptop", "laptop", "Laptop"),
    ("SSD", "ssd", "SSD"),
    ("processor", "cpu", "CPU"),
    ("monitor", "màn hình", "Màn hình"),
    ("memory stick", "ram", "RAM"),
    ("graphics card", "vga", "VGA"),
    ("mouse", "chuột", "Chuột"),
    ("mechanical keyboard", "bàn phím", "Bàn phím"),
    ("motherboard", "mainboard", "Mainboard"),
    ("power supply", "nguồn máy tính", "Nguồn"),
    ("PC case", "vỏ case", "Vỏ case"),
    ("CPU cooler", "tản nhiệt", "Tản nhiệt"),
    ("headset", "tai nghe", "Tai nghe"),
    ("USB stick", "usb", "USB"),
    ("hard drive", "ổ cứng hdd", "HDD"),
];

const ENGLISH: [&str; 6] = [
    "do you have a KIND for the office?",
    "hi, do you sell a good KIND",
    "can you recommend a decent KIND please",
    "what's your cheapest KIND?",
    "need a KIND asap, what's available",
    "show me a KIND for gaming",
];

const VIETNAMESE: [&str; 6] = [
    "shop có KIND nào cho văn phòng không ạ",
    "hmm v KIND rẻ nhất là con nào vậy",
    "ad ơi còn KIND không",
    "bên mình có bán KIND ko",
    "tư vấn giúp em KIND tầm giá rẻ",
    "dạ cho e xem KIND dưới 20 triệu",
];

#[tokio::test]
async fn shop_shows_what_it_is_asked_for() {
    let app = open(TestApp::builder().every_desk()).await;
    let mut missed = Vec::new();
    for (english, vietnamese, name) in KINDS {
        let frames = ENGLISH.map(|frame| ("en", frame, english)).into_iter();
        for (language, frame, kind) in frames.chain(VIETNAMESE.map(|frame| ("vi", frame, vietnamese))) {
            let text = frame.replace("KIND", kind);
            let id = app.open(&json!({"persona": format!("system_persona_{language}"), "language": language})).await;
            let said = app.ask(&id, &text).await.text("reply");
            let is_row = |line: &&str| line.contains("SKU: ") || line.contains("Mã: ");
            // The product's name stands before the colon.
            let is_of_kind = |line: &str| {
                line.split(':').next().is_some_and(|title| title.to_lowercase().contains(&name.to_lowercase()))
            };
            if !said.lines().filter(is_row).any(is_of_kind) {
                missed.push(format!("{text}: {said}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// What customers own, return or want repaired is no wish for goods, and neither is a service.
#[tokio::test]
async fn services_and_own_goods_are_no_offers() {
    let app = open(TestApp::builder().every_desk()).await;
    for (language, text) in [
        ("en", "do you have instalments for laptops"),
        ("en", "do you sell used laptops"),
        ("en", "do you rent out laptops"),
        ("en", "can I return any keyboard"),
        ("en", "I have a monitor from you, how do I send it for repair?"),
        ("en", "there is a keyboard in the box that I didn't order"),
        ("en", "do you have a mechanical engineer"),
        ("vi", "shop có thay màn hình laptop không"),
        ("vi", "mình có mua bàn phím mà chưa nhận được hóa đơn"),
        ("vi", "muốn qua shop xem màn hình thì mấy giờ mở cửa"),
        ("vi", "hàng có nguồn gốc ở đâu vậy"),
        ("vi", "cho mình xem địa chỉ shop"),
    ] {
        let id = app.open(&json!({"persona": format!("system_persona_{language}"), "language": language})).await;
        let said = app.ask(&id, text).await;
        let has_row = said.messages().iter().any(|(_, said)| said.contains("SKU: ") || said.contains("Mã: "));
        assert!(!has_row, "{text}: {:?}", said.messages());
    }
}
