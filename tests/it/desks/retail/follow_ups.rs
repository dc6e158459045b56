//! Messages that depend on earlier ones, and questions that are answered before anything is asked back.

use serde_json::json;

use super::chat::{Shop, open_shop_with, products};
use crate::support::app::TestApp;

const DOCUMENTS: [(&str, &str); 6] = [
    (
        "laptops.csv",
        "sku,name,category,price_vnd,stock,warranty_months,specs\n\
         L-1,Laptop Acer Aspire,Laptop,11000000,5,12,\"15 inch, nặng 1.8 kg\"\n\
         L-2,Laptop MSI Modern,Laptop,12000000,3,24,\"14 inch, nặng 1.4 kg\"\n\
         L-3,Laptop Dell Inspiron,Laptop,14000000,2,36,\"15 inch, nặng 1.6 kg\"\n\
         L-4,Laptop LG Gram,Laptop,30000000,1,18,\"16 inch, nặng 1.1 kg\"\n\
         L-5,Laptop Asus Tuf,Laptop,16000000,0,24,\"15 inch, nặng 2.2 kg\"\n\
         M-1,Chuột Logitech G102,Chuột,390000,4,24,\"8.000 DPI, có dây\"\n",
    ),
    (
        "bao-hanh.md",
        "---\nid: terms\ntitle: Điều kiện bảo hành\nlanguage: vi\n---\n# Điều kiện bảo hành\n\n## Không bảo hành\n\
         <!-- questions\nlỡ đổ cà phê vào máy thì sao\nbị sét đánh có được bảo hành không\n-->\n\
         Bảo hành không áp dụng cho rơi vỡ, vào nước và sai điện áp.\n",
    ),
    (
        "terms.md",
        "---\nid: terms\ntitle: Warranty terms\nlanguage: en\n---\n# Warranty terms\n\n## Not covered\n\
         <!-- questions\nI spilled coffee on it\nis lightning covered\n-->\n\
         The warranty does not cover drops, liquids and the wrong voltage.\n",
    ),
    (
        "gio.md",
        "---\nid: hours\ntitle: Giờ mở cửa\nlanguage: vi\n---\n# Giờ mở cửa\n\n## Cửa hàng\n\
         <!-- questions\nmấy giờ đóng cửa\n-->\nMở cửa từ 8:30 đến 20:30, Chủ nhật đến 18:00.\n\n\
         ## Quầy bảo hành\n<!-- questions\nmang máy hỏng đến lúc nào\nsửa ở đâu\n-->\n\
         Quầy bảo hành và sửa chữa làm việc đến 17:30, Chủ nhật nghỉ.\n",
    ),
    (
        "giao.md",
        "---\nid: delivery\ntitle: Giao hàng\nlanguage: vi\n---\n# Giao hàng\n\n## Nội thành\n\
         Giao trong ngày, phí 30.000đ, Chủ nhật giao trước 12:00.\n",
    ),
    (
        "delivery.md",
        "---\nid: delivery\ntitle: Delivery\nlanguage: en\n---\n# Delivery\n\n## In town\n\
         <!-- questions\nhow do you deliver in town\nis there a crate\n-->\n\
         Delivery in town takes a day and costs 30.000đ. A wooden crate for a monitor costs 80.000đ.\n",
    ),
];

async fn open() -> Shop {
    open_shop_with(TestApp::builder().env("WARRANTY_MISS_LIMIT", 0), &DOCUMENTS).await
}

#[tokio::test]
async fn shown_products_are_compared_within_the_budget() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    let first = chat.say("tư vấn laptop dưới 15 triệu").await.text("reply");
    assert_eq!(products(&first).len(), 3, "{first}");
    for (text, product) in [
        ("con nào nhẹ nhất", "Laptop MSI Modern"),
        ("con đó bảo hành bao lâu", "Laptop MSI Modern"),
        ("có rẻ hơn không", "Laptop Acer Aspire"),
        ("còn con dell thì sao, con đó nặng bao nhiêu", "Laptop Dell Inspiron"),
        ("còn chuột thì sao", "Chuột Logitech G102"),
    ] {
        let events = chat.say(text).await;
        assert_eq!(products(&events.text("reply")), [product], "{text}: {:?}", events.kinds());
    }
}

#[tokio::test]
async fn ordinal_means_the_product_at_that_place() {
    let shop = open().await;
    for (text, place) in [("cái đầu tiên", 0), ("con thứ hai", 1), ("mẫu cuối cùng", 2)] {
        let mut chat = shop.chat().await;
        let first = chat.say("tư vấn laptop dưới 15 triệu").await.text("reply");
        let reply = chat.say(&format!("{text} còn hàng không")).await.text("reply");
        assert_eq!(products(&reply), [products(&first)[place]], "{text}");
    }
}

