use super::*;
use crate::domain::commerce::OrderNumber;

pub fn rules() -> Arc<ReturnsRules> {
    ReturnsRules::read(&Prompts::shipped()).expect("the shipped rules")
}

/// A table of sentences. It is read as the test runs, so that one who writes rules need not build.
pub fn table(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read_to_string(path).expect("the table")
}

#[test]
fn the_rules_know_what_a_message_is_about() {
    let rules = rules();
    let mut wrong = Vec::new();
    for line in table("returns_intents.tsv").lines().skip(1) {
        let (text, wanted) = line.split_once('\t').expect("two columns");
        let utterance = rules.parse(text);
        let got = match utterance.intent {
            _ if utterance.asks(Topic::Policy) => "policy",
            _ if utterance.wants_person() => "person",
            None if utterance.reports(Topic::Damage) => "damage",
            Some(intent) => intent.as_str(),
            None => "-",
        };
        if got != wanted {
            wrong.push(format!("{text:?}: wanted {wanted}, got {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn one_message_gives_order_contact_and_damage() {
    let rules = rules();
    let utterance = rules.parse("Order 77893 arrived shattered, my mail is John.Doe@example.com");
    assert_eq!(utterance.order().map(|found| found.number.to_string()).as_deref(), Some("77893"));
    assert!(matches!(utterance.contact(), Some(Contact::Email(email)) if email.as_str() == "john.doe@example.com"));
    assert!(utterance.reports(Topic::Damage));
    let spelled = rules.parse("it is seven seven eight nine three");
    assert!(spelled.entities.has_unread_order && spelled.order().is_none());
    assert!(rules.parse("77 893").entities.has_unread_order);
    assert!(!rules.parse("I want to return my boots").entities.has_unread_order);
}

#[test]
fn policy_question_keeps_order_and_handoff_request() {
    let rules = rules();
    let parsed = |text: &str| {
        let utterance = rules.parse(text);
        (utterance.asks(Topic::Policy), utterance.wants_person(), utterance.intent)
    };
    assert_eq!(parsed("How do I return something?"), (true, false, None));
    assert_eq!(parsed("How do I return order 77893?"), (false, false, Some(Intent::Return)));
    let person = parsed("I want to talk to a human about your return policy");
    assert_eq!((person.0, person.1), (false, true));
    assert!(!parsed("what is your policy? my mail is john.doe@example.com").0);
}

#[test]
fn question_after_a_yes_leaves_the_yes() {
    let rules = rules();
    let both = rules.parse("yes, only the socks. who pays the shipping?");
    assert!(both.asks(Topic::Policy) && both.affirms());
    let rest = without_question(both, true);
    assert!(rest.affirms() && !rest.asks(Topic::Policy) && rest.text.contains("socks"), "{rest:?}");
    let question = rules.parse("ok, who pays the shipping?");
    assert!(question.asks(Topic::Policy) && !question.affirms());
    let rest = without_question(question, true);
    assert_eq!((rest.answer, rest.answer_to_ticket), (None, Some(Answer::Yes)), "agrees to a ticket alone: {rest:?}");
    assert_eq!(without_question(rules.parse("who pays the shipping?"), true), Utterance::default());
}

#[test]
fn return_reasons_exclude_answers_and_contacts() {
    let rules = rules();
    for text in [
        "yes",
        "Yes, that's the one",
        "no, 77894",
        "77893",
        "order number 77893",
        "john.doe@example.com",
        "my e-mail is john.doe@example.com",
        "it's 0912 345 678",
        "có ạ",
        "đơn 77893 ạ",
        "số điện thoại của em là 0912 345 678",
        "cancel",
    ] {
        assert_eq!(rules.parse(text).explanation, "", "{text}");
    }
    for (text, why) in [
        ("I want to return order 77893, too small", "I want to return order 77893, too small"),
        ("they are too small, john.doe@example.com", "they are too small,"),
        ("giày chật quá, sđt 0912 345 678", "giày chật quá, sđt"),
        ("yes, they arrived shattered", "yes, they arrived shattered"),
        ("yes, only the socks", "yes, only the socks"),
    ] {
        assert_eq!(rules.parse(text).explanation, why, "{text}");
    }
}

#[test]
fn wish_next_to_question_is_kept() {
    let rules = rules();
    for (text, intent) in [
        ("Who pays the shipping? I want to return my boots.", Some(Intent::Return)),
        ("I want my money back. How long does it take to get a refund?", Some(Intent::Refund)),
        ("How long do I have if the boots are too small?", None),
        ("How do I return something?", None),
    ] {
        let utterance = rules.parse(text);
        assert_eq!((utterance.asks(Topic::Policy), utterance.intent), (true, intent), "{text}");
        assert_eq!(without_question(utterance, true).intent, intent, "{text}");
    }
    let status = rules.parse("tell me what happened to my package");
    assert_eq!((status.asks(Topic::Policy), status.intent), (false, Some(Intent::OrderStatus)));
}

#[test]
fn absence_is_not_a_report_that_nothing_came() {
    let rules = rules();
    for (text, expected) in [
        ("but nothing came", true),
        ("I have not received anything", true),
        ("it never arrived", true),
        ("it did not come", true),
        ("mình chưa nhận được gì", true),
        ("I'm not here on Friday, when will it come?", false),
        ("mai không có ai ở nhà, khi nào hàng tới", false),
    ] {
        assert_eq!(rules.parse(text).reports(Topic::NothingCame), expected, "{text}");
    }
}

#[test]
fn bare_ticket_number_asks_for_its_status() {
    let rules = rules();
    for text in [
        "my ticket?",
        "and my ticket?",
        "so, the ticket",
        "ticket?",
        "ticket của em",
        "phiếu của mình đâu rồi ạ",
        "ừ mở yêu cầu đi",
    ] {
        assert!(rules.parse(text).asks(Topic::Ticket), "{text}");
    }
    for text in ["I lost my ticket to the concert order", "open a ticket please", "the boots are in my case"] {
        assert!(!rules.parse(text).asks(Topic::Ticket), "{text}");
    }
    for text in [
        "bye",
        "ok bye",
        "thanks, bye!",
        "see you later",
        "Take care",
        "tạm biệt shop nhé",
        "bye em",
        "have a great day",
    ] {
        assert!(rules.parse(text).says_goodbye(), "{text}");
    }
    for text in [
        "bye, but where is my order?",
        "please take care of my return",
        "take care of it now",
        "return order 77893, bye",
        "john.doe@example.com bye",
        "I want to buy boots",
        "a colleague please, bye",
    ] {
        assert!(!rules.parse(text).says_goodbye(), "{text}");
    }
}

#[test]
fn some_pieces_and_shop_numbers_are_recognized() {
    let rules = rules();
    for (text, expected) in [
        ("I want to return one of the two mugs", true),
        ("yes, but only one", true),
        ("chỉ trả một cái thôi ạ", true),
        ("I want to return the mugs", false),
        ("yes, return both", false),
    ] {
        assert_eq!(rules.parse(text).mentions(Topic::SomePieces), expected, "{text}");
    }
    for (text, number) in [
        ("what about rma-1701234567-abcd?", Some("RMA-1701234567-ABCD")),
        ("any news on TICKET-1701234567-1A2B3C4D", Some("TICKET-1701234567-1A2B3C4D")),
        ("where is my order 77893", None),
    ] {
        assert_eq!(rules.parse(text).entities.shop_number.as_ref().map(OrderNumber::as_str), number, "{text}");
    }
}

#[test]
fn ok_acknowledges_and_yes_agrees() {
    let rules = rules();
    for (text, acknowledges) in
        [("ok", true), ("được", true), ("great", true), ("yes", false), ("đúng rồi", false), ("ok 77893", false)]
    {
        assert_eq!(rules.parse(text).acknowledges(), acknowledges, "{text}");
    }
}

#[test]
fn mistakes_of_the_customer_are_no_wrong_items() {
    let rules = rules();
    for (text, intent) in [
        ("I ordered the wrong size of 77893", Intent::Return),
        ("you sent the wrong size, order 77893", Intent::WrongItem),
        ("minh dat nham 2 doi giay giong nhau, huy don 77893", Intent::Return),
        ("was my refund of 77911 paid? it went through, you said", Intent::OrderStatus),
    ] {
        assert_eq!(rules.parse(text).intent, Some(intent), "{text}");
    }
    assert_eq!(rules.parse("ấy gõ nhầm, mai.pham@example.com").intent, None);
}

#[test]
fn numbers_that_are_taken_back_do_not_count() {
    let rules = rules();
    for (text, wanted) in [
        ("cancel 77893, no wait, 77894", Some("cancel no wait, 77894")),
        ("hủy đơn ABC-100001, à nhầm, hủy ABC-100025", Some("hủy đơn à nhầm, hủy ABC-100025")),
        ("cancel 77893. sorry, and 77894 too", None),
        ("where is 77893? wait, is 77894 with it?", None),
        ("đơn 77893 giao nhầm, đơn 77894 thì đúng", None),
    ] {
        assert_eq!(rules.without_corrected(text).as_deref(), wanted, "{text}");
    }
}

#[test]
fn kept_goods_are_split_from_the_wish() {
    let rules = rules();
    for (text, wanted) in [
        ("cancel that one, keep the other", Some(("cancel that one, ", "keep the other"))),
        (
            "cancel the one with the shoes, the bars i still want",
            Some(("cancel the one with the shoes, ", "the bars i still want")),
        ),
        ("hủy đơn đó thôi, đơn giày giữ lại", Some(("hủy đơn đó thôi, ", "đơn giày giữ lại"))),
        ("keep it", None),
        ("cancel the order please", None),
    ] {
        let split = rules.split_kept(text);
        let split = split.as_ref().map(|(wish, kept)| (wish.as_str(), kept.as_str()));
        assert_eq!(split, wanted, "{text}");
    }
}

#[test]
fn label_that_does_not_open_is_broken() {
    for (text, broken) in [
        ("link nhãn bấm vào không được nữa", true),
        ("cai 77913 link nhan bam vao k dc nua", true),
        ("the label link does not open", true),
        ("cho mình xin link nhãn", false),
    ] {
        assert_eq!(rules().parse(text).reports(Topic::BrokenLabel), broken, "{text}");
    }
}
