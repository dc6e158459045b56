//! Which product a message names, and what the catalogue has about it.

use super::chat::{Shop, open_shop_with, products};
use crate::support::app::TestApp;

pub const DOCUMENTS: [(&str, &str); 3] = [
    (
        "goods.csv",
        "sku,name,category,price_vnd,stock,warranty_months,specs,specs_en\n\
         L-1,Laptop gaming ASUS TUF Gaming A15 FA507NVR,Laptop,24990000,0,24,\"RTX 4060 8 GB, SSD 512 GB, nặng 2.2 kg\",\"RTX 4060 8 GB, SSD 512 GB, weighs 2.2 kg\"\n\
         L-2,Laptop gaming Lenovo LOQ 15IAX9,Laptop,23490000,7,24,\"RTX 4050 6 GB, SSD 512 GB, nặng 2.38 kg\",\"RTX 4050 6 GB, SSD 512 GB, weighs 2.38 kg\"\n\
         L-3,Laptop Apple MacBook Air 13 M4,Laptop,25990000,9,12,\"SSD 256 GB, nặng 1.24 kg\",\"SSD 256 GB, weighs 1.24 kg\"\n\
         V-1,VGA ASUS Dual GeForce RTX 4060 8GB,VGA,8190000,12,36,\"8 GB GDDR6, khuyến nghị nguồn 550W\",\"8 GB GDDR6, 550W power supply recommended\"\n\
         P-1,Nguồn Xigmatek X-Power III 500W,Nguồn,690000,38,36,Công suất 500W,Power 500W\n\
         P-2,Nguồn MSI MAG A650BN 650W,Nguồn,1250000,33,60,Công suất 650W,Power 650W\n\
         M-1,Màn hình ASUS ProArt PA278QV 27 inch,Màn hình,7490000,6,36,\"27 inch, 75Hz\",\"27 inch, 75Hz\"\n\
         M-2,Màn hình Dell UltraSharp U2724D 27 inch,Màn hình,9290000,4,36,\"27 inch, 120Hz\",\"27 inch, 120Hz\"\n\
         M-3,Màn hình Dell E2425HM 24 inch,Màn hình,2690000,18,36,\"24 inch, 100Hz\",\"24 inch, 100Hz\"\n\
         M-4,Màn hình gaming AOC 24G4 24 inch,Màn hình,3090000,15,36,\"24 inch, 180Hz\",\"24 inch, 180Hz\"\n\
         B-1,Mainboard Gigabyte B760M DS3H DDR4,Mainboard,2690000,19,36,\"Socket LGA1700, 4 khe DDR4\",\"Socket LGA1700, 4 DDR4 slots\"\n\
         C-1,CPU Intel Core i5-14600KF,CPU,6290000,9,36,\"socket LGA1700, không kèm tản nhiệt\",\"socket LGA1700, no cooler included\"\n\
         R-1,RAM Corsair Vengeance 32GB DDR5 5600,RAM,2690000,22,36,DDR5 5600 MHz,DDR5 5600 MHz\n\
         H-1,Tai nghe Logitech H111,Tai nghe,220000,40,12,\"Jack 3.5 mm, có micro\",\"Jack 3.5 mm, microphone\"\n\
         H-2,Tai nghe Bluetooth Sony WH-CH520,Tai nghe,1190000,15,12,Bluetooth 5.2,Bluetooth 5.2\n\
         X-1,Chuột có dây Logitech B100,Chuột,90000,80,12,Cổng USB,USB port\n",
    ),
    (
        "delivery.md",
        "---\nid: delivery\ntitle: Delivery\nlanguage: en\n---\n# Delivery\n\n## In town\n\
         <!-- questions\nhow much is shipping in town\nwhat is the delivery fee\nhow fast do you deliver\n-->\n\
         Delivery in town costs 30.000đ and takes a day.\n",
    ),
    (
        "exchange.md",
        "---\nid: exchange\ntitle: Exchange\nlanguage: en\n---\n# Exchange\n\n## Faulty products\n\
         <!-- questions\nmy new monitor has dead pixels\nhow many dead pixels until you exchange it\n-->\n\
         A new monitor with 3 or more dead pixels is exchanged within 15 days.\n",
    ),
];

async fn open() -> Shop {
    open_shop_with(TestApp::builder(), &DOCUMENTS).await
}

const MONITORS: &str = "27 inch monitors, max 10 mil, what do you have";

