//! Makes a page of the knowledge folder from the text of a file.

use std::path::Path;

use anyhow::bail;

use super::read::Format;
use crate::domain::Language;
use crate::domain::text::clean;

/// A longer line is no heading.
const HEADING_MAX_WORDS: usize = 9;

/// Returns the name of a file's page: the file's name in letters, digits, dots and hyphens.
pub(super) fn name_of(file: &Path) -> anyhow::Result<String> {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_lowercase();
    let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { ' ' };
    let name: String = stem.chars().map(plain).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join("-");
    match name.trim_matches('.') {
        "" => bail!("the file's name has no letter or digit"),
        name => Ok(format!("{name}.md")),
    }
}

/// Makes the page. A Markdown file is one already; other texts get front matter and headings.
pub(super) fn make(file: &Path, format: Format, text: &str, language: Option<Language>) -> anyhow::Result<String> {
    let text = clean(text);
    if !text.chars().any(char::is_alphanumeric) {
        bail!("it has no text");
    }
    let title = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().replace(['_', '-'], " ");
    let body = match format {
        Format::Markdown | Format::Docx => text.trim().to_owned(),
        Format::Pdf | Format::Text => with_headings(&text),
    };
    if format == Format::Markdown && body.starts_with("---") {
        return Ok(format!("{body}\n"));
    }
    let title = serde_json::Value::String(title);
    let language = language.map(|language| format!("language: {language}\n")).unwrap_or_default();
    Ok(format!("---\ntitle: {title}\n{language}---\n\n{body}\n"))
}

/// Joins the lines of each paragraph. A short line without closing punctuation is a heading if a paragraph follows it:
/// a heading without a text below it is not searched.
fn with_headings(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let blocks: Vec<&[&str]> = lines.split(|line| line.is_empty()).filter(|block| !block.is_empty()).collect();
    let is_short = |at: usize| matches!(blocks[at], [only] if is_heading(only));
    let written = (0..blocks.len()).map(|at| {
        let is_followed = at + 1 < blocks.len() && !is_short(at + 1);
        let mark = if is_short(at) && is_followed { "## " } else { "" };
        let lines: Vec<String> = blocks[at].iter().map(|line| escaped(line)).collect();
        format!("{mark}{}", lines.join("\n"))
    });
    written.collect::<Vec<_>>().join("\n\n")
}

fn is_heading(line: &str) -> bool {
    let begins = line.chars().next().is_some_and(|c| c.is_uppercase() || c.is_numeric());
    let ends = line.ends_with(['.', ',', ';', '!', ':']);
    begins && !ends && line.chars().any(char::is_alphabetic) && line.split_whitespace().count() <= HEADING_MAX_WORDS
}

/// Returns a line that shows the same text in Markdown, with a space in what could be HTML. An item of a list stays one.
pub(super) fn escaped(line: &str) -> String {
    let line = line.trim_start();
    let is_rule = line.starts_with('-') && !line.starts_with("- ");
    let mut escaped = String::with_capacity(line.len());
    if is_rule || line.starts_with(['#', '>', '~', '=']) {
        escaped.push('\\');
    }
    for c in line.chars() {
        if matches!(c, '\\' | '*' | '_' | '`' | '[') {
            escaped.push('\\');
        }
        escaped.push(c);
        if c == '<' {
            escaped.push(' ');
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ChunkConfig;
    use crate::retrieval::{SearchRules, folder};

    #[test]
    fn page_is_named_like_its_file() {
        for (file, name) in [
            ("in/Returns Policy (2026).pdf", "returns-policy-2026.md"),
            ("delivery.sw.docx", "delivery.sw.md"),
            ("../..secret.txt", "secret.md"),
        ] {
            assert_eq!(name_of(file.as_ref()).expect("a name"), name);
        }
        assert!(name_of("--.pdf".as_ref()).is_err());
    }

    /// Returns the sections and texts that a shop answers from.
    fn passages(text: &str) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().expect("a folder");
        let page = make("info.txt".as_ref(), Format::Text, text, None).expect("a page");
        std::fs::write(folder.path().join("info.md"), page).expect("a file");
        let rules = SearchRules::from_toml("").expect("rules");
        let shelf = folder::read(folder.path(), "", &rules, &ChunkConfig::default()).expect("a shelf");
        shelf.chunks.iter().map(|chunk| (chunk.section().into_owned(), chunk.text.clone())).collect()
    }

    #[test]
    fn short_line_above_a_paragraph_is_a_heading() {
        let text = "Delivery times\n\nWe deliver in\nNairobi today.\n\n# 1 <b>offer</b>\n\nIs it free?\n";
        let page = "## Delivery times\n\nWe deliver in\nNairobi today.\n\n\\# 1 < b>offer< /b>\n\nIs it free?";
        assert_eq!(with_headings(text), page);
    }

    #[test]
    fn text_of_short_lines_is_searched() {
        let text = "Opening hours\n\nMonday to Friday 9:00-18:00\n\nSunday closed";
        assert_eq!(passages(text), [(String::new(), text.to_owned())]);
        let dirty = text.replace("hours", "ho\0u\u{202e}rs\u{7}");
        let page = make("info.txt".as_ref(), Format::Text, &dirty, None).expect("a page");
        assert!(page.contains("\n\nOpening hours\n\n"), "{page}");
    }

    #[test]
    fn imported_text_keeps_its_signs() {
        let text = "Dial *111*2# for a box of 60*40*30 cm, see [1]: snake_case_name `x` C:\\*temp \\\\ end.\n\
                    #100# is free.\n> 5 kg costs more.\n-----\na - b";
        assert_eq!(passages(&format!("USSD *1*2#\n\n{text}")), [("USSD *1*2#".to_owned(), text.to_owned())]);
    }

    #[test]
    fn front_matter_cannot_be_broken_by_a_name() {
        let page = make("a\"\nb: c.txt".as_ref(), Format::Text, "Hello there.", Some(Language::EN)).expect("a page");
        assert_eq!(page, "---\ntitle: \"a\\\"\\nb: c\"\nlanguage: en\n---\n\nHello there.\n");
    }
}
