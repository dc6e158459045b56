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
