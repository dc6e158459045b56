use super::*;
use crate::desks::retail::RetailRules;
use crate::dialogue::history::tests::message;
use crate::domain::{Language, Vocabulary};
use crate::persona::Prompts;

fn texts() -> ByLanguage<Replies<Text>> {
    ByLanguage::load(&Prompts::shipped(), "retail", &[Language::VI, Language::EN]).expect("the texts")
}

#[test]
fn desk_waits_while_last_message_is_a_prompt() {
    let texts = texts();
    let waits = |kinds: &[Kind]| {
        let mut history: Vec<Message> = kinds.iter().map(|kind| message(Sender::Assistant, Some(*kind), "…")).collect();
        history.push(message(Sender::User, None, "bảo hành"));
        is_waiting(&history, &texts)
    };
    for prompt in [kind::WARRANTY_PROMPT, kind::WARRANTY_PROMPT_INVALID] {
        assert!(waits(&[prompt]));
        for aside in [Kind::LanguageAck, Kind::Greeting, Kind::CuteGreeting, Kind::ErrorNotice] {
            assert!(waits(&[prompt, aside]), "{aside:?} after it");
        }
        for answer in [kind::WARRANTY_RESULT, Kind::Reply, Kind::Clarify, Kind::Social, Kind::FollowUp] {
            assert!(!waits(&[prompt, answer]), "{answer:?} after it");
            assert!(waits(&[answer, prompt]), "{answer:?} before it");
        }
    }
    assert!(!waits(&[]));
}

#[test]
fn untyped_prompt_is_recognized_by_first_words() {
    let texts = texts();
    for (waits, text) in [
        (true, "Quý khách vui lòng cung cấp số serial của máy ạ."),
        (true, "Em chưa nhận diện được số serial hợp lệ ạ."),
        (true, "Please give me the serial number, thank you."),
        (true, "I could not find a valid serial number there."),
        (false, "Quý khách vui lòng cung cấp địa chỉ giao hàng ạ."),
        (false, "I could not find serial 'ABC123' in SSTC's warranty records."),
        (false, ""),
    ] {
        let prompt = |sender| [message(sender, None, text), message(Sender::User, None, "đây ạ")];
        assert_eq!(is_waiting(&prompt(Sender::Assistant), &texts), waits, "{text}");
        assert!(!is_waiting(&prompt(Sender::User), &texts), "the customer's own words: {text}");
    }
    let mut unknown = message(Sender::Assistant, None, "Please give me the serial number");
    unknown.metadata = Metadata::default().with("type", "poll");
    assert!(!is_waiting(&[unknown], &texts), "a type that is not known is a type");
}

#[test]
fn warranty_ends_with_the_shops_day() {
    let shop = chrono_tz::Asia::Ho_Chi_Minh;
    let record = crate::domain::warranty::parse_row("A1B", "Chuột", "2025-06-30").expect("a row");
    let expired = |now: &str| record.is_expired(day_of(now.parse().expect("a time"), shop));
    assert!(!expired("2025-06-30T16:59:59Z"), "a minute before midnight in the shop");
    assert!(expired("2025-06-30T17:00:00Z"), "midnight in the shop, still the same day in London");
}

#[test]
fn least_likely_candidates_are_dropped_first() {
    let rules = RetailRules::read(&Prompts::shipped()).expect("the shipped rules");
    let candidates = |message: &str| -> Vec<String> {
        let serials = rules.parse(message, &Vocabulary::default()).entities.serials;
        keep_best(serials, CANDIDATES, PossibleSerial::likeness).into_iter().map(|serial| serial.text).collect()
    };
    let noise = "RTX4060 i5-12400F 16GB 1TB 144Hz 27inch 650W 2024 1080p 3200MHz 0912345678";
    let kept = candidates(&format!("{noise} abc-123 ABC-123 XYZ789"));
    assert_eq!(kept.len(), CANDIDATES);
    assert!(kept.ends_with(&["0912345678", "abc-123", "XYZ789"].map(str::to_owned)), "{kept:?}");
    assert_eq!(candidates("mua 2024, ABC123, 1TB"), ["2024", "ABC123", "1TB"], "in the order of the message");
}

#[test]
fn price_next_to_serial_is_not_reported_missing() {
    let rules = RetailRules::read(&Prompts::shipped()).expect("the shipped rules");
    let answers = |serials: &[(&str, bool)]| -> Vec<Result<WarrantyRecord, Serial>> {
        let answer = |(serial, found): &(&str, bool)| match found {
            true => Ok(crate::domain::warranty::parse_row(serial, "Chuột", "2025-06-30").expect("a row")),
            false => Err(serial.parse().expect("a serial")),
        };
        serials.iter().map(answer).collect()
    };
    for (all, told) in [
        (vec![("5990000", false), ("ABC123", true)], vec![("ABC123", true)]),
        (vec![("5990000", false), ("ABC123", false)], vec![("ABC123", false)]),
        (vec![("5990000", true), ("ABC123", false)], vec![("5990000", true), ("ABC123", false)]),
        (vec![("123456", true), ("654321", false)], vec![("123456", true), ("654321", false)]),
        (vec![("123456", false), ("654321", false)], vec![("123456", false), ("654321", false)]),
    ] {
        assert_eq!(without_unlikely(answers(&all), |serial| rules.likeness(serial)), answers(&told), "{all:?}");
    }
    let many = answers(&[("A1B", false), ("A2B", false), ("A3B", true), ("A4B", false), ("A5B", true)]);
    assert_eq!(keep_best(many, 3, Result::is_ok), answers(&[("A1B", false), ("A3B", true), ("A5B", true)]));
}
