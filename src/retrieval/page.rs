//! A page of Markdown or of plain text as chunks.

use super::chunk::{Chunk, SECTION_DEPTH};
use super::cut::cut;
use super::document::{About, guess_language};
use super::keywords::{has_any, keywords};
use super::markdown::{self, Outline, Section};
use super::tokens::estimate;
use crate::config::ChunkConfig;
use crate::domain::language::LanguageProfile;

/// The chunks of a page, and those that say too little to be one.
#[derive(Debug, Default)]
pub struct Page {
    pub chunks: Vec<Chunk>,
    /// By [`says_too_little`].
    pub dropped: Vec<Chunk>,
}

/// The chunks of a Markdown page: each section by itself, so that a citation is exact; a long section in parts that overlap.
///
/// Without a title in the front matter it is the first heading's, else `doc_id`. The page's title is no section of it.
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
        language: about.language.or_else(|| guess_language(body, languages)),
        keywords,
        ..Chunk::default()
    };
    let mut page = Page::default();
    for Section { path, blocks } in sections {
        let own_heading = path.last().cloned().unwrap_or_default();
        let above: Vec<String> = path.into_iter().filter(|heading| *heading != title).collect();
        let section_path = above[above.len().saturating_sub(SECTION_DEPTH)..].to_vec();
        for text in parts(&blocks.join("\n\n"), sizes) {
            let dropped = says_too_little(&text, &own_heading, &template.keywords, sizes.min_tokens);
            let kept = if dropped { &mut page.dropped } else { &mut page.chunks };
            kept.push(Chunk {
                title: title.clone(),
                section_path: section_path.clone(),
                searched: about.summary.as_ref().map(|summary| format!("{summary}\n{text}")),
                text,
                ..template.clone()
            });
        }
    }
    page
}

/// The chunks of a plain text, cut at its paragraphs. It has no keywords.
pub fn plain(
    doc_id: &str,
    path: &str,
    text: &str,
    languages: &[LanguageProfile],
    sizes: &ChunkConfig,
) -> Page {
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

/// Of the summary and all headings; the front matter's title counts as a heading where no heading says the same.
fn page_keywords(about: &About, headings: &[String]) -> Vec<String> {
    let title = about.title.as_deref().filter(|title| !headings.iter().any(|heading| heading == title));
    keywords(about.summary.as_deref().into_iter().chain(title).chain(headings.iter().map(String::as_str)))
}

/// Seed 003's filter: a chunk of fewer tokens *and* without any of its document's keywords says too little. The heading right above
/// counts, since in the seed it is part of the chunk.
///
/// A document without keywords (no summary, no heading, no title of its own) keeps its chunks: otherwise "none of its
/// keywords" would hold for every one, and a short notice in plain text would never be found.
fn says_too_little(text: &str, heading: &str, keywords: &[String], min_tokens: usize) -> bool {
    !keywords.is_empty() && estimate(text) < min_tokens && !has_any(text, keywords) && !has_any(heading, keywords)
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
    fn a_chunk_lies_in_one_section_and_cites_it_with_two_around_it() {
        let body = "Lead.\n# Top\n## A\n### B\n#### C\nDeep text.\n## D\nOne two three four. Five six seven eight.\n";
        let page = markdown("p", "p.md", about("Top", ""), body, &[], &sizes(8, 4, 0));
        let found: Vec<_> = page.chunks.iter().map(|c| (c.section(), c.text.as_str())).collect();
        let found: Vec<_> = found.iter().map(|(section, text)| (section.as_str(), *text)).collect();
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
    fn a_short_chunk_without_a_keyword_is_dropped_and_a_long_one_stays() {
        let body = "Xin chào.\n\n## Phí giao\nMiễn phí.\n";
        let page = markdown("p", "p.md", about("", "Khu vực"), body, &[], &sizes(600, 120, 200));
        assert_eq!(page.chunks.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), ["Miễn phí."]);
        assert_eq!(page.dropped.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), ["Xin chào."]);
        let page = markdown("p", "p.md", About::default(), "# Đỗ xe\nMiễn phí.", &[], &sizes(600, 120, 200));
        assert_eq!((page.chunks.len(), page.dropped.len()), (1, 0), "the page's own title is a heading too");
        let page = markdown("p", "p.md", about("", "Khu vực"), body, &[], &sizes(600, 120, 2));
        assert_eq!(page.chunks.len(), 2);
    }

    #[test]
    fn a_document_that_names_nothing_keeps_its_chunks() {
        let page = markdown("p", "p.md", About::default(), "Xin chào.", &[], &sizes(600, 120, 200));
        assert_eq!((page.chunks.len(), page.dropped.len()), (1, 0));
        assert_eq!(
            plain("p", "p.txt", "Xin chào.\n\nMời vào.", &[], &sizes(600, 120, 200)).chunks[0].text,
            "Xin chào.\n\nMời vào."
        );
    }
}
