use super::super::ReturnsRules;
use super::super::tests::{rules, table};
use super::*;

fn named(answer: Option<Answer>) -> &'static str {
    match answer {
        Some(Answer::Yes) => "yes",
        Some(Answer::No) => "no",
        Some(Answer::Cancel) => "cancel",
        Some(Answer::Again) => "again",
        None => "-",
    }
}

/// The rows of a table that are read otherwise than they say. `a|b` is either.
fn wrong_in(table: &str, read: impl Fn(&str) -> Option<Answer>) -> Vec<String> {
    let rows = table.lines().skip(1).map(|line| line.split_once('\t').expect("two columns"));
    let wrong = rows.filter_map(|(text, wanted)| {
        let got = named(read(text));
        (!wanted.split('|').any(|wanted| wanted == got)).then(|| format!("{text:?}: wanted {wanted}, got {got}"))
    });
    wrong.collect()
}

#[test]
fn only_clear_answers_count_as_yes_or_no() {
    let rules = rules();
    let wrong = wrong_in(&table("returns_answers.tsv"), |text| rules.parse(text).answer);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn cancel_means_yes_and_keep_no_when_offered() {
    let rules = rules();
    let wrong = wrong_in(&table("returns_answers_to_cancelling.tsv"), |text| rules.parse(text).answer_to_cancel);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn open_it_agrees_to_tickets_alone() {
    let rules = rules();
    let wrong = wrong_in(&table("returns_answers_to_ticket.tsv"), |text| rules.parse(text).answer_to_ticket);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_no_beside_anything_takes_back_every_yes() {
    let rules = rules();
    let yeses = ["yes", "ok", "correct", "go ahead", "đúng rồi", "dạ vâng", "ok em", "👍"];
    let brakes =
        ["no", "wait", "but not now", "don't", "stop", "cancel", "không", "khoan đã", "thôi", "đừng", "chưa", "why?"];
    for yes in yeses {
        for brake in brakes {
            for text in [format!("{yes}, {brake}"), format!("{brake}, {yes}"), format!("{yes} {brake}")] {
                assert_ne!(rules.parse(&text).answer, Some(Answer::Yes), "{text}");
                assert_ne!(
                    rules.parse(&text).answer_to_cancel,
                    Some(Answer::Yes).filter(|_| brake != "cancel"),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn dung_without_diacritics_is_an_ambiguous_yes() {
    let rules = rules();
    let read = |rules: &ReturnsRules, text: &str| (rules.parse(text).answer, rules.parse(text).equivocates());
    for text in ["dung", "da dung", "Dung."] {
        assert_eq!(read(&rules, text), (Some(Answer::Yes), true), "{text}");
    }
    for text in ["đúng", "dung roi", "da dung roi a", "yes"] {
        assert_eq!(read(&rules, text), (Some(Answer::Yes), false), "{text}");
    }
}
