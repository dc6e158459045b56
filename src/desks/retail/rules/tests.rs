use unicode_normalization::UnicodeNormalization;

use super::*;
use crate::domain::Vocabulary;
use crate::domain::text::fold;
use crate::replies::ReplyKey;

mod catalogue;
mod likeness;

fn rules() -> Arc<RetailRules> {
    RetailRules::read(&Prompts::shipped()).expect("the shipped rules")
}

/// Parses a message without a catalogue.
fn parse(rules: &RetailRules, text: &str) -> Utterance {
    rules.parse(text, &Vocabulary::default())
}

/// The intent that the desk would act on: an unsure one is as good as none.
fn acted_on(utterance: &Utterance) -> Intent {
    utterance.intent.filter(|_| utterance.confidence >= SURE).unwrap_or(Intent::Unknown)
}

fn social(utterance: &Utterance) -> Option<&'static str> {
    utterance.social().map(ReplyKey::as_str)
}

/// How many lines of the table were there before the first keyword. Every third of these was held out of the first
/// rounds of tuning; it scored 96.2 %, then 98.5 %, and was read only after that, so its number is no measure any more.
/// The lines after them came in three batches, each measured once before it was used: 117 of 128, 87 of 92 and 55 of 59
/// were right then. That, 93 %, is what to expect of new messages. The last 56 are what a tester of the whole
/// desk found wrong, and sentences like those.
const WRITTEN_FIRST: usize = 392;

#[test]
fn the_rules_alone_understand_93_messages_of_100() {
    let rules = rules();
    let intents = ["shopping", "warranty", "unknown"];
    let mut table = [[0; 3]; 3];
    // Right and all, for the lines that were tuned on, held out, and written later.
    let mut parts = [[0; 2]; 3];
    let mut topics = [0; 2];
    for (index, line) in include_str!("../../../../tests/data/intents.tsv").lines().skip(1).enumerate() {
        let [text, wanted, topic] = line.split('\t').collect::<Vec<_>>().try_into().expect("three columns");
        let utterance = parse(&rules, text);
        let got = serde_json::to_value(acted_on(&utterance)).expect("an intent");
        let part = if index >= WRITTEN_FIRST { 2 } else { usize::from(index % 3 == 0) };
        let place = |intent: &str| intents.iter().position(|known| *known == intent).expect("an intent");
        let (row, column) = (place(wanted), place(got.as_str().expect("a word")));
        table[row][column] += 1;
        parts[part][0] += usize::from(row == column);
        parts[part][1] += 1;
        let topic = Some(topic).filter(|topic| *topic != "-");
        topics[0] += usize::from(topic.is_some() && topic == social(&utterance));
        topics[1] += usize::from(topic.is_some());
        if row != column || topic != social(&utterance) {
            eprintln!("{text:?}: wanted {wanted} {topic:?}, got {utterance:?}");
        }
    }
    eprintln!("wanted \\ got{:>10}{:>10}{:>10}", intents[0], intents[1], intents[2]);
    for (intent, row) in intents.iter().zip(table) {
        eprintln!("{intent:<12}{:>10}{:>10}{:>10}", row[0], row[1], row[2]);
    }
    let share = |[right, all]: [usize; 2]| 100.0 * right as f64 / all as f64;
    let total = share([0, 1].map(|i| parts.iter().map(|part| part[i]).sum()));
    let [tuned, held_out, later] = parts.map(share);
    eprintln!("tuned on {tuned:.1} %, held out {held_out:.1} %, later {later:.1} %, all {total:.1} %");
    eprintln!("social topics {} of {}", topics[0], topics[1]);
    assert!(total >= 93.0, "only {total:.1} % of the messages are understood");
}

const WAITING: Context = Context { waiting_for_serial: true, last_intent: Some(Intent::Warranty) };

fn after(last: Intent) -> Context {
    Context { waiting_for_serial: false, last_intent: Some(last) }
}

/// The intent acted on, for each message.
fn table<'a>(context: &Context, messages: &[&'a str]) -> Vec<(&'a str, Intent)> {
    let rules = rules();
    messages.iter().map(|text| (*text, acted_on(&in_context(parse(&rules, text), context)))).collect()
}

fn all<'a>(messages: &[&'a str], intent: Intent) -> Vec<(&'a str, Intent)> {
    messages.iter().map(|text| (*text, intent)).collect()
}

