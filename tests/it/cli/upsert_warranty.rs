//! `upsert-warranty`, run as a program in a temporary folder, on SQLite or the PostgreSQL of `TEST_POSTGRES_URL`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use frontdesk::domain::{Serial, TenantId};
use frontdesk::store::Store;
use tempfile::TempDir;

use super::Run;
use crate::support::database;

mod beside_a_server;

const HEADER: &str = "serial,product_name,warranty_end_date\n";

/// A folder with a list in it, and the database that the list goes to.
struct Shop {
    folder: TempDir,
    url: String,
}

impl Shop {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = database::fresh(&folder.path().join("data")).await;
        Self { folder, url }
    }

    fn list(&self) -> PathBuf {
        self.folder.path().join("warranty.csv")
    }

    /// Runs the program on `list` with the arguments.
    fn upsert(&self, list: impl AsRef<[u8]>, arguments: &[&str]) -> Run {
        std::fs::write(self.list(), list).unwrap();
        self.command(arguments).output().map(Run::from).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_upsert-warranty"));
        command.current_dir(self.folder.path()).env("DATABASE_URL", &self.url).stdin(Stdio::null());
        command.args(["--file", "warranty.csv"]).args(arguments);
        command
    }

    async fn store(&self) -> Store {
        crate::store::open(&self.url).await
    }

    /// The records of the serials, as `SERIAL|name|date`, sorted.
    async fn records(&self, tenant: &str, serials: &[&str]) -> Vec<String> {
        let tenant: TenantId = tenant.parse().unwrap();
        let serials: Vec<Serial> = serials.iter().map(|serial| serial.parse().unwrap()).collect();
        let found = self.store().await.tenant(&tenant).list_warranties(&serials).await.unwrap();
        let mut found: Vec<String> =
            found.into_iter().map(|w| format!("{}|{}|{}", w.serial, w.product_name, w.warranty_end_date)).collect();
        found.sort();
        found
    }

    async fn count(&self) -> u64 {
        self.store().await.tenant(&TenantId::default()).count_warranties().await.unwrap()
    }
}

impl Run {
    /// The line of the counts.
    fn counts(&self) -> &str {
        self.stdout.lines().next().unwrap_or_default()
    }

    /// The lines of the file that were refused.
    fn refused_lines(&self) -> Vec<u64> {
        let lines = self.stdout.lines().filter_map(|line| line.strip_prefix("line "));
        lines.map(|line| line.split(':').next().unwrap().parse().unwrap()).collect()
    }
}

#[tokio::test]
async fn second_import_counts_new_changed_and_unchanged() {
    let shop = Shop::new().await;
    let first = format!("{HEADER}A1A,Loa,2027-01-01\nB2B,Loa,2027-01-01\nC3C,Loa,2027-01-01\nKEPT-1,Loa,2027-01-01\n");
    assert_eq!(shop.upsert(first, &[]).counts(), "4 new, 0 changed, 0 unchanged, 0 refused");
    let list = format!("{HEADER}c3c,Loa,01/01/2027\nA1A,Loa to,2027-01-01\nD4D,Loa,2027-01-01\nB2B,Loa,2027-01-02\n");
    assert_eq!(shop.upsert(&list, &["--dry-run"]).counts(), "1 new, 2 changed, 1 unchanged, 0 refused");
    let second = shop.upsert(&list, &[]);
    assert_eq!((second.counts(), second.code), ("1 new, 2 changed, 1 unchanged, 0 refused", 0), "{second:?}");
    assert_eq!(
        shop.records("default", &["A1A", "B2B", "C3C", "D4D", "KEPT-1"]).await,
        [
            "A1A|Loa to|2027-01-01",
            "B2B|Loa|2027-01-02",
            "C3C|Loa|2027-01-01",
            "D4D|Loa|2027-01-01",
            "KEPT-1|Loa|2027-01-01"
        ],
    );
    assert_eq!(shop.upsert(&list, &[]).counts(), "0 new, 0 changed, 4 unchanged, 0 refused");
}

