//! Synchronization of vectors with the documents.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use frontdesk::config::{ChunkConfig, Config, Env, KnowledgeConfig};
use frontdesk::domain::{Language, TenantId};
use frontdesk::providers::vector::{Collection, Space, VectorError, VectorIndex};
use frontdesk::retrieval::search::{By, Found, Knowledge};
use frontdesk::retrieval::sync::{self, Progress, SyncError, SyncReport, Target};
use frontdesk::retrieval::{Query, SearchRules, Shelf, folder};
use futures_util::FutureExt;
use tempfile::TempDir;

use crate::support::vectors::{MemoryVectors, WordModel};

/// A folder with three sections in two files, and its vector collection.
struct Shop {
    folder: TempDir,
    vectors: MemoryVectors,
    collection: Collection,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let collection = Collection { tenant: TenantId::default(), name: "knowledge_dev".into() };
        let shop = Self { folder, vectors: MemoryVectors::default(), collection };
        shop.write("delivery.md", "# Delivery\n\n## In town\nDelivery is free.\n\n## Abroad\nDelivery takes a week.\n");
        shop.write("returns.txt", "Returns within 7 days.\n");
        shop
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder.path().join(file), text).unwrap();
    }

    fn shelf(&self) -> Shelf {
        let rules = SearchRules::from_toml("").unwrap();
        folder::read(Path::new(self.folder.path()), "", &rules, &ChunkConfig::default()).unwrap()
    }

    async fn sync(&self, model: &std::sync::Arc<WordModel>) -> Result<SyncReport, SyncError> {
        let embedder = model.embedder();
        let target = Target { index: &self.vectors, embedder: &embedder, collection: &self.collection, batch: 2 };
        sync::sync(&target, &self.shelf(), &|_| {}).await
    }

    /// Returns the sorted texts of the collection.
    fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> =
            self.vectors.records(&self.collection).into_iter().map(|record| record.text).collect();
        texts.sort();
        texts
    }
}

fn counts(report: &SyncReport) -> (usize, usize, usize, usize) {
    (report.chunks, report.kept, report.embedded, report.removed)
}

#[tokio::test]
async fn only_changed_chunks_are_embedded_again() {
    let (shop, model) = (Shop::new(), WordModel::new("words"));
    let report = shop.sync(&model).await.unwrap();
    assert_eq!((counts(&report), report.documents), ((3, 0, 3, 0), 2));
    assert_eq!(
        model.asked(),
        [
            "Delivery\nIn town\nDelivery is free.",
            "Delivery\nAbroad\nDelivery takes a week.",
            "returns\nReturns within 7 days."
        ]
    );
    let report = shop.sync(&model).await.unwrap();
    assert_eq!((counts(&report), model.asked().len()), ((3, 3, 0, 0), 0));

    shop.write(
        "delivery.md",
        "---\nversion: 2\n---\n# Delivery\n\n## In town\nDelivery is free.\n\n## Abroad\nTwo weeks of delivery.\n",
    );
    std::fs::remove_file(shop.folder.path().join("returns.txt")).unwrap();
    let report = shop.sync(&model).await.unwrap();
    assert_eq!(counts(&report), (2, 1, 1, 2));
    assert_eq!(model.asked(), ["Delivery\nAbroad\nTwo weeks of delivery."]);
    assert_eq!(shop.texts(), ["Delivery is free.", "Two weeks of delivery."]);
}

#[tokio::test]
async fn vector_record_cites_its_source() {
    let (shop, model) = (Shop::new(), WordModel::new("words"));
    shop.sync(&model).await.unwrap();
    let records = shop.vectors.records(&shop.collection);
    let record = records.iter().find(|record| record.text == "Delivery is free.").unwrap();
    let label = |name: &str| record.metadata[name].as_str();
    assert_eq!((label("doc_id"), label("path"), label("section_path")), ("delivery", "delivery.md", "In town"));
    assert_eq!(label("keywords"), "delivery town abroad");
    // `printf 'Delivery is free.' | sha1sum`
    assert_eq!(label("sha1"), "b45a4721c1c3085395839e040080f345c46204e2");
}

#[tokio::test]
async fn interrupted_sync_is_completed_by_the_next() {
    let (shop, model) = (Shop::new(), WordModel::new("words"));
    shop.vectors.batches_left.store(1, Ordering::SeqCst);
    let error = shop.sync(&model).await.unwrap_err();
    assert!(matches!(error, SyncError::Vectors(VectorError::Unavailable(_))), "{error}");
    assert_eq!(shop.texts().len(), 2);

    shop.vectors.batches_left.store(usize::MAX, Ordering::SeqCst);
    model.asked();
    let report = shop.sync(&model).await.unwrap();
    assert_eq!(counts(&report), (3, 2, 1, 0));
    assert_eq!(model.asked(), ["returns\nReturns within 7 days."]);
}

