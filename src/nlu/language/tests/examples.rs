//! Detects the language of the shipped examples.

use super::{ALLOWED, Language, fold, rules};

/// The shipped examples, with marks and without.
#[test]
fn examples_are_not_taken_for_another_language() {
    let (rules, polish) = (rules(), [Language::EN, "pl".parse().unwrap()]);
    let (mut read, mut wrong) = (0, Vec::new());
    let desks = [("retail", ALLOWED), ("returns", ALLOWED), ("returns_talk", ALLOWED)];
    for (desk, allowed) in desks.into_iter().chain([("telecom", polish), ("telecom_talk", polish)]) {
        for own in allowed {
            let path = format!("{}/prompts/examples/{desk}.{own}.tsv", env!("CARGO_MANIFEST_DIR"));
            let file = std::fs::read_to_string(&path).expect("the shipped examples");
            for text in file.lines().filter_map(|line| line.split_once('\t')).map(|(_, text)| text) {
                for text in [text.to_owned(), fold(text)] {
                    read += 1;
                    let other = rules.detect(&text, &allowed).filter(|language| *language != own);
                    wrong.extend(other.map(|other| format!("{desk} {own}->{other} {text}")));
                }
            }
        }
    }
    // Some examples are in the other language: "is the macbook air m3 in stock" among the Vietnamese ones.
    assert!(read > 10_000 && wrong.len() * 250 < read, "{} of {read}:\n{}", wrong.len(), wrong.join("\n"));
}