#[tokio::test]
async fn question_about_terms_needs_no_serial() {
    let shop = open().await;
    for (text, answer) in [
        ("lỡ đổ cà phê vào máy thì có được bảo hành không", "vào nước"),
        ("is lightning covered by the warranty?", "does not cover"),
    ] {
        let events = shop.chat().await.say(text).await;
        assert_eq!(events.first("intent")["intent"], "shopping", "{text}");
        let reply = events.text("reply");
        assert!(reply.contains(answer) && products(&reply).len() == 1, "{text}: {reply}");
    }
}

#[tokio::test]
async fn customer_without_a_serial_is_answered() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    assert_eq!(chat.say("kiểm tra bảo hành giúp em").await.kinds(), ["cute_greeting", "warranty_prompt"]);
    let reply = chat.say("bị sét đánh có được bảo hành không").await.text("reply");
    assert!(reply.contains("sai điện áp"), "{reply}");
    for text in ["em không tìm thấy số serial", "tem mờ không đọc được"] {
        let reply = shop.reply_to(&["kiểm tra bảo hành giúp em", text]).await;
        assert!(reply.contains("vỏ hộp") && reply.contains("1900 636 979"), "{text}: {reply}");
    }
}

#[tokio::test]
async fn order_in_the_chat_leads_to_the_shop() {
    let shop = open().await;
    for text in ["đặt hàng giúp mình nhé", "hẹn giúp em chiều mai nhé"] {
        let reply = shop.reply_to(&[text]).await;
        assert!(reply.contains("1900 636 979") && reply.contains("chưa đặt"), "{text}: {reply}");
    }
    let reply = shop.reply_to(&["số điện thoại quầy bảo hành là gì"]).await;
    assert!(reply.contains("1900 636 979"), "{reply}");
}

#[tokio::test]
async fn second_question_to_a_page_is_answered() {
    let shop = open().await;
    let reply = shop.reply_to(&["phí giao hàng nội thành", "giao chủ nhật thì sao"]).await;
    assert!(reply.contains("Chủ nhật"), "{reply}");
    for (said, answer, quoted) in [
        (["how do you deliver in town", "what does the crate cost"], "80.000", "30.000"),
        (["mấy giờ đóng cửa", "rồi sửa ở đâu"], "17:30", "20:30"),
    ] {
        let reply = shop.reply_to(&said).await;
        assert!(reply.contains(answer) && !reply.contains(quoted), "only what answers is quoted: {reply}");
    }
    let mut chat = shop.chat().await;
    chat.say("bị sét đánh có được bảo hành không").await;
    let events = chat.say("bị sét đánh có được bảo hành không").await;
    assert!(events.text("reply").contains("1900 636 979"), "the same is not quoted twice: {events:?}");
    assert!(events.data().iter().all(|event| event["type"] != "sources"), "{events:?}");
}

#[tokio::test]
async fn follow_up_stays_with_the_page() {
    let shop = open().await;
    for (first, section, other) in [
        ("mấy giờ đóng cửa", "8:30 đến 20:30", "17:30"),
        ("quầy bảo hành làm việc tới mấy giờ", "17:30", "20:30"),
        ("phí giao hàng nội thành", "trước 12:00", "17:30"),
    ] {
        let mut chat = shop.chat().await;
        let reply = chat.say(first).await.text("reply");
        assert!(reply.contains(section) && !reply.contains(other), "only what answers is quoted: {reply}");
        let again = chat.say("chủ nhật thì sao").await.text("reply");
        assert!(!again.contains(other), "{first}: {again}");
    }
}

#[tokio::test]
async fn question_after_a_record_is_about_its_warranty() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    chat.say("kiểm tra bảo hành FUT-2099").await;
    let days = chat.say("vậy còn mấy ngày nữa").await.text("warranty_result");
    assert!(days.contains("FUT-2099") && days.contains("ngày ạ."), "{days}");
    for text in ["nó còn được bảo hành không", "con dc bao lau nua"] {
        let again = chat.say(text).await;
        assert!(again.kinds().contains(&"warranty_result".to_owned()), "no number is asked for: {again:?}");
    }
    let place = chat.say("mang sửa ở đâu").await.text("reply");
    assert!(place.contains("17:30"), "{place}");
}

#[tokio::test]
async fn prices_are_added_up() {
    let shop = open().await;
    let (laptops, lightest) = ("tư vấn laptop dưới 15 triệu", "con nào nhẹ nhất");
    let mut chat = shop.chat().await;
    chat.say(laptops).await;
    for text in [lightest, "còn hàng không", "bảo hành mấy tháng", "giá bao nhiêu"] {
        assert_eq!(products(&chat.say(text).await.text("reply")), ["Laptop MSI Modern"], "{text}");
    }
    let mut chat = shop.chat().await;
    chat.say(laptops).await;
    chat.say(lightest).await;
    let three = chat.say("lấy 3 cái bao nhiêu tiền").await.text("reply");
    assert!(three.contains("3 × 12.000.000 đ") && three.contains("36.000.000 đ"), "{three}");
    let model = chat.say("lấy 4060 cái bao nhiêu tiền").await.text("reply");
    assert!(!model.contains('×'), "{model}");
    chat.say("chuột có dây giá bao nhiêu").await;
    let both = chat.say("tổng cộng bao nhiêu").await.text("reply");
    assert!(both.contains("3 × 12.000.000 đ") && both.contains("36.390.000 đ"), "the pieces are remembered: {both}");
    let without = chat.say("thôi bỏ con chuột đi").await.text("reply");
    assert!(without.contains("36.000.000 đ") && !without.contains("390.000"), "{without}");
    let sum = shop.reply_to(&[laptops, "3 con đó giá bao nhiêu"]).await;
    assert!(sum.contains("37.000.000 đ"), "{sum}");
}

