//! One suite for all ways of search: by words, with vectors in the database, and with a Chroma server if `TEST_CHROMA_URL` is set.
//! The embedding model is scripted: its vectors count words.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use frontdesk::config::{Config, Env};
use frontdesk::domain::Language;
use frontdesk::persona::Prompts;
use frontdesk::providers::embedding::{Embedder, OllamaEmbedding};
use frontdesk::retrieval::search::{By, Found, Knowledge};
use frontdesk::retrieval::{Query, SearchRules, open_vectors};
use frontdesk::store::{Store, StoreOptions};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli;
use crate::support::copy;
use crate::support::database;
use crate::support::ollama::ScriptedOllama;

/// A folder of documents with its search.
struct Shop {
    folder: TempDir,
    knowledge: Knowledge,
    by: By,
}

impl Shop {
    async fn open(by: By, settings: &[(&str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = database::fresh(folder.path()).await;
        let collection = format!("k_{}", uuid::Uuid::now_v7().simple());
        let knowledge = folder.path().join("knowledge").display().to_string();
        let own = [("KNOWLEDGE_PATH", knowledge), ("KNOWLEDGE_COLLECTION", collection), ("DATABASE_URL", url.clone())];
        let variables = own.iter().chain(settings).map(|(name, value)| ((*name).to_owned(), value.clone()));
        let config = Config::read(Env::of(variables)).unwrap();
        let options = StoreOptions { url, timeout: config.store.timeout, connections: config.store.connections };
        let store = Store::open(&options).await.unwrap();
        let vectors = open_vectors(&config, &store).unwrap();
        let embedder = Embedder::new(Arc::new(OllamaEmbedding::new(&config.embed).unwrap()), config.embed.clone());
        let knowledge = Knowledge::new(config.knowledge, config.search, Arc::new(embedder), vectors);
        Self { folder, knowledge, by }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join("knowledge").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn remove(&self, file: &str) {
        std::fs::remove_file(self.folder.path().join("knowledge").join(file)).unwrap();
    }

    /// Reads and indexes the documents, as the server does after a change.
    async fn index(&self) {
        let folders = [vec![String::new()], vec!["returns".to_owned()], vec!["empty".to_owned()]];
        self.knowledge.read(&BTreeSet::from(folders), &SearchRules::from_toml("").unwrap()).unwrap();
        if self.knowledge.has_meaning() {
            self.knowledge.sync().await.unwrap();
        }
    }

    async fn ask(&self, folder: &str, text: &str, limit: usize) -> Found {
        let language = if text.is_ascii() && text.contains("the") { "en" } else { "vi" };
        let query =
            Query { text: text.to_owned(), language: language.parse::<Language>().unwrap(), limit, pages_only: false };
        self.knowledge.find(&[folder.to_owned()], &query).await
    }

    /// Returns the file of the best answer.
    async fn first(&self, text: &str) -> String {
        let found = self.ask("", text, 8).await;
        assert_eq!(found.by, self.by, "{text}");
        assert!(found.passages.iter().all(|passage| (0.0..=1.0).contains(&passage.score)), "{found:?}");
        found.passages.first().map(|passage| passage.file.clone()).unwrap_or_default()
    }
}

#[tokio::test]
async fn unchanged_documents_are_not_indexed_again() {
    let shop = Shop::open(By::Words, &[("EMBED", "off".to_owned())]).await;
    shop.write("delivery.md", "# Delivery\n\nThe courier takes the parcel to another town in three days.\n");
    shop.write("returns/sua.md", "# Sửa chữa\n\nMáy hỏng được sửa trong tuần.\n");
    let vocabulary = |folder: &str| shop.knowledge.vocabulary(&[folder.to_owned()]);
    shop.index().await;
    let (delivery, returns) = (vocabulary(""), vocabulary("returns"));
    shop.write("delivery.md", "# Delivery\n\nThe courier takes the parcel to another town in two days.\n");
    shop.index().await;
    assert!(!Arc::ptr_eq(&delivery, &vocabulary("")));
    assert!(Arc::ptr_eq(&returns, &vocabulary("returns")));
    let rules = SearchRules::from_toml("stop = [\"the\"]").unwrap();
    shop.knowledge.read(&BTreeSet::from([vec!["returns".to_owned()]]), &rules).unwrap();
    assert!(!Arc::ptr_eq(&returns, &vocabulary("returns")), "other rules, other index");
}

async fn suite(shop: &Shop) {
    shop.index().await;
    assert!(shop.ask("", "phí giao hàng", 8).await.passages.is_empty(), "there is nothing yet");

    shop.write("delivery.md", "# Delivery\n\nThe courier takes the parcel to another town in three days.\n");
    shop.write("giao-hang.md", "# Giao hàng\n\nPhí giao hàng ngoại thành là 35.000đ một kiện.\n");
    shop.write("gui-xe.md", "# Gửi xe\n\nXe máy gửi miễn phí trước cửa, ô tô đỗ ở sân sau.\n");
    shop.write("parking.md", "# Parking\n\nCars park behind the house, motorbikes in front.\n");
    shop.write("returns/doi-tra.md", "# Đổi trả\n\nTrả hàng trong bảy ngày, phí giao hàng khách chịu.\n");
    shop.write("returns/sua.md", "# Sửa chữa\n\nMáy hỏng được sửa trong tuần.\n");
    shop.write("returns/goi.md", "# Đóng gói\n\nĐóng gói như lúc nhận.\n");
    shop.index().await;

    for (question, file) in [
        ("phí giao hàng ngoại thành", "giao-hang.md"),
        ("phi giao hang ngoai thanh", "giao-hang.md"),
        ("gửi xe máy", "gui-xe.md"),
        ("gui xe may", "gui-xe.md"),
        ("where do the cars park", "parking.md"),
        ("the courier and the parcel", "delivery.md"),
    ] {
        assert_eq!(shop.first(question).await, file, "{question}");
    }
    assert_eq!(shop.ask("", "phí giao hàng ngoại thành", 1).await.passages.len(), 1);

    let found = shop.ask("returns", "phí giao hàng", 8).await;
    assert!(!found.passages.is_empty());
    assert!(found.passages.iter().all(|passage| passage.file.starts_with("returns/")), "folders stay apart: {found:?}");
    let found = shop.ask("", "trả hàng trong bảy ngày", 8).await;
    assert!(found.passages.iter().all(|passage| !passage.file.starts_with("returns/")), "both ways: {found:?}");
    assert!(shop.ask("empty", "phí giao hàng", 8).await.passages.is_empty());
    assert!(shop.ask("unknown", "phí giao hàng", 8).await.passages.is_empty());

    shop.write("giao-hang.md", "# Giao hàng\n\nPhí giao hàng ngoại thành nay là 40.000đ một kiện.\n");
    shop.remove("gui-xe.md");
    shop.index().await;
    let found = shop.ask("", "phí giao hàng ngoại thành", 8).await;
    assert!(found.passages[0].text.contains("40.000"), "{found:?}");
    assert!(found.passages.iter().all(|passage| !passage.text.contains("35.000")), "{found:?}");
    let found = shop.ask("", "gửi xe máy", 8).await;
    assert!(found.passages.iter().all(|passage| passage.file != "gui-xe.md"), "{found:?}");
}

fn with_model(ollama: &ScriptedOllama) -> Vec<(&'static str, String)> {
    // The scripted vectors of texts without a common word are orthogonal, so the threshold must be low.
    let threshold = "bge-m3=0.05".to_owned();
    vec![
        ("OLLAMA_HOST", ollama.url()),
        ("EMBED", "auto".to_owned()),
        ("EMBED_QUERY_TIMEOUT_MS", "600000".to_owned()),
        ("NO_CONTEXT_THRESHOLDS", threshold),
    ]
}

#[tokio::test]
async fn search_by_words_passes_the_suite() {
    suite(&Shop::open(By::Words, &[("EMBED", "off".to_owned())]).await).await;
}

#[tokio::test]
async fn search_with_database_vectors_passes_the_suite() {
    let ollama = ScriptedOllama::start().await;
    suite(&Shop::open(By::WordsAndMeaning, &with_model(&ollama)).await).await;
}

#[tokio::test]
async fn search_with_chroma_passes_the_suite() {
    let Ok(url) = std::env::var("TEST_CHROMA_URL") else { return };
    let ollama = ScriptedOllama::start().await;
    let settings = [with_model(&ollama), vec![("CHROMA_URL", url)]].concat();
    suite(&Shop::open(By::WordsAndMeaning, &settings).await).await;
}

#[tokio::test]
async fn telecom_questions_are_answered_with_chroma() {
    let Ok(url) = std::env::var("TEST_CHROMA_URL") else { return };
    answer_questions("telecom", &Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge/telecom"), url).await;
}

/// One of the pages is imported.
#[tokio::test]
async fn commerce_questions_are_answered_with_chroma() {
    let Ok(url) = std::env::var("TEST_CHROMA_URL") else { return };
    let cli = cli::shop::Shop::new();
    std::fs::write(cli.path("parking.md"), "# Parking\n\nCustomers park their cars in the yard of the house.\n")
        .unwrap();
    let arguments = ["import", "documents", "--type", "policy", "parking.md"];
    let imported = cli.run(&arguments, &[("PERSONA_PATH", "prompts/commerce_en.md")]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    answer_questions("commerce", &cli.path("knowledge/commerce"), url).await;
}

/// `tests/data/DESK/questions.jsonl` is answered from the desk's pages as well as by words alone.
async fn answer_questions(desk: &str, pages: &Path, url: String) {
    let ollama = ScriptedOllama::start().await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = [with_model(&ollama), vec![("CHROMA_URL", url)]].concat();
    let shop = Shop::open(By::WordsAndMeaning, &settings).await;
    copy(pages, &shop.folder.path().join("knowledge").join(desk));
    let prompts = Prompts::load(&root.join("prompts"), &root.join(format!("prompts/{desk}_en.md"))).unwrap();
    let folders = vec![desk.to_owned()];
    shop.knowledge.read(&BTreeSet::from([folders.clone()]), &SearchRules::read(&prompts).unwrap()).unwrap();
    shop.knowledge.sync().await.unwrap();
    let questions = std::fs::read_to_string(root.join(format!("tests/data/{desk}/questions.jsonl"))).unwrap();
    let (mut answered, mut all) = (0, 0);
    for line in questions.lines() {
        let question: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| question[name].as_str().unwrap().to_owned();
        let language = text("language").parse().unwrap();
        let query = Query { text: text("query"), language, limit: 8, pages_only: false };
        let found = shop.knowledge.find(&folders, &query).await;
        assert_eq!(found.by, By::WordsAndMeaning);
        let wanted = question["documents"].as_array().unwrap();
        let is_wanted = |file: &str| wanted.iter().any(|page| file == format!("{desk}/{}.md", page.as_str().unwrap()));
        let is_answered = found.passages.iter().any(|passage| is_wanted(&passage.file));
        if !is_answered {
            eprintln!("without its page: {}", query.text);
        }
        answered += usize::from(is_answered);
        all += 1;
    }
    eprintln!("{answered} of {all} have their page among the first eight passages");
    assert!(answered * 10 >= all * 9, "{answered} of {all}");
}

#[tokio::test]
async fn similar_passage_is_found_without_common_words() {
    let ollama = ScriptedOllama::start().await;
    let question = "the parcel vanished somewhere near our village yesterday evening";
    for (threshold, finds) in [("bge-m3=0.05", true), ("bge-m3=0.9", false)] {
        let settings = [with_model(&ollama), vec![("NO_CONTEXT_THRESHOLDS", threshold.to_owned())]].concat();
        let shop = Shop::open(By::WordsAndMeaning, &settings).await;
        shop.write("delivery.md", "# Delivery\n\nThe courier brings the parcel.\n");
        shop.write("parking.md", "# Parking\n\nCars park near the house.\n");
        shop.write("hours.md", "# Hours\n\nWe are there until the evening.\n");
        shop.index().await;
        let found = shop.ask("", question, 8).await;
        assert_eq!((found.by, !found.passages.is_empty()), (By::WordsAndMeaning, finds), "{found:?}");
        assert!(found.similarity.is_some_and(|mean| (0.05..0.9).contains(&mean)), "{found:?}");
    }
    let alone = Shop::open(By::Words, &[("EMBED", "off".to_owned())]).await;
    alone.write("delivery.md", "# Delivery\n\nThe courier brings the parcel.\n");
    alone.index().await;
    assert!(alone.ask("", question, 8).await.passages.is_empty());
}

#[tokio::test]
async fn search_by_words_continues_without_the_model() {
    let ollama = ScriptedOllama::start().await;
    let settings = [with_model(&ollama), vec![("LLM_BREAKER_FAILURES", "100".to_owned())]].concat();
    let shop = Shop::open(By::WordsAndMeaning, &settings).await;
    shop.write("giao-hang.md", "# Giao hàng\n\nPhí giao hàng ngoại thành là 35.000đ.\n");
    shop.index().await;
    let ask = || shop.ask("", "phí giao hàng ngoại thành", 8);
    assert_eq!(ask().await.by, By::WordsAndMeaning);
    ollama.set_down(true);
    let found = ask().await;
    assert_eq!((found.by, found.passages.len(), found.similarity), (By::Words, 1, None));
    ollama.set_down(false);
    assert_eq!(ask().await.by, By::WordsAndMeaning);
}
