//! Erasing a conversation or a customer, next to a server that runs.

use std::process::{Command, Output};

use chrono::{TimeDelta, Utc};
use frontdesk::app::personal_files::forget_files;
use frontdesk::domain::TenantId;
use frontdesk::domain::returns::Rma;
use frontdesk::jobs::send_mail::wait_for_attempt;
use frontdesk::store::mails::{MailStatus, NewMail};
use frontdesk::turn::feed::Feeds;
use frontdesk::turn::{recover, retention};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::desks::returns::shop::{Chat, mails, open};
use crate::http::unavailable::Held;
use crate::store::accepted;
use crate::support::app::TestApp;
use crate::support::{LIMIT, audit, eventually};
use frontdesk::cli::seed::sample;
use frontdesk::store::samples::Sampling;

const JOHN: &str = "john.doe@example.com";
const WORD: &str = "zebracolour";

/// A server with a return of John's, its mail, and a kept case.
struct Shop {
    app: TestApp,
    evals: TempDir,
    conversation: String,
}

impl Shop {
    async fn open() -> Self {
        let evals = tempfile::tempdir().unwrap();
        let builder = TestApp::builder().env("EVALS_PATH", evals.path().display()).env("MESSAGE_RETENTION_DAYS", 30);
        let app = open(builder).await;
        let mut chat = Chat::open(&app).await;
        let asked = format!("I want to return order 77893 because I prefer another {WORD}");
        let done = chat.say_all(&[&asked, JOHN, "yes"]).await;
        assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
        let conversation = chat.id.clone();
        let path = format!("/console/api/conversations/{conversation}/turns/1/wrong");
        assert_eq!(app.post(&path, &json!({})).send().await.unwrap().status(), 201);
        let shop = Self { app, evals, conversation };
        assert!(shop.rma().await.reason.contains(WORD));
        assert_eq!((mails(&shop.app).len(), shop.cases()), (1, 1));
        shop
    }

    async fn rma(&self) -> Rma {
        let tenant = TenantId::default();
        let found = self.app.inner.store.tenant(&tenant).list_rmas_of(&"77893".parse().unwrap()).await.unwrap();
        assert_eq!(found.len(), 1);
        found.into_iter().next().unwrap()
    }

    fn cases(&self) -> usize {
        std::fs::read_dir(self.evals.path().join("conversations")).unwrap().count()
    }

    /// The files of the database, of mails and of cases that hold the text. Another process reads them: a file that this
    /// one closes loses the locks of the server's SQLite connections.
    fn traces(&self, text: &str) -> String {
        let mut grep = Command::new("grep");
        grep.args(["-rlF", "-e", text]).args([self.app.folder(), self.evals.path()]);
        String::from_utf8(grep.output().unwrap().stdout).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.current_dir(self.evals.path()).env_clear().env("EMBED", "off").env("LLM", "offline");
        command.env("DATABASE_URL", &self.app.database_url).env("EVALS_PATH", self.evals.path());
        command.env("MAIL_OUTBOX_PATH", self.app.folder().join("outbox"));
        command.arg("customer").args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        tokio::task::block_in_place(|| self.command(arguments).output().unwrap())
    }