#[tokio::test]
async fn shown_products_are_compared() {
    let shop = open().await;
    let first = shop.reply_to(&["tư vấn laptop"]).await;
    let shown = products(&first);
    assert!(shown.len() == 3 && !shown.contains(&"Laptop LG Gram"), "{first}");
    // The lightest of all is another one.
    let lightest = shop.reply_to(&["tư vấn laptop", "con nào nhẹ nhất"]).await;
    assert_eq!(products(&lightest), ["Laptop MSI Modern"], "{lightest}");
    let mut chat = shop.chat().await;
    chat.say("tư vấn laptop dưới 15 triệu").await;
    let cheaper = chat.say("con nào rẻ hơn").await.text("reply");
    assert_eq!(products(&cheaper), ["Laptop Acer Aspire"], "{cheaper}");
    let both = chat.say("so sánh laptop dell inspiron với laptop lg gram").await.text("reply");
    assert_eq!(products(&both), ["Laptop Dell Inspiron", "Laptop LG Gram"], "{both}");
}

#[tokio::test]
async fn sold_out_product_comes_with_others_in_stock() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    let reply = chat.say("laptop asus tuf còn hàng không").await.text("reply");
    assert_eq!(products(&reply), ["Laptop Asus Tuf", "Laptop Dell Inspiron", "Laptop MSI Modern"], "{reply}");
    let date = chat.say("khi nào có hàng lại").await.text("reply");
    assert!(date.contains("1900 636 979"), "{date}");
}

#[tokio::test]
async fn serials_in_groups_are_understood() {
    let shop = open().await;
    let csv = "AB12CD34EF,Máy A,2099-12-01\nCN-0HE-97A,Máy B,2099-12-01\n\
        50026B7A07430EA6,Máy C,2099-12-01\nR2293AE20064523,Máy D,2099-12-01";
    shop.import_warranties("default", csv).await;
    for (text, products) in [
        ("bảo hành AB12 CD34 EF", &["Máy A"][..]),
        ("bảo hành AB12-CD34-EF", &["Máy A"]),
        ("bảo hành CN 0HE 97A", &["Máy B"]),
        ("bảo hành AB12-CD34-EF (AB12CD34EF)", &["Máy A"]),
        ("bảo hành AB12CD34EF (AB12 CD34 EF)", &["Máy A"]),
        ("bảo hành 50026B7A07430EA6 và R2293AE20064523", &["Máy C", "Máy D"]),
        ("bảo hành 50026B7A07430EA6 R2293AE20064523", &["Máy C", "Máy D"]),
        ("bảo hành AB12 CD34 EF và R2293AE20064523", &["Máy D", "Máy A"]),
    ] {
        let result = shop.chat().await.say(text).await;
        let results = vec!["warranty_result"; products.len()];
        assert_eq!(result.kinds(), [&["cute_greeting"][..], &results[..], &["follow_up"][..]].concat(), "{text}");
        let said = result.messages();
        let is_said = |product: &&str| said.iter().any(|(_, text)| text.contains(product));
        assert!(products.iter().all(is_said), "{text}: {said:?}");
    }
}

#[tokio::test]
async fn follow_up_line_varies() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    let mut last = String::new();
    let questions =
        ["mấy giờ đóng cửa", "phí giao hàng nội thành", "chuột có dây giá bao nhiêu", "laptop dell giá bao nhiêu"];
    for text in questions.into_iter().cycle().take(12) {
        let line = chat.say(text).await.text("follow_up");
        assert!(line != last, "{text}: {line}");
        last = line;
    }
}

#[tokio::test]
async fn uncertain_answer_offers_other_topics() {
    let app = TestApp::builder().start().await;
    let conversation = app.open(&json!({"language": "vi"})).await;
    let reply = app.ask(&conversation, "mình mang cái màn hình đi bảo hành mai luôn được không").await.text("reply");
    assert!(reply.contains("bảo hành tận nơi") && reply.contains("• Giờ của quầy bảo hành"), "{reply}");
    let chosen = app.ask(&conversation, "giờ của quầy bảo hành").await.text("reply");
    assert!(chosen.contains("8:30 đến 17:30"), "{chosen}");
}
