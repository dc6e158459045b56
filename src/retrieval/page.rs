//! Splits a page of Markdown or plain text into chunks with the keywords of the page.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::chunk::{Chunk, SECTION_DEPTH};
use super::cut::cut;
use super::document::{About, guess_language};
use super::markdown::{self, Outline, Section};
use super::tokens::estimate;
use crate::config::ChunkConfig;
use crate::domain::language::LanguageProfile;

/// The chunks of a page.
#[derive(Debug, Default)]
pub struct Page {
    pub chunks: Vec<Chunk>,
    /// Chunks that are not indexed, because of [`says_too_little`].
    pub dropped: Vec<Chunk>,
}

/// Splits a Markdown page by section, so that citations are exact, and long sections into overlapping parts.
///
/// The title comes from the front matter, else from the first heading, else it is `doc_id`. It is not part of section
/// paths. Some chunks are dropped because of [`says_too_little`], but never all.
pub fn markdown(
    doc_id: &str,
    path: &str,
    about: About,
    body: &str,
    languages: &[LanguageProfile],
    sizes: &ChunkConfig,
) -> Page {
    let Outline { headings, sections } = markdown::outline(body);
    let keywords = page_keywords(&about, &headings);
    let title = about.title.or_else(|| headings.first().cloned()).unwrap_or_else(|| doc_id.to_owned());
    let template = Chunk {
        doc_id: doc_id.to_owned(),
        path: path.to_owned(),
        version: about.version,
        last_updated: about.last_updated,
        audience: about.audience,
        page_id: about.id,
        language: about.language.or_else(|| guess_language(body, languages)),
        keywords,
        ..Chunk::default()
    };
    let mut page = Page::default();
    for Section { path, blocks, questions } in sections {
        let own_heading = path.last().cloned().unwrap_or_default();
        let above: Vec<String> = path.into_iter().filter(|heading| *heading != title).collect();
        let section_path = above[above.len().saturating_sub(SECTION_DEPTH)..].to_vec();
        for text in parts(&blocks.join("\n\n"), sizes) {
            let dropped = says_too_little(&text, &own_heading, &template.keywords, sizes.min_tokens);
            let kept = if dropped { &mut page.dropped } else { &mut page.chunks };
            kept.push(Chunk {
                title: title.clone(),
                section_path: section_path.clone(),
                questions: questions.clone(),
                searched: about.summary.as_ref().map(|summary| format!("{summary}\n{text}")),
                text,
                ..template.clone()
            });
        }
    }
    if page.chunks.is_empty() {
        page.chunks = std::mem::take(&mut page.dropped);
    }
    page
}

/// Splits a plain text at its paragraphs. The chunks have no keywords.
pub fn plain(doc_id: &str, path: &str, text: &str, languages: &[LanguageProfile], sizes: &ChunkConfig) -> Page {
    let template = Chunk {
        doc_id: doc_id.to_owned(),
        title: doc_id.to_owned(),
        path: path.to_owned(),
        language: guess_language(text, languages),
        ..Chunk::default()
    };
    let chunks = parts(text.trim(), sizes).into_iter().map(|text| Chunk { text, ..template.clone() }).collect();
    Page { chunks, dropped: Vec::new() }
}