#[test]
fn message_stays_warranty_while_awaiting_serial() {
    let messages = [
        "ABC123",
        "abc-123 nhé",
        "1TB",
        "20231187",
        "0912345678",
        "dạ XYZ789 ạ",
        "của em là 5CD1234ABC",
        "không biết",
        "em không thấy",
        "số serial ở đâu vậy",
        "laptop dell",
        "màn hình lg 27 inch",
        "con chuột mua năm ngoái",
        "mất hộp rồi",
        "abc",
        "hello",
        "alo",
        "sao cũng được",
        "it is SN-12345",
        "I don't know where it is",
        "đợi anh tìm",
        "chờ chút",
        "ok",
        "rtx 4060 mua bên shop",
        "iPhone 15 của mình serial F2LXK33",
        "máy bị hỏng rồi em ơi",
        "dạ ABC123, mà ssd 1tb giá bao nhiêu vậy em",
        "bảo hành",
        "số điện thoại mua hàng là 0912345678",
        "hóa đơn số HD00123",
        "0912 345 678",
        "wait a sec",
    ];
    assert_eq!(table(&WAITING, &messages), all(&messages, Intent::Warranty));
}

#[test]
fn shopping_words_end_the_wait_for_serial() {
    let messages = [
        "thôi, SSD 1TB giá bao nhiêu",
        "thoi, ssd 1tb gia bao nhieu",
        "RTX 4060 giá sao em",
        "có ship đà nẵng không",
        "mà shop mấy giờ đóng cửa",
        "tư vấn cho em con laptop 15tr",
        "how much is the RTX 4060",
        "do you have 16GB ram in stock",
        "cho hỏi trả góp thế nào",
        "i5-12400F với i5-13400F con nào ngon hơn",
    ];
    assert_eq!(table(&WAITING, &messages), all(&messages, Intent::Shopping));
}

#[test]
fn small_talk_and_giving_up_end_the_wait() {
    let messages =
        ["em tên gì", "thôi không cần nữa", "thôi khỏi", "never mind", "bỏ qua đi", "tạm biệt em", "em khỏe không"];
    assert_eq!(table(&WAITING, &messages), all(&messages, Intent::Unknown));
}

#[test]
fn model_names_and_sizes_keep_shopping_intent() {
    let messages = [
        "SSD 1TB",
        "rtx 4060 giá sao",
        "i5-12400F còn hàng không",
        "ram 16GB bus 3200MHz",
        "màn 4K 144Hz 27inch loại nào tốt",
        "B760M-A lắp được i5-13400F không",
        "ps5 slim 1tb bao nhiêu",
        "FX506HM giá bao nhiêu",
        "mua ABC123 giá bao nhiêu",
    ];
    assert_eq!(table(&Context::default(), &messages), all(&messages, Intent::Shopping));
}

#[test]
fn short_follow_up_keeps_the_intent() {
    for (last, messages) in [
        (
            Intent::Shopping,
            &[
                "còn cái nào rẻ hơn không",
                "loại 2TB thì sao",
                "còn màu trắng không",
                "con nao re hon",
                "cái kia thì sao",
                "any other?",
                "what about the bigger one",
                "thế còn loại kia",
                "lấy cái đầu tiên",
                "còn gì nữa không",
            ][..],
        ),
        (
            Intent::Warranty,
            &[
                "còn cái kia thì sao",
                "bao lâu thì xong",
                "what about the other one",
                "còn ABC124 thì sao",
                "sao lâu vậy, khi nào xong",
            ][..],
        ),
    ] {
        assert_eq!(table(&after(last), messages), all(messages, last));
    }
    let new_matter = ["hello", "em tên gì", "cảm ơn em"];
    assert_eq!(table(&after(Intent::Shopping), &new_matter), all(&new_matter, Intent::Unknown));
}

#[test]
fn business_wins_over_the_politeness_around_it() {
    let rules = rules();
    for (text, intent, topic) in [
        ("cảm ơn em, cho hỏi ssd 1tb giá bao nhiêu", Intent::Shopping, None),
        ("em khỏe không, kiểm tra bảo hành ABC123 giúp anh", Intent::Warranty, None),
        ("thanks! is ABC123 under warranty?", Intent::Warranty, None),
        ("cảm ơn shop, laptop chạy tốt", Intent::Unknown, Some("thanks")),
        ("chào em", Intent::Unknown, None),
    ] {
        let utterance = parse(&rules, text);
        assert_eq!((acted_on(&utterance), social(&utterance)), (intent, topic), "{text:?}: {utterance:?}");
        assert!(utterance.confidence >= SURE, "{text:?}: {utterance:?}");
    }
}

