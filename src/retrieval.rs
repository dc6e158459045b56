//! Finds passages of the shop's documents that answer a question.
//!
//! - Ingest: [`library`] and [`folder`] read folders of documents. Markdown with front matter ([`document`],
//!   [`markdown`], [`page`]), CSV catalogues ([`catalogue`]) and plain text become [`Chunk`]s of limited size ([`cut`],
//!   [`tokens`]), with the keywords of their document ([`page`]). [`sync`] updates a collection of vectors accordingly.
//! - Query: [`search`] searches by words ([`lexical`]: terms ([`terms`]), the shop's rules ([`rules`]), prices
//!   ([`budget`]) and BM25), and by meaning if an embedding model is available. [`hybrid`] merges the two lists by rank
//!   and removes repetition. [`calibration`] measures the similarity of unrelated texts.
//! - [`embedded`] stores vectors in the shop's database and searches them in memory.
//!
//! There is no best guess: a question that the documents do not answer gets an empty list.

pub mod budget;
pub mod calibration;
pub mod catalogue;
pub mod chunk;
pub mod cut;
pub mod document;
pub mod embedded;
pub mod folder;
pub mod fusion;
pub mod hybrid;
pub mod lexical;
pub mod library;
pub mod markdown;
pub mod memory;
pub mod mention;
pub mod mmr;
pub mod page;
pub mod rows;
pub mod rules;
pub mod search;
pub mod sync;
pub mod terms;
pub mod tokens;

use std::path::PathBuf;
use std::sync::Arc;

pub use chunk::Chunk;
pub use folder::{Report, Shelf, Warning};
pub use lexical::LexicalIndex;
pub use library::Library;
pub use rules::SearchRules;

use serde::{Deserialize, Serialize};

use self::embedded::EmbeddedIndex;
use crate::config::Config;
use crate::domain::{Language, SourceItem};
use crate::providers::vector::{ChromaIndex, InvalidChroma, VectorIndex};
use crate::store::Store;

/// A question to the documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The question in the customer's words.
    pub text: String,
    /// The language of the answer. Pages in it are preferred, and catalogue rows are written in it.
    pub language: Language,
    /// The maximum number of passages.
    pub limit: usize,
    /// Whether the question is about the shop and not about products, so that catalogue rows do not answer it.
    pub pages_only: bool,
}

/// What a conversation is about: what a question that says little means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Words about it, which are embedded with a question that says little: the question before, and the title of its answer.
    pub words: String,
    /// The question before.
    #[serde(default)]
    pub asked: String,
    /// The document that answered. Empty if it was none.
    pub file: String,
    /// The section that was quoted last. Empty if it was none.
    #[serde(default)]
    pub section: String,
}

impl Subject {
    /// Returns the subject of a message that is known to be about the shop, where no document was quoted before.
    pub fn shop() -> Self {
        Self::default()
    }

    /// Whether no document was quoted before.
    pub fn is_general(&self) -> bool {
        self.file.is_empty()
    }

    /// Returns the subject of a question that a passage answered.
    pub fn of(passage: &Passage, question: &str) -> Self {
        let words = format!("{}. {question}", passage.title);
        Self { words, asked: question.to_owned(), file: passage.file.clone(), section: passage.section.clone() }
    }
}

/// A part of a document that answers a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The document's title, or the product's name of a catalogue row.
    pub title: String,
    /// The headings above it, outermost first, joined by ` > `, or the category of a catalogue row. May be empty.
    pub section: String,
    /// The document's path below the knowledge folder.
    pub file: String,
    /// The version as written in the front matter.
    pub version: Option<String>,
    /// `None` for a passage that suits every language, such as a catalogue row.
    pub language: Option<Language>,
    pub text: String,
    /// The relevance, from 0 to 1: see [`search::Found`].
    pub score: f64,
}

impl Passage {
    /// Whether both are the same part of a document, whatever they scored.
    pub fn is_same(&self, other: &Self) -> bool {
        self.title == other.title && self.file == other.file && self.text == other.text
    }
}

/// Adds the passages that are not yet among others.
pub fn add_new(passages: &mut Vec<Passage>, others: impl IntoIterator<Item = Passage>) {
    for other in others {
        if !passages.iter().any(|known| known.is_same(&other)) {
            passages.push(other);
        }
    }
}

/// Keeps the passages in the language of the best one, so that no reply mixes two. A passage that suits every language counts as
/// `own`, the customer's.
pub fn in_one_language(passages: &mut Vec<Passage>, own: Language) {
    let language = |passage: &Passage| passage.language.unwrap_or(own);
    if let Some(of_best) = passages.first().map(language) {
        passages.retain(|passage| language(passage) == of_best);
    }
}

impl From<&Passage> for SourceItem {
    fn from(passage: &Passage) -> Self {
        Self {
            title: passage.title.clone(),
            section: passage.section.clone(),
            file: passage.file.clone(),
            version: passage.version.clone(),
            score: passage.score,
        }
    }
}

/// Returns the configured index: a Chroma server or the shop's database. Makes no request yet.
///
/// # Errors
/// `CHROMA_URL` is not a valid address.
pub fn open_vectors(config: &Config, store: &Store) -> Result<Arc<dyn VectorIndex>, InvalidChroma> {
    Ok(match &config.vectors.chroma_url {
        Some(url) => Arc::new(ChromaIndex::new(url, &config.vectors)?),
        None => Arc::new(EmbeddedIndex::new(store.clone(), config.vectors.memory_max)),
    })
}

/// Why documents could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    /// The knowledge folder exists but cannot be listed. A single bad file is a [`Warning`] instead.
    #[error("cannot list the knowledge folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
}
