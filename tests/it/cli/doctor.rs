//! `frontdesk doctor` in a good folder and in broken ones.

use frontdesk::domain::ActorKind;
use frontdesk::domain::returns::Priority;
use frontdesk::store::audit::Actor;
use frontdesk::store::returns::escalate::{NewEscalation, PAYMENT};
use serde_json::Value;

use super::shop::{Shop, taken_port};
use crate::support::ollama::ScriptedOllama;

const OK: &str = "ok    ";
const WARN: &str = "warn  ";
const FAIL: &str = "fail  ";

/// Runs it; gives the exit code and the lines.
fn doctor(shop: &Shop, variables: &[(&str, &str)]) -> (Option<i32>, Vec<String>) {
    let run = shop.run(&["doctor"], variables);
    assert_eq!(run.stderr, "", "{run:?}");
    (run.code, run.stdout.lines().map(str::to_owned).collect())
}

/// The line must be there, as a beginning.
fn has(lines: &[String], outcome: &str, line: &str) {
    let wanted = format!("{outcome}{line}");
    assert!(lines.iter().any(|line| line.starts_with(&wanted)), "no line '{wanted}' in {lines:#?}");
}

#[test]
fn doctor_before_first_start_creates_nothing() {
    let shop = Shop::new();
    let (code, lines) = doctor(&shop, &[("LOG_FILE", "log/frontdesk.log")]);
    has(&lines, OK, "config: every value of the environment is valid");
    has(&lines, OK, "keys: none: development, so only programs on this machine may call");
    has(&lines, OK, "log file: log/frontdesk.log");
    has(
        &lines,
        OK,
        "prompts: personas commerce_en (en, sw, sheng), commerce_sw (sw, en, sheng), returns_en (en, vi), returns_vi (vi, en), system_persona_en (en, vi), system_persona_vi (vi, en), telecom_en (en, pl), telecom_pl (pl, en); default system_persona_vi",
    );
    has(&lines, OK, "knowledge: 59 documents, ");
    has(&lines, OK, "store: SQLite (database/frontdesk.db) does not exist yet: the first start creates it");
    has(&lines, OK, "warranties: none yet: the first start reads knowledge/warranty.csv");
    has(&lines, OK, "server: none runs on this database");
    has(&lines, OK, "port: BIND_ADDR=127.0.0.1:0 is free");
    has(&lines, OK, "language model: off (LLM=offline)");
    has(&lines, OK, "embedding model: off");
    has(&lines, OK, "mail: written to files in database/outbox, not sent");
    has(&lines, WARN, "links in mails: they lead to http://127.0.0.1:0, which customers cannot reach: set PUBLIC_URL");
    assert_eq!((code, lines.len()), (Some(0), 13), "{lines:#?}");
    let mut left: Vec<_> = std::fs::read_dir(shop.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["knowledge", "prompts"]);
}

#[test]
fn doctor_finds_a_running_server() {
    let shop = Shop::new();
    let keys = ("X_API_KEYS", "default:s3cret-of-the-shop-1,other:s3cret-of-the-shop-2,other:s3cret-of-the-shop-3");
    let (server, address) = shop.serve(&[keys]);
    let bind = address.strip_prefix("http://").unwrap();
    let (code, lines) = doctor(&shop, &[keys, ("BIND_ADDR", bind)]);
    has(&lines, OK, "keys: 3 keys for tenants default (1), other (2)");
    has(&lines, OK, "store: SQLite (database/frontdesk.db), its tables are up to date");
    let import = "import a list with `frontdesk upsert-warranty --file warranty.csv --tenant other`";
    has(&lines, WARN, &format!("warranties: 240 records of tenant default, 0 records of tenant other: {import}"));
    has(&lines, OK, &format!("server: one runs on this database, at {address}"));
    has(&lines, OK, &format!("port: BIND_ADDR={bind} is the running server's"));
    assert_eq!(code, Some(0), "{lines:#?}");
    assert!(!lines.concat().contains("s3cret"), "{lines:#?}");
    server.signal("INT");
    assert_eq!(server.ends().code, Some(0));
    let (code, lines) = doctor(&shop, &[]);
    has(&lines, OK, "server: none runs on this database");
    has(&lines, OK, "warranties: 240 records of tenant default");
    assert_eq!(code, Some(0));
}