#[test]
fn technical_data_call_no_technician() {
    let rules = rules();
    for (text, topic) in [
        ("thôi cho tui gặp kỹ thuật đi", Some("person")),
        ("cho em xin thông số kỹ thuật của laptop này", None),
        ("nhờ shop gửi thông số kỹ thuật con này", None),
    ] {
        assert_eq!(social(&parse(&rules, text)), topic, "{text}");
    }
}

#[test]
fn unclear_message_leaves_no_words_in_receipt() {
    let rules = rules();
    for text in ["", "   ", "😀😀", "?", "zxcv bnm", "\u{301}", "a\0b"] {
        let utterance = parse(&rules, text);
        assert_eq!((utterance.intent, utterance.social()), (None, None), "{text:?}");
    }
    let utterance = parse(&rules, "kiểm tra bảo hành ABC123 0912345678");
    assert_eq!(utterance.matched, ["check", "serial"]);
}

#[test]
fn invalid_rule_file_is_refused_with_reason() {
    for (file, from, to, says) in [
        ("retail.toml", "weak = true", "week = true", "unknown field `week`"),
        ("retail.toml", "speaks_for = \"shopping\"", "speaks_for = \"selling\"", "unknown variant `selling`"),
        ("retail.toml", "\"<covered>\"", "\"<nowhere>\"", "<nowhere>"),
        ("retail.toml", "unless = [\n  \"bought\"", "unless = [\n  \"brought\"", "brought"),
        ("social.en.toml", "joke = [", "jokes = [", "unknown variant `jokes`"),
    ] {
        let prompts = Prompts::shipped().with_rules_edited(file, from, to);
        let error = RetailRules::read(&prompts).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn serial_with_warranty_question_is_always_looked_up() {
    let messages = [
        "ABC123 hết bảo hành chưa, mua giá 5 triệu",
        "KC-4900-R99KS7 hết bảo hành chưa em, anh mua 22/10/2021 giá 1.890.000đ",
        "bảo hành 753NTXRA522",
        "bh 4av5jr6",
        "warranty 335NTXRG877?",
        "bảo hành 2 máy ABC123 và XYZ789",
        "bao hanh 14372259Z1157477",
        "máy ABC123 mang đi bảo hành ở đâu",
    ];
    assert_eq!(table(&Context::default(), &messages), all(&messages, Intent::Warranty));
    let questions = ["bảo hành 24 tháng không", "laptop bảo hành bao lâu", "mất phiếu bảo hành thì làm sao"];
    assert_eq!(table(&Context::default(), &questions), all(&questions, Intent::Shopping));
}

/// People forget all of their marks, or some, or shout; the table itself is written with care.
#[test]
fn forgotten_marks_and_capitals_change_little() {
    let rules = rules();
    let table: Vec<(&str, &str)> = include_str!("../../../../tests/data/intents.tsv")
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once('\t').map(|(text, rest)| (text, rest.split('\t').next().unwrap_or(rest))))
        .collect();
    for (habit, change) in [
        ("no marks", (|_, word| fold(word)) as fn(usize, &str) -> String),
        ("every second word without", |at, word| if at.is_multiple_of(2) { fold(word) } else { word.to_owned() }),
        ("every fourth word without", |at, word| if at.is_multiple_of(4) { fold(word) } else { word.to_owned() }),
        ("capitals", |_, word| word.to_uppercase()),
        ("decomposed letters", |_, word| word.nfd().collect()),
    ] {
        let right = table.iter().enumerate().filter(|(row, (text, wanted))| {
            let words = text.split(' ').enumerate().map(|(at, word)| change(row + at, word));
            let utterance = parse(&rules, &words.collect::<Vec<_>>().join(" "));
            serde_json::to_value(acted_on(&utterance)).expect("an intent") == **wanted
        });
        let share = 100.0 * right.count() as f64 / table.len() as f64;
        eprintln!("{habit}: {share:.1} %");
        assert!(share >= 95.0, "{habit}: only {share:.1} %");
    }
}
