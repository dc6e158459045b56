//! `frontdesk serve`: its output, refused setups, and shutdown.

use std::process::Stdio;

use serde_json::{Value, json};

use super::shop::{Running, Shop, taken_port};
use crate::support::eventually;

const PERSONA: &str = "prompts/system_persona_vi.md";

async fn greeting(address: &str) -> String {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let response = client.post(format!("{address}/conversations")).json(&json!({})).send().await.unwrap();
    let opened: Value = response.json().await.unwrap();
    opened["greeting"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn first_start_creates_database_and_describes_parts() {
    let shop = Shop::new();
    let (server, address) = shop.serve(&[("LLM", "auto"), ("OLLAMA_HOST", "127.0.0.1:1")]);
    for line in [
        "warranties: imported knowledge/warranty.csv at the first start",
        "store: SQLite (database/frontdesk.db)",
        "language model: no answer from ",
        "vectors: bge-m3 by Ollama while it answers, stored in the database; ",
        "personas: commerce_en, commerce_sw, returns_en, returns_vi, system_persona_en, system_persona_vi, telecom_en, telecom_pl (default system_persona_vi)",
        "development: only programs on this machine may call",
    ] {
        server.stdout_line(line);
    }
    assert!(shop.path("database/frontdesk.db").exists());
    server.signal("INT");
    let run = server.ends();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.ends_with(&format!("listening on {address}\n")), "{run:?}");
    assert!(!run.stderr.contains("migration"), "the store's own log lines are quiet: {run:?}");

    let (server, _) = shop.serve(&[]);
    server.signal("TERM");
    let run = server.ends();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.stdout.contains("warranties:"), "only the first start reads the list: {run:?}");
}

#[test]
fn second_server_on_a_database_is_refused() {
    let shop = Shop::new();
    let (_server, address) = shop.serve(&[]);
    shop.run(&["serve"], &[]).is_refused_with(&["another frontdesk already serves this database", &address]);
    // Another database can be served.
    let (second, _) = shop.serve(&[("DATABASE_URL", "sqlite://second/shop.db")]);
    second.signal("INT");
    assert_eq!(second.ends().code, Some(0));
}

#[test]
fn invalid_setup_is_refused_with_a_hint() {
    let shop = Shop::new();
    shop.run(&["serve"], &[("X_API_KEYS", "")]).is_refused_with(&["X_API_KEYS: is set but empty", "unset it"]);
    shop.run(&["serve"], &[("X_API_KEYS", "a")]).is_refused_with(&["X_API_KEYS: key 1 has 1 characters", "openssl"]);
    shop.run(&["serve", "--production"], &[]).is_refused_with(&["--production", "X_API_KEYS", "openssl"]);
    assert!(!shop.path("database").exists(), "it has not begun");
    shop.run(&["serve"], &[("BIND_ADDR", "0.0.0.0:0")]).is_refused_with(&["BIND_ADDR: ", "X_API_KEYS"]);
    let (_held, address) = taken_port();
    shop.run(&["serve"], &[("BIND_ADDR", &address)])
        .is_refused_with(&[&format!("BIND_ADDR={address} is in use by another program"), "another port"]);
    shop.run(&["serve"], &[("LLM", "ollama"), ("OLLAMA_HOST", "127.0.0.1:1")])
        .is_refused_with(&["LLM=ollama, but there is no language model", "LLM=auto"]);
    // A line of .env may hold a key, so its words are not repeated.
    shop.write(".env", "LOG=info\nX_API_KEYS=s3cret 's\n");
    let run = shop.run(&["serve"], &[]);
    run.is_refused_with(&[".env:2: ", "single quotes"]);
    assert!(!run.stderr.contains("s3cret"), "{run:?}");
    // These exit with 1 if rows were refused.
    for command in [
        &["upsert-warranty", "--file", "list.csv"][..],
        &["import", "orders", "--file", "list.csv"],
        &["index"],
        &["eval", "retrieval", "--questions", "list.jsonl"],
    ] {
        let run = shop.run(command, &[]);
        assert!(run.code == Some(2) && run.stderr.contains(".env:2: "), "{command:?}: {run:?}");
    }
    shop.write(".env", "LOG=info\nX_API_KEYS=s3cret\0s\n");
    let run = shop.run(&["serve"], &[]);
    run.is_refused_with(&[".env:2: ", "NUL character", "remove it"]);
    assert!(!run.stderr.contains("s3cret"), "{run:?}");
    std::fs::remove_file(shop.path(".env")).unwrap();
    shop.write(PERSONA, "Who.\n\nFollowUp: x\n");
    shop.run(&["serve"], &[]).is_refused_with(&["error: prompts/system_persona_vi.md:3: ", "no greeting"]);
}

#[tokio::test]
async fn invalid_persona_edit_keeps_the_earlier_one() {
    let shop = Shop::new();
    let (server, address) = shop.serve(&[]);
    let before = greeting(&address).await;
    let whole = std::fs::read_to_string(shop.path(PERSONA)).unwrap();

    shop.write(PERSONA, "Who.\n\nFollowUp: x\n");
    let line = server.log_line("Keeping the earlier prompts and documents");
    assert!(line.contains("prompts/system_persona_vi.md:3: ") && line.contains("no greeting"), "{line}");
    assert_eq!(greeting(&address).await, before);

    shop.write(PERSONA, &whole.replacen(&before, "Chào mừng!", 1));
    server.log_line("Reloaded prompts and documents");
    assert_eq!(greeting(&address).await, "Chào mừng!");
    server.signal("TERM");
    assert_eq!(server.ends().code, Some(0));
}

#[tokio::test]
async fn log_file_gets_more_than_terminal() {
    let shop = Shop::new();
    let (server, address) = shop.serve(&[("LOG", "warn"), ("LOG_FILE", "log/frontdesk.log")]);
    greeting(&address).await;
    server.signal("INT");
    let run = server.ends();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.stderr.contains("INFO"), "{run:?}");
    let log = || std::fs::read_to_string(shop.path("log/frontdesk.log")).unwrap();
    eventually("the file has the end", || log().contains("Server stopped")).await;
}

#[tokio::test]
async fn metrics_have_a_separate_listener() {
    let shop = Shop::new();
    let (server, address) = shop.serve(&[("METRICS_ADDR", "127.0.0.1:0"), ("X_API_KEYS", "key-of-the-shop-0")]);
    let line = server.stdout_line("metrics: http://");
    let metrics = line.strip_prefix("metrics: ").unwrap().strip_suffix("/metrics, without a key").unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (url, status) in [
        (format!("{metrics}/metrics"), 200),
        (format!("{metrics}/conversations"), 404),
        (format!("{address}/metrics"), 401),
    ] {
        assert_eq!(client.get(&url).send().await.unwrap().status(), status, "{url}");
    }
}

#[test]
fn open_file_limit_is_raised() {
    let shop = Shop::new();
    let server = shop.command(&["serve"], &[]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -S -n 200 && ulimit -H -n 400 && exec \"$0\" serve"]).arg(server.get_program());
    limited.current_dir(shop.path(".")).env_clear();
    limited.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running::start(&mut limited).log_line("Lowered CONNECTIONS_MAX to 272, since the system limits open files");
}
