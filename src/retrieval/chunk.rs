//! Chunks: the parts of documents that are indexed and cited.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sha1::{Digest, Sha1};

use super::Passage;
use crate::domain::Language;
use crate::domain::text::hex;

/// A part of one section of a document, or a catalogue row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// The file's stem, or its whole path if another file in the folder has the same stem.
    pub doc_id: String,
    pub title: String,
    /// At most [`SECTION_DEPTH`] headings above it, outermost first, or the category of a catalogue row. May be empty.
    pub section_path: Vec<String>,
    /// The path below the knowledge folder, with `/` between folders.
    pub path: String,
    /// As written: `1.10` stays `1.10`.
    pub version: Option<String>,
    /// As written.
    pub last_updated: Option<String>,
    pub audience: Option<String>,
    /// The name that the translations of a page share: `id` of its front matter.
    pub page_id: Option<String>,
    /// `None` for a chunk that suits every language, such as a catalogue row.
    pub language: Option<Language>,
    /// The keywords of the document.
    pub keywords: Vec<String>,
    /// The text to show, unless `translated` contains the customer's language.
    pub text: String,
    pub translated: Vec<(Language, String)>,
    /// The text to search by words, if it differs from `text`. Title and section are always searched.
    pub searched: Option<String>,
    /// Questions that its section answers. They are searched, but neither shown nor embedded.
    pub questions: Vec<String>,
    pub product: Option<Product>,
}

/// The number of headings in a citation: the section of the chunk and at most two above it.
pub const SECTION_DEPTH: usize = 3;

/// The product of a catalogue row, for ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The price in the shop's currency.
    pub price: Option<u64>,
    /// False only if the catalogue lists the stock as 0.
    pub in_stock: bool,
}

impl Chunk {
    /// Returns the section path, joined by ` > `.
    pub fn section(&self) -> Cow<'_, str> {
        match self.section_path.as_slice() {
            [only] => Cow::Borrowed(only),
            path => Cow::Owned(path.join(" > ")),
        }
    }

    /// Returns the text to embed, which starts with title and section so that a short chunk has a topic.
    pub fn embedded_text(&self) -> String {
        let mut text = self.title.clone();
        for part in [&*self.section(), &*self.text] {
            if !part.is_empty() {
                text.push('\n');
                text.push_str(part);
            }
        }
        text
    }

    /// Returns the id in vector collections: a hash of the path and the embedded text, so that comparing two sets of
    /// ids finds all changes.
    ///
    /// Version, date and audience are not part of it: a page with a new date is not embedded again, and its vectors
    /// keep their old labels. Answers read these values from the files.
    pub fn id(&self) -> String {
        let mut hash = Sha1::new();
        // The length separates the path from the text.
        hash.update((self.path.len() as u64).to_le_bytes());
        hash.update(&self.path);
        hash.update(self.embedded_text());
        hex(&hash.finalize())
    }

    /// Returns the SHA-1 of the text in hexadecimal digits.
    pub fn sha1(&self) -> String {
        hex(&Sha1::digest(&self.text))
    }

    /// Returns the labels of the chunk in a vector collection.
    pub fn labels(&self) -> BTreeMap<String, String> {
        let always = [
            ("doc_id", self.doc_id.clone()),
            ("title", self.title.clone()),
            ("section_path", self.section().into_owned()),
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

    /// Returns the passage to show in this language.
    pub fn passage(&self, language: Language, score: f64) -> Passage {
        let translated = self.translated.iter().find(|(of, _)| *of == language);
        Passage {
            title: self.title.clone(),
            section: self.section().into_owned(),
            file: self.path.clone(),
            version: self.version.clone(),
            language: self.language,
            text: translated.map_or(&self.text, |(_, text)| text).clone(),
            score,
        }
    }
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
    fn id_depends_on_path_and_text_only() {
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
    fn embedded_text_starts_with_title_and_section() {
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
