//! What the shop sells is known by its names and numbers, and taken for no serial number.

use std::path::Path;

use super::*;
use crate::domain::serial::{KnownWord, PossibleSerial};
use crate::retrieval::search::vocabulary;
use crate::retrieval::{LexicalIndex, SearchRules};

fn sample_shop() -> Vocabulary {
    let rules = SearchRules::read(&Prompts::shipped()).expect("the rules");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge");
    vocabulary(LexicalIndex::load(&folder, &rules).expect("the sample shop").chunks())
}

/// The numbers and names of the sample shop's goods.
fn products() -> Vec<(String, String)> {
    let table = include_str!("../../../../../knowledge/products.csv");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    rows.records().map(|row| row.expect("a row")).map(|row| (row[0].to_owned(), row[1].to_owned())).collect()
}

#[test]
fn goods_are_never_asked_about_as_a_warranty() {
    let (rules, vocabulary) = (rules(), sample_shop());
    let products = products();
    assert_eq!(products.len(), 120);
    let mut unclear = 0;
    for (sku, name) in &products {
        // "Màn hình LG 27GS75Q-B 27 inch" is called "LG 27GS75Q-B".
        let short: Vec<&str> = name.split(' ').filter(|word| word.is_ascii()).collect();
        let short = short.join(" ");
        for text in [
            name.clone(),
            format!("{name} còn không"),
            format!("{name} con khong shop"),
            sku.clone(),
            format!("{sku} giá sao"),
            format!("do you have the {name}"),
            short.clone(),
            short.to_lowercase(),
        ] {
            let utterance = rules.parse(&text, &vocabulary);
            assert_ne!(acted_on(&utterance), Intent::Warranty, "{text:?}: {utterance:?}");
            if acted_on(&utterance) == Intent::Unknown {
                eprintln!("{text:?}: {utterance:?}");
                unclear += 1;
            }
        }
    }
    eprintln!("{unclear} of {} are unclear", products.len() * 8);
    assert!(unclear <= 10, "{unclear} names of goods are not understood");
}

#[test]
fn goods_next_to_serial_are_not_second_serial() {
    let (rules, vocabulary) = (rules(), sample_shop());
    for (text, serials) in [
        ("Laptop ASUS TUF Gaming A15 FA507NVR của em số máy N4N087572354WPP còn bảo hành hông", "N4N087572354WPP"),
        ("SSD Kingston NV3 1TB mã 50026B7A07430EA6 bảo hành tới tháng mấy", "50026B7A07430EA6"),
        ("kiểm tra bảo hành laptop dell 3530", ""),
        ("nam1995@gmail.com, serial 9GAK7B0", "9GAK7B0"),
        ("hóa đơn số HD00123, máy ABC123", "ABC123"),
        ("order number DH-2231, is ABC123 under warranty", "ABC123"),
        ("sđt 0912 345 678, máy ABC123", "ABC123"),
        ("mất hóa đơn, ABC123 còn bảo hành không", "ABC123"),
    ] {
        let likely = |serial: &PossibleSerial| serial.likeness() >= Likeness::Number;
        let found = rules.parse(text, &vocabulary).entities.serials.into_iter().filter(likely);
        let found: Vec<String> = found.map(|serial| serial.text).collect();
        assert_eq!(found.join(","), serials, "{text:?}");
    }
}

#[test]
fn renamed_guesses_still_count_as_attempts() {
    let (rules, vocabulary) = (rules(), sample_shop());
    for (text, known, is_a_try) in [
        ("ABC123", None, true),
        ("hóa đơn số ABC123", Some(KnownWord::Named), true),
        ("FA507NVR", Some(KnownWord::Goods), false),
        ("0912.345.678", None, true),
        ("1TB", Some(KnownWord::Goods), false),
        ("9TB", None, false),
    ] {
        let candidates = rules.parse(text, &vocabulary).entities.serials;
        let [candidate] = candidates.as_slice() else { panic!("{text:?}: {candidates:?}") };
        assert_eq!((candidate.known, candidate.is_attempt()), (known, is_a_try), "{text:?}");
    }
}

#[test]
fn candidate_may_be_inside_another_word() {
    let (rules, vocabulary) = (rules(), sample_shop());
    for text in
        ["ÉABC1", "hóa đơn số ÉABC12", "\u{10805}E4abc", "số\u{301}ABC123", "đ1234 đ", "(0912) 345 678é", "é@é.1a2"]
    {
        let candidates = rules.parse(text, &vocabulary).entities.serials;
        assert!(candidates.iter().all(|candidate| !candidate.text.is_empty()), "{text:?}: {candidates:?}");
    }
}

#[test]
fn search_text_has_whole_words_without_politeness() {
    let (rules, vocabulary) = (rules(), sample_shop());
    for (text, query) in [
        ("bn tien con g102 z shop", "bao nhiêu tien con g102  shop"),
        ("sdt cua shop", "số điện thoại cua shop"),
        ("macbook air bn", "macbook air bao nhiêu"),
        ("Giao hàng tới Huế không?", "Giao hàng tới Huế không?"),
        ("z", "z"),
        ("", ""),
    ] {
        assert_eq!(rules.search_text(text, &vocabulary), query);
    }
}

#[test]
fn wish_without_goods_is_recognized() {
    let (rules, vocabulary) = (rules(), sample_shop());
    for (text, names_nothing) in [
        ("mua hàng", true),
        ("tư vấn mua hàng", true),
        ("em muốn mua hàng ạ", true),
        ("shopping please", true),
        ("tu van giup minh", true),
        ("mua laptop", false),
        ("tư vấn Keychron K2", false),
        ("mua hàng ở đâu", false),
        ("bên em có bán xe đạp điện không", false),
        ("I want to buy a bicycle", false),
        ("tìm cái gì đó rẻ", false),
        ("kiểm tra bảo hành", false),
    ] {
        let utterance = rules.parse(text, &vocabulary);
        assert_eq!(utterance.requests(Topic::UnnamedGoods), names_nothing, "{text:?}: {utterance:?}");
    }
}

#[test]
fn politeness_and_patience_are_not_attempts() {
    let rules = rules();
    for (text, says_nothing) in [
        ("ok", true),
        ("dạ", true),
        ("wait a sec", true),
        ("đợi em chút", true),
        ("để em tìm cái hộp", true),
        ("let me check", true),
        ("??", false),
        ("", false),
        ("em không thấy số nào hết", false),
        ("abcdef", false),
        ("I can not find it", false),
    ] {
        assert_eq!(parse(&rules, text).stalls(), says_nothing, "{text:?}");
    }
}
