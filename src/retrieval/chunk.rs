//! What is indexed: a part of a document that answers a question by itself.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha1::{Digest, Sha1};

use super::Passage;
use crate::domain::Language;

/// A part of one section of a document, or a catalogue row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// The file's stem; where another file of the folder has the same one, its whole path.
    pub doc_id: String,
    pub title: String,
    /// The headings above it, outermost first, at most [`SECTION_DEPTH`]; for a catalogue row, its category. May be empty.
    pub section_path: Vec<String>,
    /// Below the knowledge folder, with `/` between folders.
    pub path: String,
    /// As written: `1.10` stays `1.10`.
    pub version: Option<String>,
    /// As written.
    pub last_updated: Option<String>,
    pub audience: Option<String>,
    /// None: of no language, such as a catalogue row; it is as good for one as for the other.
    pub language: Option<Language>,
    /// The document's.
    pub keywords: Vec<String>,
    /// What is shown, unless `translated` has the customer's language.
    pub text: String,
    pub translated: Vec<(Language, String)>,
    /// What is searched by words besides title and section; None: `text`.
    pub searched: Option<String>,
    pub product: Option<Product>,
}

/// A citation names the section that a chunk is in and at most two around it, as seed 003 has it.
pub const SECTION_DEPTH: usize = 3;

/// What ranking needs to know of a catalogue row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// In đồng.
    pub price: Option<u64>,
    /// False only if the catalogue says that there is none.
    pub in_stock: bool,
}

impl Chunk {
    /// The section path as people read it: joined by ` > `.
    pub fn section(&self) -> String {
        self.section_path.join(" > ")
    }

    /// What the embedding model reads: title and section before the text, so that a short chunk knows its topic.
    pub fn embedded_text(&self) -> String {
        let mut text = self.title.clone();
        for part in [self.section(), self.text.clone()] {
            if !part.is_empty() {
                text.push('\n');
                text.push_str(&part);
            }
        }
        text
    }

    /// Its id in vector collections: made of where it stands and of what is embedded, so that what changed is the difference of
    /// two sets of ids. Chunks that agree in both are one.
    ///
    /// What a page says beside its text (version, date, audience) is not in it: a page with a new date is not embedded again, and its
    /// records keep the labels of the run that embedded them. Answers take those from the files.
    pub fn id(&self) -> String {
        let mut hash = Sha1::new();
        // The path's length first, so that its end is told from the text's beginning.
        hash.update((self.path.len() as u64).to_le_bytes());
        hash.update(&self.path);
        hash.update(self.embedded_text());
        hex(&hash.finalize())
    }

    /// SHA-1 of the text, in hexadecimal digits.
    pub fn sha1(&self) -> String {
        hex(&Sha1::digest(&self.text))
    }

    /// What a vector collection holds of it besides its text.
    pub fn labels(&self) -> BTreeMap<String, String> {
        let always = [
            ("doc_id", self.doc_id.clone()),
            ("title", self.title.clone()),
            ("section_path", self.section()),
            ("path", self.path.clone()),
            ("keywords", self.keywords.join(" ")),
            ("sha1", self.sha1()),
        ];
        let said = [
            ("version", self.version.clone()),
            ("last_updated", self.last_updated.clone()),
            ("audience", self.audience.clone()),
            ("language", self.language.map(|language| language.code().to_owned())),
        ];
        let said = said.into_iter().filter_map(|(name, value)| Some((name, value?)));
        always.into_iter().chain(said).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// What somebody of that language is shown, with the score that it got.
    pub fn passage(&self, language: Language, score: f64) -> Passage {
        let translated = self.translated.iter().find(|(of, _)| *of == language);
        Passage {
            title: self.title.clone(),
            section: self.section(),
            file: self.path.clone(),
            version: self.version.clone(),
            text: translated.map_or(&self.text, |(_, text)| text).clone(),
            score,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk() -> Chunk {
        Chunk {
            doc_id: "giao".into(),
            title: "Giao hàng".into(),
            section_path: vec!["Nội thành".into(), "Phí".into()],
            path: "giao.md".into(),
            text: "Phí 30.000 đ.".into(),
            ..Chunk::default()
        }
    }

    #[test]
    fn an_id_tells_place_and_text_and_nothing_else() {
        let same = Chunk { version: Some("2".into()), keywords: vec!["phí".into()], ..chunk() };
        assert_eq!(chunk().id(), same.id());
        for other in [
            Chunk { path: "ship.md".into(), ..chunk() },
            Chunk { title: "Giao".into(), ..chunk() },
            Chunk { section_path: vec![], ..chunk() },
            Chunk { text: "Phí 35.000 đ.".into(), ..chunk() },
        ] {
            assert_ne!(chunk().id(), other.id(), "{other:?}");
        }
    }

    #[test]
    fn the_model_reads_title_and_section_before_the_text() {
        assert_eq!(chunk().embedded_text(), "Giao hàng\nNội thành > Phí\nPhí 30.000 đ.");
        assert_eq!(Chunk { section_path: vec![], ..chunk() }.embedded_text(), "Giao hàng\nPhí 30.000 đ.");
    }

    #[test]
    fn labels_hold_what_is_known() {
        let labels = Chunk { last_updated: Some("2026-01-02".into()), ..chunk() }.labels();
        let names: Vec<&str> = labels.keys().map(String::as_str).collect();
        assert_eq!(names, ["doc_id", "keywords", "last_updated", "path", "section_path", "sha1", "title"]);
        assert_eq!(labels["section_path"], "Nội thành > Phí");
    }
}
