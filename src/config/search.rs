use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::{EmbedConfig, Env};

/// Document search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchConfig {
    /// `NO_CONTEXT_MIN_HITS`: similar chunks that count as an answer, 3.
    pub min_hits: usize,
    /// `NO_CONTEXT_THRESHOLDS`: the mean cosine from which chunks count as an answer, by embedding model. The default is 0.5 or the
    /// calibrated value, whichever is higher.
    pub thresholds: BTreeMap<String, f64>,
    /// `EMBED_QUERY_TIMEOUT_MS`: how long the vector search may take. Later, the search uses words only.
    pub vector_timeout: Duration,
    /// `EMBED_BATCH`: chunks that are embedded and stored together.
    pub batch: usize,
    /// `MEMORY_MESSAGES`: earlier messages that are added to the prompt when the history does not fit.
    pub memory_messages: usize,
    /// `INDEXES_MAX_MB`: memory in bytes for the word indexes of documents. Those that were not used for longest are dropped, and made
    /// again when a question needs them.
    pub indexes_max: usize,
}

impl SearchConfig {
    pub(super) fn read(env: &mut Env, embed: &EmbedConfig) -> Self {
        Self {
            min_hits: env.number("NO_CONTEXT_MIN_HITS", 3),
            thresholds: thresholds(env),
            vector_timeout: embed.query_timeout,
            batch: embed.batch,
            memory_messages: env.number("MEMORY_MESSAGES", 4),
            indexes_max: env.megabytes("INDEXES_MAX_MB", 512),
        }
    }
}

fn thresholds(env: &mut Env) -> BTreeMap<String, f64> {
    const NAME: &str = "NO_CONTEXT_THRESHOLDS";
    let mut thresholds = BTreeMap::new();
    for entry in env.text(NAME, "").split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let pair = entry.rsplit_once('=').and_then(|(model, value)| Some((model.trim(), value.trim().parse().ok()?)));
        match pair {
            Some((model, value)) if (-1.0..=1.0).contains(&value) && !model.is_empty() => {
                thresholds.insert(model.to_owned(), value);
            }
            _ => env.refuse(NAME, format!("'{entry}' is not valid: write MODEL=COSINE, such as bge-m3=0.5")),
        }
    }
    thresholds
}

/// The vector index. `Default` gives the documented defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorConfig {
    /// `CHROMA_URL`: a Chroma server; `None` = vectors are stored in the database and searched in the process.
    pub chroma_url: Option<String>,
    /// `CHROMA_COLLECTION`: the collection of conversation memory.
    pub collection: String,
    /// `CHROMA_TIMEOUT_SECONDS`: the timeout of one request, including connecting.
    pub timeout: Duration,
    /// `CHROMA_PATH`: the data folder of `scripts/chroma`. The server itself does not use it.
    pub chroma_path: PathBuf,
    /// `VECTORS_MAX_MB`: memory in bytes for collections that are searched in the process. Larger ones are read from the database each
    /// time.
    pub memory_max: usize,
}

impl Default for VectorConfig {
    fn default() -> Self {
        Self::read(&mut Env::default())
    }
}

impl VectorConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            chroma_url: env.find("CHROMA_URL"),
            collection: env.text("CHROMA_COLLECTION", "conversations_dev"),
            timeout: env.seconds("CHROMA_TIMEOUT_SECONDS", 10),
            chroma_path: env.text("CHROMA_PATH", "./database/chroma_db/").into(),
            memory_max: env.megabytes("VECTORS_MAX_MB", 512),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_per_model() {
        let read = |value: &str| {
            let mut env = Env::of([("NO_CONTEXT_THRESHOLDS".to_owned(), value.to_owned())]);
            (thresholds(&mut env).into_iter().collect::<Vec<_>>(), env.into_errors().len())
        };
        assert_eq!(read("bge-m3=0.5, e5:latest = 0.83"), (vec![("bge-m3".into(), 0.5), ("e5:latest".into(), 0.83)], 0));
        assert_eq!(read(""), (vec![], 0));
        assert_eq!(read("0.5,bge-m3=2,=0.5").1, 3);
    }
}
