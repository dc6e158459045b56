use std::path::PathBuf;

use super::Env;

/// The shop's documents.
#[derive(Clone, Debug)]
pub struct KnowledgeConfig {
    /// `KNOWLEDGE_PATH`
    pub folder: PathBuf,
    /// `KNOWLEDGE_COLLECTION`: the collection of the documents' vectors. A persona's folder has a separate collection, NAME-FOLDER.
    pub collection: String,
    pub chunks: ChunkConfig,
}

/// How documents are split into chunks, in tokens as [`crate::retrieval`] counts them. `Default` gives the documented defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkConfig {
    /// `CHUNK_TOKENS`: the maximum length, 600.
    pub tokens: usize,
    /// `CHUNK_OVERLAP_TOKENS`: the maximum overlap of chunks of one section, 120.
    pub overlap: usize,
    /// `CHUNK_MIN_TOKENS`: chunks shorter than 200 must contain a keyword of their document.
    pub min_tokens: usize,
}

impl Default for ChunkConfig {
    fn default() -> Self {
        Self { tokens: 600, overlap: 120, min_tokens: 200 }
    }
}

/// The smallest value of `CHUNK_TOKENS`, since shorter chunks contain no answer.
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

/// Evaluation cases.
#[derive(Clone, Debug)]
pub struct EvalConfig {
    /// `EVALS_PATH`; its folder `conversations` contains the cases.
    pub folder: PathBuf,
}

impl EvalConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self { folder: env.text("EVALS_PATH", "evals").into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_at_most_half_a_chunk() {
        for (tokens, overlap, errors) in [("600", "300", 0), ("600", "301", 1), ("49", "0", 1), ("50", "26", 1)] {
            let pairs = [("CHUNK_TOKENS", tokens), ("CHUNK_OVERLAP_TOKENS", overlap)];
            let mut env = Env::of(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            KnowledgeConfig::read(&mut env);
            assert_eq!(env.into_errors().len(), errors, "{tokens} {overlap}");
        }
    }
}
