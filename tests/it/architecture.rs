//! Architecture rules that the compiler does not check. Clippy checks the others: see `[lints.clippy]` in `Cargo.toml`
//! and `clippy.toml`.

use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The layers of modules, from top to bottom. A module may use itself and the modules of lower layers.
const LAYERS: &[&[&str]] = &[
    &["bin", "main"],
    &["cli"],
    &["http"],
    &["app"],
    &["turn"],
    &["desks"],
    &["dialogue"],
    &["agent"],
    &["replies"],
    &["grounding"],
    &["tools"],
    &["jobs"],
    &["retrieval", "notify", "channels"],
    &["providers", "store"],
    &["nlu"],
    &["persona"],
    &["config"],
    &["domain"],
];

/// A source file without comments, literals and test code.
struct File {
    path: String,
    /// The top-level module.
    module: String,
    code: Code,
}

/// Tokens as text, without spaces between them except between two words.
#[derive(Default)]
struct Code {
    text: String,
    literals: Vec<String>,
}

impl Code {
    fn parse(source: &str) -> Self {
        let mut code = Self::default();
        code.add(source.parse().unwrap());
        code
    }

    fn add(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) if group.stream().to_string().replace(' ', "") == "cfg(test)" => {
                    let ends_item = |token: &TokenTree| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        token => token.to_string() == ";",
                    };
                    tokens.find(ends_item);
                }
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        _ => ("(", ")"),
                    };
                    self.text.push_str(open);
                    self.add(group.stream());
                    self.text.push_str(close);
                }
                TokenTree::Literal(literal) => {
                    self.literals.push(literal.to_string());
                    self.text.push(' ');
                }
                TokenTree::Ident(word) => {
                    if self.text.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                        self.text.push(' ');
                    }
                    self.text.push_str(&word.to_string());
                }
                TokenTree::Punct(sign) => self.text.push(sign.as_char()),
            }
        }
    }

    /// Returns what follows each occurrence of `text`.
    fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        self.text.match_indices(text).map(|(at, _)| &self.text[at + text.len()..])
    }

    /// Returns the top-level modules of the crate that the code names.
    fn modules(&self) -> impl Iterator<Item = String> {
        let paths = ["crate::", "frontdesk::"].into_iter().flat_map(|root| self.find(root));
        paths.map(|path| path.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '{')).collect())
    }
}

/// Adds the files below `folder` whose names end in `ending`.
fn list_files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list_files(&path, ending, found);
        } else if path.to_str().unwrap().ends_with(ending) {
            found.push(path);
        }
    }
}

/// Returns the literals in the files whose paths begin with `start`. A text is in quotes.
pub fn literals_of(start: &str) -> Vec<String> {
    let files = read_source().into_iter().filter(|file| file.path.starts_with(start));
    files.flat_map(|file| file.code.literals).collect()
}

fn read_source() -> Vec<File> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    list_files(&source, ".rs", &mut paths);
    assert!(paths.len() > 50, "too few source files: {paths:?}");
    paths.sort();
    let files = paths.iter().filter_map(|path| {
        let inside = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
        // Test modules in files of their own: `foo/tests.rs` and `foo/tests/`.
        if inside.contains("/tests") {
            return None;
        }
        let module = inside.split(['/', '.']).next().unwrap().to_owned();
        let code = Code::parse(&std::fs::read_to_string(path).unwrap());
        Some(File { path: format!("src/{inside}"), module, code })
    });
    files.collect()
}

/// Words that only some modules may use, and those modules as the starts of their paths.
const RESERVED: [(&[&str], &[&str]); 4] = [
    (&["sea_orm", "sqlx"], &["src/store.rs", "src/store/"]),
    (&["response::sse", "response::Sse"], &["src/http/sse.rs"]),
    (&["anyhow"], &["src/cli.rs", "src/cli/", "src/main.rs", "src/bin/"]),
    (&["Box<dyn Error", "Box<dyn std::error::Error"], &[]),
];

/// The database belongs to the store, event streams to one file, and untyped errors to the commands.
#[test]
fn reserved_words_stay_in_their_modules() {
    let mut found = Vec::new();
    for file in read_source() {
        for (words, modules) in RESERVED {
            if modules.iter().any(|module| file.path.starts_with(module)) {
                continue;
            }
            for word in words {
                found.extend(file.code.find(word).map(|_| format!("{}: {word}", file.path)));
            }
        }
    }
    assert!(found.is_empty(), "not allowed here:\n{}", found.join("\n"));
}

