use unicode_normalization::UnicodeNormalization;

use super::*;
use crate::domain::text::fold;

const ALLOWED: [Language; 2] = [Language::VI, Language::EN];

fn rules() -> LanguageRules {
    LanguageRules::from_toml(include_str!("../../../prompts/rules/language.toml")).expect("the shipped rules")
}

#[test]
fn a_message_that_asks_the_speaker_for_a_language_gets_it() {
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
fn a_language_that_belongs_to_goods_is_no_wish() {
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
fn only_the_languages_of_the_persona_can_be_asked_for() {
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
        (None, &["ABC123", "", "😀", "123", "rtx 4060"][..]),
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

#[test]
fn a_rule_file_with_a_mistake_is_refused_with_its_reason() {
    let good = include_str!("../../../prompts/rules/language.toml");
    for (from, to, says) in [
        ("[aliases]", "colour = 1\n[aliases]", "unknown field `colour`"),
        ("\"vie\"", "\"xxx\"", "languages.vi.whatlang"),
        ("\"<learn>\",", "\"<nowhere>\",", "<nowhere>"),
    ] {
        let error = LanguageRules::from_toml(&good.replacen(from, to, 1)).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    }
}

const WISHES: &[(Language, &str)] = &[
    (Language::EN, "speak english"),
    (Language::EN, "Speak English please"),
    (Language::EN, "tiếng anh được không"),
    (Language::EN, "tieng anh duoc khong"),
    (Language::EN, "tieng anh dc ko"),
    (Language::EN, "can we speak english"),
    (Language::EN, "Can we speak English?"),
    (Language::EN, "english pls"),
    (Language::EN, "English please!"),
    (Language::EN, "in english please"),
    (Language::EN, "please speak in english"),
    (Language::EN, "do you speak English?"),
    (Language::EN, "do u speak english"),
    (Language::EN, "does anyone here speak english"),
    (Language::EN, "chuyển sang tiếng anh"),
    (Language::EN, "chuyen sang tieng anh di em"),
    (Language::EN, "đổi qua tiếng anh giúp mình"),
    (Language::EN, "nói tiếng anh đi"),
    (Language::EN, "em nói tiếng anh được không"),
    (Language::EN, "em có nói được tiếng anh không"),
    (Language::EN, "shop biết tiếng anh không"),
    (Language::EN, "trả lời bằng tiếng anh giúp mình"),
    (Language::EN, "rep tieng anh giup minh"),
    (Language::EN, "tư vấn bằng tiếng anh được không shop"),
    (Language::EN, "mình muốn nói chuyện bằng tiếng anh"),
    (Language::EN, "có nhân viên nào nói tiếng anh không"),
    (Language::EN, "English?"),
    (Language::EN, "tiếng anh"),
    (Language::EN, "hello, english please"),
    (Language::EN, "can you reply in english"),
    (Language::EN, "could you please answer in English, thanks"),
    (Language::EN, "switch to english"),
    (Language::EN, "change language to english"),
    (Language::EN, "let's switch to English"),
    (Language::EN, "i only speak english"),
    (Language::EN, "I don't speak Vietnamese"),
    (Language::EN, "sorry i don't understand vietnamese"),
    (Language::EN, "i prefer english"),
    (Language::EN, "I'd rather speak English"),
    (Language::EN, "is english ok?"),
    (Language::EN, "is it ok to speak english"),
    (Language::EN, "can you help me in english"),
    (Language::EN, "use english please"),
    (Language::EN, "i want to talk to someone who speaks english"),
    (Language::EN, "mình không biết tiếng việt"),
    (Language::EN, "I'm a foreigner, can you speak English?"),
    (Language::EN, "my vietnamese is not good, english please"),
    (Language::EN, "speak englist pls"),
    (Language::EN, "dùng tiếng anh nhé"),
    (Language::EN, "cho mình chat bằng tiếng anh nha"),
    (Language::VI, "nói tiếng việt đi em"),
    (Language::VI, "noi tieng viet di"),
    (Language::VI, "switch to vietnamese please"),
    (Language::VI, "speak vietnamese"),
    (Language::VI, "can you speak Vietnamese?"),
    (Language::VI, "quay lại tiếng việt đi"),
    (Language::VI, "chuyển về tiếng việt giúp em"),
    (Language::VI, "tiếng việt nhé"),
    (Language::VI, "tieng viet di e"),
    (Language::VI, "vietnamese please"),
    (Language::VI, "back to vietnamese"),
    (Language::VI, "go back to Vietnamese please"),
    (Language::VI, "thôi nói tiếng việt cho dễ"),
    (Language::VI, "anh không rành tiếng anh"),
    (Language::VI, "em không hiểu tiếng anh, nói tiếng việt được không"),
    (Language::VI, "đừng nói tiếng anh nữa"),
    (Language::VI, "trả lời tiếng việt nhé"),
    (Language::VI, "please reply in vietnamese"),
    (Language::VI, "tôi là người việt, nói tiếng việt đi"),
    (Language::VI, "em nói tiếng việt với chị được không"),
    (Language::EN, "Is there anybody there who can speak English?"),
    (Language::EN, "would you mind speaking English"),
    (Language::EN, "pls speak eng"),
    (Language::EN, "eng pls"),
    (Language::EN, "can i chat in english here"),
    (Language::EN, "you know english?"),
    (Language::EN, "I can't read Vietnamese"),
    (Language::EN, "no vietnamese, english only"),
    (Language::EN, "what about english?"),
    (Language::EN, "Sorry, in English please."),
    (Language::EN, "nói tiếng anh đc hông shop"),
    (Language::EN, "shop ơi nói tiếng anh với mình nha"),
    (Language::EN, "mình là người nước ngoài, trả lời tiếng anh giúp mình"),
    (Language::EN, "em ơi cho anh nói tiếng anh nhé"),
    (Language::EN, "giờ mình nói tiếng anh nha"),
    (Language::EN, "có hỗ trợ bằng tiếng anh không"),
    (Language::EN, "english mode"),
    (Language::EN, "ENGLISH"),
    (Language::EN, "i would like to continue in english"),
    (Language::EN, "can you speak english with me"),
    (Language::EN, "Could we do this in English?"),
    (Language::EN, "đổi ngôn ngữ sang tiếng anh"),
    (Language::EN, "doi sang tieng anh"),
    (Language::EN, "bạn có thể nói tiếng anh không"),
    (Language::EN, "ban co the noi tieng anh khong"),
    (Language::EN, "xài tiếng anh được hông"),
    (Language::EN, "please talk to me in english"),
    (Language::VI, "can we go back to vietnamese"),
    (Language::VI, "viết tiếng việt đi em"),
    (Language::VI, "anh không hiểu tiếng anh"),
    (Language::VI, "minh ko biet tieng anh"),
    (Language::VI, "noi tieng viet dc ko"),
    (Language::VI, "sao lại nói tiếng anh, nói tiếng việt đi"),
    (Language::VI, "stop speaking english"),
    (Language::VI, "tiếng việt được không em"),
    (Language::VI, "chuyển lại tiếng việt"),
    (Language::VI, "doi lai tieng viet giup chi"),
    (Language::VI, "dùng tiếng việt đi shop"),
    (Language::VI, "my english is bad, can we use vietnamese"),
    (Language::VI, "nói tiếng mẹ đẻ đi em"),
    (Language::EN, "anyone speak english there?"),
    (Language::EN, "Hi! Do you guys speak English?"),
    (Language::EN, "can we talk in english instead"),
    (Language::EN, "I'd like to chat in English if possible"),
    (Language::EN, "english would be better for me"),
    (Language::EN, "sorry my vietnamese is bad, can you use english"),
    (Language::EN, "english, please and thank you"),
    (Language::EN, "i cant understand vietnamese"),
    (Language::EN, "are you able to speak english?"),
    (Language::EN, "em ơi anh muốn nói tiếng anh"),
    (Language::EN, "chat tiếng anh được không bạn"),
    (Language::EN, "mình nói tiếng anh được chứ"),
    (Language::EN, "trả lời mình bằng tiếng anh đi"),
    (Language::EN, "chuyển ngôn ngữ tiếng anh"),
    (Language::EN, "shop có nói tiếng anh không"),
    (Language::EN, "toi khong noi duoc tieng viet"),
    (Language::EN, "bằng tiếng anh nhé"),
    (Language::VI, "đổi lại tiếng việt giúp anh"),
    (Language::VI, "can you go back to Vietnamese"),
    (Language::VI, "let's use vietnamese again"),
    (Language::VI, "anh là người Việt, nói tiếng Việt nhé"),
    (Language::VI, "noi tieng viet lai di em oi"),
    (Language::VI, "switch back to vietnamese"),
    (Language::VI, "thôi quay về tiếng việt nha"),
    (Language::VI, "em trả lời tiếng việt giúp anh với"),
];

const GOODS: &[&str] = &[
    "mình muốn mua sách học tiếng anh",
    "bàn phím này có layout tiếng anh không",
    "ban phim nay co layout tieng anh khong",
    "does it have an english manual",
    "laptop for learning english",
    "phần mềm tiếng việt",
    "hướng dẫn sử dụng tiếng việt có không",
    "huong dan su dung tieng viet co khong",
    "English keyboard layout price",
    "which laptop is best for learning english",
    "how much is an english keyboard",
    "do you have english keyboards in stock",
    "is the manual in english",
    "does the box come with english instructions",
    "can I install vietnamese language pack on this laptop",
    "can you install english windows on it",
    "cài win tiếng anh giúp mình được không",
    "cài đặt tiếng việt cho máy được không",
    "máy này có tiếng việt không",
    "máy này có hỗ trợ tiếng việt không",
    "chuyển giao diện sang tiếng việt kiểu gì",
    "chuyển windows sang tiếng anh được không",
    "đổi ngôn ngữ máy sang tiếng việt thế nào",
    "switch the keyboard to english",
    "how do i change the laptop language to vietnamese",
    "bàn phím gõ tiếng việt có dấu",
    "phần mềm gõ tiếng việt nào tốt",
    "loa này nói tiếng việt được không",
    "does this robot speak english",
    "robot này có nói tiếng anh không",
    "máy phiên dịch tiếng anh giá bao nhiêu",
    "mua laptop học tiếng anh online",
    "mình cần laptop cho con học tiếng anh",
    "tai nghe luyện nghe tiếng anh loại nào tốt",
    "từ điển tiếng anh điện tử còn bán không",
    "sách tiếng anh chuyên ngành",
    "bản tiếng anh hay bản tiếng việt vậy shop",
    "con này bản tiếng anh được không",
    "game này có phụ đề tiếng việt không",
    "game có tiếng việt không",
    "google assistant hiểu tiếng việt không",
    "tivi điều khiển giọng nói tiếng việt",
    "máy in có menu tiếng việt không",
    "do you sell english books",
    "i want a laptop to study english",
    "is there a vietnamese version of windows",
    "office bản tiếng anh giá sao",
    "kindle đọc sách tiếng anh",
    "app học nói tiếng anh cho bé",
    "đồng hồ trẻ em nói tiếng anh",
    "mình học tiếng anh",
    "i am learning vietnamese",
    "i want to speak english better, which headset is good",
    "laptop bàn phím tiếng anh còn hàng không",
    "tiếng anh chuyên ngành thì dùng laptop nào",
    "khóa học tiếng anh tặng kèm laptop",
    "english laptop",
    "vietnamese keyboard please",
    "english manual please",
    "the english one please",
    "english version or vietnamese version?",
    "is the interface english or vietnamese",
    "can i use this keyboard to type vietnamese",
    "does alexa speak vietnamese",
    "hộp có tem tiếng việt không",
    "hóa đơn tiếng anh được không",
    "sinh viên ngành ngôn ngữ anh nên mua laptop gì",
    "tôi dạy tiếng anh cần webcam",
    "thi tiếng anh online cần webcam gì",
    "what is your warranty policy",
    "người anh của mình muốn mua laptop",
    "anh ơi tiếng loa này rè quá",
    "mình ở anh quốc ship được không",
    "ship tới việt nam bao nhiêu",
    "laptop việt nam sản xuất",
    "giáo viên tiếng anh mua laptop có giảm giá không",
    "tài liệu đi kèm có tiếng việt không",
    "are the instructions available in english",
    "does the software support vietnamese",
    "phần mềm này hỗ trợ tiếng việt không",
    "cái này có tiếng việt không shop",
    "is it in english?",
    "macbook bàn phím tiếng anh quốc tế",
    "bàn phím tiếng việt giá nhiêu",
    "máy dịch tiếng anh sang tiếng việt",
    "translate english to vietnamese device",
    "từ tiếng anh sang tiếng việt thì máy nào dịch tốt",
    "my son is learning english, which tablet should i buy",
    "con mình học lớp tiếng anh online cần tai nghe",
    "siri có nói được tiếng việt không",
    "does the printer menu support vietnamese language",
    "tủ sách tiếng anh",
    "what is the vietnamese word for this",
    "do you have the english version in stock",
    "laptop us english keyboard",
    "windows tiếng anh hay tiếng việt dễ dùng hơn",
    "are you vietnamese",
    "em là người việt nam à",
    "loa google home biết tiếng việt chưa",
    "máy in có hướng dẫn bằng tiếng việt không",
    "cách chuyển bàn phím sang tiếng việt",
    "how to type in vietnamese",
    "làm sao gõ tiếng việt trên macbook",
    "máy tính bị lỗi font tiếng việt",
    "không gõ được tiếng việt",
    "laptop em không gõ được tiếng việt còn bảo hành không",
    "english breakfast",
    "ship to english village",
    "phim tiếng anh xem trên màn hình nào đẹp",
    "do you have manuals in vietnamese",
    "laptop này cài sẵn tiếng anh hay tiếng việt",
    "can the tv speak vietnamese",
    "i need headphones for english class",
    "mua tablet cho bé học tiếng anh",
    "tai nghe nào dịch được tiếng anh",
    "chuột và bàn phím tiếng anh",
    "english us layout or uk layout",
    "sticker dán phím tiếng việt",
    "macbook có tiếng việt không em",
    "is there a vietnamese restaurant near your shop",
    "shop có bán sách tiếng anh không",
    "is it hard to change windows from english to vietnamese",
    "windows có chuyển sang tiếng việt được không",
    "điện thoại này nói được tiếng anh không",
    "do the staff wear english uniforms",
    "kính thông minh phiên dịch tiếng anh",
    "cần mua máy ghi âm học tiếng anh",
    "vietnamese dong or us dollars?",
    "loa bluetooth báo pin bằng tiếng anh à",
    "tem bảo hành ghi tiếng anh là sao",
    "menu máy in tiếng anh khó dùng quá",
    "what is ssd in vietnamese",
    "how do you say warranty in vietnamese",
];
