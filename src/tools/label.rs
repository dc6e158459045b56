//! A return label as a PDF: the tracking number as a Code 128 barcode (ISO/IEC 15417), and as text below it.
//!
//! The file depends on the label's content alone. It is made for each request and not stored.

use code128::Code128;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use serde::Deserialize;

use crate::domain::text::fold;

/// The texts of labels. All but the title contain `{value}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelTexts {
    pub title: String,
    pub rma: String,
    pub order: String,
    pub carrier: String,
}

/// The content of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label<'a> {
    /// The title of the file, and its first line.
    pub title: &'a str,
    /// The barcode: `{carrier}-{12 digits}`. Characters outside printable ASCII are left out.
    pub tracking: &'a str,
    /// The lines below the barcode. The font lacks Vietnamese letters, so these lose their diacritics; carriers read ASCII.
    pub lines: &'a [String],
}

/// A6 in portrait orientation, in points of 1/72 inch. It fits label printers and a quarter of an A4 sheet.
const PAGE: [f32; 2] = [298.0, 420.0];
const MARGIN: f32 = 20.0;
const BARCODE_HEIGHT: f32 = 90.0;
const BARCODE_BOTTOM: f32 = 270.0;
const LINE: f32 = 16.0;
/// More lines do not fit on the page.
const LINES: usize = 14;
/// The number of characters of average width that fit into a line.
const LINE_CHARS: usize = 46;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const THE_PAGE: Ref = Ref::new(3);
const CONTENTS: Ref = Ref::new(4);
const BOLD: Ref = Ref::new(5);
const PLAIN: Ref = Ref::new(6);
const ABOUT: Ref = Ref::new(7);

impl Label<'_> {
    /// Returns the label as a PDF.
    pub fn pdf(&self) -> Vec<u8> {
        let mut pdf = Pdf::new();
        pdf.catalog(CATALOG).pages(PAGES);
        pdf.pages(PAGES).kids([THE_PAGE]).count(1);
        pdf.document_info(ABOUT).title(TextStr(self.title)).finish();
        let mut page = pdf.page(THE_PAGE);
        page.media_box(Rect::new(0.0, 0.0, PAGE[0], PAGE[1])).parent(PAGES).contents(CONTENTS);
        let mut resources = page.resources();
        let mut fonts = resources.fonts();
        fonts.pair(Name(b"B"), BOLD).pair(Name(b"P"), PLAIN);
        fonts.finish();
        resources.finish();
        page.finish();
        // These two fonts are built into every reader.
        pdf.type1_font(BOLD).base_font(Name(b"Helvetica-Bold"));
        pdf.type1_font(PLAIN).base_font(Name(b"Helvetica"));
        pdf.stream(CONTENTS, &self.content());
        pdf.finish()
    }

    fn content(&self) -> Vec<u8> {
        let mut content = Content::new();
        write(&mut content, Name(b"B"), 16.0, PAGE[1] - MARGIN - 16.0, self.title);
        let tracking = ascii(self.tracking);
        bars(&mut content, &tracking);
        write(&mut content, Name(b"B"), 13.0, BARCODE_BOTTOM - 18.0, &tracking);
        let mut y = BARCODE_BOTTOM - 18.0 - 2.0 * LINE;
        for line in self.lines.iter().take(LINES) {
            let line: String = line.chars().take(LINE_CHARS).collect();
            write(&mut content, Name(b"P"), 10.0, y, &line);
            y -= LINE;
        }
        content.finish().to_vec()
    }
}

/// Draws the barcode over the width of the page, with the quiet zone of ten modules on either side that scanners need.
fn bars(content: &mut Content, text: &str) {
    let code = Code128::encode(text.as_bytes());
    let modules = u16::try_from(code.len()).unwrap_or(u16::MAX);
    let module = (PAGE[0] - 2.0 * MARGIN) / f32::from(modules);
    for bar in code.bar_coordinates() {
        let x = f32::from(u16::try_from(bar.x).unwrap_or(u16::MAX));
        content.rect(MARGIN + x * module, BARCODE_BOTTOM, f32::from(bar.width) * module, BARCODE_HEIGHT);
    }
    content.fill_nonzero();
}

fn write(content: &mut Content, font: Name<'_>, size: f32, y: f32, text: &str) {
    content.begin_text().set_font(font, size).next_line(MARGIN, y);
    content.show(Str(ascii(text).as_bytes())).end_text();
}

/// Returns the text in printable ASCII: diacritics are removed, the case of each letter stays.
fn ascii(text: &str) -> String {
    text.chars().flat_map(plain).collect()
}

fn plain(c: char) -> Vec<char> {
    if (' '..='~').contains(&c) {
        return vec![c];
    }
    let folded: Vec<char> = fold(&c.to_string()).chars().filter(|c| (' '..='~').contains(c)).collect();
    if c.is_uppercase() { folded.iter().map(char::to_ascii_uppercase).collect() } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<String> {
        vec!["RMA-1700000000-AB12".to_owned(), "Trả về: 27A đường Ánh Sao, Đà Nẵng".to_owned()]
    }

    fn label<'a>(lines: &'a [String]) -> Label<'a> {
        Label { title: "Return label", tracking: "FEDEX-123456789012", lines }
    }

    /// Reads the widths of bars and spaces, in modules, from the drawing commands of the page.
    fn drawn(content: &str) -> Vec<code128::Bar> {
        let rects: Vec<[f32; 2]> = content
            .lines()
            .filter_map(|line| line.strip_suffix(" re"))
            .map(|rect| {
                let numbers: Vec<f32> = rect.split(' ').map(|number| number.parse().expect("a number")).collect();
                [numbers[0], numbers[2]]
            })
            .collect();
        // A Code 128 always begins with a bar of two modules.
        let module = rects[0][1] / 2.0;
        let modules = |width: f32| (width / module).round() as u8;
        let next = rects.iter().skip(1).map(Some).chain([None]);
        rects
            .iter()
            .zip(next)
            .map(|([x, width], next)| code128::Bar {
                width: modules(*width),
                space: next.map_or(0, |[next, _]| modules(next - x - width)),
            })
            .collect()
    }

    #[test]
    fn barcode_contains_the_tracking_number() {
        let lines = lines();
        let content = String::from_utf8(label(&lines).content()).expect("text");
        assert_eq!(code128::decode_str(&drawn(&content)).expect("a barcode"), "FEDEX-123456789012");
    }

    #[test]
    fn label_is_deterministic_and_without_diacritics() {
        let lines = lines();
        let pdf = label(&lines).pdf();
        assert_eq!(pdf, label(&lines).pdf());
        assert!(pdf.starts_with(b"%PDF-"));
        let text = String::from_utf8_lossy(&pdf).into_owned();
        for line in ["(RMA-1700000000-AB12)", "(Tra ve: 27A duong Anh Sao, Da Nang)", "(FEDEX-123456789012)"] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