    fn export(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[&["export"], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[tokio::test]
async fn deleted_conversation_leaves_no_words() {
    let shop = Shop::open().await;
    assert!(!shop.traces(WORD).is_empty());
    let before = shop.rma().await;
    let path = format!("/conversations/{}", shop.conversation);
    assert_eq!(shop.app.request(Method::DELETE, &path).send().await.unwrap().status(), 204);
    eventually("the database's log is emptied", || shop.traces(WORD).is_empty()).await;
    let after = shop.rma().await;
    assert_eq!(after, Rma { reason: String::new(), ..before });
    let tenant = TenantId::default();
    let ticket = shop.app.inner.store.tenant(&tenant).find_ticket(after.number.as_str()).await.unwrap().unwrap();
    assert_eq!((ticket.reason.as_str(), ticket.order), ("", Some(after.order)));
}

#[tokio::test]
async fn case_written_during_a_deletion_is_removed() {
    let shop = Shop::open().await;
    // On PostgreSQL, the lock would keep the deletion from its start.
    if !shop.app.database_url.starts_with("sqlite:") {
        return;
    }
    let mut cases = std::fs::read_dir(shop.evals.path().join("conversations")).unwrap();
    let case = cases.next().unwrap().unwrap().path();
    let text = std::fs::read(&case).unwrap();
    let held = Held::by_somebody_else(&shop.app).await;
    let path = format!("/conversations/{}", shop.conversation);
    let deletion = shop.app.request(Method::DELETE, &path).send();
    let writing = async {
        eventually("the case is removed", || shop.cases() == 0).await;
        std::fs::write(&case, &text).unwrap();
        drop(held);
    };
    let (deleted, ()) = tokio::join!(deletion, writing);
    assert_eq!((deleted.unwrap().status().as_u16(), shop.cases()), (204, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn customer_is_exported_and_erased_beside_server() {
    let shop = Shop::open().await;
    let (app, before) = (&shop.app, shop.rma().await);
    let named = app.open(&json!({ "persona": "returns_en", "user_id": "user-7" })).await;
    let of_user = shop.export(&["--user", "user-7"]);
    assert_eq!(of_user["tables"]["conversations"][0]["id"], named.as_str());
    let export = shop.export(&["--email", "John.Doe@example.com"]);
    let tables = &export["tables"];
    assert_eq!(tables["conversations"][0]["id"], shop.conversation.as_str());
    for (table, column, value) in [
        ("customers", "email", JOHN),
        ("orders", "email", JOHN),
        ("mails", "recipient", JOHN),
        ("rmas", "number", before.number.as_str()),
    ] {
        let rows = tables[table].as_array().unwrap();
        assert!(rows.iter().any(|row| row[column] == value), "{table}: {rows:#?}");
    }
    for table in ["messages", "events", "turns", "tickets", "audit", "order_items"] {
        assert!(!tables[table].as_array().unwrap().is_empty(), "{table}");
    }
    assert_eq!(tables["messages"].as_array().unwrap().iter().filter(|row| row["text"] == JOHN).count(), 1);
    assert!(export["cases"][0]["case"].to_string().contains(WORD));
    assert!(export["mail_files"][0]["text"].as_str().unwrap().contains(JOHN));
    assert!(!export.to_string().contains("buyer-77900"), "no other customer's data");

    let other = Chat::open(app).await;
    let refused = shop.run(&["erase", "--email", JOHN]);
    assert!(!refused.status.success(), "there is no terminal: {refused:?}");
    let planned = shop.run(&["erase", "--email", JOHN, "--dry-run"]);
    assert!(planned.status.success(), "{planned:?}");
    assert_eq!(shop.export(&["--email", JOHN])["tables"], *tables, "a dry run changes nothing");
    let erased = shop.run(&["erase", "--email", JOHN, "--yes"]);
    assert!(erased.status.success(), "{erased:?}");
    let (planned, erased) = [planned, erased].map(|output| String::from_utf8(output.stdout).unwrap()).into();
    assert_eq!(planned.lines().skip(1).collect::<Vec<_>>(), erased.lines().skip(1).collect::<Vec<_>>());

    for text in [WORD, JOHN, "John Doe"] {
        assert_eq!(shop.traces(text), "", "{text}");
    }
    assert_eq!(shop.export(&["--email", JOHN])["tables"], json!({}));
    assert_eq!(shop.rma().await, Rma { reason: String::new(), ..before });
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let record = audit::of_order(&store, &"77893".parse().unwrap()).await;
    assert!(record.iter().any(|entry| entry.what == "rma.created"));
    assert!(audit::of_shop(&store).await.iter().any(|entry| entry.what == "customer.erased"));
    assert!(store.find_order(&"77900".parse().unwrap()).await.unwrap().unwrap().email.as_str().starts_with("buyer"));
    assert_eq!(app.history(&other.id).await.len(), 1, "another conversation stays");
    assert_eq!(app.get("/readyz").send().await.unwrap().status(), 200);
    let sample = sample::shop(&tenant, Utc::now(), app.inner.config.shops.time_zone);
    let again = store.make_sample(&sample, false).await.unwrap();
    assert!(matches!(again, Sampling::Done { .. }), "the sample is reset after an erasure: {again:?}");

    let mut erasing = shop.command(&["erase", "--user", "user-7", "--yes"]);
    erasing.env("EMBED", "auto").env("CHROMA_URL", "http://127.0.0.1:9");
    let erased = tokio::task::block_in_place(|| erasing.output().unwrap());
    assert!(erased.status.success(), "{erased:?}");
    assert!(String::from_utf8(erased.stdout).unwrap().contains("vectors from Chroma"));
    assert_eq!(store.find_conversation(named.parse().unwrap()).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_during_an_erasure_is_erased() {
    let shop = Shop::open().await;
    let (app, tenant, id) = (&shop.app, TenantId::default(), shop.conversation.parse().unwrap());
    let store = app.inner.store.tenant(&tenant);
    let first = store.list_mails_of(&shop.rma().await.number).await.unwrap().remove(0);
    let late = NewMail {
        number: "MSG-1700000000-1A2B3C4D".parse().unwrap(),
        to: first.to,
        template: first.template,
        language: first.language,
        context: first.context,
        conversation: first.conversation,
        order: first.order,
        rma: first.rma,
    };
    // The erasure waits for this turn, which no lane runs.
    let turn = accepted(&app.inner.store, &tenant, id, 1).await;
    let mut erasing = shop.command(&["erase", "--email", JOHN, "--yes"]).spawn().unwrap();
    eventually("the first mail is removed", || mails(app).is_empty()).await;
    let queued = store.queue_mail(&late, "desk", Utc::now()).await.unwrap();
    let status = wait_for_attempt(&app.inner.jobs, &store, queued, LIMIT).await.unwrap();
    assert_eq!((status, mails(app).len()), (MailStatus::Sent, 1));
    let feed = Feeds::default().get(id);
    recover::end_bare(&app.inner.store, &tenant, id, turn, &feed, Utc::now()).await.unwrap();
    assert!(tokio::task::block_in_place(|| erasing.wait().unwrap()).success());
    assert_eq!(mails(app), Vec::<String>::new());
}

#[tokio::test]
async fn retention_covers_state_tickets_mails_and_cases() {
    let shop = Shop::open().await;
    let (app, before) = (&shop.app, shop.rma().await);
    let forget = async |days: i64| {
        let now = Utc::now() + TimeDelta::days(days);
        retention::forget(&app.inner.engine, &app.inner.config, now, &CancellationToken::new()).await.unwrap();
        forget_files(&app.inner.config, now - TimeDelta::days(30)).await.unwrap();
    };
    forget(29).await;
    assert_eq!(shop.rma().await, before);
    assert_eq!((mails(app).len(), shop.cases()), (1, 1));
    forget(31).await;
    assert_eq!(shop.traces(WORD), "");
    assert_eq!(shop.rma().await, Rma { reason: String::new(), ..before });
    assert_eq!((mails(app).len(), shop.cases()), (0, 0));
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let id = shop.conversation.parse().unwrap();
    assert_eq!(store.find_conversation(id).await.unwrap().unwrap().state, Value::Null);
    let sent = store.list_mails_of(&shop.rma().await.number).await.unwrap();
    assert!(sent[0].to.is_erased() && sent[0].context == json!({}));
}
