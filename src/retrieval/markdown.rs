//! Parses Markdown into sections of blocks.

use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use regex::Regex;

use crate::domain::text::constant_regex;

/// Matches HTML tags and comments, including an unclosed comment.
static HTML: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"(?s)<!--.*?(?:-->|\z)|</?[a-zA-Z][^>]*>"));

/// The content below a heading, up to the next heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The headings above it, outermost first; empty before the first heading.
    pub path: Vec<String>,
    /// Paragraphs, lists, code and tables in order. Lists and code are unchanged, emphasis marks, backslashes before signs
    /// and HTML are removed, and a table row becomes a line `column: cell; column: cell`.
    pub blocks: Vec<String>,
    /// Questions that the section answers, from a comment `<!-- questions`, one on each line.
    pub questions: Vec<String>,
}

/// The headings and sections of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// All headings in order, including those without content.
    pub headings: Vec<String>,
    /// The sections with content, in order.
    pub sections: Vec<Section>,
}

/// Parses a page.
pub fn outline(page: &str) -> Outline {
    let mut reader = Reader { page, ..Reader::default() };
    for (event, range) in Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter() {
        reader.read(event, range);
    }
    reader.sections.retain(|section| !section.blocks.is_empty());
    Outline { headings: reader.met, sections: reader.sections }
}

#[derive(Default)]
struct Reader<'a> {
    page: &'a str,
    sections: Vec<Section>,
    headings: Vec<(HeadingLevel, String)>,
    met: Vec<String>,
    depth: usize,
    /// Parts of the current block that are not shown.
    cuts: Vec<Range<usize>>,
    heading: Option<String>,
    table: Option<Table>,
}

#[derive(Default)]
struct Table {
    head: Vec<String>,
    row: Vec<String>,
    cell: String,
    lines: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.open(&tag, &range),
            Event::End(tag) => self.close(tag, range),
            Event::Text(text) => {
                if self.is_escaped(range.start) {
                    self.cuts.push(range.start - 1..range.start);
                }
                self.word(&text);
            }
            Event::Code(text) => self.word(&text),
            Event::SoftBreak | Event::HardBreak => self.word(" "),
            // A top-level HTML block is handled when it ends, so that its text is kept.
            Event::Html(_) if self.depth == 1 => {}
            Event::Html(_) | Event::InlineHtml(_) => self.cuts.push(range),
            _ => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>, range: &Range<usize>) {
        if self.depth == 0 {
            self.cuts.clear();
        }
        self.depth += 1;
        match tag {
            Tag::Heading { .. } if self.depth == 1 => self.heading = Some(String::new()),
            Tag::Table(_) if self.depth == 1 => self.table = Some(Table::default()),
            Tag::Emphasis => self.cut_marks(range, 1),
            Tag::Strong => self.cut_marks(range, 2),
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd, range: Range<usize>) {
        self.depth -= 1;
        match tag {
            TagEnd::Heading(level) if self.depth == 0 => self.enter(level),
            TagEnd::Table if self.depth == 0 => {
                let table = self.table.take().unwrap_or_default();
                self.push(table.lines.join("\n"));
            }
            TagEnd::HtmlBlock if self.depth == 0 => {
                let html = &self.page[range];
                if let Some(section) = self.sections.last_mut() {
                    section.questions.extend(questions(html));
                }
                self.push(HTML.replace_all(html, "").into_owned());
            }
            TagEnd::TableCell | TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.close(tag);
                }
            }
            _ if self.depth == 0 => self.push(self.kept(range)),
            _ => {}
        }
    }

    fn word(&mut self, text: &str) {
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        } else if let Some(table) = &mut self.table {
            table.cell.push_str(text);
        }
    }

    fn cut_marks(&mut self, range: &Range<usize>, width: usize) {
        self.cuts.push(range.start..range.start + width);
        self.cuts.push(range.end - width..range.end);
    }

    /// Whether a backslash makes the sign at this place a plain one. Of two backslashes, the first one does so to the second.
    fn is_escaped(&self, at: usize) -> bool {
        let (before, rest) = self.page.as_bytes().split_at(at);
        let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        backslashes % 2 == 1 && rest.first().is_some_and(u8::is_ascii_punctuation)
    }

    fn enter(&mut self, level: HeadingLevel) {
        let heading = self.heading.take().unwrap_or_default();
        self.headings.retain(|(above, _)| *above < level);
        let heading = heading.trim();
        if !heading.is_empty() {
            self.met.push(heading.to_owned());
        }
        self.headings.push((level, heading.to_owned()));
        let path = self.headings.iter().map(|(_, heading)| heading.clone()).filter(|h| !h.is_empty()).collect();
        self.sections.push(Section { path, ..Section::default() });
    }

    fn push(&mut self, block: String) {
        if block.trim().is_empty() {
            return;
        }
        if self.sections.is_empty() {
            self.sections.push(Section::default());
        }
        if let Some(section) = self.sections.last_mut() {
            section.blocks.push(block.trim_end().trim_start_matches(['\n', '\r']).to_owned());
        }
    }

    fn kept(&self, range: Range<usize>) -> String {
        let mut cuts = self.cuts.clone();
        cuts.sort_by_key(|cut| (cut.start, cut.end));
        let mut text = String::with_capacity(range.len());
        let mut at = range.start;
        for cut in cuts {
            if let Some(part) = self.page.get(at..cut.start) {
                text.push_str(part);
            }
            at = at.max(cut.end);
        }
        text.push_str(self.page.get(at..range.end).unwrap_or_default());
        text
    }
}

