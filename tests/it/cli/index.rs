//! `frontdesk index`, as a program where no model is needed, and by its function with an index in memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use frontdesk::cli::index::{Args, Report, index};
use frontdesk::cli::output::Report as _;
use frontdesk::config::{Config, Env};
use frontdesk::providers::vector::VectorIndex;
use tempfile::TempDir;

use super::Run;
use crate::support::vectors::{MemoryVectors, WordModel};

/// A folder with prompts and documents.
struct Shop {
    folder: TempDir,
    vectors: Arc<MemoryVectors>,
    model: Arc<WordModel>,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shop = Self { folder, vectors: Arc::default(), model: WordModel::that_refuses("words", "unspeakable") };
        for file in ["languages", "search", "search.en", "search.pl", "search.vi"] {
            let file = &format!("prompts/rules/{file}.toml");
            shop.write(file, std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap());
        }
        shop.write("prompts/system_persona_vi.md", "Who.\nGreeting: Hi\n");
        shop.write("prompts/returns.md", "---\nknowledge: returns\n---\nWho.\nGreeting: Hi\n");
        shop.write("knowledge/delivery.md", "# Delivery\n\n## In town\nDelivery is free.\n");
        shop.write("knowledge/returns/faq.md", "# Returns\n\nReturns within 7 days.\n");
        shop.write("knowledge/archive/old.md", "# Old\n\nOld things.\n");
        shop
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn variables(&self) -> Vec<(String, String)> {
        [
            ("PROMPTS_PATH", self.path("prompts")),
            ("PERSONA_PATH", self.path("prompts/system_persona_vi.md")),
            ("KNOWLEDGE_PATH", self.path("knowledge")),
        ]
        .map(|(name, value)| (name.to_owned(), value.display().to_string()))
        .to_vec()
    }

    async fn index(&self, args: Args) -> anyhow::Result<Report> {
        let config = Config::read(Env::of(self.variables())).unwrap();
        let vectors = async || Ok(self.vectors.clone() as Arc<dyn VectorIndex>);
        index(&args, &config, &self.model.embedder(), vectors).await
    }

    /// The program, without a model.
    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.current_dir(self.folder.path()).env_clear().envs(self.variables()).env("EMBED", "off");
        command.arg("index").args(arguments).output().map(Run::from).unwrap()
    }
}

fn text(report: &Report) -> (String, String) {
    let (mut out, mut remarks) = (Vec::new(), Vec::new());
    report.write_text(&mut out).unwrap();
    report.write_remarks(&mut remarks, false).unwrap();
    (String::from_utf8(out).unwrap(), String::from_utf8(remarks).unwrap())
}

/// Folder, kept, embedded and removed of each folder.
fn counts(report: &Report) -> Vec<(&str, usize, usize, usize)> {
    let counts = report.folders.iter().map(|folder| {
        let vectors = folder.vectors.as_ref().unwrap();
        (folder.folder.as_str(), vectors.kept, vectors.embedded, vectors.removed)
    });
    counts.collect()
}

#[tokio::test]
async fn each_persona_folder_has_a_collection() {
    let shop = Shop::new();
    let report = shop.index(Args::default()).await.unwrap();
    assert_eq!(counts(&report), [("", 0, 1, 0), ("returns", 0, 1, 0)]);
    assert_eq!(shop.vectors.names(), ["knowledge_dev", "knowledge_dev-returns"]);
    assert_eq!((report.documents, report.chunks, report.error.as_deref()), (2, 2, None));
    let (out, remarks) = text(&report);
    assert!(
        out.contains("/returns: 1 documents, 1 chunks; knowledge_dev-returns: 1 embedded, 0 kept, 0 removed\n"),
        "{out}"
    );
    assert!(remarks.contains("/archive: not indexed, since no persona names it"), "{remarks}");

    let args = Args { path: Some(shop.path("knowledge/archive")), collection: Some("old".into()), ..Args::default() };
    let report = shop.index(args).await.unwrap();
    assert_eq!(counts(&report), [("", 0, 1, 0)]);
    assert_eq!(shop.vectors.names(), ["knowledge_dev", "knowledge_dev-returns", "old"]);
}

