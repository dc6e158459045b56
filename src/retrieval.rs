//! Finding the passages of the shop's own documents that answer a question.
//!
//! Two halves meet in [`Chunk`]. *Ingest* reads folders ([`library`], [`folder`]): Markdown with front matter ([`document`],
//! [`markdown`], [`page`]), CSV catalogues ([`catalogue`]) and plain text become chunks of moderate size ([`cut`], [`tokens`])
//! that know what their document is about ([`keywords`]); [`sync`] keeps a collection of vectors in line with them. *Query* looks
//! them up ([`search`]): by words ([`lexical`]: terms ([`terms`]) under the shop's own words ([`rules`]), wishes about money
//! ([`budget`]), BM25), and by meaning where an embedding model answers. [`hybrid`] makes one list of both: ranks ([`fusion`]),
//! then variety ([`mmr`]). [`calibration`] says how alike texts are that have nothing to do with each other.
//!
//! [`embedded`] keeps vectors in the shop's own database and searches them in memory.
//!
//! Deliberately absent: a guess. A question that the documents do not answer gets an empty list, so that the desk can
//! say that it does not know.

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
pub mod keywords;
pub mod lexical;
pub mod library;
pub mod markdown;
pub mod memory;
pub mod mmr;
pub mod page;
pub mod rules;
pub mod search;
pub mod sync;
pub mod terms;
pub mod tokens;
pub mod vectors;

use std::path::PathBuf;

pub use chunk::Chunk;
pub use folder::{Report, Shelf, Warning};
pub use lexical::LexicalIndex;
pub use library::Library;
pub use rules::SearchRules;
pub use vectors::open_vectors;

use crate::domain::{Language, SourceItem};

/// What somebody wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The question in the customer's own words.
    pub text: String,
    /// The language of the answer: pages in it are preferred, and catalogue rows are written in it.
    pub language: Language,
    /// At most this many passages come back.
    pub limit: usize,
}

/// A piece of a document that speaks of what was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The document's title; for a catalogue row, the product's name.
    pub title: String,
    /// The headings above it, outermost first, joined by ` > `; for a catalogue row, its category. May be empty.
    pub section: String,
    /// The document's path below the knowledge folder.
    pub file: String,
    /// The document's own version, as its front matter writes it.
    pub version: Option<String>,
    pub text: String,
    /// How well it fits, 0 to 1: see [`search::Found`].
    pub score: f64,
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

/// Why documents could not be searched.
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    /// The knowledge folder is there but cannot be listed. A single bad file is a [`Warning`] instead.
    #[error("cannot list the knowledge folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
}
