//! The rules of the house that a compiler does not know: who may name whom, and what is not written at all.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Each module and what it may name: itself, and what stands below it.
const LAYERS: [(&str, &[&str]); 19] = [
    ("bin", &["cli"]),
    ("main", &["cli"]),
    (
        "cli",
        &[
            "http",
            "app",
            "turn",
            "desks",
            "dialogue",
            "grounding",
            "nlu",
            "tools",
            "jobs",
            "retrieval",
            "notify",
            "channels",
            "providers",
            "store",
            "persona",
            "domain",
            "config",
        ],
    ),
    (
        "http",
        &[
            "app",
            "turn",
            "desks",
            "dialogue",
            "grounding",
            "nlu",
            "tools",
            "jobs",
            "retrieval",
            "notify",
            "channels",
            "providers",
            "store",
            "persona",
            "domain",
            "config",
        ],
    ),
    (
        "app",
        &[
            "turn",
            "desks",
            "dialogue",
            "grounding",
            "nlu",
            "tools",
            "jobs",
            "retrieval",
            "notify",
            "channels",
            "providers",
            "store",
            "persona",
            "domain",
            "config",
        ],
    ),
    (
        "turn",
        &[
            "desks",
            "dialogue",
            "grounding",
            "nlu",
            "tools",
            "jobs",
            "retrieval",
            "notify",
            "channels",
            "providers",
            "store",
            "persona",
            "domain",
            "config",
        ],
    ),
    (
        "desks",
        &[
            "dialogue",
            "grounding",
            "nlu",
            "tools",
            "jobs",
            "retrieval",
            "notify",
            "channels",
            "providers",
            "store",
            "persona",
            "domain",
            "config",
        ],
    ),
    (
        "dialogue",
        &[
            "grounding",
            "nlu",
            "tools",
            "jobs",
            "retrieval",
            "notify",
            "channels",
            "providers",
            "store",
            "persona",
            "domain",
            "config",
        ],
    ),
    (
        "grounding",
        &[
            "nlu",
            "tools",
            "jobs",
            "retrieval",
            "notify",
            "channels",
            "providers",
            "store",
            "persona",
            "domain",
            "config",
        ],
    ),
    ("nlu", &["tools", "jobs", "retrieval", "notify", "channels", "providers", "store", "persona", "domain", "config"]),
    ("tools", &["jobs", "retrieval", "notify", "channels", "providers", "store", "persona", "domain", "config"]),
    ("jobs", &["retrieval", "notify", "channels", "providers", "store", "persona", "domain", "config"]),
    ("retrieval", &["providers", "store", "persona", "domain", "config"]),
    ("notify", &["providers", "store", "persona", "domain", "config"]),
    ("channels", &["store", "persona", "domain", "config"]),
    ("providers", &["persona", "domain", "config"]),
    ("store", &["persona", "domain", "config"]),
    ("persona", &["domain", "config"]),
    ("config", &["domain"]),
];

/// A line of code as it stands in the source, without comments, strings and what only tests see.
struct Line {
    file: String,
    module: String,
    number: usize,
    code: String,
}

impl Line {
    fn place(&self) -> String {
        format!("{}:{}", self.file, self.number)
    }

    fn is_in(&self, file: &str) -> bool {
        self.file == file
    }

    fn is_terminal_output(&self) -> bool {
        ["cli", "main", "bin"].contains(&self.module.as_str())
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn source() -> Vec<Line> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    files(&root.join("src"), &mut paths);
    assert!(paths.len() > 50, "the source was found");
    let mut lines = Vec::new();
    for path in paths {
        let file = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        let inside = file.strip_prefix("src/").unwrap();
        let module = inside.split(['/', '.']).next().unwrap().to_owned();
        // `foo/tests.rs` and what is below it belong to `#[cfg(test)] mod tests`.
        if inside.contains("/tests.rs") || inside.contains("/tests/") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, code) in (1..).zip(code_of(&text).lines()) {
            lines.push(Line { file: file.clone(), module: module.clone(), number, code: code.to_owned() });
        }
    }
    lines
}

/// The text with comments, strings, characters and test modules blanked out, line for line.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if c == '"' {
            string(rest)
        } else if let Some(length) =
            raw_string(rest).filter(|_| !code.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        {
            length
        } else if c == '\'' {
            character(rest)
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        code.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[length..];
    }
    without_tests(&code)
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let at = body.find(&end)?;
    Some(text.len() - body.len() + at + end.len())
}

/// The length of a character literal; 1 where it is a lifetime.
fn character(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    match letters.next() {
        Some((_, '\\')) => text[2..].char_indices().skip(1).find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 3),
        Some((_, _)) => letters.next().filter(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1),
        None => 1,
    }
}

/// Blanks what stands under `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        let end = rest[at..].find(['{', ';']).map_or(rest.len(), |open| at + open);
        let length = if rest[end..].starts_with('{') { end + block(&rest[end..]) } else { end };
        kept.extend(rest[at..length].chars().filter(|c| *c == '\n'));
        rest = &rest[length..];
    }
    kept + rest
}

