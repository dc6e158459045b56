//! Importing a list of warranties, with a dry run first.

use frontdesk::domain::{Serial, TenantId};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::desk::{Desk, answer};
use crate::http::problem::{check, refused};
use crate::support::app::TestApp;

const HEADER: &str = "serial,product_name,warranty_end_date\n";

fn send(desk: &Desk, query: &str, list: impl Into<reqwest::Body>) -> RequestBuilder {
    let request = desk.request(Method::POST, &format!("/warranty-files{query}"));
    request.header("content-type", "text/csv; charset=utf-8").body(list)
}

/// Returns the stored warranties as `SERIAL|name|date`.
async fn records(desk: &Desk, tenant: &str, serials: &[&str]) -> Vec<String> {
    let tenant: TenantId = tenant.parse().unwrap();
    let serials: Vec<Serial> = serials.iter().map(|serial| serial.parse().unwrap()).collect();
    let mut found: Vec<String> = desk
        .app
        .inner
        .store
        .tenant(&tenant)
        .list_warranties(&serials)
        .await
        .unwrap()
        .into_iter()
        .map(|record| format!("{}|{}|{}", record.serial, record.product_name, record.warranty_end_date))
        .collect();
    found.sort();
    found
}

/// A list with two new rows, a changed, an unchanged and an invalid one. A name has characters that are removed.
fn list() -> String {
    format!(
        "{HEADER}NEW-1,Lo\u{202e}a\0,2027-01-01\nABC123,Laptop Dell,2026-12-31\nXYZ789,Mouse Logitech,30/06/2025\nNEW-2,Loa,01/02/2027\n\
         NEW-2,Loa,2027-02-01\nBAD-1,Loa,31/02/2025\n"
    )
}

#[tokio::test]
async fn dry_run_reports_invalid_rows_before_writing() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let seen = answer(send(&desk, "", list()), 200).await;
    let counts = |body: &Value| {
        ["rows", "new", "changed", "unchanged", "repeated", "refused_count"].map(|name| body[name].as_u64().unwrap())
    };
    assert_eq!(counts(&seen), [6, 2, 1, 1, 1, 1], "{seen}");
    let refused_row = &seen["refused"][0];
    assert_eq!((&refused_row["row"], &refused_row["field"]), (&json!(7), &json!("warranty_end_date")));
    assert_eq!(refused_row["value"], "31/02/2025");
    assert!(refused_row["problem"].as_str().unwrap().contains("no such day"), "{seen}");
    assert_eq!(refused_row["code"], "date_unknown");
    let date = |date: &str| json!({"product_name": "Laptop Dell", "warranty_end_date": date});
    assert_eq!(seen["changes"], json!([{"serial": "ABC123", "old": date("2024-12-31"), "new": date("2026-12-31")}]));
    assert_eq!((&seen["applied"], &seen["ignored_columns"]), (&json!(false), &json!([])));
    assert_eq!(records(&desk, "default", &["NEW-1", "NEW-2"]).await, [""; 0]);

    let hash = seen["file_hash"].as_str().unwrap();
    let kept = answer(send(&desk, &format!("?dry_run=false&hash={hash}"), list()), 200).await;
    assert_eq!((counts(&kept), &kept["applied"]), (counts(&seen), &json!(false)), "rows are refused");
    assert_eq!(records(&desk, "default", &["NEW-1", "NEW-2"]).await, [""; 0]);

    let query = format!("?dry_run=false&hash={hash}&skip_refused=true");
    let written = answer(send(&desk, &query, list()), 200).await;
    assert_eq!((counts(&written), &written["applied"]), (counts(&seen), &json!(true)));
    assert_eq!(
        records(&desk, "default", &["ABC123", "NEW-1", "NEW-2", "BAD-1"]).await,
        ["ABC123|Laptop Dell|2026-12-31", "NEW-1|Loa|2027-01-01", "NEW-2|Loa|2027-02-01"]
    );
    let again = answer(send(&desk, &query, list()), 200).await;
    assert_eq!((counts(&again), &again["applied"]), ([6, 0, 0, 4, 1, 1], &json!(true)));
    let turn = desk.app.ask_once("kiểm tra bảo hành ABC123").await;
    assert!(turn.text("warranty_result").contains("31/12/2026"), "{:?}", turn.messages());
}

#[tokio::test]
async fn invalid_rows_carry_their_numbers() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let long = "a".repeat(1_000);
    let list = format!("{HEADER}NEW-1,{long},2027-01-01\nNEW-2,Loa\nNEW-3,Loa,2027-01-01\nNEW-3,Chuột,2027-01-01\n");
    let seen = answer(send(&desk, "", list), 200).await;
    let rows = seen["refused"].as_array().unwrap().iter();
    let numbers: Value = rows.map(|row| json!([row["code"], row["numbers"]])).collect();
    assert_eq!(numbers, json!([["name_long", [1_000]], ["columns", [2, 3]], ["conflict", [5]], ["conflict", [4]]]));
}

