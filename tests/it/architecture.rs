//! The order of the modules, and who may know what.

use std::path::{Path, PathBuf};

use regex::Regex;

/// From the top down. A module names none of those above it, and none beside it.
const ORDER: [&[&str]; 10] = [
    &["cli"],
    &["http"],
    &["app"],
    &["turn"],
    &["desks"],
    &["retrieval"],
    &["providers", "store"],
    &["persona"],
    &["config"],
    &["domain"],
];

/// The files of `src/`: the module that each belongs to, its path, its text.
fn sources() -> Vec<(String, PathBuf, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, files) } else { files.push(path) }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    let named = files.into_iter().map(|file| {
        let path = file.strip_prefix(&root).unwrap().to_owned();
        let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
        (first.trim_end_matches(".rs").to_owned(), path.clone(), std::fs::read_to_string(file).unwrap())
    });
    named.collect()
}

fn height(module: &str) -> Option<usize> {
    ORDER.iter().position(|level| level.contains(&module))
}

/// The text without its comments and the words in quotes: those may point anywhere.
fn code(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    Regex::new(r#""[^"\n]*""#).unwrap().replace_all(&lines.join("\n"), "").into_owned()
}

#[test]
fn a_lower_module_never_names_a_higher_one() {
    let import = Regex::new(r"crate::(\w+)").unwrap();
    let mut arrows = 0;
    for (module, path, text) in sources() {
        let Some(from) = height(&module) else {
            assert!(["lib", "main", "bin"].contains(&module.as_str()), "{module} has no place in the order");
            continue;
        };
        for found in import.captures_iter(&code(&text)) {
            let Some(to) = height(&found[1]) else { continue };
            assert!(from < to || found[1] == module, "{} names crate::{}", path.display(), &found[1]);
            arrows += 1;
        }
    }
    assert!(arrows > 100, "only {arrows} imports were found");
}

#[test]
fn the_store_alone_knows_the_database() {
    let known = Regex::new(r"\b(sea_orm|sea_orm_migration|sqlx)::").unwrap();
    let users: Vec<String> =
        sources().into_iter().filter(|(_, _, text)| known.is_match(&code(text))).map(|(module, ..)| module).collect();
    assert!(!users.is_empty());
    assert!(users.iter().all(|module| module == "store"), "{users:?}");
}

#[test]
fn one_file_alone_writes_server_sent_events() {
    let known = Regex::new(r"axum::response::sse").unwrap();
    let users: Vec<PathBuf> =
        sources().into_iter().filter(|(_, _, text)| known.is_match(&code(text))).map(|(_, path, _)| path).collect();
    assert_eq!(users, [PathBuf::from("http/sse.rs")]);
}
