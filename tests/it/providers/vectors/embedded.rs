//! Vectors in the database.

use frontdesk::domain::ConversationId;
use frontdesk::providers::vector::{Collection, VectorIndex};
use frontdesk::retrieval::embedded::EmbeddedIndex;
use frontdesk::store::{Store, StoreOptions};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::time::timeout;

use super::{ANY, angle, collection, conversation, found, ids, label, record, space, suite};
use crate::support::{database, eventually_async};

/// More than any test needs.
const PLENTY: usize = 100_000_000;

/// A database, and its address for a second process.
struct Database {
    url: String,
    _folder: TempDir,
}

impl Database {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { url: database::fresh(folder.path()).await, _folder: folder }
    }

    async fn store(&self) -> Store {
        let options = StoreOptions { url: self.url.clone(), timeout: Duration::from_secs(30), connections: 4 };
        Store::open(&options).await.unwrap()
    }

    async fn index(&self, memory_max: usize) -> EmbeddedIndex {
        EmbeddedIndex::new(self.store().await, memory_max)
    }
}

async fn filled(index: &dyn VectorIndex, numbers: std::ops::Range<usize>) -> Collection {
    let here = collection();
    index.open(&here, &space(3)).await.unwrap();
    fill(index, &here, numbers).await;
    here
}

async fn fill(index: &dyn VectorIndex, here: &Collection, numbers: std::ops::Range<usize>) {
    let records: Vec<_> = numbers
        .map(|n| record(&format!("{n:04}"), &angle(n as f32 * 0.05), &[("even", &(n % 2).to_string())]))
        .collect();
    index.upsert(here, &records).await.unwrap();
}

#[tokio::test]
async fn embedded_index_passes_the_suite() {
    let database = Database::new().await;
    suite::run(&database.index(PLENTY).await).await;
}

#[tokio::test]
async fn embedded_index_beyond_memory_passes_the_suite() {
    let database = Database::new().await;
    suite::run(&database.index(0).await).await;
}

#[tokio::test]
async fn writes_of_another_process_are_found() {
    let database = Database::new().await;
    let (ours, theirs) = (database.index(PLENTY).await, database.index(PLENTY).await);
    let here = filled(&ours, 5..10).await;
    assert_eq!(found(&ours, &here, 2, &ANY).await, ["0005", "0006"]);
    fill(&theirs, &here, 3..4).await;
    assert_eq!(found(&ours, &here, 2, &ANY).await, ["0003", "0005"]);
    theirs.upsert(&here, &[record("0009", &angle(0.0), &[])]).await.unwrap();
    assert_eq!(found(&ours, &here, 2, &ANY).await, ["0009", "0003"]);
    theirs.delete(&here, &["0009".to_owned(), "0005".to_owned()]).await.unwrap();
    assert_eq!(found(&ours, &here, 9, &ANY).await, ["0003", "0006", "0007", "0008"]);
    // More than are brought in one by one.
    fill(&theirs, &here, 20..2600).await;
    assert_eq!(found(&ours, &here, 3000, &ANY).await.len(), 2584);
    theirs.drop_collection(&here).await.unwrap();
    assert!(found(&ours, &here, 9, &ANY).await.is_empty());
}

#[tokio::test]
async fn recreated_collection_replaces_the_cached_one() {
    let database = Database::new().await;
    let (ours, theirs) = (database.index(PLENTY).await, database.index(PLENTY).await);
    let here = filled(&ours, 0..5).await;
    assert_eq!(found(&ours, &here, 1, &ANY).await, ["0000"]);
    theirs.drop_collection(&here).await.unwrap();
    theirs.open(&here, &space(3)).await.unwrap();
    // The same number of writes as the old one had.
    fill(&theirs, &here, 7..9).await;
    assert_eq!(found(&ours, &here, 9, &ANY).await, ["0007", "0008"]);
}

