use super::*;
use crate::domain::Language;
use crate::retrieval::rules::File;

fn shelf(root: &Path, folder: &str) -> Shelf {
    read(
        root,
        folder,
        &SearchRules::new(&File::default(), crate::persona::Prompts::shipped().languages().unwrap()).unwrap(),
        &ChunkConfig::default(),
    )
    .unwrap()
}

fn write(root: &Path, file: &str, bytes: &[u8]) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn bad_files_do_not_stop_reading() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, bytes: &[u8]| write(folder.path(), file, bytes);
    write("a.md", "---\nversion: [\n---\n# Giao hàng\n\n## Nội thành\nChúng tôi giao hàng trong ngày.\n".as_bytes());
    write("b.md", b"caf\xe9");
    write("c.txt", "Chỗ để xe ở sau nhà.\n\nMiễn phí.".as_bytes());
    write("d.csv", b"name,price\nA,1\n");
    write("warranty.csv", b"serial,product_name,warranty_end_date\nABC123,X,2030-01-01\n");
    write("e.png", b"\x89PNG");
    write("empty.md", b"");
    write("telecom.md/deep.md", b"# Deep\n\nNot at the top.");
    let Shelf { chunks, report } = shelf(folder.path(), "");

    let found: Vec<_> =
        chunks.iter().map(|c| (c.path.as_str(), c.title.as_str(), c.section(), c.text.as_str())).collect();
    let found: Vec<_> =
        found.iter().map(|(path, title, section, text)| (*path, *title, section.as_ref(), *text)).collect();
    assert_eq!(
        found,
        [
            ("a.md", "Giao hàng", "Nội thành", "Chúng tôi giao hàng trong ngày."),
            ("c.txt", "c", "", "Chỗ để xe ở sau nhà.\n\nMiễn phí."),
            ("d.csv", "A", "", "price: 1"),
        ]
    );
    assert_eq!(chunks[0].language, Some(Language::VI));
    assert_eq!((report.documents, report.chunks), (3, 3));
    let warned: Vec<_> = report.warnings.iter().map(|w| (w.file.as_str(), w.line)).collect();
    assert_eq!(warned, [("a.md", Some(3)), ("b.md", None)]);
}

#[test]
fn unapproved_page_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    for (file, approved) in [
        ("no.md", "approved: false\n"),
        ("typo.md", "approved: ture\n"),
        ("yes.md", "approved: true\n"),
        ("old.md", ""),
    ] {
        write(folder.path(), file, format!("---\ntitle: Sizes\n{approved}---\nBoots run small.\n").as_bytes());
    }
    let Shelf { chunks, report } = shelf(folder.path(), "");
    assert_eq!(chunks.iter().map(|chunk| chunk.path.as_str()).collect::<Vec<_>>(), ["old.md", "yes.md"]);
    let warned: Vec<_> = report.warnings.iter().map(|warning| (warning.file.as_str(), warning.line)).collect();
    assert_eq!(warned, [("typo.md", Some(3))], "neither true nor false");
}

#[test]
fn missing_folder_is_empty_and_file_fails() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(shelf(&folder.path().join("none"), ""), Shelf::default());
    fs::write(folder.path().join("file"), "").unwrap();
    let rules = SearchRules::new(&File::default(), crate::persona::Prompts::shipped().languages().unwrap()).unwrap();
    assert!(read(&folder.path().join("file"), "", &rules, &ChunkConfig::default()).is_err());
}

#[test]
fn subfolders_are_read_and_ids_stay_unique() {
    let folder = tempfile::tempdir().unwrap();
    for file in
        ["top.md", "returns/faq.md", "returns/vip/faq.md", "returns/rules.txt", "returns/.draft/x.md", "empty/x.png"]
    {
        write(folder.path(), file, b"# Returns\n\nReturns are free.");
    }
    let shown = |folder: &Shelf| folder.chunks.iter().map(|c| format!("{} {}", c.doc_id, c.path)).collect::<Vec<_>>();
    assert_eq!(shown(&shelf(folder.path(), "")), ["top top.md"]);
    assert_eq!(
        shown(&shelf(folder.path(), "returns")),
        ["returns/faq.md returns/faq.md", "rules returns/rules.txt", "returns/vip/faq.md returns/vip/faq.md"]
    );
    assert_eq!(shown(&shelf(folder.path(), "returns/vip")), ["faq returns/vip/faq.md"]);
    assert_eq!(below(folder.path()).unwrap(), ["returns"]);
}

#[test]
fn dropped_chunks_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.md", "---\nsummary: Phí giao hàng\n---\nXin chào.\n\n## Phí\nMiễn phí.".as_bytes());
    let dropped = Dropped { file: "a.md".into(), section: String::new(), tokens: 4 };
    assert_eq!(shelf(folder.path(), "").report.dropped, [dropped]);
}

#[test]
fn file_without_any_chunk_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "headings.md", b"# Opening hours\n\n## Monday\n\n## Sunday closed\n");
    write(folder.path(), "goods.csv", b"name,price\n");
    write(folder.path(), "blank.txt", b" \n");
    let warned = shelf(folder.path(), "").report.warnings;
    assert_eq!(warned.iter().map(|warning| warning.file.as_str()).collect::<Vec<_>>(), ["goods.csv", "headings.md"]);
}
