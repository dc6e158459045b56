//! Reading a folder of documents.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use tracing::{info, warn};

use super::document::{About, Piece, guess_language, split_front_matter};
use super::rules::SearchRules;
use super::{RetrievalError, catalogue, chunk, markdown};

/// The file that is not knowledge: the warranty records go into the store and are looked up there, by serial alone.
const NOT_KNOWLEDGE: &str = "warranty.csv";

/// What came of reading a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that gave at least one passage.
    pub documents: usize,
    pub passages: usize,
    pub warnings: Vec<Warning>,
}

/// Something in a file that somebody should mend. The rest of the folder is searched all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub file: String,
    /// Counted from 1; None: the whole file.
    pub line: Option<usize>,
    pub problem: String,
}

/// The passages of the files at the top of a folder, in the order of the files' names, and what came of reading it.
///
/// Reads `*.md`, `*.csv` except `warranty.csv`, and `*.txt`, all of them UTF-8; folders and other files are left alone, and so are
/// files whose name begins with a dot. A file that cannot be read is a warning. A folder that does not exist is an empty one.
///
/// # Errors
/// The folder is there but cannot be listed.
pub fn read(folder: &Path, rules: &SearchRules) -> Result<(Vec<Piece>, Report), RetrievalError> {
    let mut pieces = Vec::new();
    let mut report = Report::default();
    for file in files(folder)? {
        let mut warnings = Vec::new();
        let found = read_file(folder, &file, rules, &mut warnings);
        report.documents += usize::from(!found.is_empty());
        pieces.extend(found);
        for (line, problem) in warnings {
            match line {
                Some(line) => warn!(file, line, "A document has a mistake: {problem}"),
                None => warn!(file, "A document is left out: {problem}"),
            }
            report.warnings.push(Warning { file: file.clone(), line, problem });
        }
    }
    report.passages = pieces.len();
    if pieces.is_empty() {
        info!(folder = %folder.display(), "No documents to search");
    }
    Ok((pieces, report))
}

fn files(folder: &Path) -> Result<Vec<String>, RetrievalError> {
    let failed = |source| RetrievalError::Folder { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // A link that leads nowhere stays, to be complained about; a pipe must not be waited for.
        if fs::metadata(entry.path()).map_or(true, |found| found.is_file()) {
            files.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    files.retain(|file| file != NOT_KNOWLEDGE && !file.starts_with('.') && ending(file).is_some());
    files.sort();
    Ok(files)
}

#[derive(Clone, Copy)]
enum Ending {
    Markdown,
    Catalogue,
    Text,
}

fn ending(file: &str) -> Option<Ending> {
    match Path::new(file).extension()?.to_str()?.to_lowercase().as_str() {
        "md" | "markdown" => Some(Ending::Markdown),
        "csv" => Some(Ending::Catalogue),
        "txt" => Some(Ending::Text),
        _ => None,
    }
}

type Complaints = Vec<(Option<usize>, String)>;

fn read_file(folder: &Path, file: &str, rules: &SearchRules, complaints: &mut Complaints) -> Vec<Piece> {
    let text = match fs::read(folder.join(file)).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
            complaints.push((None, format!("it is not UTF-8 (line {line})")));
            return Vec::new();
        }
        Err(error) => {
            complaints.push((None, error.to_string()));
            return Vec::new();
        }
    };
    let text = text.replace("\r\n", "\n");
    match ending(file) {
        Some(Ending::Markdown) => {
            let (about, body, complaint) = split_front_matter(&text);
            complaints.extend(complaint.map(|(line, problem)| (Some(line), problem)));
            page(file, about, body)
        }
        Some(Ending::Catalogue) => {
            let (pieces, found) = catalogue::rows(file, &text, rules);
            complaints.extend(found.into_iter().map(|(line, problem)| (Some(line), problem)));
            pieces
        }
        Some(Ending::Text) => plain(file, text.strip_prefix('\u{feff}').unwrap_or(&text)),
        None => Vec::new(),
    }
}

fn page(file: &str, about: About, body: &str) -> Vec<Piece> {
    let sections = markdown::sections(body);
    let language = about.language.or_else(|| guess_language(body));
    let heading = sections.iter().find_map(|section| section.path.first());
    let title = about.title.or_else(|| heading.cloned()).unwrap_or_else(|| stem(file));
    let mut pieces = Vec::new();
    for section in sections {
        // The page's title is no section of it.
        let path: Vec<&str> = section.path.iter().map(String::as_str).filter(|heading| *heading != title).collect();
        for text in chunk::pack(&section.blocks, chunk::MAX_CHARS) {
            pieces.push(Piece {
                title: title.clone(),
                section: path.join(" > "),
                file: file.to_owned(),
                version: about.version.clone(),
                language,
                searched: about.summary.as_ref().map(|summary| format!("{summary}\n{text}")),
                text,
                ..Piece::default()
            });
        }
    }
    pieces
}

fn plain(file: &str, text: &str) -> Vec<Piece> {
    let paragraphs: Vec<String> = text.split("\n\n").map(|p| p.trim().to_owned()).filter(|p| !p.is_empty()).collect();
    let language = guess_language(text);
    let packed = chunk::pack(&paragraphs, chunk::MAX_CHARS);
    packed
        .into_iter()
        .map(|text| Piece { title: stem(file), file: file.to_owned(), language, text, ..Piece::default() })
        .collect()
}

fn stem(file: &str) -> String {
    Path::new(file).file_stem().map_or(file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Language;

    fn rules() -> SearchRules {
        SearchRules::from_toml("").unwrap()
    }

    #[test]
    fn a_folder_is_read_whatever_some_of_its_files_hold() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, bytes: &[u8]| fs::write(folder.path().join(file), bytes).unwrap();
        write(
            "a.md",
            "---\nversion: [\n---\n# Giao hàng\n\n## Nội thành\nChúng tôi giao hàng trong ngày.\n".as_bytes(),
        );
        write("b.md", b"caf\xe9");
        write("c.txt", "Chỗ để xe ở sau nhà.\n\nMiễn phí.".as_bytes());
        write("d.csv", b"name,price\nA,1\n");
        write("warranty.csv", b"serial,product_name,warranty_end_date\nABC123,X,2030-01-01\n");
        write("e.png", b"\x89PNG");
        write("empty.md", b"");
        fs::create_dir(folder.path().join("telecom.md")).unwrap();
        let (pieces, report) = read(folder.path(), &rules()).unwrap();

        let found: Vec<_> =
            pieces.iter().map(|p| (p.file.as_str(), p.title.as_str(), p.section.as_str(), p.text.as_str())).collect();
        assert_eq!(
            found,
            [
                ("a.md", "Giao hàng", "Nội thành", "Chúng tôi giao hàng trong ngày."),
                ("c.txt", "c", "", "Chỗ để xe ở sau nhà.\n\nMiễn phí."),
                ("d.csv", "A", "", "price: 1"),
            ]
        );
        assert_eq!(pieces[0].language, Some(Language::VI));
        assert_eq!((report.documents, report.passages), (3, 3));
        let warned: Vec<_> = report.warnings.iter().map(|w| (w.file.as_str(), w.line)).collect();
        assert_eq!(warned, [("a.md", Some(3)), ("b.md", None)]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_empty_and_a_file_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none"), &rules()).unwrap(), (vec![], Report::default()));
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(read(&folder.path().join("file"), &rules()).is_err());
    }
}
