use super::*;

fn rules() -> ReturnsRules {
    let prompts = Prompts::load("prompts".as_ref(), "prompts/returns_en.md".as_ref()).expect("the prompts");
    ReturnsRules::read(&prompts).expect("the shipped rules")
}

#[test]
fn the_rules_know_what_a_message_is_about() {
    let rules = rules();
    let mut wrong = Vec::new();
    for line in include_str!("../../../../tests/data/returns_intents.tsv").lines().skip(1) {
        let (text, wanted) = line.split_once('\t').expect("two columns");
        let heard = rules.hear(text);
        let got = match heard.intent {
            _ if heard.asks_policy => "policy",
            _ if heard.wants_person => "person",
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
fn the_rules_know_a_yes_from_a_no_and_both_from_calling_it_off() {
    let rules = rules();
    let mut wrong = Vec::new();
    for (texts, answer) in [
        (
            &[
                "yes",
                "Yes.",
                "yep",
                "yes please",
                "correct",
                "that's right",
                "ok",
                "sure",
                "Yes, that's the one",
                "có",
                "Có ạ",
                "đúng rồi",
                "dung roi",
                "vâng",
                "ok em",
                "phải rồi",
                "ừ đúng đơn đó",
                "go ahead",
                "y",
            ][..],
            Some(Answer::Yes),
        ),
        (
            &[
                "no",
                "No!",
                "nope",
                "no, that's not it",
                "not that one",
                "wrong order",
                "that's not correct",
                "không",
                "không phải",
                "khong phai",
                "sai rồi",
                "nhầm đơn rồi",
                "không đúng",
                "đơn khác",
                "yes... no, not this one",
            ],
            Some(Answer::No),
        ),
        (
            &[
                "cancel",
                "never mind",
                "nevermind",
                "forget it",
                "I'll keep it",
                "stop",
                "thôi",
                "thôi khỏi",
                "bỏ qua đi",
                "không cần nữa",
            ],
            Some(Answer::Cancel),
        ),
        (&["try again", "send it again", "resend please", "gửi lại", "thử lại đi em"], Some(Answer::Again)),
        (&["77893", "the boots are too small", "john.doe@example.com", "giày chật quá", "hmm", "số 77893"], None),
    ] {
        for text in texts {
            let got = rules.hear(text).answer;
            if got != answer {
                wrong.push(format!("{text:?}: wanted {answer:?}, got {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_order_number_a_contact_and_damage_are_read_in_one_message() {
    let rules = rules();
    let heard = rules.hear("Order 77893 arrived shattered, my mail is John.Doe@example.com");
    assert_eq!(heard.number.map(|found| found.number.to_string()).as_deref(), Some("77893"));
    assert!(matches!(heard.contact, Some(Contact::Email(email)) if email.as_str() == "john.doe@example.com"));
    assert!(heard.damage);
    let spelled = rules.hear("it is seven seven eight nine three");
    assert!(spelled.may_name_order && spelled.number.is_none());
    assert!(rules.hear("77 893").may_name_order);
    assert!(!rules.hear("I want to return my boots").may_name_order);
}

#[test]
fn a_question_about_the_policy_swallows_no_order_and_no_wish_for_a_person() {
    let rules = rules();
    let heard = |text: &str| {
        let heard = rules.hear(text);
        (heard.asks_policy, heard.wants_person, heard.intent)
    };
    assert_eq!(heard("How do I return something?"), (true, false, None));
    assert_eq!(heard("How do I return order 77893?"), (false, false, Some(Intent::Return)));
    let person = heard("I want to talk to a human about your return policy");
    assert_eq!((person.0, person.1), (false, true));
    assert!(!heard("what is your policy? my mail is john.doe@example.com").0);
}

#[test]
fn a_message_that_only_answers_is_no_reason_and_no_contact_stands_in_one() {
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
        assert_eq!(rules.hear(text).why, "", "{text}");
    }
    for (text, why) in [
        ("I want to return order 77893, too small", "I want to return order 77893, too small"),
        ("they are too small, john.doe@example.com", "they are too small,"),
        ("giày chật quá, sđt 0912 345 678", "giày chật quá, sđt"),
        ("yes, they arrived shattered", "yes, they arrived shattered"),
        ("yes, only the socks", "yes, only the socks"),
    ] {
        assert_eq!(rules.hear(text).why, why, "{text}");
    }
}
