//! Every page in both languages: a customer reads their own one, and no message mixes two.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontdesk::domain::Language;
use frontdesk::nlu::language::{LanguageRules, Prose};
use frontdesk::persona::Prompts;
use frontdesk::retrieval::document::split_front_matter;
use serde_json::json;

use super::returns::shop::open;
use crate::support::app::TestApp;
use crate::support::sse::Events;

/// A page of the shop: its file, its language, and the questions that each section lists.
struct Page {
    file: String,
    id: String,
    language: Language,
    questions: Vec<Vec<String>>,
}

fn pages(folder: &str) -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    let languages = prompts().languages().unwrap();
    let page = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let (about, body, problem) = split_front_matter(&text, &languages);
        assert_eq!(problem, None, "{}", path.display());
        let lists = body.split("<!-- questions").skip(1).map(|list| list.split("-->").next().unwrap());
        let questions = lists.map(|list| list.lines().map(str::trim).filter(|line| !line.is_empty()));
        Page {
            file: path.strip_prefix(&root).unwrap().display().to_string(),
            id: about.id.unwrap_or_else(|| panic!("{} has no id", path.display())),
            language: about.language.unwrap_or_else(|| panic!("{} has no language", path.display())),
            questions: questions.map(|list| list.map(str::to_owned).collect()).collect(),
        }
    };
    paths.into_iter().map(page).collect()
}

fn prompts() -> Prompts {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts");
    Prompts::load(&root, &root.join("returns_en.md")).unwrap()
}

/// What is wrong with a turn for a customer of this language.
struct Judge {
    rules: Arc<LanguageRules>,
    languages: [Language; 2],
    /// The language of each file.
    written_in: BTreeMap<String, Language>,
}

impl Judge {
    fn of(pages: &[Page]) -> Self {
        let prompts = prompts();
        let written_in = pages.iter().map(|page| (page.file.clone(), page.language)).collect();
        Self { rules: LanguageRules::read(&prompts).unwrap(), languages: [Language::EN, Language::VI], written_in }
    }

    fn faults(&self, asked: &str, own: Language, events: &Events) -> Vec<String> {
        let mut faults = Vec::new();
        for event in events.data().into_iter().filter(|event| event["type"] == "sources") {
            for item in event["items"].as_array().unwrap() {
                let file = item["file"].as_str().unwrap();
                if self.written_in.get(file).is_some_and(|language| *language != own) {
                    faults.push(format!("{own}: {asked:?} cites {file}"));
                }
            }
        }
        for (kind, text) in events.messages() {
            // A quotation has a line for each passage; a list has one for each entry. A product has one name in every language.
            let without_name = |line: &'_ str| match line.split_once(": Price: ").or_else(|| line.split_once(": Giá: "))
            {
                Some((_, row)) => row.to_owned(),
                None => line.to_owned(),
            };
            for line in text.lines().map(without_name) {
                if self.rules.look_at_prose(&line, own, &self.languages) == Prose::Foreign {
                    faults.push(format!("{own}: {asked:?} gets in {kind}: {line}"));
                }
            }
        }
        faults
    }
}

#[tokio::test]
async fn each_page_is_read_in_the_customers_language() {
    let app = open(TestApp::builder().every_desk()).await;
    for (folder, persona) in [("", "system_persona_"), ("returns", "returns_")] {
        let pages = pages(folder);
        let mut translations: BTreeMap<&str, Vec<(Language, usize)>> = BTreeMap::new();
        for page in &pages {
            translations.entry(&page.id).or_default().push((page.language, page.questions.len()));
        }
        for (id, found) in &mut translations {
            found.sort();
            assert_eq!(found.len(), 2, "{id} is in English and in Vietnamese");
            assert!(found[0].0 != found[1].0 && found[0].1 == found[1].1, "{id} has the same sections: {found:?}");
        }
        let judge = Judge::of(&pages);
        let mut faults = Vec::new();
        for page in &pages {
            for own in [Language::EN, Language::VI] {
                // A page's questions in the other language are a customer's words as well.
                for question in page.questions.iter().filter_map(|list| list.first()) {
                    let body = json!({"persona": format!("{persona}{own}"), "language": own});
                    let events = app.ask(&app.open(&body).await, question).await;
                    faults.extend(judge.faults(question, own, &events));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}

/// After a switch, the greeting of the next intent, the answer, the follow-up and a repeated question come in the new language.
#[tokio::test]
async fn after_a_switch_only_one_language_speaks() {
    let judge = Judge::of(&[]);
    let app = open(TestApp::builder().every_desk()).await;
    for (persona, turns) in [
        (
            "system_persona_vi",
            [
                ("phí giao hàng bao nhiêu", "speak english please"),
                ("kiểm tra bảo hành giúp em", "can we speak English?"),
                ("cái này thế nào", "English please"),
            ],
        ),
        (
            "returns_vi",
            [
                ("đơn 77893 đâu rồi", "speak english please"),
                ("tôi muốn trả hàng", "can we speak English?"),
                ("cái này thế nào", "English please"),
            ],
        ),
    ] {
        let mut faults = Vec::new();
        for (first, switch) in turns {
            let id = app.open(&json!({"persona": persona, "language": "vi"})).await;
            let said = app.ask(&id, first).await;
            faults.extend(judge.faults(first, Language::VI, &said));
            for text in [switch, "how much is delivery?", "hmm", "thank you", "77893", "never mind", "I want a person"]
            {
                let said = app.ask(&id, text).await;
                faults.extend(judge.faults(text, Language::EN, &said));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
