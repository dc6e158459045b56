//! `frontdesk import documents`, with files that this test makes.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::shop::{Run, Shop};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A PDF with a line of text for each string, or one without text.
fn pdf(lines: &[&str]) -> Vec<u8> {
    let [catalog, pages, page, content, font] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut written = pdf.page(page);
    written.parent(pages).media_box(Rect::new(0.0, 0.0, 595.0, 842.0)).contents(content);
    written.resources().fonts().pair(Name(b"F1"), font);
    written.finish();
    let mut text = Content::new();
    for (at, line) in lines.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a page has few lines")]
        let y = 800.0 - 40.0 * at as f32;
        text.begin_text().set_font(Name(b"F1"), 12.0).next_line(50.0, y).show(Str(line.as_bytes())).end_text();
    }
    pdf.stream(content, &packed(&text.finish())).filter(Filter::FlateDecode);
    pdf.type1_font(font).base_font(Name(b"Helvetica"));
    pdf.finish()
}

/// A PDF with compressed streams of this content.
fn pdf_of_streams(count: i32, content: &[u8]) -> Vec<u8> {
    let mut pdf = Pdf::new();
    pdf.catalog(Ref::new(1)).pages(Ref::new(2));
    pdf.pages(Ref::new(2)).count(0);
    let content = packed(content);
    for at in 0..count {
        pdf.stream(Ref::new(3 + at), &content).filter(Filter::FlateDecode);
    }
    pdf.finish()
}

/// A Word file with this XML as its text.
fn docx(xml: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    zip.write_all(xml).unwrap();
    zip.finish().unwrap().into_inner()
}

fn document(body: &str) -> Vec<u8> {
    let namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    format!("<?xml version=\"1.0\"?><w:document xmlns:w=\"{namespace}\"><w:body>{body}</w:body></w:document>")
        .into_bytes()
}

const WORD: &str = "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Warranty</w:t></w:r></w:p>\
    <w:p><w:r><w:t xml:space=\"preserve\">Shoes &amp; boots: </w:t></w:r><w:r><w:t>6 months.</w:t></w:r></w:p>\
    <w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Keep the receipt</w:t></w:r></w:p>\
    <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Socks</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>none</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";

fn write(shop: &Shop, name: &str, content: &[u8]) {
    std::fs::write(shop.path(name), content).unwrap();
}

fn import(shop: &Shop, arguments: &[&str]) -> Run {
    let persona = [("PERSONA_PATH", "prompts/commerce_en.md")];
    shop.run(&[&["import", "documents", "--type", "policy"], arguments].concat(), &persona)
}

fn page(shop: &Shop, name: &str) -> String {
    std::fs::read_to_string(shop.path(&format!("knowledge/commerce/policy/{name}"))).unwrap()
}

#[test]
fn documents_of_every_format_become_pages() {
    let shop = Shop::new();
    write(&shop, "Returns Policy.pdf", &pdf(&["Returns", "Bring shoes back within 14 days.", "Socks stay sold."]));
    write(&shop, "warranty.docx", &docx(&document(WORD)));
    write(&shop, "hours.sw.txt", "Saa\n\nTunafungua saa mbili asubuhi.\n".as_bytes());
    write(&shop, "parking.md", b"---\ntitle: Parking\n---\n# Parking\n\nBehind the house.\n");
    let files = ["Returns Policy.pdf", "warranty.docx", "hours.sw.txt", "parking.md"];
    let dry = import(&shop, &[&files[..], &["--dry-run"]].concat());
    assert!(dry.code == Some(0) && dry.stderr.contains("nothing was written"), "{dry:?}");
    assert!(!shop.path("knowledge/commerce/policy").exists());
    let done = import(&shop, &files);
    assert_eq!((done.code, done.stdout.matches(": new, ").count()), (Some(0), 4), "{done:?}");
    let returns = page(&shop, "returns-policy.md");
    assert!(returns.starts_with("---\ntitle: \"Returns Policy\"\n---\n\n## Returns\n\n"), "{returns}");
    assert!(returns.contains("within 14 days.") && returns.contains("Socks stay sold."), "{returns}");
    let warranty = page(&shop, "warranty.md");
    let body = "## Warranty\n\nShoes & boots: 6 months.\n\n- Keep the receipt\n\nSocks — none\n";
    assert_eq!(warranty, format!("---\ntitle: \"warranty\"\n---\n\n{body}"));
    assert_eq!(
        page(&shop, "hours.sw.md"),
        "---\ntitle: \"hours.sw\"\n---\n\n## Saa\n\nTunafungua saa mbili asubuhi.\n"
    );
    assert_eq!(page(&shop, "parking.md"), "---\ntitle: Parking\n---\n# Parking\n\nBehind the house.\n");
    let again = import(&shop, &files);
    assert_eq!(again.stdout.matches(": unchanged, ").count(), 4, "{again:?}");
}

