//! The text of a Word file, with its headings, lists and tables as Markdown.

use std::io::{BufReader, Cursor, Read};

use anyhow::{Context, anyhow, bail};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use zip::ZipArchive;

use super::page::escaped;
use super::read::{EXPANDED_MAX_BYTES, EXPANDED_TOO_MUCH};

/// How an encrypted file, or one of Word before 2007, begins.
const COMPOUND_FILE: [u8; 4] = [0xd0, 0xcf, 0x11, 0xe0];
/// The part of the file that has the text.
const DOCUMENT: &str = "word/document.xml";

/// Returns the text of a file.
///
/// # Errors
/// What is wrong with the file.
pub(super) fn text(bytes: &[u8]) -> anyhow::Result<String> {
    if bytes.starts_with(&COMPOUND_FILE) {
        bail!("it has a password, or is a file of Word before 2007: save it as .docx without a password");
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| anyhow!("it is no DOCX file: {error}"))?;
    let entry = archive.by_name(DOCUMENT).map_err(|error| anyhow!("it is no DOCX file: {DOCUMENT}: {error}"))?;
    let mut xml = Vec::new();
    entry.take(EXPANDED_MAX_BYTES + 1).read_to_end(&mut xml).context("the DOCX file is damaged")?;
    if xml.len() as u64 > EXPANDED_MAX_BYTES {
        bail!(EXPANDED_TOO_MUCH);
    }
    let text = read(&xml).context("the DOCX file is damaged")?;
    if !text.chars().any(char::is_alphanumeric) {
        bail!("the DOCX file has no text");
    }
    Ok(text)
}

fn read(xml: &[u8]) -> anyhow::Result<String> {
    let mut reader = Reader::from_reader(BufReader::new(xml));
    let (mut document, mut buffer) = (Document::default(), Vec::new());
    loop {
        match reader.read_event_into(&mut buffer)? {
            Event::Start(tag) => document.open(&tag),
            Event::Empty(tag) => {
                document.open(&tag);
                document.close(tag.local_name().as_ref());
            }
            Event::End(tag) => document.close(tag.local_name().as_ref()),
            Event::Text(text) if document.in_text => document.paragraph.push_str(&text.xml10_content()),
            Event::GeneralRef(name) if document.in_text => document.paragraph.push_str(&character(&name)?),
            Event::Eof => return Ok(document.text),
            _ => {}
        }
        buffer.clear();
    }
}

/// Returns what a reference such as `&amp;` or `&#8217;` stands for. A file cannot define others.
fn character(name: &BytesRef<'_>) -> anyhow::Result<String> {
    if let Some(character) = name.resolve_char_ref()? {
        return Ok(character.to_string());
    }
    let known = quick_xml::escape::resolve_xml_entity(name);
    known.map(str::to_owned).ok_or_else(|| anyhow!("the reference &{}; is not defined", &**name))
}

/// The text so far.
#[derive(Default)]
struct Document {
    text: String,
    paragraph: String,
    /// The level of a heading, or 0.
    heading: usize,
    in_list: bool,
    in_text: bool,
    /// The cells of the open rows of tables. A row within a cell of another one is after it.
    rows: Vec<Vec<String>>,
}

impl Document {
    fn open(&mut self, tag: &BytesStart<'_>) {
        match tag.local_name().as_ref() {
            "t" => self.in_text = true,
            "tab" | "br" | "cr" => self.paragraph.push(' '),
            "numPr" => self.in_list = true,
            "tr" => self.rows.push(Vec::new()),
            "tc" => {
                if let Some(row) = self.rows.last_mut() {
                    row.push(String::new());
                }
            }
            "pStyle" => {
                let value = tag.attributes().flatten().find(|of| of.key.local_name().as_ref() == "val");
                self.heading = value.map_or(0, |of| level_of(&of.value));
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            "tr" => {
                let cells = self.rows.pop().unwrap_or_default();
                let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
                let row = cells.join(" — ");
                if !self.add_to_cell(&row, "; ") {
                    self.add(&escaped(&row));
                }
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let (heading, in_list) = (std::mem::take(&mut self.heading), std::mem::take(&mut self.in_list));
        let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        if paragraph.is_empty() {
            return;
        }
        if self.add_to_cell(&paragraph, " ") {
            return;
        }
        let paragraph = escaped(&paragraph);
        match (heading, in_list) {
            (1.., _) => self.add(&format!("{} {paragraph}", "#".repeat(heading))),
            (0, true) => self.add(&format!("- {paragraph}")),
            (0, false) => self.add(&paragraph),
        }
    }

    /// Adds a text to the open cell. Returns `false` without one.
    fn add_to_cell(&mut self, text: &str, separator: &str) -> bool {
        let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) else { return false };
        if !cell.is_empty() && !text.is_empty() {
            cell.push_str(separator);
        }
        cell.push_str(text);
        true
    }

    fn add(&mut self, block: &str) {
        if !block.is_empty() {
            self.text.push_str(block);
            self.text.push_str("\n\n");
        }
    }
}

/// Returns the level of a style such as `Title`, `Heading1` or `Heading 2`; 0 for others.
fn level_of(style: &str) -> usize {
    const DEEPEST: usize = 4;
    let style = style.to_lowercase();
    match style.strip_prefix("heading") {
        Some(level) => level.trim().parse::<usize>().map_or(0, |level| (level + 1).clamp(2, DEEPEST)),
        None => usize::from(style == "title"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_within_a_cell_keeps_the_row() {
        let cell = |content: &str| format!("<tc>{content}</tc>");
        let text = |text: &str| format!("<p><t>{text}</t></p>");
        let inner = |city: &str, fee: &str| format!("<tr>{}{}</tr>", cell(&text(city)), cell(&text(fee)));
        let table = format!("<tbl>{}{}</tbl>", inner("Nairobi", "200"), inner("Mombasa", "300"));
        let fees = format!("{}{table}{}", text("Fees"), text("in shillings"));
        let row = format!("<tbl><tr>{}{}{}</tr></tbl>", cell(&text("Delivery")), cell(&fees), cell(&text("2 days")));
        let expected = "Delivery — Fees; Nairobi — 200; Mombasa — 300 in shillings — 2 days\n\n";
        assert_eq!(read(row.as_bytes()).expect("a document"), expected);
    }
}
