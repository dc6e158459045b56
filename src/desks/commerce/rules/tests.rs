use super::*;
use crate::domain::commerce::Money;
use crate::domain::commerce::catalog::CATALOG_CURRENCY;

fn rules() -> Arc<CommerceRules> {
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
        ("ndiyo tuma", true),
        ("ndio lipa", true),
        ("yes pay", true),
        ("ok show me others", false),
        ("ok show me other options", false),
        ("ok how much in total", false),
        ("ok what is the total", false),
        ("ok do you have other colours", false),
        ("ok i want another size", false),
        ("yes with my other number", false),
        ("yes 0712345678", false),
        ("sawa nionyeshe zingine", false),
        ("haya nataka nyingine", false),
        ("nataka ya bei nafuu", false),
        ("ya", false),
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
fn orders_coupons_and_pins_are_found() {
    let rules = rules();
    assert_eq!(rules.parse("where is k48213?").order().map(String::from).as_deref(), Some("K48213"));
    assert_eq!(rules.parse("use karibu10 please").codes(), ["KARIBU10"]);
    for (text, pin) in [("1234", Some("1234")), ("PIN 0000", Some("0000")), ("12345", None), ("pin", None)] {
        assert_eq!(rules.parse(text).pin(), pin, "{text}");
    }
}

#[test]
fn coupon_is_an_offer_or_called_one() {
    let rules = rules();
    let offers = ["KARIBU10".to_owned(), "EID2026A2B".to_owned()];
    for (text, coupon) in [
        ("karibu10", Some("KARIBU10")),
        ("do i get 10% off with KARIBU10?", Some("KARIBU10")),
        ("use FAKE99 please", Some("FAKE99")),
        ("EID2026A2B", Some("EID2026A2B")),
        ("SGH7K2LQ9P", None),
        ("code ni SGH7K2LQ9P", None),
        ("ANY DISCOUNT", None),
        ("coupon 0733444555", None),
        ("no coupon", None),
    ] {
        assert_eq!(rules.parse(text).coupon(&offers).as_deref(), coupon, "{text}");
    }
    assert!(rules.parse("nimelipa SGH7K2LQ9P").names_receipt());
}

#[test]
fn missing_coupon_and_negated_words_ask_for_nothing() {
    let rules = rules();
    for text in ["just one pair, no code", "one only, no coupon", "sina kuponi, jozi moja", "sina code"] {
        let said = rules.parse(text);
        let is_offers = said.intents.iter().any(|(intent, _)| *intent == Intent::DiscountsOffers);
        assert!(
            said.says(Says::NoCoupon) && !is_offers && !said.refuses() && said.words.is_empty(),
            "{text}: {said:?}"
        );
    }
    assert_eq!(rules.parse("no wait, black not green").words, ["black"]);
    assert_eq!(rules.parse("no wait, i want the leather ones instead").words, ["leather"]);
}

#[test]
fn angry_customer_with_a_request_is_heard() {
    let rules = rules();
    for (text, class) in [
        ("this is useless, where is my order", GovernorClass::Business),
        ("you idiots, I want a refund", GovernorClass::Business),
        ("you are stupid", GovernorClass::Abuse),
        ("thanks, when will it arrive? am in Nairobi", GovernorClass::Business),
        ("thanks a lot", GovernorClass::Casual),
    ] {
        assert_eq!(rules.parse(text).class, class, "{text}");
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

#[test]
fn people_are_not_pieces() {
    let rules = rules();
    for (text, numbers) in [
        ("shoes for 2 kids, size 32", &[32][..]),
        ("socks for my three boys", &[]),
        ("viatu vya watoto wawili, saizi 30 na 34", &[30, 34]),
        ("2 pairs of socks for my kids", &[2]),
    ] {
        assert_eq!(rules.parse(text).details.numbers, numbers, "{text}");
    }
}

#[test]
fn disliked_goods_are_not_wanted() {
    let rules = rules();
    for (text, words, unwanted) in [
        ("she hates heels, size 39", "", "high heels"),
        ("hapendi viatu virefu lakini anapenda sandals", "sandals", "high heels"),
        ("anything but boots", "", "boots"),
        ("she wears 38 but she can't stand heels", "", "high heels"),
        ("boots please", "boots", ""),
    ] {
        let said = rules.parse(text);
        assert_eq!((said.words.join(" ").as_str(), said.unwanted.join(" ").as_str()), (words, unwanted), "{text}");
    }
}

#[test]
fn permission_and_doubt_refuse_nothing() {
    let rules = rules();
    for text in ["poa basi wacha nilipe", "acha nimalize kulipa", "i dont know her size", "what if they dont fit"] {
        assert!(!rules.parse(text).refuses(), "{text}");
    }
    for text in ["wacha tu", "acha hiyo order", "i dont want it", "no, dont"] {
        assert!(rules.parse(text).refuses(), "{text}");
    }
}