#[tokio::test]
async fn refused_row_prevents_the_import_unless_skipped() {
    let shop = Shop::new().await;
    let list = [
        "serial,product_name,warranty_end_date,note",
        "OK-1,\"Loa hai",
        "dòng\",2027-01-01,x",   // 3
        "OK-2,Loa,31/02/2025,x", // 4
        "OK-3,Loa,2027-02-29,x", // 5
        "",
        "OK-4,Loa,1/1/2025,x",   // 7
        "OK-5,Loa,2025-13-01,x", // 8
        "OK-6,Loa,,x",           // 9
        "AB,Loa,2027-01-01,x",   // 10
        "NODIGIT,Loa,2027-01-01,x",
        "A 1B,Loa,2027-01-01,x",
        ",Loa,2027-01-01,x",
        "OK-7,  ,2027-01-01,x",   // 14
        "OK-8,Loa,2027-01-01",    // 15
        "OK-9,Loa,2027-01-01,x,", // 16
        "0123456789012345678901234567890-3,Loa,2027-01-01,x",
        "ok-10,Loa,31/12/2027,x", // 18
    ]
    .join("\r\n");
    let lines: Vec<u64> = [4, 5].into_iter().chain(7..=17).collect();
    let expected = "2 new, 0 changed, 0 unchanged, 13 refused";

    let dry = shop.upsert(&list, &["--dry-run"]);
    assert_eq!((dry.counts(), dry.code, dry.refused_lines()), (expected, 1, lines.clone()), "{dry:?}");
    assert!(dry.stderr.contains("dry run: nothing was written"), "{dry:?}");
    assert!(dry.stderr.contains("ignored columns: \"note\""), "{dry:?}");
    assert!(!shop.folder.path().join("data").exists(), "a dry run makes no database");
    for says in [
        "line 4: warranty_end_date \"31/02/2025\": there is no such day",
        "line 7: warranty_end_date \"1/1/2025\": it is not written YYYY-MM-DD or DD/MM/YYYY",
        "line 10: serial \"AB\": it is not 3 to 32 characters long",
        "line 14: product_name \"\": it is empty",
        "line 15: row \"OK-8\": the row has 3 columns and the header 4",
    ] {
        assert!(dry.stdout.contains(says), "{says:?} is not in {dry:?}");
    }

    let refused = shop.upsert(&list, &[]);
    assert_eq!((refused.counts(), refused.code, refused.stdout == dry.stdout), (expected, 1, true), "{refused:?}");
    assert!(refused.stderr.contains("nothing was written"), "{refused:?}");
    assert_eq!(shop.count().await, 0);

    let skipped = shop.upsert(&list, &["--skip-invalid", "--max-refused-shown", "2"]);
    assert_eq!((skipped.counts(), skipped.code, skipped.refused_lines()), (expected, 0, vec![4, 5]), "{skipped:?}");
    assert!(skipped.stdout.contains("and 11 more refused"), "{skipped:?}");
    let records = shop.records("default", &["OK-1", "OK-10"]).await;
    assert_eq!(
        (records, shop.count().await),
        (vec!["OK-10|Loa|2027-12-31".to_owned(), "OK-1|Loa hai\ndòng|2027-01-01".to_owned()], 2)
    );
}

#[tokio::test]
async fn conflicting_lines_of_a_serial_are_refused() {
    let shop = Shop::new().await;
    let list = format!(
        "{HEADER}same-1,Loa,2027-01-01\nTWO-1,Loa,2027-01-01\nSAME-1, Loa ,01/01/2027\nOK-1,Loa,2027-01-01\ntwo-1,Loa,2027-01-02\n"
    );
    let run = shop.upsert(&list, &[]);
    assert_eq!(
        (run.counts(), run.code, run.refused_lines()),
        ("2 new, 0 changed, 0 unchanged, 2 refused", 1, vec![3, 6]),
        "{run:?}"
    );
    assert!(run.stdout.contains("line 3: serial \"TWO-1\": line 6 has the same serial"), "{run:?}");
    assert!(run.stderr.contains("repeated lines, counted once: 1"), "{run:?}");
    assert_eq!(shop.upsert(&list, &["--skip-invalid"]).code, 0);
    let records = shop.records("default", &["SAME-1", "TWO-1", "OK-1"]).await;
    assert_eq!(records, ["OK-1|Loa|2027-01-01", "SAME-1|Loa|2027-01-01"]);
}

#[tokio::test]
async fn import_changes_only_its_shop() {
    let shop = Shop::new().await;
    shop.upsert(format!("{HEADER}AA-1,Loa,2027-01-01\n"), &[]);
    let other = shop.upsert(format!("{HEADER}AA-1,Chuột,2028-01-01\n"), &["--tenant", "acme"]);
    assert_eq!(other.counts(), "1 new, 0 changed, 0 unchanged, 0 refused", "{other:?}");
    assert_eq!(shop.records("default", &["AA-1"]).await, ["AA-1|Loa|2027-01-01"]);
    assert_eq!(shop.records("acme", &["AA-1"]).await, ["AA-1|Chuột|2028-01-01"]);
    assert_eq!(shop.upsert(HEADER, &["--tenant", "Not A Name"]).code, 2);
}

