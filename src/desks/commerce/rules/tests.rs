use super::*;
use crate::domain::commerce::Money;
use crate::domain::commerce::catalog::CATALOG_CURRENCY;

fn rules() -> CommerceRules {
    CommerceRules::read(&Prompts::shipped()).expect("the shipped rules")
}

fn kes(shillings: i64) -> Money {
    Money::new(shillings * 100, CATALOG_CURRENCY)
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 7: Secure Payment Processing
#[test]
fn only_a_clear_yes_to_the_total_pays() {
    let rules = rules();
    for (text, expected) in [
        ("yes", true),
        ("Yes please", true),
        ("yes!", true),
        ("ok", true),
        ("ndiyo", true),
        ("sawa", true),
        ("sawa tuma", false),
        ("poa", true),
        ("yes 2,500", true),
        ("yes, pay 2500", true),
        ("yes 1250", false),
        ("yes but tomorrow", false),
        ("yes?", false),
        ("no", false),
        ("hapana", false),
        ("zii", false),
        ("ok wait", false),
        ("ndiyo lakini bado", false),
        ("yes and no", false),
        ("ok and also add socks", false),
        ("yes make it 3", false),
        ("how much", false),
        ("lipa", false),
        ("yes, is it leather?", false),
        ("not yes", false),
        ("2", false),
        ("", false),
    ] {
        assert_eq!(rules.parse(text).is_clear_yes_to(kes(2_500)), expected, "{text}");
    }
}

#[test]
fn limits_quantities_and_goods_are_told_apart() {
    let rules = rules();
    for (text, words, numbers, most) in [
        ("I want canvas shoes under 2,000", "canvas shoes", &[][..], Some(2_000)),
        ("natafuta viatu vyeusi chini ya elfu mbili", "shoes black", &[], Some(2_000)),
        ("nipe tatu", "", &[3], None),
        ("two pairs of size 40", "", &[2, 40], None),
        ("nadai kicks size 42", "shoes", &[42], None),
        ("2", "", &[2], None),
        ("show me sandals", "sandals", &[], None),
    ] {
        let said = rules.parse(text);
        assert_eq!(
            (said.words.join(" ").as_str(), &said.details.numbers[..], said.most),
            (words, numbers, most),
            "{text}"
        );
    }
}

#[test]
fn phone_orders_coupons_and_pins_are_found() {
    let rules = rules();
    let phone = |text: &str| rules.parse(text).phone().map(|phone| phone.as_str().to_owned());
    for text in ["0712345678", "my number is 0712 345 678", "+254712345678", "254712345678", "712345678"] {
        assert_eq!(phone(text).as_deref(), Some("+254712345678"), "{text}");
    }
    assert_eq!(phone("2"), None);
    assert_eq!(rules.parse("where is k48213?").order().map(String::from).as_deref(), Some("K48213"));
    assert_eq!(rules.parse("use karibu10 please").codes(), ["KARIBU10"]);
    for (text, pin) in [("1234", Some("1234")), ("PIN 0000", Some("0000")), ("12345", None), ("pin", None)] {
        assert_eq!(rules.parse(text).pin(), pin, "{text}");
    }
}

#[test]
fn options_are_counted_from_one() {
    let rules = rules();
    for (text, option) in [
        ("2", Some(1)),
        ("number 2", Some(1)),
        ("the second one", Some(1)),
        ("ya pili", Some(1)),
        ("mbili", Some(1)),
        ("last one", Some(2)),
        ("7", None),
        ("0", None),
        ("2 canvas shoes", None),
    ] {
        assert_eq!(rules.parse(text).option(3), option, "{text}");
    }
}
