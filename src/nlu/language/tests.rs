use unicode_normalization::UnicodeNormalization;

use messages::{GOODS, WISHES};

use super::*;
use crate::domain::text::fold;

mod examples;
mod messages;

const ALLOWED: [Language; 2] = [Language::VI, Language::EN];

fn rules() -> Arc<LanguageRules> {
    LanguageRules::read(&Prompts::shipped()).expect("the shipped rules")
}

#[test]
fn language_request_is_recognized() {
    let rules = rules();
    let mut wrong = Vec::new();
    for (to, text) in WISHES {
        for text in [(*text).to_owned(), fold(text), text.to_uppercase(), text.nfd().collect()] {
            let switch = rules.switch(&text, &ALLOWED);
            if switch != Some(Switch { to: *to, rest: String::new() }) {
                wrong.push(format!("{text:?} gave {switch:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), WISHES.len(), wrong.join("\n"));
}

#[test]
fn neutral_word_does_not_tell_the_language() {
    let (rules, allowed) = (rules(), [Language::EN, "pl".parse().unwrap()]);
    for text in ["refund 45 zł", "refund 45 ZŁ.", "45 zł?"] {
        assert_ne!(rules.judge(text, &allowed).map(|(language, _)| language), Some(allowed[1]), "{text}");
    }
}

#[test]
fn language_of_mixed_words_is_related_to_none() {
    let rules = rules();
    let [sheng, swahili] = ["sheng", "sw"].map(|code| code.parse().unwrap());
    assert_eq!((rules.related_to(sheng), rules.related_to(swahili)), (Some(swahili), None));
}

#[test]
fn address_is_not_a_language_wish() {
    let rules = rules();
    for text in ["hoa@vnpt.vn", "lan@shop.com.vn", "it is vn.tran@gmail.com", "see www.shop.vn", "vn@x.com, thanks"] {
        assert_eq!(rules.switch(text, &ALLOWED), None, "{text:?}");
    }
}

#[test]
fn a_negation_turns_a_wish_round() {
    let rules = rules();
    let (vi, en) = (Some(Language::VI), Some(Language::EN));
    let mut wrong = Vec::new();
    for (to, texts) in [
        (
            vi,
            &[
                "không cần chuyển sang tiếng Anh đâu",
                "đừng chuyển sang tiếng Anh",
                "tôi không muốn nói tiếng Anh",
                "mình không thích em trả lời bằng tiếng Anh",
                "khỏi nói tiếng anh nha, anh hông hiểu đâu",
                "sao lại nói tiếng Anh vậy",
                "sao em cứ trả lời bằng tiếng anh hoài vậy",
                "I don't want to speak English",
                "don't switch to English",
                "please don't reply in English",
                "no need to use English",
                "why are you speaking English?",
                "stop talking to me in English",
            ][..],
        ),
        (
            en,
            &[
                "I don't want you to speak Vietnamese",
                "please do not switch to Vietnamese",
                "why are you speaking Vietnamese?",
                "why did you switch to Vietnamese",
                "I never asked you to speak Vietnamese",
                "đừng nói tiếng Việt nữa",
                "why don't you speak English?",
                "can't you speak English",
                "sao không nói tiếng Anh",
                "why not speak English",
                "do any of your staff in the shop speak English?",
            ][..],
        ),
        (None, &["shop nói tiếng Anh giỏi ghê", "em nói tiếng anh hay quá", "không cần bàn phím tiếng Anh"][..]),
    ] {
        for text in texts.iter().flat_map(|text| [(*text).to_owned(), fold(text), text.to_uppercase()]) {
            let switch = rules.switch(&text, &ALLOWED);
            let rest = switch.as_ref().map_or("", |switch| switch.rest.as_str());
            if switch.as_ref().map(|switch| switch.to) != to || !rest.is_empty() {
                wrong.push(format!("{text:?} gave {switch:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn language_of_goods_is_no_request() {
    let rules = rules();
    let wrong: Vec<String> = GOODS
        .iter()
        .flat_map(|text| [(*text).to_owned(), fold(text), text.to_uppercase()])
        .filter_map(|text| Some(format!("{text:?} gave {:?}", rules.switch(&text, &ALLOWED)?)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), GOODS.len(), wrong.join("\n"));
}

#[test]
fn what_else_the_message_asks_is_the_rest() {
    let rules = rules();
    for (text, to, rest) in [
        ("speak english please, is ABC123 under warranty?", Language::EN, "is ABC123 under warranty?"),
        ("Can we speak English? How much is the RTX 4060?", Language::EN, "How much is the RTX 4060?"),
        ("english pls, do you ship to hue", Language::EN, "do you ship to hue"),
        ("is ABC123 under warranty? english please", Language::EN, "is ABC123 under warranty?"),
        ("nói tiếng anh nhé, ssd 1tb giá bao nhiêu", Language::EN, "ssd 1tb giá bao nhiêu"),
        ("how much is this laptop? reply in english please", Language::EN, "how much is this laptop?"),
        ("chuyển sang tiếng việt đi em, kiểm tra bảo hành ABC123", Language::VI, "kiểm tra bảo hành ABC123"),
        ("noi tieng viet di em, laptop dell gia bao nhieu", Language::VI, "laptop dell gia bao nhieu"),
        ("do you speak english? i want to buy a mouse", Language::EN, "i want to buy a mouse"),
        ("kiểm tra bảo hành ABC123 trả lời bằng tiếng anh giúp", Language::EN, "kiểm tra bảo hành ABC123"),
        ("I don't understand Vietnamese, what are your opening hours?", Language::EN, "what are your opening hours?"),
        ("switch to vietnamese please and check ABC123", Language::VI, "check ABC123"),
        ("em ơi nói tiếng anh giúp anh nhé, anh muốn mua chuột", Language::EN, "anh muốn mua chuột"),
        ("ssd 1tb giá bao nhiêu? trả lời bằng tiếng anh nhé", Language::EN, "ssd 1tb giá bao nhiêu?"),
        (
            "mình muốn mua laptop học tiếng anh. nói tiếng anh với mình nhé",
            Language::EN,
            "mình muốn mua laptop học tiếng anh.",
        ),
        (
            "Do you speak English? Does this laptop have an English keyboard?",
            Language::EN,
            "Does this laptop have an English keyboard?",
        ),
        ("speak english please is ABC123 under warranty", Language::EN, "is ABC123 under warranty"),
        ("noi tieng anh dc ko, kiem tra bao hanh XYZ789", Language::EN, "kiem tra bao hanh XYZ789"),
    ] {
        assert_eq!(rules.switch(text, &ALLOWED), Some(Switch { to, rest: rest.to_owned() }), "{text:?}");
    }
}

#[test]
fn only_persona_languages_can_be_requested() {
    let rules = rules();
    assert_eq!(rules.switch("speak english please", &[Language::VI]), None);
    assert_eq!(rules.detect("how much is this laptop", &[Language::VI]).filter(|l| *l != Language::VI), None);
}

#[test]
fn a_message_is_read_in_its_own_language() {
    let rules = rules();
    let mut wrong = Vec::new();
    for (language, texts) in [
        (
            Some(Language::VI),
            &[
                "bao hanh cho em cai laptop",
                "kiểm tra bảo hành ABC123",
                "shop oi con hang khong",
                "gia bao nhieu vay",
                "Đà Nẵng",
                "ssd 1tb bn tien",
                "hello shop, con nay gia sao",
                "alo",
                "chào em",
                "tu van giup minh",
                "dc ko e",
                "may em bi loi",
                "dạ",
                "laptop nao ngon",
                "cod dc ko",
                "mình cần mua macbook",
                "xin chao",
                "laptop gaming tam 20tr",
                "ship ve hue mat bao lau",
                "cảm ơn",
                "check bh giup e voi",
                "ban phim co nao em",
            ][..],
        ),
        (
            Some(Language::EN),
            &[
                "how much is this laptop",
                "hello",
                "hi there",
                "is ABC123 under warranty?",
                "do you ship to hue",
                "what are your opening hours",
                "check warranty please",
                "warranty",
                "can i pay by card",
                "good morning",
                "which ssd should i get",
                "thanks",
                "looking for a cheap monitor",
                "speak english",
                "I need a new mouse",
            ][..],
        ),
        (None, &["ABC123", "", "😀", "123", "rtx 4060", "huy.do@example.com", "https://shop.example/the/order"][..]),
    ] {
        for text in texts {
            let found = rules.detect(text, &ALLOWED);
            if found != language {
                wrong.push(format!("{text:?} gave {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `tests/data/languages.tsv`: messages without marks, of both desks. A message that says nothing sure keeps the conversation's language,
/// which costs nothing; a message that is taken for the other language is answered in it.
#[test]
fn text_without_diacritics_keeps_its_language() {
    let rules = rules();
    let mut enough = true;
    for language in ALLOWED {
        let (mut count, mut unsure, mut wrong) = (0, Vec::new(), Vec::new());
        for line in include_str!("../../../tests/data/languages.tsv").lines().skip(1) {
            let (code, text) = line.split_once('\t').expect("two columns");
            if code != language.code() {
                continue;
            }
            count += 1;
            match rules.detect(text, &ALLOWED) {
                Some(found) if found == language => {}
                Some(_) => wrong.push(text),
                None => unsure.push(text),
            }
        }
        println!(
            "{}: {count} messages, {} wrong {wrong:?}, {} unsure {unsure:?}",
            language.code(),
            wrong.len(),
            unsure.len()
        );
        enough &= count >= 150 && wrong.len() * 100 <= count && unsure.len() * 10 <= count;
    }
    assert!(enough);
}

#[test]
fn invalid_language_rules_are_refused_with_reason() {
    for (file, from, to, says) in [
        ("language.en.toml", "[aliases]", "colour = 1\n[aliases]", "unknown field `colour`"),
        ("languages.toml", "\"vie\"", "\"xxx\"", "\"xxx\" of the language vi is unknown"),
        ("language.toml", "\"<learn>\",", "\"<nowhere>\",", "<nowhere>"),
    ] {
        let error = LanguageRules::read(&Prompts::shipped().with_rules_edited(file, from, to)).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn polish_is_told_from_english() {
    let rules = rules();
    let (pl, en) = ("pl".parse().expect("a language"), Language::EN);
    let mut wrong = Vec::new();
    for (language, texts) in [
        (
            pl,
            &[
                "internet mi nie działa",
                "internet mi nie dziala od wczoraj",
                "router miga na czerwono",
                "ile kosztuje plan M",
                "chce zwrot kasy za fakture",
                "faktura INV-20251001 jest za wysoka",
                "jak ustawic apn w iphonie",
                "mam problem z wifi w sypialni",
                "dzien dobry",
                "tak, poproszę",
                "zwrot 100 zł",
                "co z moim zwrotem",
                "wpisalem 3x zly pin i tel chce jakis puk, skad go wziac",
            ][..],
        ),
        (
            en,
            &[
                "my internet is down",
                "the router blinks red",
                "how much is plan M",
                "I want a refund for my invoice",
                "what is the APN for iPhone",
                "wifi does not reach the bedroom",
                "good morning",
                "yes please",
            ][..],
        ),
    ] {
        for text in texts {
            let found = rules.detect(text, &[pl, en]);
            if found != Some(language) {
                wrong.push(format!("{text:?} gave {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (text, to) in [("please speak English", en), ("mów po polsku", pl), ("czy możemy rozmawiać po angielsku?", en)]
    {
        assert_eq!(rules.switch(text, &[pl, en]).map(|switch| switch.to), Some(to), "{text}");
    }
    assert_eq!(rules.switch("polski numer nie działa", &[pl, en]), None);
}

#[test]
fn swahili_and_sheng_are_recognized_by_their_words() {
    let rules = rules();
    let [en, sw, sheng] = ["en", "sw", "sheng"].map(|code| code.parse::<Language>().expect("a language"));
    let mut wrong = Vec::new();
    for (language, texts) in [
        (
            Some(sw),
            &[
                "habari, mna viatu vya watoto?",
                "bei ya gauni hili ni ngapi?",
                "nataka kununua simu mpya",
                "nimelipa lakini sijapata risiti",
                "mzigo wangu uko wapi?",
                "asante sana",
            ][..],
        ),
        (Some(sheng), &["niaje msee", "manze kicks ni doh ngapi", "buda nidai ganji?"][..]),
        (
            Some(en),
            &[
                "hello, do you have shoes for children?",
                "how much is this dress?",
                "I have paid but did not get a receipt",
                "where is my order",
            ][..],
        ),
        // whatlang knows no Swahili, and would take every message for English.
        (None, &["ok", "M-PESA", "Nairobi, Westlands", "42"][..]),
    ] {
        for text in texts {
            let found = rules.detect(text, &[en, sw, sheng]);
            if found != language {
                wrong.push(format!("{text:?} gave {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (text, to) in [
        ("please speak English", Some(en)),
        ("tuongee kwa kiswahili tafadhali", Some(sw)),
        ("can we talk in Swahili?", Some(sw)),
        ("switch to sheng please", Some(sheng)),
        ("naomba ujibu kwa kiingereza", Some(en)),
        ("do you sell a Swahili dictionary?", None),
    ] {
        assert_eq!(rules.switch(text, &[en, sw, sheng]).map(|switch| switch.to), to, "{text}");
    }
}

#[test]
fn prose_of_language_unknown_to_whatlang_is_unclear() {
    let rules = rules();
    let (en, sw) = (Language::EN, "sw".parse().expect("a language"));
    let swahili = "tunauza viatu vya watoto na vya watu wazima katika maduka yetu yote ya mjini";
    assert_eq!(rules.look_at_prose(swahili, sw, &[en, sw]), Prose::Unclear);
    assert_eq!(rules.look_at_prose(swahili, en, &[en, sw]), Prose::Unclear);
}

#[test]
fn one_name_does_not_make_a_language() {
    let rules = rules();
    let (pl, en) = ("pl".parse().expect("a language"), Language::EN);
    for (language, text) in [
        (en, "We are moving to another flat in Kraków in May. What do I have to do?"),
        (en, "my parents live in łódź, do you have a network there?"),
        (en, "The router shows \"brak połączenia\", what is wrong with it?"),
        (pl, "W Gdańsku brak sieci"),
        (pl, "router miga na czerwono od piątku"),
    ] {
        assert_eq!(rules.detect(text, &[pl, en]), Some(language), "{text}");
    }
    assert_eq!(rules.detect("how long does it take to ship to Đà Nẵng?", &ALLOWED), Some(en));
}
