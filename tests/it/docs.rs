//! Compares the documents with the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use frontdesk::config::{Config, Env};
use regex::Regex;

const DOCUMENTS: [&str; 12] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/invariants.md",
    "docs/api.md",
    "docs/back-office.md",
    "docs/operations.md",
    "docs/desks/commerce.md",
    "docs/desks/retail.md",
    "docs/desks/returns.md",
    "docs/desks/telecom.md",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the groups of every match of `pattern`.
fn find_all<const N: usize>(pattern: &str, text: &str) -> Vec<[String; N]> {
    let pattern = Regex::new(pattern).unwrap();
    pattern.captures_iter(text).map(|found| found.extract::<N>().1.map(str::to_owned)).collect()
}

/// Reads the Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(std::fs::read_to_string(path).unwrap());
        }
    }
    files
}

/// Returns the settings of `.env.example` with their defaults. An empty default means unset.
fn example() -> BTreeMap<String, String> {
    let lines = find_all("(?m)^#([A-Z_]+)=(.*)$", &read(".env.example"));
    lines.into_iter().map(|[name, default]| (name, default)).collect()
}

#[test]
fn example_file_lists_exactly_all_settings() {
    let mut sources = rust_files(&root().join("src/config"));
    sources.push(read("src/config.rs").split("#[cfg(test)]").next().unwrap().to_owned());
    let read: BTreeSet<String> =
        sources.iter().flat_map(|source| find_all(r#""([A-Z][A-Z_]+)""#, source)).map(|[name]| name).collect();
    assert!(read.len() > 40, "{read:?}");
    assert_eq!(example().into_keys().collect::<BTreeSet<_>>(), read);
}

#[test]
fn example_file_contains_the_defaults() {
    let mut example = example();
    example.retain(|_, default| !default.is_empty());
    // It applies only to a host without a port, so it differs from being unset.
    assert_eq!(example.remove("OLLAMA_PORT").as_deref(), Some("11434"));
    let written = Config::read(Env::of(example)).unwrap();
    assert_eq!(format!("{written:#?}"), format!("{:#?}", Config::read(Env::of([])).unwrap()));
}

#[test]
fn readme_settings_match_the_example_file() {
    let example = example();
    let rows = find_all(r"(?m)^\| `([A-Z_]+)` \| ([^|]+) \|", &read("README.md"));
    assert!(rows.len() > 5, "{rows:?}");
    for [name, default] in rows {
        let expected = match example.get(&name).map(String::as_str) {
            None => panic!("{name} is no setting"),
            Some("") => "unset".to_owned(),
            Some(default) => format!("`{default}`"),
        };
        assert_eq!(default, expected, "{name}");
    }
}

#[test]
fn files_in_documents_exist() {
    let path = r"`((?:src|crates|tests|prompts|knowledge|scripts|\.ci)/[^`\s]*)`";
    for document in DOCUMENTS {
        let text = read(document);
        let links = find_all(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", &text);
        // A name in capitals stands for whatever the reader calls it.
        let named = find_all(path, &text).into_iter().filter(|[path]| !path.contains(char::is_uppercase));
        let folder = root().join(document).parent().unwrap().to_owned();
        for path in links.iter().map(|[link]| folder.join(link)).chain(named.map(|[path]| root().join(path))) {
            assert!(path.exists(), "{document} names {}", path.display());
        }
    }
}

#[test]
fn echo_desk_is_as_short_as_documented() {
    let named = find_all(r"echo_desk\.rs` is a complete one in (\d+) lines", &read("CONTRIBUTING.md"));
    let [lines] = named.first().expect("CONTRIBUTING.md names its length");
    assert!(read("tests/it/support/echo_desk.rs").lines().count() <= lines.parse().unwrap());
}

#[test]
fn tests_in_documents_exist() {
    let tests = ["src", "crates", "tests"].map(|folder| rust_files(&root().join(folder))).concat().join("\n");
    let named = find_all(r"`((?:[a-z0-9]+_){2,}[a-z0-9]+)`", &read("docs/invariants.md"));
    assert!(named.len() > 10, "{named:?}");
    for [name] in named.into_iter().filter(|[name]| !name.starts_with("frontdesk_")) {
        assert!(tests.contains(&format!("fn {name}(")), "there is no test {name}");
    }
}

#[test]
fn commands_in_documents_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_frontdesk")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let shown = |text: &str| find_all(r"(?m)(?:cargo run -- |\bfrontdesk )([a-z][a-z-]+)(?:`| --|$)", text);
    let mut count = 0;
    for [command] in DOCUMENTS.iter().flat_map(|document| shown(&read(document))) {
        assert!(help.lines().any(|line| line.trim_start().starts_with(&format!("{command} "))), "{command}\n{help}");
        count += 1;
    }
    assert!(count > 2);
}

#[test]
fn documented_routes_equal_openapi() {
    let described = serde_json::to_value(frontdesk::http::openapi()).unwrap();
    let described: BTreeSet<String> = described["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    let rows = find_all(r"(?m)^\| `((?:GET|POST|PUT|DELETE) [^`]+)` \|", &read("docs/api.md"));
    let shown: BTreeSet<String> = rows.into_iter().map(|[route]| route).collect();
    assert_eq!(shown, described);
}

#[test]
fn documented_metrics_equal_those_recorded() {
    let described = find_all(r#""(frontdesk_[a-z_]+)""#, &read("src/app/metrics.rs"));
    let described: BTreeSet<String> = described.into_iter().map(|[name]| name).collect();
    let rows = find_all(r"(?m)^\| `(frontdesk_[a-z_]+)` \|", &read("docs/operations.md"));
    assert_eq!(rows.into_iter().map(|[name]| name).collect::<BTreeSet<_>>(), described);
    let used: BTreeSet<String> = rust_files(&root().join("src"))
        .iter()
        .flat_map(|source| {
            find_all(r#""(frontdesk_[a-z_]+_(?:total|seconds|calls|state|streams|events|jobs))""#, source)
        })
        .map(|[name]| name)
        .collect();
    assert_eq!(used, described);
}

/// Every channel reads texts as Markdown, where one asterisk is not bold.
#[test]
fn shipped_texts_write_bold_with_two_asterisks() {
    let single = Regex::new(r"(?:^|[^*\w\\])\*[^*\s](?:[^*\n]*[^*\s])?\*(?:[^*]|$)").unwrap();
    let list = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect::<Vec<_>>()
    };
    let mut count = 0;
    for path in ["prompts", "prompts/texts", "prompts/returns/mail"].into_iter().flat_map(list) {
        let content = std::fs::read_to_string(&path).unwrap();
        // The rest of a persona is read by the model only.
        let is_persona = path.parent().is_some_and(|folder| folder.ends_with("prompts"));
        let is_sent = |line: &&str| {
            if is_persona {
                line.starts_with("Greeting") || line.starts_with("FollowUp")
            } else {
                !line.starts_with('#')
            }
        };
        for line in content.lines().filter(is_sent) {
            count += 1;
            assert!(!single.is_match(line), "{}: {line}", path.display());
        }
    }
    assert!(count > 1000, "found only {count} lines");
}
