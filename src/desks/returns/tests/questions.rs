//! `tests/data/returns_questions.jsonl`: questions about returns with the sections that answer them, and some that nothing answers.

use serde::Deserialize;

use crate::desks::returns::rules::ReturnsRules;
use crate::domain::Language;
use crate::persona::Prompts;
use crate::retrieval::{LexicalIndex, Passage, Query, SearchRules};

#[derive(Deserialize)]
struct Question {
    query: String,
    language: Language,
    /// Any of them answers; none: the documents do not.
    sections: Vec<String>,
}

/// As the desk quotes them.
const QUOTES: usize = 2;

fn share(part: usize, of: usize) -> usize {
    part * 100 / of
}

#[test]
fn questions_about_returns_are_known_as_such_and_answered_from_the_documents_in_their_language() {
    let prompts = Prompts::load("prompts".as_ref(), "prompts/returns_en.md".as_ref()).expect("the prompts");
    let rules = ReturnsRules::read(&prompts).expect("the shipped rules");
    let search = SearchRules::read(&prompts).expect("the shipped rules");
    let index = LexicalIndex::load("knowledge/returns".as_ref(), &search).expect("the shipped documents");
    let (mut asked, mut heard, mut answered, mut own, mut foreign, mut declined) = (0, 0, 0, 0, 0, 0);
    for line in include_str!("../../../../tests/data/returns_questions.jsonl").lines() {
        let question: Question = serde_json::from_str(line).expect("a question");
        let is_heard = rules.hear(&question.query).asks_policy;
        let query = Query { text: question.query.clone(), language: question.language, limit: QUOTES };
        let quoted = index.search(&query);
        if question.sections.is_empty() {
            foreign += 1;
            declined += usize::from(!is_heard || quoted.is_empty());
            continue;
        }
        let ending = format!(".{}.md", question.language.code());
        let fits = |passage: &Passage| question.sections.iter().any(|section| passage.section.ends_with(section));
        let (is_answered, is_own) =
            (quoted.iter().any(fits), quoted.iter().all(|passage| passage.file.ends_with(&ending)));
        if !is_heard || !is_answered || !is_own {
            let sections: Vec<&str> = quoted.iter().map(|passage| passage.section.as_str()).collect();
            println!("{:?}: heard {is_heard}, {sections:?}", question.query);
        }
        asked += 1;
        heard += usize::from(is_heard);
        answered += usize::from(is_answered);
        own += usize::from(is_own);
    }
    println!(
        "{asked} questions: {heard} heard, {answered} answered, {own} in their language; {declined} of {foreign} declined"
    );
    assert!(asked >= 80 && foreign >= 20);
    assert_eq!(own, asked, "what is quoted is in the customer's language");
    assert!(share(heard, asked) >= 95 && share(answered, asked) >= 93 && share(declined, foreign) >= 95);
}