#[test]
fn doctor_reports_every_problem_with_a_hint() {
    let shop = Shop::new();
    shop.write("prompts/system_persona_vi.md", "Who.\n\nFollowUp: x\n");
    shop.write("prompts/second.md", "Who.\nGreeting:\n");
    std::fs::remove_dir_all(shop.path("knowledge")).unwrap();
    let (_held, taken) = taken_port();
    let (code, lines) = doctor(
        &shop,
        &[
            ("LLM", "openai"),
            ("TURNS_PER_MINUTE", "many"),
            ("LOG", "a=b=c"),
            ("DATABASE_URL", "mysql://h/d"),
            ("BIND_ADDR", &taken),
            ("OLLAMA_HOST", "127.0.0.1:1"),
            ("LOG_FILE", "prompts"),
        ],
    );
    has(&lines, FAIL, "config: LLM: 'openai' is not one of auto, ollama, offline");
    has(&lines, FAIL, "config: TURNS_PER_MINUTE: 'many' is not valid");
    has(&lines, FAIL, "config: LOG=a=b=c is not a valid filter");
    has(&lines, FAIL, "log file: LOG_FILE=prompts is a folder");
    has(&lines, FAIL, "prompts: prompts/second.md:2: ");
    has(&lines, FAIL, "prompts: prompts/system_persona_vi.md:3: ");
    has(&lines, FAIL, "store: DATABASE_URL must start with sqlite:// or postgres://");
    has(&lines, FAIL, &format!("port: BIND_ADDR={taken} is in use by another program"));
    has(&lines, WARN, "language model: Ollama does not answer at http://127.0.0.1:1: start it with `ollama serve`");
    assert_eq!(code, Some(1), "{lines:#?}");
}

#[test]
fn unreachable_mail_server_is_reported_without_password() {
    let shop = Shop::new();
    let smtp = ("SMTP_URL", "smtp://shop:s3cret@127.0.0.1:1");
    let (code, lines) = doctor(&shop, &[smtp, ("PUBLIC_URL", "https://chat.example.com")]);
    has(
        &lines,
        WARN,
        "proxies: PUBLIC_URL=https://chat.example.com needs a proxy in front, but TRUSTED_PROXIES is empty",
    );
    has(&lines, WARN, "mail: SMTP, 127.0.0.1: the e-mail could not be sent now: the mail server cannot be reached");
    has(&lines, OK, "links in mails: they lead to https://chat.example.com");
    assert_eq!(code, Some(0), "mails wait: {lines:#?}");
    assert!(!lines.concat().contains("s3cret"), "{lines:#?}");
    // A shop that takes nothing back writes no mails.
    for persona in ["returns_en", "returns_vi"] {
        std::fs::remove_file(shop.path(&format!("prompts/{persona}.md"))).unwrap();
    }
    let (_, lines) = doctor(&shop, &[smtp]);
    assert!(!lines.iter().any(|line| line.contains("mail")), "{lines:#?}");
}

#[test]
fn doctor_checks_texts_documents_and_database() {
    let shop = Shop::new();
    shop.edit("prompts/texts/retail.vi.toml", "=", "= =");
    std::fs::write(shop.path("knowledge/latin1.md"), b"# Gi\xe1\n").unwrap();
    shop.write(".env", "X_API_KEYS=s3cret 's\n");
    std::fs::create_dir(shop.path("database")).unwrap();
    shop.write("database/frontdesk.db", &"no database at all. ".repeat(100));
    let (code, lines) = doctor(&shop, &[]);
    has(&lines, FAIL, "config: .env:1: the line is not valid");
    has(&lines, FAIL, "prompts: prompts/texts/retail.vi.toml:");
    has(&lines, WARN, "knowledge: knowledge/latin1.md");
    has(&lines, FAIL, "store: ");
    assert_eq!(code, Some(1), "{lines:#?}");
    assert!(!lines.concat().contains("s3cret"), "{lines:#?}");
}

#[test]
fn unreachable_embedding_model_is_reported_with_its_fix() {
    let (code, lines) = doctor(&Shop::new(), &[("EMBED", "auto"), ("OLLAMA_HOST", "127.0.0.1:1")]);
    let line = lines.iter().find(|line| line.contains("embedding model: ")).unwrap();
    assert!(line.starts_with(WARN) && line.contains("127.0.0.1:1") && line.contains("`ollama serve`"), "{line}");
    assert_eq!(code, Some(0));
}

