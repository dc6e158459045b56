//! Mails, and the label under its link.

use std::path::Path;
use std::process::Command;

use super::shop::{Chat, mails, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";

#[tokio::test]
async fn only_the_mailed_link_opens_the_label() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order 77893", JOHN, "yes"]).await;
    // Quoted-printable breaks lines after an equals sign, and escapes the sign itself.
    let mail = mails(&app)[0].replace("=\r\n", "").replace("=3D", "=");
    let path = mail.split("/labels/").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let response = app.get(&format!("/labels/{path}")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/pdf");
    let pdf = response.bytes().await.unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let again = app.get(&format!("/labels/{path}")).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(pdf, again, "the same label however often it is opened");
    if std::env::var("TEST_PDF_TOOLS").is_ok() {
        read_back(&app, &pdf);
    }
    let (label, _) = path.split_once('?').unwrap();
    for wrong in ["x", "x?signature=y", label, &path[1..], &path[..path.len() - 2]] {
        assert_eq!(app.get(&format!("/labels/{wrong}")).send().await.unwrap().status(), 404, "{wrong}");
    }
}

#[tokio::test]
async fn sent_mail_is_not_reported_as_sent_again() {
    let app = open(TestApp::builder().env("ORDER_VERIFICATION", "none")).await;
    for (wish, said) in [
        ("return order 77893", &["I didn't get the e-mail", JOHN][..]),
        ("return order 77895", &["buyer-77895@example.com"][..]),
    ] {
        let mut chat = Chat::open(&app).await;
        chat.say_all(&[wish, "yes"]).await;
        let sent = mails(&app).len();
        let asked = chat.say_all(said).await;
        assert_eq!(asked.kinds(), ["return_ticket"], "{asked:?}");
        assert!(asked.text("return_ticket").contains("spam"), "{asked:?}");
        assert_eq!(mails(&app).len(), sent);
    }
}

/// `pdftotext` finds the tracking number, and a barcode reader reads the same one.
fn read_back(app: &TestApp, pdf: &[u8]) {
    let path = app.folder().join("label.pdf");
    std::fs::write(&path, pdf).unwrap();
    let text = run(app.folder(), "pdftotext", &["label.pdf", "-"]);
    run(app.folder(), "pdftoppm", &["-r", "300", "-gray", "-singlefile", "-png", "label.pdf", "label"]);
    let read = run(app.folder(), "zbarimg", &["--quiet", "--raw", "label.png"]);
    let tracking = read.trim();
    assert!(tracking.parse::<frontdesk::domain::returns::TrackingNumber>().is_ok(), "{tracking}");
    assert!(text.contains(tracking), "{tracking} in {text}");
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
