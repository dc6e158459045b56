//! Sample builds, and rules of pages that depend on the customer's own case.

use super::chat::{Shop, open_shop_with};
use crate::support::app::TestApp;

const DOCUMENTS: [(&str, &str); 4] = [
    (
        "goods.csv",
        "sku,name,category,price_vnd,stock,warranty_months,specs,specs_en\n\
         C-1,CPU Intel Core i5-12400F,CPU,3000000,9,36,\"socket LGA1700\",\"socket LGA1700\"\n\
         V-1,VGA ASUS Dual GeForce RTX 4060 8GB,VGA,8000000,12,36,\"khuyến nghị nguồn 550W\",\"550W power supply recommended\"\n\
         V-2,VGA Sapphire Pulse Radeon RX 7600 8GB,VGA,7000000,8,36,\"khuyến nghị nguồn 550W\",\"550W power supply recommended\"\n\
         V-3,VGA ASUS Prime GeForce RTX 5070 Ti 16GB,VGA,24000000,3,36,\"khuyến nghị nguồn 750W\",\"750W power supply recommended\"\n\
         P-1,Nguồn MSI MAG A650BN 650W,Nguồn,1000000,33,60,Công suất 650W,Power 650W\n\
         M-1,Chuột có dây Logitech B100,Chuột,90000,80,12,Cổng USB,USB port\n",
    ),
    (
        "build.md",
        "---\nid: build\ntitle: Building a PC\nlanguage: en\n---\n# Building a PC\n\n## Gaming build\n\
         <!-- questions\ngaming pc around 12 million\n-->\n\
         For games. Total 12,000,000 VND:\n\n- CPU Intel Core i5-12400F.\n- Graphics card ASUS Dual GeForce RTX 4060 8GB.\n\
         - Power supply MSI MAG A650BN 650W.\n\n## Choosing parts\n<!-- questions\nwhere do I begin with a PC\n-->\n\
         Say what the PC is for and how much it may cost.\n",
    ),
    (
        "delivery.md",
        "---\nid: delivery\ntitle: Delivery\nlanguage: en\n---\n# Delivery\n\n## Express delivery\n\
         <!-- questions\nI need it in 3 hours\n-->\nChoose express delivery for 60,000 VND, within 3 hours.\n",
    ),
    (
        "exchange.md",
        "---\nid: exchange\ntitle: Exchange\nlanguage: en\n---\n# Exchange\n\n## Change of mind\n\
         <!-- questions\ncan I return it\ncan I return it after opening the box\nI want to return something\n-->\n\
         Opened is fine within 15 days.\n\n## Not returned\n\
         <!-- questions\ncan I return an opened usb stick\nopened usb stick\n-->\n\
         USB drives out of their box are not taken back.\n",
    ),
];

async fn open() -> Shop {
    open_shop_with(TestApp::builder(), &DOCUMENTS).await
}

#[tokio::test]
async fn build_is_offered_and_changed() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    let offer = chat.say("can you recommend a gaming pc for about 12 million").await.text("reply");
    assert!(offer.contains("Total 12,000,000"), "{offer}");
    let swap = chat.say("could I swap the graphics card for the rx 7600").await.text("reply");
    assert!(swap.contains("550 W") && swap.contains("-1.000.000") && swap.contains("11.000.000"), "{swap}");
    let total = chat.say("what is the new total").await.text("reply");
    assert!(total.contains("RX 7600") && total.contains("In total 11.000.000"), "{total}");
    let misfit = chat.say("or the rtx 5070 ti instead?").await.text("reply");
    assert!(misfit.contains("750 W") && !misfit.contains("In total"), "what does not fit joins no build: {misfit}");
}

#[tokio::test]
async fn express_fee_joins_the_total() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    chat.say("how much is the logitech b100").await;
    chat.say("I need it in 3 hours").await;
    let total = chat.say("so what is the total").await.text("reply");
    assert!(total.contains("In total 150.000"), "{total}");
}

#[tokio::test]
async fn exclusion_wins_over_the_general_rule() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    chat.say("I bought a usb stick and want to return it").await;
    let reply = chat.say("I already opened it").await.text("reply");
    assert!(reply.contains("not taken back"), "{reply}");
}

#[tokio::test]
async fn unsold_goods_are_not_searched() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    let reply = chat.say("do you sell printers").await.text("reply");
    assert!(reply.contains("nothing of that kind"), "{reply}");
}

#[tokio::test]
async fn correction_completes_a_serial() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    chat.say("check the warranty of FUT-2O99 please").await;
    let reply = chat.say("sorry, it's a 0 and not an O").await.text("warranty_result");
    assert!(reply.contains("FUT-2099"), "{reply}");
    let mut chat = shop.chat().await;
    chat.say("check the warranty of FUT-2O99 please").await;
    let events = chat.say("do you have 0 of these or O?").await;
    assert!(!events.kinds().contains(&"warranty_result".to_owned()), "a question corrects nothing: {events:?}");
    let mut chat = shop.chat().await;
    chat.say("check the warranty of FUT-209 please").await;
    let reply = chat.say("sorry, a 9 is missing at the end").await.text("warranty_result");
    assert!(reply.contains("FUT-2099"), "{reply}");
}
