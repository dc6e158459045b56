//! A long list goes in while the shop is open.

use std::fmt::Write;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use frontdesk::domain::TenantId;

use super::{HEADER, Run, Shop};

/// Rows enough for several temporary files and for a transaction that lasts.
const ROWS: u64 = 50_000;

/// The list, its serials in no order, all with this product name.
fn long_list(name: &str) -> String {
    let mut list = HEADER.to_owned();
    for row in 0..ROWS {
        writeln!(list, "SN-{:08},{name},{}-06-30", row * 7_919 % 99_999_989, 2027 + row % 5).unwrap();
    }
    list
}

#[tokio::test(flavor = "multi_thread")]
async fn long_import_is_atomic_for_others() {
    let shop = Shop::new().await;
    let store = shop.store().await;
    let done = Arc::new(AtomicBool::new(false));

    let writer = tokio::spawn({
        let (store, done) = (store.clone(), done.clone());
        async move {
            let mut writes = 0_u64;
            while !done.load(Ordering::Relaxed) {
                store
                    .set_setting("during_an_import", &writes.to_string())
                    .await
                    .expect("a write during the import fails");
                writes += 1;
            }
            writes
        }
    });
    let reader = tokio::spawn({
        let (store, done) = (store.clone(), done.clone());
        async move {
            while !done.load(Ordering::Relaxed) {
                let count = store.tenant(&TenantId::default()).count_warranties().await.expect("a read fails");
                assert!(count == 0 || count == ROWS, "a reader sees {count} rows, a part of the list");
            }
        }
    });
    for (name, counts) in [
        ("Loa", "50000 new, 0 changed, 0 unchanged, 0 refused"),
        ("Chuột", "0 new, 50000 changed, 0 unchanged, 0 refused"),
        ("Chuột", "0 new, 0 changed, 50000 unchanged, 0 refused"),
    ] {
        std::fs::write(shop.list(), long_list(name)).unwrap();
        let mut command = shop.command(&[]);
        let run = tokio::task::spawn_blocking(move || Run::from(command.output().unwrap())).await.unwrap();
        assert_eq!((run.counts(), run.code), (counts, 0), "{run:?}");
    }
    done.store(true, Ordering::Relaxed);
    assert!(writer.await.unwrap() > 0);
    reader.await.unwrap();
}

#[tokio::test]
async fn killed_import_is_atomic() {
    let shop = Shop::new().await;
    std::fs::write(shop.list(), long_list("Loa")).unwrap();
    // The first ones die while the schema is made, the others while the list goes in.
    for delay in [10, 20, 40, 80, 120, 240, 480, 720, 960] {
        let mut child = shop.command(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(delay)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let count = shop.count().await;
        assert!(count == 0 || count == ROWS, "{count} rows are left after {delay} ms");
    }
    assert_eq!(Run::from(shop.command(&[]).output().unwrap()).code, 0);
    assert_eq!(shop.count().await, ROWS);
}