#[tokio::test]
async fn unreadable_file_exits_with_2_and_reason() {
    for (list, says) in [
        (b"".to_vec(), "the file is empty"),
        (b"A1A,Loa,2027-01-01\n".to_vec(), "missing: serial, product_name, warranty_end_date"),
        (b"serial,product_name,warranty_end_date\nA1A,Chu\xf4\xf2t,2027-01-01\n".to_vec(), "line 2 is not UTF-8"),
    ] {
        let shop = Shop::new().await;
        let run = shop.upsert(&list, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert_eq!(run.stderr.matches(says).count(), 1, "{says:?} is not once in {run:?}");
        assert!(!shop.folder.path().join("data").exists(), "a bad file makes no database");
    }
    let shop = Shop::new().await;
    let missing = Run::from(shop.command(&[]).output().unwrap());
    let expected = "error: warranty.csv: there is no such file or folder; check the path\n";
    assert_eq!((missing.code, missing.stderr.as_str()), (2, expected));
    let bad_url = shop.upsert(HEADER, &["--database-url", "mysql://h/d"]);
    assert_eq!(bad_url.code, 2);
    assert!(bad_url.stderr.contains("DATABASE_URL must start with"), "{bad_url:?}");
}

#[tokio::test]
async fn database_url_comes_from_environment_or_env_file() {
    let shop = Shop::new().await;
    let list = format!("{HEADER}AA-1,Loa,2027-01-01\n");
    std::fs::write(shop.list(), &list).unwrap();
    let run = Run::from(shop.command(&[]).env("DATABASE_URL", " ").output().unwrap());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(shop.folder.path().join("database/frontdesk.db").exists());

    std::fs::write(shop.folder.path().join(".env"), "DATABASE_URL=sqlite://from-env-file.db\n").unwrap();
    let run = Run::from(shop.command(&[]).env_remove("DATABASE_URL").output().unwrap());
    assert_eq!(run.counts(), "1 new, 0 changed, 0 unchanged, 0 refused", "{run:?}");
    assert!(shop.folder.path().join("from-env-file.db").exists());
}

#[tokio::test]
async fn list_without_rows_changes_nothing() {
    let run = Shop::new().await.upsert(HEADER, &[]);
    assert_eq!((run.counts(), run.code), ("0 new, 0 changed, 0 unchanged, 0 refused", 0), "{run:?}");
}

#[tokio::test]
async fn all_errors_of_a_row_are_reported() {
    let run = Shop::new().await.upsert(format!("{HEADER}AB,,soon\n"), &[]);
    assert_eq!((run.counts(), run.code), ("0 new, 0 changed, 0 unchanged, 1 refused", 1), "{run:?}");
    for says in ["line 2: serial \"AB\"", "line 2: product_name \"\"", "line 2: warranty_end_date \"soon\""] {
        assert!(run.stdout.contains(says), "{says:?} is not in {run:?}");
    }
}

#[tokio::test]
async fn json_has_counts_and_refused_rows() {
    let shop = Shop::new().await;
    let list = format!("{HEADER}AA-1,Loa,2027-01-01\nBB-2,Loa,2027-02-29\nCC-3,Loa\n");
    let run = shop.upsert(list, &["--json", "--dry-run"]);
    let mut json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let object = json.as_object_mut().unwrap();
    for measured in ["seconds", "rows_per_second", "locked_seconds"] {
        assert!(object.remove(measured).unwrap().is_number());
    }
    insta::assert_json_snapshot!(json, @r#"
    {
      "file": "warranty.csv",
      "tenant": "default",
      "new": 1,
      "changed": 0,
      "unchanged": 0,
      "refused": 2,
      "repeated": 0,
      "dry_run": true,
      "written": false,
      "refused_rows": [
        {
          "line": 3,
          "column": "warranty_end_date",
          "value": "2027-02-29",
          "reason": "there is no such day; fix the day or the month (in DD/MM/YYYY the day comes first)"
        },
        {
          "line": 4,
          "column": null,
          "value": "CC-3",
          "reason": "the row has 2 columns and the header 3; put fields that contain the delimiter in double quotes, or add the missing fields"
        }
      ],
      "refused_rows_not_shown": 0,
      "ignored_columns": []
    }
    "#);
}

#[tokio::test]
async fn pipe_gets_only_the_result() {
    let run = Shop::new().await.upsert(format!("{HEADER}AA-1,Loa,2027-01-01\n"), &[]);
    assert_eq!(run.stdout, "1 new, 0 changed, 0 unchanged, 0 refused\n");
    assert_eq!(run.stderr.lines().count(), 1, "no progress bar: {run:?}");
}