#[test]
fn doctor_checks_the_files_of_every_shop() {
    let shop = Shop::new();
    for folder in ["acme/prompts", "acme/knowledge"] {
        std::fs::create_dir_all(shop.path(&format!("database/shops/{folder}"))).unwrap();
    }
    shop.write("database/shops/acme/shop.toml", "api_keys = [\"s3cret-of-the-shop-acme\"]\n");
    shop.write("database/shops/acme/prompts/host.md", "---\nlangauges: [en]\n---\nWho.\nGreeting: Hi\n");
    let keys = ("X_API_KEYS", "s3cret-of-the-shop-1,beta:s3cret-of-the-shop-2");
    let (code, lines) = doctor(&shop, &[keys]);
    has(&lines, OK, "keys: 3 keys for tenants acme (1), beta (1), default (1)");
    has(&lines, FAIL, "prompts: shop acme: database/shops/acme/prompts/host.md:2: ");
    has(&lines, WARN, "knowledge: shop beta: no documents, since database/shops/beta does not exist: create it");
    assert_eq!(code, Some(1));
    shop.write("database/shops/acme/prompts/host.md", "Who.\nGreeting: Hi\n");
    shop.write("database/shops/acme/shop.toml", "persona = \"guest\"\n");
    let (_, lines) = doctor(&shop, &[]);
    has(
        &lines,
        FAIL,
        "prompts: shop acme: database/shops/acme/shop.toml: there is no persona 'guest': write one of host",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_lists_tickets_without_conversation() {
    let shop = Shop::new();
    std::fs::create_dir(shop.path("database")).unwrap();
    let store = crate::store::open(&format!("sqlite://{}", shop.path("database/frontdesk.db").display())).await;
    let new = NewEscalation {
        rma: None,
        order: None,
        locks_returns: false,
        priority: Priority::High,
        reason: PAYMENT,
        summary: "A payment without an order: QKJ41HAY6L\nNext steps: …",
        claim: None,
        once: Some("QKJ41HAY6L"),
    };
    let by = Actor { kind: ActorKind::Automatic, who: "job", conversation: None, now: chrono::Utc::now() };
    let opened = store.tenant(&crate::store::tenant("acme")).escalate(&new, &by).await.unwrap();
    let id = opened.ticket().id.clone();
    store.close().await.unwrap();
    let (_, lines) = doctor(&shop, &[]);
    let line = format!(
        "tickets: shop acme: {id} belongs to no conversation: A payment without an order: QKJ41HAY6L: decide it with \
         `frontdesk rma resolve {id} DECISION --tenant acme`"
    );
    has(&lines, WARN, &line);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_model_is_reported_with_pull_command() {
    let ollama = ScriptedOllama::start().await;
    let shop = Shop::new();
    let url = ollama.url();
    let variables = |mode| [("LLM", mode), ("OLLAMA_HOST", url.as_str())];
    let (code, lines) = doctor(&shop, &variables("auto"));
    has(&lines, OK, &format!("language model: Ollama at {url} has gpt-oss"));
    assert_eq!(code, Some(0));

    ollama.has_models(&["qwen3:latest"]);
    let missing = format!("language model: Ollama at {url} does not have gpt-oss: run `ollama pull gpt-oss`");
    let (code, lines) = doctor(&shop, &variables("auto"));
    has(&lines, WARN, &missing);
    assert_eq!(code, Some(0), "the server starts without it");
    let (code, lines) = doctor(&shop, &variables("ollama"));
    has(&lines, FAIL, &missing);
    assert_eq!(code, Some(1));
    // And a persona's own model.
    shop.edit("prompts/system_persona_vi.md", "desk: retail", "desk: retail\nmodel: llama9");
    let (_, lines) = doctor(&shop, &variables("auto"));
    has(&lines, WARN, "language model: a persona wants llama9, which Ollama does not have: run `ollama pull llama9`");
}

#[cfg(unix)]
#[test]
fn created_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    fn created(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let entries = entries.filter(|path| !path.ends_with("prompts") && !path.ends_with("knowledge"));
        entries
            .flat_map(|path| if path.is_dir() { [created(&path), vec![path]].concat() } else { vec![path] })
            .collect()
    }
    let shop = Shop::new();
    let (server, _) = shop.serve(&[("LOG_FILE", "logs/frontdesk.log")]);
    let files = created(&shop.path("."));
    for name in ["frontdesk.db", "frontdesk.db-wal", "frontdesk.db-shm", "frontdesk.db.lock"] {
        assert!(files.iter().any(|path| path.ends_with(name)), "{name}: {files:?}");
    }
    for path in files {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
    server.signal("INT");
    server.ends();
    let (_, lines) = doctor(&shop, &[]);
    assert!(!lines.iter().any(|line| line.contains("chmod")), "{lines:#?}");
    std::fs::set_permissions(shop.path("database/frontdesk.db"), PermissionsExt::from_mode(0o644)).unwrap();
    let (code, lines) = doctor(&shop, &[]);
    has(&lines, WARN, "permissions: every user of this machine can open database/frontdesk.db (mode 644)");
    assert_eq!(code, Some(0));
}

#[test]
fn doctor_prints_json() {
    let shop = Shop::new();
    let run = shop.run(&["doctor", "--json"], &[("LLM", "openai")]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &found["ok"]), (Some(1), &Value::Bool(false)));
    let first = &found["checks"][0];
    assert_eq!((first["name"].as_str(), first["outcome"].as_str()), (Some("config"), Some("fail")));
    assert_eq!(first["line"], "LLM: 'openai' is not one of auto, ollama, offline");
}