#[tokio::test]
async fn refused_text_is_reported_and_others_stored() {
    let (shop, model) = (Shop::new(), WordModel::that_refuses("words", "free"));
    let report = shop.sync(&model).await.unwrap();
    assert_eq!(counts(&report), (3, 0, 2, 0));
    let refused: Vec<_> = report.refused.iter().map(|r| (r.file.as_str(), r.section.as_str())).collect();
    assert_eq!(refused, [("delivery.md", "In town")]);
    assert!(report.refused[0].why.contains("too long"), "{:?}", report.refused);
    assert_eq!(shop.texts(), ["Delivery takes a week.", "Returns within 7 days."]);
}

#[tokio::test]
async fn passing_failure_refuses_no_text() {
    let (shop, model) = (Shop::new(), WordModel::new("words"));
    // The batch fails, and then its first text.
    model.failures.store(2, Ordering::SeqCst);
    let report = shop.sync(&model).await.unwrap();
    assert_eq!((counts(&report), report.refused), ((3, 0, 3, 0), vec![]));
}

#[tokio::test]
async fn unavailable_model_changes_nothing() {
    let (shop, model) = (Shop::new(), WordModel::new("words"));
    shop.sync(&model).await.unwrap();
    shop.write("returns.txt", "Returns within 14 days.\n");
    model.down.store(true, Ordering::SeqCst);
    let error = shop.sync(&model).await.unwrap_err();
    assert!(matches!(error, SyncError::Embedding(_)), "{error}");
    assert!(shop.texts().contains(&"Returns within 7 days.".to_owned()));
}

#[tokio::test]
async fn vectors_of_another_model_are_left_alone() {
    let shop = Shop::new();
    shop.sync(&WordModel::new("words")).await.unwrap();
    let other = WordModel::new("letters");
    let error = shop.sync(&other).await.unwrap_err().to_string();
    assert!(error.contains("words") && error.contains("letters") && error.contains("--rebuild"), "{error}");
    assert_eq!((shop.texts().len(), other.asked().len()), (3, 0));
}

#[tokio::test]
async fn plan_changes_nothing() {
    let (shop, model) = (Shop::new(), WordModel::new("words"));
    let shelf = shop.shelf();
    let plan = sync::plan(&shop.vectors, &shop.collection, &shelf).await.unwrap();
    assert_eq!((plan.missing.len(), plan.gone.len(), plan.kept), (3, 0, 0));
    assert_eq!(shop.vectors.names(), [""; 0]);
    shop.sync(&model).await.unwrap();
    shop.write("returns.txt", "Returns within 14 days.\n");
    let shelf = shop.shelf();
    let plan = sync::plan(&shop.vectors, &shop.collection, &shelf).await.unwrap();
    assert_eq!((plan.missing.len(), plan.gone.len(), plan.kept), (1, 1, 2));
}

#[tokio::test]
async fn progress_counts_what_was_missing() {
    let (shop, model) = (Shop::new(), WordModel::new("words"));
    let (embedder, seen) = (model.embedder(), Mutex::new(Vec::new()));
    let target = Target { index: &shop.vectors, embedder: &embedder, collection: &shop.collection, batch: 2 };
    let progress = |Progress { done, total }: Progress| seen.lock().unwrap().push((done, total));
    sync::sync(&target, &shop.shelf(), &progress).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [(0, 3), (2, 3), (3, 3)]);
}

/// The search of a shop in the top folder and `returns`.
fn knowledge(shop: &Shop, vectors: &Arc<MemoryVectors>) -> Knowledge {
    knowledge_with(shop, vectors, &WordModel::new("words"))
}

fn knowledge_with(shop: &Shop, vectors: &Arc<MemoryVectors>, model: &Arc<WordModel>) -> Knowledge {
    shop.write("delivery.md", "# Delivery\n\nDelivery is free.\n");
    std::fs::create_dir(shop.folder.path().join("returns")).unwrap();
    shop.write("returns/faq.md", "# Returns\n\nReturns within 7 days.\n");
    let config = Config::read(Env::of([])).unwrap();
    let documents = KnowledgeConfig { folder: shop.folder.path().to_owned(), ..config.knowledge };
    let knowledge = Knowledge::new(documents, config.search, Arc::new(model.embedder()), vectors.clone());
    read(&knowledge, [folders()]);
    knowledge
}

fn read(knowledge: &Knowledge, personas: impl IntoIterator<Item = Vec<String>>) {
    knowledge.read(&personas.into_iter().collect(), &SearchRules::from_toml("").unwrap()).unwrap();
}

async fn find(knowledge: &Knowledge, text: &str) -> Found {
    let query = Query { text: text.to_owned(), language: Language::EN, limit: 3, pages_only: false };
    knowledge.find(&folders(), &query).await
}