fn block(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

fn report(what: &str, broken: &[String]) {
    let mut message = String::new();
    for line in broken {
        writeln!(message, "  {line}").unwrap();
    }
    assert!(broken.is_empty(), "{what}:\n{message}");
}

/// The lines with this in them, but where `allowed` says that it may be.
fn lines_with<'a>(source: &'a [Line], words: &[&str], allowed: impl Fn(&Line) -> bool) -> Vec<&'a Line> {
    source.iter().filter(|line| words.iter().any(|word| line.code.contains(word)) && !allowed(line)).collect()
}

fn places(lines: &[&Line]) -> Vec<String> {
    lines.iter().map(|line| format!("{} {}", line.place(), line.code.trim())).collect()
}

/// The modules that a line names with `crate::…` or, in the binaries, `frontdesk::…`.
fn named(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for root in ["crate::", "frontdesk::"] {
        for (at, _) in code.match_indices(root) {
            let after = &code[at + root.len()..];
            let list = after.strip_prefix('{').map_or(after, |inside| inside);
            let parts: Vec<&str> = if after.starts_with('{') { list.split(',').collect() } else { vec![list] };
            for part in parts {
                let name: String = part.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                names.insert(name);
            }
        }
    }
    names
}

#[test]
fn data_flows_one_way() {
    let mut broken = Vec::new();
    for line in source() {
        let below = LAYERS.iter().find(|(module, _)| *module == line.module).map_or(&[][..], |(_, below)| below);
        for name in named(&line.code) {
            let known = LAYERS.iter().any(|(module, _)| *module == name) || name == "domain";
            if known && name != line.module && !below.contains(&name.as_str()) {
                broken.push(format!(
                    "{} {} names {name}, which stands above it or beside it",
                    line.place(),
                    line.module
                ));
            }
        }
    }
    report("arrows that run back up", &broken);
}

#[test]
fn only_the_store_knows_its_database() {
    let source = source();
    let broken = lines_with(&source, &["sea_orm", "sqlx"], |line| line.module == "store");
    report("the database is named outside src/store", &places(&broken));
}

#[test]
fn only_one_file_knows_what_server_sent_events_look_like() {
    let source = source();
    let broken = lines_with(&source, &["response::sse", "response::Sse", "text/event-stream"], |line| {
        line.is_in("src/http/sse.rs")
    });
    report("server-sent events are named outside src/http/sse.rs", &places(&broken));
}

#[test]
fn errors_have_types_below_the_commands() {
    let source = source();
    let broken = lines_with(&source, &["anyhow"], Line::is_terminal_output);
    report("anyhow is named outside the commands", &places(&broken));
    let broken = lines_with(&source, &["Box<dyn Error", "Box<dyn std::error::Error"], |_| false);
    report("an error without a type", &places(&broken));
}

#[test]
fn nothing_panics_or_prints_on_purpose() {
    let source = source();
    let words = [
        ".unwrap()",
        ".expect(",
        ".unwrap_err()",
        "panic!(",
        "todo!(",
        "unimplemented!(",
        "unreachable!(",
        "dbg!(",
        "process::exit(",
    ];
    let broken = lines_with(&source, &words, |line| line.is_terminal_output() || is_excused(&source, line));
    report("what ends the process, without a reason", &places(&broken));
    let broken = lines_with(&source, &["println!(", "eprintln!(", "print!(", "eprint!("], Line::is_terminal_output);
    report("printing outside the commands", &places(&broken));
}

#[test]
fn every_task_is_tracked() {
    let source = source();
    let broken = lines_with(&source, &["tokio::spawn(", "task::spawn(", "thread::spawn("], |line| {
        line.module == "cli" || is_excused(&source, line)
    });
    report("a task that nobody waits for, without a reason", &places(&broken));
}

/// Whether `#[expect(…, reason = …)]` stands in the five lines before it.
fn is_excused(source: &[Line], line: &Line) -> bool {
    source.iter().any(|other| {
        other.file == line.file
            && other.number <= line.number
            && other.number + 5 > line.number
            && other.code.contains("#[expect(")
    })
}

#[test]
fn the_reader_of_source_sees_code_and_nothing_else() {
    let text = "let a = 'x'; // .unwrap()\nlet b = \"panic!(\"; fn f<'a>(s: &'a str) {}\nlet c = r#\"dbg!(\"#; let d = '\\''; e.unwrap()\n#[cfg(test)]\nmod tests {\n  fn g() { x.unwrap() }\n}\nlet z = 1;\n";
    let code = code_of(text);
    let lines: Vec<&str> = code.lines().collect();
    assert_eq!(lines.len(), 8, "{code}");
    assert!(!lines[0].contains("unwrap") && !lines[1].contains("panic") && lines[1].contains("str) {}"));
    assert!(!lines[2].contains("dbg") && lines[2].contains("e.unwrap()"));
    assert_eq!(lines[7], "let z = 1;");
    assert!(!lines[5].contains("unwrap"));
    assert_eq!(
        named("use crate::{app::App, turn}; crate::store::x()").into_iter().collect::<Vec<_>>(),
        ["app", "store", "turn"]
    );
}
