//! The shipped rules, tried on messages.

use super::*;

#[test]
fn shown_products_are_pointed_at() {
    let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
    let least = |name: &str| Some(Pick::Least(name.to_owned()));
    for (text, pick) in [
        ("cái đầu tiên có đèn không", Some(Pick::Nth(0))),
        ("cai dau tien co den ko", Some(Pick::Nth(0))),
        ("the second one please", Some(Pick::Nth(1))),
        ("con do bao hanh bao lau", Some(Pick::It)),
        ("does it have wifi", Some(Pick::It)),
        ("2 con đó khác gì nhau, nên lấy con nào", Some(Pick::All)),
        ("which is better value?", Some(Pick::All)),
        ("anything cheaper?", Some(Pick::Cheaper)),
        ("re hon nua co ko", Some(Pick::Cheaper)),
        ("con nao nhe nhat", least("kg|g")),
        ("the cheapest of them", least("price")),
        ("what else would you suggest", Some(Pick::Similar)),
        ("có con nào tương tự không", Some(Pick::Similar)),
        ("laptop dưới 15 triệu", None),
        ("phí giao hàng về cần thơ", None),
    ] {
        assert_eq!(rules.pick(text).map(|(pick, _)| pick), pick, "{text}");
    }
}

#[test]
fn pointing_words_are_removed() {
    let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
    let rest = |text: &str| rules.pick(text).map(|(_, rest)| rest);
    assert_eq!(rest("cái đầu tiên có đèn không").as_deref(), Some("có đèn không"));
    assert_eq!(rest("how heavy is the second one").as_deref(), Some("how heavy is the one"));
}

#[test]
fn message_is_split_into_its_wishes() {
    let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
    let parts = |text: &str| rules.wishes_of(text).iter().map(|part| part.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(parts("a cheap headset plus a basic mouse, today"), ["a cheap headset", "a basic mouse", "today"]);
    assert_eq!(parts("chuột với bàn phím").len(), 2);
}

#[test]
fn page_gives_the_price_of_a_set() {
    let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
    assert_eq!(rules.bundle_price("For games. Total 19,840,000 VND:\n- CPU"), Some(19_840_000));
    assert_eq!(rules.bundle_price("Hợp với game. Tổng giá 19.840.000đ:"), Some(19_840_000));
    assert_eq!(rules.bundle_price("Total weight"), None);
}

#[test]
fn products_fit_by_their_values() {
    let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
    let (board, cpu) = ("Socket LGA1700, 4 DDR4 slots", "6 cores, socket LGA1700");
    assert_eq!(rules.fit(board, cpu), Some((true, "LGA1700".into(), "LGA1700".into())));
    assert_eq!(rules.fit("DDR5 5600 MHz", board), Some((false, "DDR5".into(), "DDR4".into())));
    assert_eq!(rules.fit("27 inch", board), None);
    assert!(
        rules.says(Sign::Fits, "would the ram work in it") && rules.says(Sign::Fits, "cpu này lắp main đó được không")
    );
}

#[test]
fn pieces_differ_from_numbers_of_names() {
    let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
    for (text, pieces) in [
        ("mua i5-12400f 2 con hết bao nhiêu", Some(2)),
        ("lấy rtx 4060 2 con", Some(2)),
        ("mua ổ 1tb 2 cái", Some(2)),
        ("12 con hết bao nhiêu", Some(12)),
        ("2 con rtx 4060 bao nhiêu tiền", Some(2)),
        ("I need the g102 mouse 3 pcs, how much in total", Some(3)),
        ("how much is the g102 for 3", Some(3)),
        ("mua i5-12400f", None),
        ("ok then two of the nv3 drives", Some(2)),
        ("times twelve?", Some(12)),
        ("lấy hai cái đi", Some(2)),
        ("công ty cần mua 5 màn hình", Some(5)),
        ("one of the headsets", None),
    ] {
        assert_eq!(rules.pieces(text), pieces, "{text}");
    }
}

#[test]
fn height_decides_whether_a_cooler_fits() {
    let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
    let case = "4 fans of 140 mm included, air coolers up to 160 mm high";
    assert_eq!(rules.fit_height("2 fans of 140 mm, 165 mm high", case), Some((false, 165, 160)));
    assert_eq!(rules.fit_height(case, "120 mm fan, 150 mm high"), Some((true, 160, 150)));
    assert_eq!(rules.fit_height("120 mm fan, 150 mm high", "mesh front"), None);
}

#[test]
fn fee_of_a_service_is_read() {
    let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
    assert_eq!(rules.fee("choose express delivery for 60,000 VND. The goods"), Some(60_000));
    assert_eq!(rules.fee("less a disassembly fee of 200,000 VND"), None);
}