/// Whether a question finds that the index has lost the vectors.
async fn is_loss_noticed(knowledge: &Knowledge) -> bool {
    let found = find(knowledge, "Delivery").await;
    assert!(!found.passages.is_empty(), "words find it: {found:?}");
    knowledge.lost_vectors().notified().now_or_never().is_some()
}

async fn lose_vectors(shop: &Shop, vectors: &MemoryVectors) {
    for name in ["knowledge_dev", "knowledge_dev-returns"] {
        vectors.drop_collection(&Collection { name: name.to_owned(), ..shop.collection.clone() }).await.unwrap();
    }
}

fn folders() -> Vec<String> {
    vec![String::new(), "returns".to_owned()]
}

#[tokio::test]
async fn failed_folder_does_not_stop_the_others() {
    let (shop, vectors) = (Shop::new(), Arc::new(MemoryVectors::default()));
    let knowledge = knowledge(&shop, &vectors);
    let other = Space { model: "another model".to_owned(), dimension: 3 };
    vectors.open(&shop.collection, &other).await.unwrap();
    let failed = knowledge.sync().await;
    assert!(matches!(failed, Err(SyncError::Vectors(VectorError::OtherSpace { .. }))), "{failed:?}");
    let returns = Collection { name: "knowledge_dev-returns".to_owned(), ..shop.collection };
    assert_eq!(vectors.records(&returns).len(), 1);
}

#[tokio::test]
async fn lost_vectors_are_noticed() {
    for model in [WordModel::new("words"), WordModel::that_refuses("words", "7 days")] {
        let (shop, vectors) = (Shop::new(), Arc::new(MemoryVectors::default()));
        let knowledge = knowledge_with(&shop, &vectors, &model);
        assert!(!is_loss_noticed(&knowledge).await, "the first sync is still to come");
        knowledge.sync().await.unwrap();
        assert!(!is_loss_noticed(&knowledge).await);
        lose_vectors(&shop, &vectors).await;
        assert!(is_loss_noticed(&knowledge).await);
    }
}

#[tokio::test]
async fn new_documents_are_no_lost_vectors() {
    let (shop, vectors) = (Shop::new(), Arc::new(MemoryVectors::default()));
    let knowledge = knowledge(&shop, &vectors);
    knowledge.sync().await.unwrap();
    lose_vectors(&shop, &vectors).await;
    shop.write("hours.md", "# Hours\n\nOpen from 8 to 6.\n");
    read(&knowledge, [folders()]);
    assert!(!is_loss_noticed(&knowledge).await, "the sync of the new documents is still to come");
}

#[tokio::test]
async fn earlier_folders_are_searched_until_next_read() {
    let (shop, vectors) = (Shop::new(), Arc::new(MemoryVectors::default()));
    let knowledge = knowledge(&shop, &vectors);
    let count = async || find(&knowledge, "Delivery").await.passages.len();
    for (persona, found) in [("returns", 1), ("returns", 0)] {
        read(&knowledge, [vec![persona.to_owned()]]);
        assert_eq!(count().await, found);
    }
}

#[tokio::test]
async fn pages_are_found_after_nearer_rows() {
    let (shop, vectors) = (Shop::new(), Arc::new(MemoryVectors::default()));
    let rows: String = (0..30).map(|n| format!("Zulu Yankee {n},zebra yak\n")).collect();
    shop.write("goods.csv", &format!("name,specs\n{rows}"));
    let (knowledge, top) = (knowledge(&shop, &vectors), vec![String::new()]);
    read(&knowledge, [top.clone()]);
    knowledge.sync().await.unwrap();
    let query = Query { text: "zoom yonder".to_owned(), language: Language::EN, limit: 3, pages_only: true };
    assert_eq!(knowledge.find(&top, &query).await.by, By::WordsAndMeaning);
}

#[tokio::test]
async fn rows_with_one_name_keep_their_prices() {
    let (shop, vectors) = (Shop::new(), Arc::new(MemoryVectors::default()));
    shop.write("goods.csv", "name,price\nMouse,500000\nMouse,700000\n");
    let columns = "[columns.price]\nheaders = [\"price\"]\nkind = \"price\"\n";
    let knowledge = knowledge(&shop, &vectors);
    let personas = BTreeSet::from([folders()]);
    knowledge.read(&personas, &SearchRules::from_toml(columns).unwrap()).unwrap();
    let found = find(&knowledge, "mouse").await.passages;
    let rows = knowledge.pages(&folders()).rows_of(&found, Language::EN);
    let mut prices: Vec<_> = rows.into_iter().map(|row| row.price).collect();
    prices.sort();
    assert_eq!(prices, [Some(500_000), Some(700_000)]);
}
