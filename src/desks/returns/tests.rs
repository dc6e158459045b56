//! Test data of the desk, and its answers from the shop's documents.

use serde::Deserialize;

use crate::desks::returns::rules::{ReturnsRules, Topic};
use crate::domain::Language;
use crate::persona::Prompts;
use crate::retrieval::{LexicalIndex, Passage, Query, SearchRules};

pub mod sample;

/// A row of `tests/data/returns_questions.jsonl`.
#[derive(Deserialize)]
struct Question {
    query: String,
    language: Language,
    /// The sections that answer. Empty if none does.
    sections: Vec<String>,
}

/// How many passages the desk quotes.
const QUOTES: usize = 2;

fn share(part: usize, of: usize) -> usize {
    part * 100 / of
}

#[test]
fn general_questions_are_answered_from_documents() {
    let prompts = Prompts::shipped();
    let rules = ReturnsRules::read(&prompts).expect("the shipped rules");
    let search = SearchRules::read(&prompts).expect("the shipped rules");
    let index = LexicalIndex::load("knowledge/returns".as_ref(), &search).expect("the shipped documents");
    let (mut asked, mut recognized, mut answered, mut own, mut foreign, mut declined) = (0, 0, 0, 0, 0, 0);
    for line in include_str!("../../../tests/data/returns_questions.jsonl").lines() {
        let question: Question = serde_json::from_str(line).expect("a question");
        let utterance = rules.parse(&question.query);
        // Who writes about a label that does not work gets the label again, which is better than a quote.
        let is_recognized = utterance.asks(Topic::Policy) || utterance.requests(Topic::Label);
        let query =
            Query { text: question.query.clone(), language: question.language, limit: QUOTES, pages_only: false };
        let quoted = index.search(&query);
        if question.sections.is_empty() {
            foreign += 1;
            let is_declined = !utterance.asks(Topic::Policy) || quoted.is_empty();
            if !is_declined {
                println!("{:?}: not declined, {:?}", question.query, quoted.first().map(|passage| &passage.section));
            }
            declined += usize::from(is_declined);
            continue;
        }
        let ending = format!(".{}.md", question.language.code());
        let fits = |passage: &Passage| question.sections.iter().any(|section| passage.section.ends_with(section));
        let (is_answered, is_own) =
            (quoted.iter().any(fits), quoted.iter().all(|passage| passage.file.ends_with(&ending)));
        if !is_recognized || !is_answered || !is_own {
            let sections: Vec<&str> = quoted.iter().map(|passage| passage.section.as_str()).collect();
            println!("{:?}: recognized {is_recognized}, {sections:?}", question.query);
        }
        asked += 1;
        recognized += usize::from(is_recognized);
        answered += usize::from(is_answered);
        own += usize::from(is_own);
    }
    println!(
        "{asked} questions: {recognized} recognized, {answered} answered, {own} in their language; {declined} of {foreign} declined"
    );
    assert!(asked >= 80 && foreign >= 20);
    assert_eq!(own, asked, "what is quoted is in the customer's language");
    assert!(share(recognized, asked) >= 95 && share(answered, asked) >= 93 && share(declined, foreign) >= 95);
}
