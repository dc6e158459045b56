//! Both vector stores, through one suite: vectors in the database (SQLite or, with `TEST_POSTGRES_URL`, PostgreSQL), and a real
//! Chroma server where `TEST_CHROMA_URL` names one (`scripts/test chroma`).

mod chroma;
mod embedded;
mod suite;

use frontdesk::providers::vector::{CONVERSATION_ID, Collection, Hit, Labels, Record, Space, VectorIndex};

/// No label: every record.
pub const ANY: Labels = Labels::new();

/// A collection of the default shop that no other test uses.
pub fn collection() -> Collection {
    collection_of("default")
}

pub fn collection_of(tenant: &str) -> Collection {
    Collection { tenant: tenant.parse().unwrap(), name: format!("t_{}", uuid::Uuid::now_v7().simple()) }
}

pub fn space(dimension: usize) -> Space {
    Space { model: "bge-m3".to_owned(), dimension }
}

pub fn record(id: &str, vector: &[f32], labels: &[(&str, &str)]) -> Record {
    let metadata = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Record { id: id.to_owned(), vector: vector.to_vec(), text: format!("text of {id}"), metadata }
}

pub fn label(name: &str, value: &str) -> Labels {
    [(name.to_owned(), value.to_owned())].into()
}

pub fn conversation(id: &str) -> Labels {
    label(CONVERSATION_ID, id)
}

/// A direction in the plane; larger numbers are farther from 0.
pub fn angle(degrees: f32) -> [f32; 3] {
    let radians = degrees.to_radians();
    [radians.cos(), radians.sin(), 0.0]
}

pub async fn found(index: &dyn VectorIndex, collection: &Collection, limit: usize, only: &Labels) -> Vec<String> {
    ids_of(index.query(collection, &space(3), &angle(0.0), limit, only).await.unwrap())
}

pub fn ids_of(hits: Vec<Hit>) -> Vec<String> {
    hits.into_iter().map(|hit| hit.id).collect()
}

/// All ids, sorted.
pub async fn ids(index: &dyn VectorIndex, collection: &Collection) -> Vec<String> {
    let mut ids: Vec<String> = index.ids(collection).await.unwrap().into_iter().collect();
    ids.sort();
    ids
}