#[tokio::test]
async fn dry_run_needs_no_model() {
    let shop = Shop::new();
    shop.model.down.store(true, std::sync::atomic::Ordering::SeqCst);
    let report = shop.index(Args { dry_run: true, ..Args::default() }).await.unwrap();
    assert_eq!((counts(&report), shop.vectors.names()), (vec![("", 0, 1, 0), ("returns", 0, 1, 0)], vec![]));
    assert_eq!(report.error, None);
    let (out, remarks) = text(&report);
    assert!(out.contains("1 would be embedded") && remarks.contains("dry run: nothing was written"), "{out}{remarks}");
}

#[tokio::test]
async fn rebuild_embeds_everything_again() {
    let shop = Shop::new();
    shop.index(Args::default()).await.unwrap();
    let would = shop.index(Args { rebuild: true, dry_run: true, ..Args::default() }).await.unwrap();
    assert_eq!(counts(&would), [("", 0, 1, 1), ("returns", 0, 1, 1)]);
    shop.model.asked();
    let report = shop.index(Args { rebuild: true, ..Args::default() }).await.unwrap();
    assert_eq!((counts(&report), shop.model.asked().len()), (vec![("", 0, 1, 0), ("returns", 0, 1, 0)], 2));
}

#[tokio::test]
async fn dropped_and_refused_chunks_are_reported() {
    let shop = Shop::new();
    shop.write(
        "knowledge/delivery.md",
        "---\nsummary: delivery fees\n---\nHello.\n\n# Delivery\nAn unspeakable fee.\n\n## Fees\nNone.\n",
    );
    let report = shop.index(Args::default()).await.unwrap();
    assert_eq!((report.chunks, report.dropped, report.refused), (3, 1, 1));
    assert_eq!(format!("{:?}", report.exit_code()), format!("{:?}", std::process::ExitCode::from(1)));
    let (out, _) = text(&report);
    assert!(out.contains("dropped: ") && out.contains("/delivery.md \"\": 3 tokens without a word"), "{out}");
    assert!(out.contains("refused: ") && out.contains("the text is too long"), "{out}");
    assert!(out.contains("2 documents, 3 chunks, 1 dropped, 1 refused; "), "{out}");
}

#[tokio::test]
async fn calibration_proposes_a_threshold() {
    let shop = Shop::new();
    for n in 0..6 {
        shop.write(
            &format!("knowledge/page{n}.md"),
            format!("# Page {n}\n\n{}", ["apples bread", "cars doors"][n % 2]),
        );
    }
    let report = shop.index(Args { calibrate: true, ..Args::default() }).await.unwrap();
    let found = report.folders[0].calibration.as_ref().unwrap();
    assert_eq!(found.pairs, 21, "seven documents at the top, one chunk each");
    assert!(found.percentiles.is_sorted() && found.percentiles.contains(&found.threshold), "{found:?}");
    let (out, _) = text(&report);
    assert!(out.contains("different documents: p10 ") && out.contains("NO_CONTEXT_THRESHOLDS=bge-m3=0."), "{out}");
}

#[test]
fn missing_model_is_reported_with_a_hint() {
    let shop = Shop::new();
    let run = shop.run(&[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stdout.contains("2 documents, 2 chunks, 0 dropped, 0 refused"), "{}", run.stdout);
    assert!(run.stderr.contains("error: embedding is disabled: set EMBED=auto"), "{}", run.stderr);
    let json: serde_json::Value = serde_json::from_str(&shop.run(&["--json"]).stdout).unwrap();
    assert_eq!((json["documents"].as_u64(), json["folders"][1]["folder"].as_str()), (Some(2), Some("returns")));
    assert!(json["error"].as_str().unwrap().contains("EMBED=auto"), "{json}");
    assert!(!shop.path("database").exists(), "nothing was made");
}

#[test]
fn unreadable_folder_is_reported_with_a_hint() {
    let shop = Shop::new();
    let run = shop.run(&["--path", "nowhere"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("nowhere is not a folder: name the folder of the documents with --path"),
        "{}",
        run.stderr
    );
    shop.write("prompts/telecom.md", "---\ndesk: retail\nknowledge: [telecom]\n---\nWho.\nGreeting: Hi\n");
    let run = shop.run(&[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("telecom.md:3: knowledge names the folder telecom"), "{}", run.stderr);
}
