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

/// Joins the lines of each paragraph. A short paragraph of one line without closing punctuation is a heading.
fn with_headings(text: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if !line.trim().is_empty() {
            lines.push(line.trim());
            continue;
        }
        match std::mem::take(&mut lines).as_slice() {
            [] => {}
            [only] if is_heading(only) => blocks.push(format!("## {}", escaped(only))),
            several => blocks.push(several.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\n")),
        }
    }
    blocks.join("\n\n")
}

fn is_heading(line: &str) -> bool {
    let begins = line.chars().next().is_some_and(|c| c.is_uppercase() || c.is_numeric());
    let ends = line.ends_with(['.', ',', ';', '!', ':']);
    begins && !ends && line.chars().any(char::is_alphabetic) && line.split_whitespace().count() <= HEADING_MAX_WORDS
}

/// Returns a line that means the same in Markdown: without marks of a heading or quotation, and without HTML.
pub(super) fn escaped(line: &str) -> String {
    let line = line.trim_start_matches(['#', '>', '`', '~', '=', ' ']);
    let mut escaped = String::with_capacity(line.len());
    for c in line.chars() {
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

    #[test]
    fn short_lines_become_headings() {
        let text = "Delivery times\n\nWe deliver in\nNairobi today.\n\n# 1 <b>offer</b>\n\nIs it free?\n";
        assert_eq!(
            with_headings(text),
            "## Delivery times\n\nWe deliver in\nNairobi today.\n\n1 < b>offer< /b>\n\n## Is it free?"
        );
    }

    #[test]
    fn front_matter_cannot_be_broken_by_a_name() {
        let page = make("a\"\nb: c.txt".as_ref(), Format::Text, "Hello there.", Some(Language::EN)).expect("a page");
        assert_eq!(page, "---\ntitle: \"a\\\"\\nb: c\"\nlanguage: en\n---\n\nHello there.\n");
    }
}
