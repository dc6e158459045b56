use std::path::PathBuf;
use std::time::Duration;

use super::Env;

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
    /// `VECTORS_MAX_MB`: memory for collections that are searched in the process. Larger ones are read from the database each time.
    pub memory_max_mb: usize,
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
            memory_max_mb: env.number("VECTORS_MAX_MB", 512),
        }
    }

    /// [`Self::memory_max_mb`] in bytes.
    pub fn memory_max(&self) -> usize {
        self.memory_max_mb.saturating_mul(1_000_000)
    }
}