#[tokio::test]
async fn meant_product_is_found() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    let reply = chat.say("do you still have the asus tuf a15 with the 4060").await.text("reply");
    assert!(products(&reply)[0].contains("TUF Gaming A15"), "the model and not its part: {reply}");
    let reply = chat.say("and the rtx 4060 alone, how much is it").await.text("reply");
    assert!(products(&reply)[0].contains("VGA"), "{reply}");
    let reply = shop.reply_to(&[MONITORS]).await;
    assert_eq!(products(&reply).len(), 2, "{reply}");
    let reply = shop.reply_to(&[MONITORS, "what is the difference between the proart and the dell"]).await;
    assert!(reply.contains("PA278QV") && reply.contains("U2724D") && !reply.contains("E2425HM"), "{reply}");
    let reply = shop.reply_to(&[MONITORS, "which of the two has the longer warranty"]).await;
    assert_eq!(products(&reply).len(), 2, "both are equally good: {reply}");
    let reply = shop.reply_to(&[MONITORS, "ok and the 120hz"]).await;
    assert_eq!(products(&reply), ["Màn hình Dell UltraSharp U2724D 27 inch"], "{reply}");
    let said =
        ["how much is the gigabyte B760M DS3H", "and the corsair vengeance 32gb", "does the board have ddr4 or ddr5"];
    let reply = shop.reply_to(&said).await;
    assert!(products(&reply)[0].contains("B760M"), "the kind points at an earlier product: {reply}");
    let said = [
        "need a cheap headset with a mic",
        "got anything with bluetooth?",
        "nah too much, the first one then. 2 of them",
    ];
    let reply = shop.reply_to(&said).await;
    assert!(reply.contains("H111") && !reply.contains("WH-CH520") && reply.contains("440.000 đ"), "{reply}");
}

#[tokio::test]
async fn product_stays_the_subject() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    chat.say("do you have the lenovo loq").await;
    let page = chat.say("what is the delivery fee in town").await.text("reply");
    assert!(page.contains("30.000"), "{page}");
    let weight = chat.say("also is it heavy").await.text("reply");
    assert!(weight.contains("LOQ 15IAX9: weighs 2.38 kg; Price"), "what is asked comes first: {weight}");
    for (said, answer) in [
        (["how much is the macbook air 13 m4", "which storage does it have"], "MacBook Air 13 M4: SSD 256 GB; Price"),
        (["how much is the i5-14600KF", "does it come with a fan"], "i5-14600KF: no cooler included"),
    ] {
        let reply = shop.reply_to(&said).await;
        assert!(reply.contains(answer), "{said:?}: {reply}");
    }
    let reply = shop.reply_to(&["how much is the dell u2724d", "can it charge my laptop"]).await;
    assert!(reply.starts_with("The catalogue does not say that") && reply.contains("U2724D"), "{reply}");
}

#[tokio::test]
async fn products_fit_each_other() {
    let shop = open().await;
    let mut chat = shop.chat().await;
    let reply = chat.say("would the corsair vengeance 32gb ddr5 work in the gigabyte B760M DS3H").await.text("reply");
    assert!(reply.starts_with("No") && reply.contains("DDR5") && reply.contains("DDR4"), "{reply}");
    let reply = chat.say("and can i put an i5-14600KF on that board").await.text("reply");
    assert!(reply.starts_with("Yes") && reply.contains("LGA1700"), "{reply}");
    let mut chat = shop.chat().await;
    chat.say("how much is the vga asus dual rtx 4060").await;
    let reply = chat.say("which power supply do I need then, the cheapest is fine").await.text("reply");
    assert_eq!(products(&reply), ["Nguồn MSI MAG A650BN 650W"], "{reply}");
    let sum = chat.say("ok so those 2 items, total?").await.text("reply");
    assert!(sum.contains("9.440.000 đ"), "{sum}");
    let said = ["how much is the vga asus dual rtx 4060", "what do those 3 items cost in total"];
    let reply = shop.reply_to(&said).await;
    assert!(!reply.contains("In total"), "there are fewer products than asked: {reply}");
}

#[tokio::test]
async fn monthly_payments_are_computed() {
    let shop = open().await;
    let said = ["how much is the macbook air 13 m4", "what do I pay per month by credit card over 12 months"];
    let reply = shop.reply_to(&said).await;
    assert!(reply.contains("2.165.833 đ") && reply.contains("1.039.600 đ"), "{reply}");
    let mut chat = shop.chat().await;
    let first = chat.say("macbook air m4 in instalments w my visa credit card, 12 months, whats the monthly").await;
    assert!(first.text("reply").contains("2.165.833 đ"), "{first:?}");
    let reply = chat.say("and over 6?").await.text("reply");
    assert!(reply.contains("4.331.667 đ"), "{reply}");
}

