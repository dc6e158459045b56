//! Where vectors are kept and searched.
//!
//! [`VectorIndex`] is what a backend does. The embedded one keeps them in the shop's own database
//! (`src/retrieval/embedded.rs`); the other is a Chroma server ([`ChromaIndex`]).

mod chroma;

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;

pub use self::chroma::{ChromaIndex, InvalidChroma};
use crate::domain::TenantId;

/// Vectors that are searched together: one shop's, of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Collection {
    pub tenant: TenantId,
    /// As the shop configures it, such as `knowledge_dev`.
    pub name: String,
}

/// What made the vectors of a collection. Vectors of another model cannot be compared with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The embedding model's name, as its provider knows it.
    pub model: String,
    /// Numbers in one vector.
    pub dimension: usize,
}

/// A text with its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Unique in its collection; a record with the same id is replaced.
    pub id: String,
    /// Of unit length, and of the collection's dimension.
    pub vector: Vec<f32>,
    /// The text that the vector stands for.
    pub text: String,
    pub metadata: Labels,
}

/// Names and values that a record is found by.
pub type Labels = BTreeMap<String, String>;

/// The label that holds a conversation's id, by which memories are found and forgotten.
pub const CONVERSATION_ID: &str = "conversation_id";

/// A record that is near to what was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub id: String,
    /// Cosine similarity, −1 to 1; exact up to the rounding of f32.
    pub similarity: f32,
    pub vector: Vec<f32>,
}

/// Keeps vectors and finds the nearest ones. Every method may be repeated after a failure.
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// Makes the collection, or checks that the one that is there holds vectors of this space.
    ///
    /// # Errors
    /// [`VectorError::OtherSpace`] if it does not; nothing is changed then.
    async fn open(&self, collection: &Collection, space: &Space) -> Result<(), VectorError>;

    /// Adds records, or replaces those with the same ids; of records with one id the last one counts. The collection is
    /// open.
    async fn upsert(&self, collection: &Collection, records: &[Record]) -> Result<(), VectorError>;

    /// The nearest records, nearest first, at most `limit`, among those that have all the labels of `only`.
    /// A collection that is not there has none.
    async fn query(
        &self,
        collection: &Collection,
        vector: &[f32],
        limit: usize,
        only: &Labels,
    ) -> Result<Vec<Hit>, VectorError>;

    /// The vectors of these records; those that are not there are left out.
    async fn vectors(&self, collection: &Collection, ids: &[String]) -> Result<HashMap<String, Vec<f32>>, VectorError>;

    /// The ids of all records. A collection that is not there has none.
    async fn ids(&self, collection: &Collection) -> Result<HashSet<String>, VectorError>;

    /// Removes these records; those that are not there do not matter.
    async fn delete(&self, collection: &Collection, ids: &[String]) -> Result<(), VectorError>;

    /// Removes the records that have all these labels, of which there is at least one.
    async fn delete_where(&self, collection: &Collection, only: &Labels) -> Result<(), VectorError>;

    /// Removes the collection with everything in it.
    async fn drop_collection(&self, collection: &Collection) -> Result<(), VectorError>;

    /// Whether the service answers.
    async fn ping(&self) -> Result<(), VectorError>;
}

/// Why vectors were not kept or found.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// Nothing answers, or not in time.
    #[error("the vector index does not answer: {0}")]
    Unavailable(String),
    /// The collection was made by another model.
    #[error(
        "the collection {collection} holds vectors of {} ({} numbers), and the embedding model is {} ({} numbers): \
         run `frontdesk index --rebuild`, or name the earlier model in OLLAMA_EMBED_MODEL",
        found.model, found.dimension, wanted.model, wanted.dimension
    )]
    OtherSpace { collection: String, found: Space, wanted: Space },
    /// It answered with something that it does not say in its protocol, or refused the request.
    #[error("the vector index refused: {0}")]
    Refused(String),
}

/// The cosine similarity of two vectors of unit length, -1 to 1.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>())
}

/// Whether a vector can be compared with those of this dimension.
///
/// # Errors
/// [`VectorError::Refused`]: it has another length, or a number that is not finite.
pub fn check_vector(vector: &[f32], dimension: usize) -> Result<(), VectorError> {
    if vector.len() != dimension {
        let given = vector.len();
        return Err(VectorError::Refused(format!("a vector of {given} numbers, where the others have {dimension}")));
    }
    if vector.iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    Err(VectorError::Refused("a vector with a number that is not finite".to_owned()))
}

/// Whether there is a label to remove records by.
///
/// # Errors
/// [`VectorError::Refused`]: there is none, which would mean every record.
pub fn check_labels(only: &Labels) -> Result<(), VectorError> {
    if only.is_empty() {
        return Err(VectorError::Refused("records are removed by at least one label".to_owned()));
    }
    Ok(())
}