#[tokio::test]
async fn import_requires_hash_of_dry_run() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let list = format!("{HEADER}NEW-1,Loa,2027-01-01\n");
    let hash = answer(send(&desk, "?dry_run=true", list.clone()), 200).await["file_hash"].as_str().unwrap().to_owned();
    let apply = format!("?dry_run=false&hash={hash}");
    refused(send(&desk, &apply, list.replace("Loa", "Tai nghe")), 409, "conflict").await;
    let missing = refused(send(&desk, "?dry_run=false", list.clone()), 422, "invalid_request").await;
    assert!(missing["detail"].as_str().unwrap().contains("file_hash"), "{missing}");
    assert_eq!(records(&desk, "default", &["NEW-1"]).await, [""; 0]);
    assert_eq!(answer(send(&desk, &apply, list), 200).await["applied"], true);
    assert_eq!(records(&desk, "default", &["NEW-1"]).await, ["NEW-1|Loa|2027-01-01"]);
}

#[tokio::test]
async fn import_changes_only_the_callers_shop() {
    let desk = Desk::open(TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0,acme:key-of-the-shop-1"), &[]).await;
    let list = format!("{HEADER}NEW-1,Loa,2027-01-01\nABC123,Loa,2027-01-01\n");
    let send = |query: &str| send(&desk, query, list.clone()).header("x-api-key", "key-of-the-shop-1");
    let seen = answer(send(""), 200).await;
    assert_eq!(seen["new"], 2, "the other shop's rows are not there: {seen}");
    let hash = seen["file_hash"].as_str().unwrap();
    answer(send(&format!("?dry_run=false&hash={hash}")), 200).await;
    assert_eq!(records(&desk, "acme", &["NEW-1", "ABC123"]).await.len(), 2);
    assert_eq!(records(&desk, "default", &["NEW-1", "ABC123"]).await, ["ABC123|Laptop Dell|2024-12-31"]);
}

#[tokio::test]
async fn file_over_its_limit_is_refused_with_fix() {
    let desk = Desk::open(TestApp::builder().env("CONSOLE_CSV_MAX_MB", 1), &[]).await;
    let mut list = HEADER.to_owned();
    for row in 0..20_000 {
        list.push_str(&format!("SN-{row},Loa số {row},2027-01-01\n"));
    }
    assert!(list.len() > 512 * 1024 && list.len() < 1 << 20, "far over the limit of other bodies: {}", list.len());
    assert_eq!(answer(send(&desk, "", list.clone()), 200).await["new"], 20_000);
    let large = list.repeat(3);
    let told = refused(send(&desk, "", large.clone()), 413, "too_large").await;
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.contains("1 MB") && detail.contains("CONSOLE_CSV_MAX_MB"), "{detail}");
    assert_eq!(told["limit"], 1 << 20);
    let pieces: Vec<Result<Vec<u8>, std::io::Error>> =
        large.as_bytes().chunks(10_000).map(|piece| Ok(piece.to_vec())).collect();
    let chunked = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
    check(send(&desk, "", chunked).send().await.unwrap(), 413, "too_large").await;
    assert_eq!(records(&desk, "default", &["SN-1"]).await, [""; 0]);
}

#[tokio::test]
async fn invalid_file_is_reported_with_its_fix() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    for (list, fix, reason, line) in [
        (&b""[..], "empty", "empty", None),
        (b"a,b\n1,2\n", "missing: serial, product_name, warranty_end_date", "column_missing", None),
        (b"PK\x03\x04", "workbook", "workbook", None),
        (
            b"serial,product_name,warranty_end_date\nA1,Chu\xd4t,2027-01-01\n",
            "line 2 is not UTF-8",
            "not_utf8",
            Some(2),
        ),
    ] {
        let told = refused(send(&desk, "", list), 422, "invalid_request").await;
        assert!(told["detail"].as_str().unwrap().contains(fix), "{told}");
        assert_eq!((&told["reason"], told["line"].as_u64()), (&json!(reason), line));
    }
    let json = desk.post("/warranty-files", &json!({}));
    let told = refused(json, 415, "unsupported_media_type").await;
    assert!(told["detail"].as_str().unwrap().contains("text/csv"), "{told}");
    for query in ["?dry_run=maybe", "?hsah=1"] {
        refused(send(&desk, query, ""), 422, "invalid_request").await;
    }
}
