use super::super::tests::{rules, table};
use super::*;
use crate::persona::Prompts;

/// What the desk makes of a message, as the examples call it.
fn kind(utterance: &Utterance) -> &'static str {
    let chats = utterance.social().map(ReplyKey::as_str);
    match utterance.intent {
        _ if utterance.wants_person() => "person",
        _ if utterance.requests(Topic::Cancellation) => "cancel_order",
        _ if utterance.reports(Topic::Damage) => "damage",
        _ if utterance.reports(Topic::MissingMail) => "mail_missing",
        _ if utterance.requests(Topic::Label) => "label",
        _ if utterance.asks(Topic::Ticket) => "ticket",
        _ if utterance.asks(Topic::Policy) => "policy",
        _ if utterance.cancels() => "call_off",
        Some(intent) if intent != Intent::Other => intent.as_str(),
        _ if chats.is_some() => chats.unwrap_or_default(),
        _ if utterance.complains() => "complaint",
        _ if utterance.says_goodbye() => "goodbye",
        _ if utterance.greets() => "greet",
        Some(_) => "thanks",
        None if utterance.hesitates() && utterance.answer.is_none() => "hesitate",
        None => "unclear",
    }
}

/// How many rows of a table the patterns, the examples and both together understand, and how many there are.
fn figures(rows: &[(String, String)]) -> [usize; 4] {
    let (rules, mut figures) = (rules(), [0; 4]);
    for (text, wanted) in rows {
        let patterns = kind(&rules.parse_by_patterns(text));
        let examples = rules.examples.classify(text).map_or("unclear", |guess| guess.label);
        let both = kind(&rules.parse(text));
        let is = |kind: &str| wanted.split('|').any(|wanted| wanted == kind);
        for (figure, kind) in figures.iter_mut().zip([patterns, examples, both]) {
            *figure += usize::from(is(kind));
        }
        figures[3] += 1;
        if !is(both) || !is(patterns) {
            eprintln!("{text:?}: wanted {wanted}; patterns {patterns}, examples {examples}, both {both}");
        }
    }
    figures
}

#[test]
fn patterns_and_examples_understand_unseen_messages() {
    let table = table("returns_messages.tsv");
    let rows = table.lines().skip(1).map(|line| line.split_once('\t').expect("two columns"));
    let rows: Vec<_> = rows.map(|(text, wanted)| (text.to_owned(), wanted.to_owned())).collect();
    let [patterns, examples, both, all] = figures(&rows);
    eprintln!("of {all}: patterns {patterns}, examples {examples}, both {both}");
    assert!(both > patterns && both * 100 >= all * 75, "of {all}: patterns {patterns}, both {both}");
}

#[test]
fn guess_keeps_what_patterns_found() {
    let rules = rules();
    let update = rules.parse("any update on order 77893, a colleague promised");
    assert_eq!((update.intent, update.asks(Topic::Ticket)), (Some(Intent::OrderStatus), false), "{update:?}");
    let bot = rules.parse("order 77893: am I talking to a bot or a human, I want to return it");
    assert_eq!((bot.intent, bot.social()), (Some(Intent::Return), None), "{bot:?}");
    let patterns = Utterance { intent: Some(Intent::OrderStatus), ..Utterance::default() };
    assert_eq!(apply(patterns, "weather", LIKELY).intent, Some(Intent::OrderStatus));
}

#[test]
fn guess_may_stop_and_never_agrees() {
    let rules = rules();
    let examples = std::fs::read_to_string("prompts/examples/returns.en.tsv").expect("the shipped examples");
    let texts = examples.lines().filter_map(|line| line.split_once('\t')).map(|(_, text)| text);
    let guessed: Vec<_> = texts.filter(|text| rules.parse_by_patterns(text).answer.is_none()).collect();
    assert!(guessed.iter().any(|text| rules.parse(text).cancels()), "some are understood by examples");
    for text in guessed {
        assert!(!rules.parse(text).affirms(), "{text}");
    }
}

#[test]
fn examples_outweigh_words_of_small_talk_and_status() {
    let rules = rules();
    let worn = rules.parse("ủa mặc đi chơi một bữa rồi có trả được không");
    assert!(worn.asks(Topic::Policy) && worn.social().is_none(), "{worn:?}");
    let sealed = rules.parse("hai cái kia đang xài, cái này chưa bóc luôn");
    assert_eq!(sealed.intent, None, "{sealed:?}");
}

#[test]
fn ten_fold_validation_understands_most_examples() {
    let examples = Classifier::read(&Prompts::shipped(), "returns").expect("the shipped examples");
    let (right, all) = examples.cross_validate(10, |text, wanted, got| {
        if wanted != got {
            eprintln!("{text:?}: wanted {wanted}, got {got}");
        }
    });
    eprintln!("cross-validation: {right} of {all}");
    assert!(right * 100 >= all * 60, "{right} of {all}");
}

#[test]
fn greeting_before_a_question_does_not_hide_it() {
    let rules = rules();
    let asks = rules.parse("hey, did you guys get my parcel back yet? order 77900");
    assert!(asks.intent != Some(Intent::Other) && asks.has_question(), "{asks:?}");
    let there = rules.parse("are you still there?");
    assert!(there.intent.is_none() && there.social().is_some(), "{there:?}");
}

#[test]
fn question_about_terms_is_none_about_an_order() {
    let rules = rules();
    let asked = |text: &str| rules.parse(text).asks(Topic::Policy);
    assert!(asked("do you have a store where i can drop the return"));
    assert!(!asked("where is order 77893") && !asked("where is my parcel"));
}

#[test]
fn examples_begin_no_flow_after_a_decision() {
    let rules = rules();
    let person = rules.parse_after_decision("ok get me someone");
    assert!(person.wants_person(), "{person:?}");
    for text in ["bought the wrong size", "I paid for two and got my card charged again"] {
        assert_eq!(rules.parse_after_decision(text).intent, rules.parse_by_patterns(text).intent, "{text}");
    }
}