fn parts(text: &str, sizes: &ChunkConfig) -> Vec<String> {
    let parts = cut(text, sizes.tokens, sizes.overlap).into_iter();
    parts.map(|part| text[part].trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Returns the keywords of the summary and all headings. A title in the front matter counts as a heading if it differs
/// from all.
fn page_keywords(about: &About, headings: &[String]) -> Vec<String> {
    let title = about.title.as_deref().filter(|title| !headings.iter().any(|heading| heading == title));
    keywords(about.summary.as_deref().into_iter().chain(title).chain(headings.iter().map(String::as_str)))
}

/// Whether a chunk has fewer than `min_tokens` tokens *and* neither its text nor its heading contains a keyword of its
/// document.
///
/// A document without keywords (no summary, heading or title) keeps all chunks. Otherwise a short notice in plain text
/// could never be found.
fn says_too_little(text: &str, heading: &str, keywords: &[String], min_tokens: usize) -> bool {
    !keywords.is_empty() && estimate(text) < min_tokens && !has_any(text, keywords) && !has_any(heading, keywords)
}

/// The maximum number of keywords.
const KEYWORDS: usize = 12;
/// A keyword has more letters than the first number and fewer than the second.
const LETTERS: (usize, usize) = (2, 24);

/// Returns the keywords of a document with this summary, title and headings: in lower case and without surrounding
/// punctuation, sorted by frequency, then by first occurrence. Words are split only at white space.
fn keywords<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found: HashMap<String, (usize, usize)> = HashMap::new();
    for (n, word) in texts.into_iter().flat_map(words).enumerate() {
        let letters = word.chars().count();
        if LETTERS.0 < letters && letters < LETTERS.1 {
            found.entry(word).or_insert((0, n)).0 += 1;
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, (count, first))| (usize::MAX - count, *first));
    found.into_iter().take(KEYWORDS).map(|(word, _)| word).collect()
}

/// Whether the text contains one of the keywords as a word.
fn has_any(text: &str, keywords: &[String]) -> bool {
    words(text).any(|word| keywords.contains(&word))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).map(|word| word.nfc().flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(tokens: usize, overlap: usize, min_tokens: usize) -> ChunkConfig {
        ChunkConfig { tokens, overlap, min_tokens }
    }

    fn about(title: &str, summary: &str) -> About {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        About { title: text(title), summary: text(summary), ..About::default() }
    }

    #[test]
    fn chunk_cites_its_section_and_two_above() {
        let body = "Lead.\n# Top\n## A\n### B\n#### C\nDeep text.\n## D\nOne two three four. Five six seven eight.\n";
        let page = markdown("p", "p.md", about("Top", ""), body, &[], &sizes(8, 4, 0));
        let found: Vec<_> = page.chunks.iter().map(|c| (c.section(), c.text.as_str())).collect();
        let found: Vec<_> = found.iter().map(|(section, text)| (section.as_ref(), *text)).collect();
        assert_eq!(
            found,
            [
                ("", "Lead."),
                ("A > B > C", "Deep text."),
                ("D", "One two three four."),
                ("D", "three four. Five six seven"),
                ("D", "Five six seven eight.")
            ]
        );
    }

    #[test]
    fn only_short_chunks_without_keywords_are_dropped() {
        let body = "Xin chào.\n\n## Phí giao\nMiễn phí.\n";
        let page = markdown("p", "p.md", about("", "Khu vực"), body, &[], &sizes(600, 120, 200));
        assert_eq!(page.chunks.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), ["Miễn phí."]);
        assert_eq!(page.dropped.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), ["Xin chào."]);
        let page = markdown("p", "p.md", About::default(), "# Đỗ xe\nMiễn phí.", &[], &sizes(600, 120, 200));
        assert_eq!((page.chunks.len(), page.dropped.len()), (1, 0), "the page's own title is a heading too");
        let page = markdown("p", "p.md", about("", "Khu vực"), body, &[], &sizes(600, 120, 2));
        assert_eq!(page.chunks.len(), 2);
        let page = markdown("p", "p.md", about("", "Khu vực"), "Xin chào.", &[], &sizes(600, 120, 200));
        assert_eq!((page.chunks.len(), page.dropped.len()), (1, 0), "a page is never dropped as a whole");
    }

    #[test]
    fn document_without_keywords_keeps_its_chunks() {
        let page = markdown("p", "p.md", About::default(), "Xin chào.", &[], &sizes(600, 120, 200));
        assert_eq!((page.chunks.len(), page.dropped.len()), (1, 0));
        assert_eq!(
            plain("p", "p.txt", "Xin chào.\n\nMời vào.", &[], &sizes(600, 120, 200)).chunks[0].text,
            "Xin chào.\n\nMời vào."
        );
    }

    #[test]
    fn keywords_are_sorted_by_frequency() {
        let found =
            keywords(["Giao hàng, giao hàng hỏa tốc!", "Phí (giao) HÀNG đi", "Wi-Fi 5GHz aaaaaaaaaaaaaaaaaaaaaaaa"]);
        assert_eq!(found, ["giao", "hàng", "hỏa", "tốc", "phí", "wi-fi", "5ghz"]);
        assert_eq!(keywords([]), [""; 0]);
        let many: String = (100..120).map(|n| format!("w{n} ")).collect();
        assert_eq!(keywords([many.as_str()]).len(), 12);
    }

    #[test]
    fn keyword_matches_whole_words_in_any_case() {
        let keywords = ["hàng".to_owned()];
        assert!(has_any("Trả HÀNG.", &keywords) && has_any("ha\u{300}ng", &keywords));
        assert!(!has_any("hàngg hang", &keywords));
    }
}
