use std::path::PathBuf;
use std::time::Instant;

use serde::Deserialize;

use super::*;
use crate::domain::Language;

#[derive(Deserialize)]
struct Question {
    query: String,
    language: Language,
    /// The files that answer; none: nothing in the shop does.
    files: Vec<String>,
    /// What the title or the text of the passage must hold.
    #[serde(default)]
    contains: String,
}

impl Question {
    fn is_answered_by(&self, passage: &Passage) -> bool {
        self.files.contains(&passage.file)
            && (passage.title.contains(&self.contains) || passage.text.contains(&self.contains))
    }
}

fn rules() -> SearchRules {
    SearchRules::from_toml(include_str!("../../../prompts/rules/search.toml")).unwrap()
}

fn query(text: &str, language: Language, limit: usize) -> Query {
    Query { text: text.to_owned(), language, limit }
}

/// Measured: see the assertions, which leave a question or two of room.
#[test]
fn the_sample_shop_answers_its_customers_and_declines_the_rest() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let started = Instant::now();
    let index = LexicalIndex::load(&root.join("knowledge"), &rules()).unwrap();
    println!("{:?}, built in {:?}", index.report(), started.elapsed());
    assert!(index.report().passages > 0, "the sample shop is missing");

    let questions = std::fs::read_to_string(root.join("tests/data/retrieval_small.jsonl")).unwrap();
    let questions: Vec<Question> = questions.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut answerable, mut found, mut first, mut foreign, mut declined) = (0, 0, 0, 0, 0);
    let started = Instant::now();
    for question in &questions {
        let passages = index.search(&query(&question.query, question.language, 3));
        if question.files.is_empty() {
            foreign += 1;
            declined += usize::from(passages.is_empty());
        } else {
            answerable += 1;
            found += usize::from(passages.iter().any(|passage| question.is_answered_by(passage)));
            first += usize::from(passages.first().is_some_and(|passage| question.is_answered_by(passage)));
        }
        let right = if question.files.is_empty() {
            passages.is_empty()
        } else {
            passages.iter().any(|p| question.is_answered_by(p))
        };
        if !right || std::env::var_os("SHOW").is_some() {
            println!("{} {} ({})", if right { "right" } else { "WRONG" }, question.query, question.language);
            for passage in &passages {
                println!("    {:.2} {} | {} | {}", passage.score, passage.file, passage.title, passage.section);
            }
        }
    }
    println!(
        "recall@1 {first}/{answerable}, recall@3 {found}/{answerable}, declined {declined}/{foreign}, {:?} each",
        started.elapsed() / 90
    );
}