#[test]
fn summary_needs_approval() {
    let shop = Shop::new();
    let import = |name: &str| {
        shop.run(&["import", "documents", "--type", "summary", name], &[("PERSONA_PATH", "prompts/commerce_en.md")])
    };
    let body = "# Sizes\n\nCustomers ask whether boots run small.\n";
    write(&shop, "plain.md", body.as_bytes());
    write(&shop, "draft.md", format!("---\napproved: false\n---\n{body}").as_bytes());
    write(&shop, "vague.md", format!("---\napproved: maybe\n---\n{body}").as_bytes());
    write(&shop, "plain.txt", body.as_bytes());
    for name in ["plain.md", "draft.md", "vague.md", "plain.txt"] {
        let refused = import(name);
        assert!(refused.code == Some(1) && refused.stdout.contains("`approved: true`"), "{name}: {refused:?}");
    }
    write(&shop, "sizes.md", format!("---\napproved: true\n---\n{body}").as_bytes());
    let done = import("sizes.md");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(shop.path("knowledge/commerce/summary/sizes.md").exists());
}

#[test]
fn one_bad_file_prevents_the_import() {
    let shop = Shop::new();
    write(&shop, "good.txt", b"Good to know: we are closed on Sunday.");
    let scanned = pdf(&[]);
    let plain = pdf(&["A secret."]);
    let trailer = plain.windows(9).rposition(|window| window == b"trailer\n<").unwrap() + b"trailer\n<<".len();
    let encrypt =
        format!("/Encrypt <</Filter/Standard/V 1/R 2/P -4/O <{0}>/U <{0}>>> /ID [<00><00>] ", "ab".repeat(32));
    let encrypted = [&plain[..trailer], encrypt.as_bytes(), &plain[trailer..]].concat();
    let spaces = vec![b' '; 120_000_000];
    for (name, content, hint) in [
        ("scanned.pdf", scanned, "scanned"),
        ("locked.pdf", encrypted, "without a password"),
        ("cut.pdf", plain[..plain.len() / 2].to_vec(), "damaged"),
        ("other.pdf", b"GIF89a".to_vec(), "no PDF file"),
        ("old.docx", vec![0xd0, 0xcf, 0x11, 0xe0, 0xa1], "before 2007"),
        ("other.docx", b"PK\x03\x04 and no more".to_vec(), "no DOCX file"),
        ("broken.docx", docx(&document("<w:p><w:t>A</w:p>")), "damaged"),
        ("entity.docx", docx(&document("<w:p><w:t>&lol;</w:t></w:p>")), "&lol; is not defined"),
        ("empty.docx", docx(&document("<w:p/>")), "no text"),
        ("bomb.docx", docx(&spaces), "more than 100 MB"),
        ("bomb.pdf", pdf_of_streams(3, &spaces[..40_000_000]), "more than 100 MB"),
        ("latin.txt", b"caf\xe9 closed".to_vec(), "UTF-8"),
        ("large.txt", vec![b'a'; 20_000_001], "more than 20 MB"),
        ("empty.txt", b" \n".to_vec(), "no text"),
        ("sheet.xlsx", b"x".to_vec(), "must end in .pdf"),
        ("good.md", b"The same name.".to_vec(), "good.md as well"),
    ] {
        write(&shop, name, &content);
        let refused = import(&shop, &["good.txt", name]);
        assert_eq!(refused.code, Some(1), "{name}: {refused:?}");
        assert!(refused.stdout.contains(hint), "{name}: {refused:?}");
        assert!(refused.stderr.contains("nothing was written"), "{name}: {refused:?}");
        assert!(!shop.path("knowledge/commerce/policy").exists(), "{name}");
    }
    let missing = import(&shop, &["missing.pdf"]);
    assert!(missing.code == Some(1) && missing.stdout.contains("no such file"), "{missing:?}");
}

