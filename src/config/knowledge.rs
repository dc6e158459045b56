use std::path::PathBuf;

use super::Env;

/// The shop's documents.
#[derive(Clone, Debug)]
pub struct KnowledgeConfig {
    /// `KNOWLEDGE_PATH`
    pub folder: PathBuf,
    /// `KNOWLEDGE_COLLECTION`: where the vectors of the documents are kept. A folder that a persona names has a collection of
    /// its own, called after both.
    pub collection: String,
    pub chunks: ChunkConfig,
}

/// How documents are cut up, in tokens as [`crate::retrieval`] counts them. `Default` gives the documented defaults, seed 003's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkConfig {
    /// `CHUNK_TOKENS`: 600 at most.
    pub tokens: usize,
    /// `CHUNK_OVERLAP_TOKENS`: 120 that the parts of a long section share at most.
    pub overlap: usize,
    /// `CHUNK_MIN_TOKENS`: shorter chunks, of fewer than 200, must hold a keyword of their document.
    pub min_tokens: usize,
}

impl Default for ChunkConfig {
    fn default() -> Self {
        Self { tokens: 600, overlap: 120, min_tokens: 200 }
    }
}

/// A chunk that is shorter holds no answer.
const FEWEST_TOKENS: usize = 50;

impl KnowledgeConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            folder: env.text("KNOWLEDGE_PATH", "knowledge").into(),
            collection: env.text("KNOWLEDGE_COLLECTION", "knowledge_dev"),
            chunks: ChunkConfig::read(env),
        }
    }
}

impl ChunkConfig {
    fn read(env: &mut Env) -> Self {
        let Self { tokens, overlap, min_tokens } = Self::default();
        let sizes = Self {
            tokens: env.number("CHUNK_TOKENS", tokens),
            overlap: env.number("CHUNK_OVERLAP_TOKENS", overlap),
            min_tokens: env.number("CHUNK_MIN_TOKENS", min_tokens),
        };
        if sizes.tokens < FEWEST_TOKENS {
            env.refuse("CHUNK_TOKENS", format!("must be {FEWEST_TOKENS} or more"));
        }
        if sizes.overlap > sizes.tokens / 2 {
            env.refuse("CHUNK_OVERLAP_TOKENS", "must be at most half of CHUNK_TOKENS".to_owned());
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlap_leaves_room_for_something_new() {
        for (tokens, overlap, errors) in [("600", "300", 0), ("600", "301", 1), ("49", "0", 1), ("50", "26", 1)] {
            let pairs = [("CHUNK_TOKENS", tokens), ("CHUNK_OVERLAP_TOKENS", overlap)];
            let mut env = Env::of(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            KnowledgeConfig::read(&mut env);
            assert_eq!(env.into_errors().len(), errors, "{tokens} {overlap}");
        }
    }
}