#[tokio::test]
async fn all_search_paths_give_the_same_hits() {
    let database = Database::new().await;
    let (resident, streamed) = (database.index(PLENTY).await, database.index(0).await);
    let here = collection();
    resident.open(&here, &space(3)).await.unwrap();
    let records: Vec<_> = (0..1500)
        .map(|n| record(&format!("{n}"), &angle((n * 7919 % 3600) as f32 * 0.1), &[("conversation_id", "c")]))
        .collect();
    resident.upsert(&here, &records).await.unwrap();
    for degrees in [0.0, 33.3, 190.0] {
        let in_memory = resident.query(&here, &space(3), &angle(degrees), 24, &ANY).await.unwrap();
        assert_eq!(in_memory.len(), 24);
        assert_eq!(streamed.query(&here, &space(3), &angle(degrees), 24, &ANY).await.unwrap(), in_memory);
        assert_eq!(resident.query(&here, &space(3), &angle(degrees), 24, &conversation("c")).await.unwrap(), in_memory);
    }
}

#[tokio::test]
async fn evicted_collections_still_answer() {
    // Room for two of the three.
    let database = Database::new().await;
    let index = database.index(2 * 100 * 650).await;
    let collections = [filled(&index, 0..100).await, filled(&index, 100..200).await, filled(&index, 200..300).await];
    for _ in 0..3 {
        for (number, here) in collections.iter().enumerate() {
            assert_eq!(found(&index, here, 1, &ANY).await, [format!("{:04}", number * 100)]);
        }
    }
    // One of them outgrows the room, and is still searched.
    fill(&index, &collections[0], 300..600).await;
    assert_eq!(found(&index, &collections[0], 1, &label("even", "1")).await, ["0001"]);
    assert_eq!(found(&index, &collections[0], 900, &ANY).await.len(), 400);
}

#[tokio::test]
async fn concurrent_first_queries_see_earlier_writes() {
    let database = Database::new().await;
    let index = std::sync::Arc::new(database.index(PLENTY).await);
    let here = filled(&*index, 100..1100).await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..32_usize {
        let (index, here) = (index.clone(), here.clone());
        tasks.spawn(async move {
            if n % 4 == 0 {
                fill(&*index, &here, n..n + 1).await;
                assert!(found(&*index, &here, 40, &ANY).await.contains(&format!("{n:04}")));
            } else {
                assert!(found(&*index, &here, 40, &ANY).await.contains(&"0100".to_owned()));
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    assert_eq!(ids(&*index, &here).await.len(), 1008);
}

#[tokio::test]
async fn impatient_questions_do_not_stop_a_load() {
    let database = Database::new().await;
    let here = filled(&database.index(PLENTY).await, 0..8000).await;
    let begun = Instant::now();
    found(&database.index(PLENTY).await, &here, 1, &ANY).await;
    // No question waits long enough for a load, which is done nevertheless.
    let patience = begun.elapsed() / 2;
    let index = database.index(PLENTY).await;
    let is_loaded = async || timeout(patience, found(&index, &here, 1, &ANY)).await.is_ok();
    eventually_async("the vectors are loaded", is_loaded).await;
}

#[tokio::test]
async fn vectors_of_deleted_conversations_are_gone() {
    let database = Database::new().await;
    let (store, index) = (database.store().await, database.index(PLENTY).await);
    let here = filled(&index, 5..7).await;
    let id = crate::store::opened(&store, &here.tenant).await;
    let other = ConversationId::now().to_string();
    let its = [("conversation_id", id.to_string()), ("conversation_id", other.clone())];
    for (n, (name, value)) in its.iter().enumerate() {
        index.upsert(&here, &[record(&format!("memory {n}"), &angle(0.0), &[(name, value)])]).await.unwrap();
    }
    assert_eq!(found(&index, &here, 2, &ANY).await, ["memory 0", "memory 1"]);
    assert!(store.tenant(&here.tenant).delete_conversation(id).await.unwrap());
    assert_eq!(found(&index, &here, 9, &ANY).await, ["memory 1", "0005", "0006"]);
    assert!(found(&index, &here, 9, &conversation(&id.to_string())).await.is_empty());
    assert_eq!(found(&index, &here, 9, &conversation(&other)).await, ["memory 1"]);
}