/// A small file whose content becomes many objects. The process that reads it ends, and nothing else does.
#[test]
fn file_that_fills_the_memory_is_refused() {
    let shop = Shop::new();
    let [catalog, pages, page, content] = [1, 2, 3, 4].map(Ref::new);
    let mut bomb = Pdf::new();
    bomb.catalog(catalog).pages(pages);
    bomb.pages(pages).kids([page]).count(1);
    bomb.page(page).parent(pages).media_box(Rect::new(0.0, 0.0, 9.0, 9.0)).contents(content);
    let operators = b"q\n".repeat(9_000_000);
    bomb.stream(content, &operators);
    write(&shop, "bomb.pdf", &bomb.finish());
    let refused = import(&shop, &["bomb.pdf"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(!shop.path("knowledge/commerce/policy").exists());
}

#[test]
fn shop_without_folder_gets_no_documents() {
    let shop = Shop::new();
    write(&shop, "good.txt", b"Good to know: we are closed on Sunday.");
    let refused = import(&shop, &["good.txt", "--tenant", "savanna"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("has no folder for documents"), "{refused:?}");
    for folder in ["../other", ".hidden", ""] {
        let refused = import(&shop, &["good.txt", "--folder", folder]);
        assert!(refused.code == Some(2) && refused.stderr.contains("the name of a folder"), "{folder}: {refused:?}");
    }
    std::fs::create_dir_all(shop.path("database/shops/savanna")).unwrap();
    shop.write("database/shops/savanna/shop.toml", "");
    let done = import(&shop, &["good.txt", "--tenant", "savanna", "--language", "en"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let page = std::fs::read_to_string(shop.path("database/shops/savanna/knowledge/commerce/policy/good.md")).unwrap();
    assert!(page.contains("language: en"), "{page}");
    assert!(!shop.path("knowledge/commerce/policy").exists());
}

#[test]
fn pages_go_only_where_a_persona_searches() {
    let shop = Shop::new();
    write(&shop, "good.txt", b"Good to know: we are closed on Sunday.");
    let refused = import(&shop, &["good.txt", "--folder", "help"]);
    let hint = "no persona searches the folder help: add `knowledge: help` to a persona's front matter";
    assert!(refused.code == Some(2) && refused.stderr.contains(hint), "{refused:?}");
    assert!(!shop.path("knowledge/help").exists());
    shop.edit("prompts/commerce_en.md", "knowledge: commerce", "knowledge: help");
    let done = import(&shop, &["good.txt", "--folder", "help"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(shop.path("knowledge/help/policy/good.md").exists());
    shop.edit("prompts/commerce_en.md", "knowledge: help\n", "");
    let refused = import(&shop, &["good.txt"]);
    let hint = "the persona commerce_en searches no folder: add `knowledge: help` to its front matter";
    assert!(refused.code == Some(2) && refused.stderr.contains(hint), "{refused:?}");
}
