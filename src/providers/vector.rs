//! The vector index.
//!
//! [`VectorIndex`] is the trait of backends: one stores vectors in the shop's database (`src/retrieval/embedded.rs`), the other on a
//! Chroma server ([`ChromaIndex`]).

mod chroma;

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;

pub use self::chroma::{ChromaIndex, InvalidChroma};
use crate::domain::TenantId;

/// Vectors of one shop that are searched together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Collection {
    pub tenant: TenantId,
    /// The configured name, such as `knowledge_dev`.
    pub name: String,
}

/// The embedding model of a collection. Only vectors of the same model can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The model's name at its provider, with the prefix of passages if it is not the model's default.
    pub model: String,
    /// The dimension of the vectors.
    pub dimension: usize,
}

/// A text with its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Unique in its collection; a record with the same id is replaced.
    pub id: String,
    /// The vector, of unit length and of the collection's dimension.
    pub vector: Vec<f32>,
    /// The embedded text, or empty if it is stored elsewhere.
    pub text: String,
    pub metadata: Labels,
}

/// Names and values that records are filtered by.
pub type Labels = BTreeMap<String, String>;

/// The label of a conversation's id, which selects its messages.
pub const CONVERSATION_ID: &str = "conversation_id";

/// A record that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub id: String,
    /// Cosine similarity, −1 to 1; exact up to the rounding of f32.
    pub similarity: f32,
    pub vector: Vec<f32>,
}

/// Stores vectors and finds the nearest ones. All methods can be retried after a failure.
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// Creates the collection, or checks that an existing one has this space.
    ///
    /// # Errors
    /// [`VectorError::OtherSpace`] if it has another space; nothing is changed.
    async fn open(&self, collection: &Collection, space: &Space) -> Result<(), VectorError>;

    /// Adds records, and replaces those with the same id. The last one of several with the same id is used. The collection must be
    /// open.
    async fn upsert(&self, collection: &Collection, records: &[Record]) -> Result<(), VectorError>;

    /// Returns at most `limit` records with all labels of `only`, nearest first. A missing collection has none.
    ///
    /// # Errors
    /// [`VectorError::OtherSpace`] if the collection has another space than the vector.
    async fn query(
        &self,
        collection: &Collection,
        space: &Space,
        vector: &[f32],
        limit: usize,
        only: &Labels,
    ) -> Result<Vec<Hit>, VectorError>;

    /// Returns the vectors of the records that exist.
    async fn vectors(&self, collection: &Collection, ids: &[String]) -> Result<HashMap<String, Vec<f32>>, VectorError>;

    /// Returns the ids of all records. A missing collection has none.
    async fn ids(&self, collection: &Collection) -> Result<HashSet<String>, VectorError>;

    /// Removes the records that exist.
    async fn delete(&self, collection: &Collection, ids: &[String]) -> Result<(), VectorError>;

    /// Removes the records with all these labels, of which at least one is required.
    async fn delete_where(&self, collection: &Collection, only: &Labels) -> Result<(), VectorError>;

    /// Removes the collection and its records.
    async fn drop_collection(&self, collection: &Collection) -> Result<(), VectorError>;

    /// Checks that the service answers.
    async fn ping(&self) -> Result<(), VectorError>;
}

/// Why the vector index failed.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The service does not answer in time.
    #[error("the vector index does not answer: {0}")]
    Unavailable(String),
    /// The collection has vectors of another model.
    #[error(
        "the collection {collection} contains vectors of {} ({} dimensions), but the embedding model is {} ({} dimensions): \
         run `frontdesk index --rebuild`, or name the earlier model in OLLAMA_EMBED_MODEL",
        found.model, found.dimension, wanted.model, wanted.dimension
    )]
    OtherSpace { collection: String, found: Space, wanted: Space },
    /// The service refused the request, or its response has an unexpected format.
    #[error("the vector index refused: {0}")]
    Refused(String),
}

/// Checks that a collection has the space that is wanted.
///
/// # Errors
/// [`VectorError::OtherSpace`] if it has another one.
pub fn check_space(collection: &str, found: &Space, wanted: &Space) -> Result<(), VectorError> {
    if found == wanted {
        return Ok(());
    }
    let (found, wanted) = (found.clone(), wanted.clone());
    Err(VectorError::OtherSpace { collection: collection.to_owned(), found, wanted })
}

/// Returns the cosine similarity of two vectors of unit length, -1 to 1.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>())
}

/// Checks that a vector has this dimension.
///
/// # Errors
/// [`VectorError::Refused`] if it has another dimension, or a number that is not finite.
pub fn check_vector(vector: &[f32], dimension: usize) -> Result<(), VectorError> {
    if vector.len() != dimension {
        let given = vector.len();
        return Err(VectorError::Refused(format!("the vector has {given} dimensions instead of {dimension}")));
    }
    if vector.iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    Err(VectorError::Refused("the vector has a number that is not finite".to_owned()))
}

/// Checks that there is a label to remove records by.
///
/// # Errors
/// [`VectorError::Refused`] without labels, which would remove every record.
pub fn check_labels(only: &Labels) -> Result<(), VectorError> {
    if only.is_empty() {
        return Err(VectorError::Refused("removing records needs at least one label".to_owned()));
    }
    Ok(())
}