#[tokio::test]
async fn wished_kind_binds() {
    let shop = open().await;
    let reply = shop.reply_to(&["looking for a gaming laptop w/ rtx 4060, budget 25m"]).await;
    assert!(products(&reply)[0].contains("TUF Gaming A15") && !reply.contains("VGA"), "{reply}");
    let reply = shop.reply_to(&["need a cheap headset plus a basic mouse"]).await;
    let shown = products(&reply);
    assert!(shown[0].contains("H111") && shown.iter().any(|name| name.contains("B100")), "products of each: {reply}");
    for (said, product) in [
        (
            ["which 27 inch monitors do you have", "hm just a cheap office one, under 3 mil"],
            "Màn hình Dell E2425HM 24 inch",
        ),
        (
            ["how much is the rtx 4060 card alone", "and the cheapest monitor in 24in with 180hz"],
            "Màn hình gaming AOC 24G4 24 inch",
        ),
    ] {
        let reply = shop.reply_to(&said).await;
        assert_eq!(products(&reply), [product], "{reply}");
    }
    for text in [
        "I already have a monitor, need a cheap headset",
        "a cheap headset for my old laptop please",
        "em có màn hình rồi, cần tai nghe rẻ thôi",
    ] {
        let reply = shop.reply_to(&[text]).await;
        let is_headset = |name: &&str| name.contains("Tai nghe");
        assert!(products(&reply).iter().all(is_headset), "what the customer owns is not wished for: {text}: {reply}");
    }
}

#[tokio::test]
async fn matter_is_answered_whatever_the_mood() {
    let shop = open().await;
    let reply = shop.reply_to(&["Thank you! What is the delivery fee in town?"]).await;
    assert!(reply.contains("30.000"), "{reply}");
    let said = shop.chat().await.say("my new monitor has 4 dead pixels, what a joke of a shop").await;
    assert!(said.text("reply").contains("3 or more dead pixels"), "{said:?}");
    assert!(!said.kinds().contains(&"cute_greeting".to_owned()), "{said:?}");
    for text in ["someone pretending to be your shop wants money from me", "my delivery never arrived, what is the fee"]
    {
        let said = shop.chat().await.say(text).await;
        assert!(!said.kinds().contains(&"cute_greeting".to_owned()), "{text}: {said:?}");
    }
}

#[tokio::test]
async fn named_goods_are_added_and_compared() {
    let shop = open().await;
    let monitors = "27 inch monitors, max 10 mil, what do you have";
    for (said, not_said) in [
        // Of three products, any two may be meant, and of two with one price none costs more.
        (&["monitors under 10 mil, which ones?", "what is the price difference?"][..], "more than"),
        (&["how much is the corsair vengeance 32gb", "and the E2425HM costs how much more?"], "more than"),
        (&[monitors, "how much extra is shipping in town?"], "more than"),
        (&["how much is the CH520", "what's the total for the H111 with shipping?"], "1.190.000"),
    ] {
        let reply = shop.reply_to(said).await;
        assert!(!reply.contains(not_said), "{said:?}: {reply}");
    }
    for (said, answers) in [
        // Of different kinds, in one message.
        (
            &["how much is the sony wh-ch520", "the U2724D and the i5-14600KF together, how much is that"][..],
            &["15.580.000"][..],
        ),
        // Added to the product in talk.
        (&["how much is the i5-14600KF", "if I add the AOC 24G4, what is the total?"], &["9.380.000"]),
        (&["màn AOC 24G4 giá sao", "lấy màn U2724D với tai nghe CH520 là nhiêu tiền"], &["10.480.000"]),
        (&["màn 27 inch", "con PA278QV với con U2724D chênh nhau bao nhiêu tiền?"], &["1.800.000"]),
        (&["how much is the proart PA278QV", "how much more is the U2724D?"], &["costs 1.800.000 đ more than"]),
        (&[monitors, "what is the price difference?"], &["U2724D 27 inch costs 1.800.000 đ more than", "PA278QV"]),
        // What a part of the sum only points at is what the conversation came to.
        (
            &["how much is the i5-14600KF", "and the E2425HM?", "so that cpu + monitor + the H111 = ?"],
            &["6.290.000", "2.690.000", "In total 9.200.000 đ"],
        ),
        (&["how much is the sony wh-ch520", "ok that + the cheapest mouse you have"], &["In total 1.280.000 đ"]),
        // In the message after a sum.
        (
            &["card 4060 giá sao", "card 4060 + nguồn msi 650 hết bao nhiêu", "thế thêm màn E2425HM với nguồn đó"],
            &["1 × 2.690.000", "1 × 1.250.000"],
        ),
        // Any of the shown ones may be meant.
        (&[monitors, "how much for 3 of them?"], &["3 × 7.490.000 đ = 22.470.000 đ", "3 × 9.290.000 đ = 27.870.000 đ"]),
        (&["how much is the lenovo loq", "is there a lighter one than the LOQ?"], &["MacBook Air 13 M4"]),
    ] {
        let reply = shop.reply_to(said).await;
        assert!(answers.iter().all(|answer| reply.contains(answer)), "{said:?}: {reply}");
    }
}

#[tokio::test]
async fn shop_question_also_shows_the_named_product() {
    let shop = open().await;
    let reply = shop.reply_to(&["how much is the AOC 24G4, and how much is shipping in town?"]).await;
    assert!(reply.contains("3.090.000") && reply.contains("30.000"), "{reply}");
}
