//! Opens the configured index of vectors.

use std::sync::Arc;

use super::embedded::EmbeddedIndex;
use crate::config::Config;
use crate::providers::vector::{ChromaIndex, InvalidChroma, VectorIndex};
use crate::store::Store;

/// Returns the configured index: a Chroma server or the shop's database. Makes no request yet.
///
/// # Errors
/// `CHROMA_URL` is not a valid address.
pub fn open_vectors(config: &Config, store: &Store) -> Result<Arc<dyn VectorIndex>, InvalidChroma> {
    Ok(match &config.vectors.chroma_url {
        Some(url) => Arc::new(ChromaIndex::new(url, &config.vectors)?),
        None => Arc::new(EmbeddedIndex::new(store.clone(), config.vectors.memory_max())),
    })
}