/// Returns the lines of a comment `<!-- questions … -->`.
fn questions(html: &str) -> impl Iterator<Item = String> {
    let comment = html.trim().strip_prefix("<!-- questions").and_then(|rest| rest.split("-->").next());
    comment.into_iter().flat_map(str::lines).map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

impl Table {
    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.cell).trim().to_owned()),
            TagEnd::TableHead => self.head = std::mem::take(&mut self.row),
            _ => {
                let row = std::mem::take(&mut self.row);
                let cells = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
                let named = cells.map(|(n, cell)| match self.head.get(n).filter(|name| !name.is_empty()) {
                    Some(name) => format!("{name}: {cell}"),
                    None => cell.clone(),
                });
                self.lines.push(named.collect::<Vec<_>>().join("; "));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(page: &str) -> Vec<Section> {
        outline(page).sections
    }

    #[test]
    fn questions_in_comments_are_not_shown() {
        let page = "<!-- questions\nnowhere\n-->\n## Water\n<!-- questions\nspilled coffee\n\n  is rain covered  \n-->\nNot covered.\n\n\
                    <!-- question: no list -->\n## Fire\n<!-- questions\nunclosed";
        let questions: Vec<Vec<String>> = sections(page).into_iter().map(|section| section.questions).collect();
        assert_eq!(questions, [["spilled coffee", "is rain covered"]]);
        assert_eq!(sections(page)[0].blocks, ["Not covered."]);
    }

    #[test]
    fn sections_have_the_headings_above_them() {
        let page = "Lead **bold** and *soft* <!-- not\nthis -->text.\n\n# Top\n## `SSD` A\n- one\n- two **2**\n\n<!-- nor this -->\n\
                    ### Deep\n```\n# no heading\n```\n## B\n\nPara.\n\n## Empty\n";
        let section = |path: &[&str], blocks: &[&str]| Section {
            path: path.iter().map(ToString::to_string).collect(),
            blocks: blocks.iter().map(ToString::to_string).collect(),
            questions: Vec::new(),
        };
        assert_eq!(
            sections(page),
            [
                section(&[], &["Lead bold and soft text."]),
                section(&["Top", "SSD A"], &["- one\n- two 2"]),
                section(&["Top", "SSD A", "Deep"], &["```\n# no heading\n```"]),
                section(&["Top", "B"], &["Para."]),
            ]
        );
        assert_eq!(outline(page).headings, ["Top", "SSD A", "Deep", "B", "Empty"]);
    }

    #[test]
    fn nested_blocks_stay_in_their_block() {
        let page = "<div class=\"x\">\nKept <!-- not\nthis -->text.\n</div>\n\n> # Quoted\n\n- a\n\n  | x |\n  |---|\n  | y |\n\n<!-- never closed\n\n# Out\n";
        let blocks: Vec<String> = sections(page).into_iter().flat_map(|section| section.blocks).collect();
        assert_eq!(blocks, ["Kept text.", "> # Quoted", "- a\n\n  | x |\n  |---|\n  | y |"]);
    }

    #[test]
    fn backslashes_before_signs_are_removed() {
        let page =
            "# 2\\*3\n\n\\*111\\*2# *a\\_b* C:\\\\\\*t D:\\x \\`c\\`\n\n- \\*1\n\n    \\*code\n\n```\n\\*code\n```\n";
        let section = &sections(page)[0];
        assert_eq!(section.path, ["2*3"]);
        let blocks = ["*111*2# a_b C:\\*t D:\\x `c`", "- *1\n\n    *code", "```\n\\*code\n```"];
        assert_eq!(section.blocks, blocks);
    }

    #[test]
    fn table_rows_name_their_columns() {
        let page = "| Nơi | Phí |\n|---|---|\n| Hà **Nội** | 30.000 đ |\n| Tỉnh | |\n";
        assert_eq!(sections(page)[0].blocks, ["Nơi: Hà Nội; Phí: 30.000 đ\nNơi: Tỉnh"]);
    }
}