#[test]
fn modules_use_only_lower_layers() {
    let layer_of = |module: &str| LAYERS.iter().position(|layer| layer.contains(&module));
    let mut broken = Vec::new();
    for file in read_source() {
        let own = layer_of(&file.module);
        assert!(own.is_some() || file.module == "lib", "{} is missing in LAYERS", file.module);
        for used in file.code.modules() {
            let layer = layer_of(&used);
            let is_lower = match own {
                // The binaries only start the commands.
                Some(0) => used == "cli",
                // A list of paths (`crate::{…}`) would hide the modules that it names.
                _ => layer.map_or(!used.starts_with('{'), |layer| own < Some(layer)),
            };
            if !is_lower && used != file.module {
                broken.push(format!("{}: {} uses {used}", file.path, file.module));
            }
        }
    }
    assert!(broken.is_empty(), "these modules use a higher or a neighbouring layer:\n{}", broken.join("\n"));
}

#[test]
fn parser_skips_comments_literals_and_tests() {
    let source = "let a = 'x'; // .unwrap()\nlet b = \"panic!(\"; e\n.unwrap();\n#[cfg(test)]\nmod tests {\n  use crate::cli;\n}\n\
                  use crate::{app, turn};\ncrate::store::x()";
    let code = Code::parse(source);
    assert_eq!(code.text, "let a= ;let b= ;e.unwrap();#use crate::{app,turn};crate::store::x()");
    assert_eq!(code.find(".unwrap()").collect::<Vec<_>>(), [";#use crate::{app,turn};crate::store::x()"]);
    assert_eq!(code.modules().collect::<Vec<_>>(), ["{app", "store"]);
}

/// Files outside a desk's folder that may name it, and why.
const MAY_NAME_DESKS: [(&str, &str); 3] = [
    ("src/desks.rs", "the list of desks"),
    ("src/persona/file.rs", "a persona without `desk:` belongs to the retail desk"),
    ("src/http/labels.rs", "the OpenAPI tag of return labels"),
];

/// Orders and RMAs are the shop's back office, whichever desk creates them, so `domain::returns` and `store::returns` may
/// use the word. Only a desk's registered name and its module are private to it.
#[test]
fn desk_names_stay_in_their_folder() {
    let registry = frontdesk::desks::DeskRegistry::built_in();
    let mut found = Vec::new();
    for file in read_source() {
        for name in registry.iter().map(|factory| factory.name()) {
            let own = [format!("src/desks/{name}.rs"), format!("src/desks/{name}/")];
            let mut allowed = own.iter().map(String::as_str).chain(MAY_NAME_DESKS.map(|(path, _)| path));
            if allowed.any(|path| file.path.starts_with(path)) {
                continue;
            }
            let literal = format!("\"{name}\"");
            let has_path = file.code.find("desks::").any(|path| path.starts_with(name));
            if has_path || file.code.literals.contains(&literal) {
                found.push(format!("{}: {name}", file.path));
            }
        }
    }
    assert!(found.is_empty(), "a desk is named outside its folder:\n{}", found.join("\n"));
}

#[test]
fn test_names_have_at_most_eight_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rust = r"#\[(?:tokio::)?test\b[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:async )?fn (\w+)";
    let page = r#"(?m)^\s*test\(["`]([^"`]+)"#;
    let mut long = Vec::new();
    let mut count = 0;
    for (folder, ending, pattern) in [
        ("src", ".rs", rust),
        ("crates", ".rs", rust),
        ("tests/it", ".rs", rust),
        ("tests/js/browser", ".test.js", page),
        ("tests/js/unit", ".js", page),
    ] {
        let mut paths = Vec::new();
        list_files(&root.join(folder), ending, &mut paths);
        for path in paths {
            let source = std::fs::read_to_string(&path).unwrap();
            for found in regex::Regex::new(pattern).unwrap().captures_iter(&source) {
                count += 1;
                if found[1].split(['_', ' ']).filter(|word| !word.is_empty()).count() > 8 {
                    long.push(format!("{}: {}", path.display(), &found[1]));
                }
            }
        }
    }
    assert!(count > 1000, "found only {count} tests");
    assert!(long.is_empty(), "these names are too long:\n{}", long.join("\n"));
}
